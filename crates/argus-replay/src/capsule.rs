//! A task in one portable file: arguments, kernel identity, expected outputs.
//!
//! ```text
//! offset  bytes  what
//!      0      8  "ARGUSCAP"
//!      8      4  version, 1
//!     12      4  zero
//!     16      8  bytes of the header, H
//!     24      8  bytes of the payloads, P
//!     32     16  xxh3_128 of header and payloads
//!     48      H  the header: one JSON object
//! 48 + H      P  payloads, one after the other, as the header's offsets say
//! ```
//!
//! All numbers are little-endian. Values that may exceed 2^53 are strings of hexadecimal digits in the header.
//! A file is written under another name and renamed, so that it is whole or not there. A reader believes nothing
//! before the checksum, and nothing that contradicts itself after it.

mod error;

use std::fs;
use std::path::Path;

use argus_abi::args::{KernelAbi, LOCAL_CONTEXT_SLOT};
use argus_abi::{DType, FuncId, MAX_DIMS, Member, Role, TaskId};
use argus_gm::Fill;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

pub use self::error::{CapsuleDamage, CapsuleError, NotHexadecimal, SlotDamage};
use crate::task::{
    Argument, CapturedTask, Content, Identity, MemberKernel, TensorArgument, What, place_name,
};

/// First bytes of every capsule.
pub const MAGIC: [u8; 8] = *b"ARGUSCAP";
/// Changes whenever an old reader would misunderstand a new file.
pub const VERSION: u32 = 1;

const HEAD: usize = 48;
/// Descriptions are pages, not libraries.
const LARGEST_HEADER: u64 = 16 << 20;

/// A task with what made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Capsule {
    pub task: CapturedTask,
    /// Version of the program that wrote it.
    pub written_by: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    schema: String,
    argus: String,
    task: String,
    scene: String,
    case: String,
    runtime: String,
    platform: String,
    members: Vec<HeaderMember>,
    blocks: u32,
    abi: String,
    fill: String,
    completed: bool,
    notes: Vec<String>,
    arguments: Vec<HeaderArgument>,
}

#[derive(Serialize, Deserialize)]
struct HeaderMember {
    place: String,
    func_id: u32,
    name: String,
}

#[derive(Serialize, Deserialize)]
struct HeaderArgument {
    slot: usize,
    name: String,
    source: String,
    dtype: String,
    #[serde(flatten)]
    what: HeaderWhat,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum HeaderWhat {
    Scalar {
        bits: String,
    },
    Tensor {
        role: String,
        shape: Vec<u32>,
        strides: Vec<u32>,
        start_offset: String,
        address: Option<String>,
        /// Absent in older capsules.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        created: bool,
        before: HeaderContent,
        after: HeaderContent,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum HeaderContent {
    Bytes { offset: u64, size: u64 },
    Missing { missing: String },
    Unneeded,
}

/// A capsule holds the tensors of one task.
const LARGEST_CAPSULE: u64 = 16 << 30;

impl Capsule {
    /// Puts a task into a capsule. It must be able to run.
    pub fn new(task: CapturedTask) -> Result<Capsule, CapsuleError> {
        for argument in &task.arguments {
            let why = match &argument.what {
                What::Missing { why } => why,
                What::Tensor(TensorArgument { before: Content::Missing(why), .. }) => why,
                _ => continue,
            };
            return Err(CapsuleError::Incomplete { slot: argument.slot, why: why.clone() });
        }
        Ok(Capsule { task, written_by: env!("CARGO_PKG_VERSION").into() })
    }

    /// Whether a file begins as capsules do.
    pub fn is_one(path: &Path) -> bool {
        use std::io::Read;
        let mut magic = [0; 8];
        // A pipe would wait for a writer.
        let regular = fs::metadata(path).is_ok_and(|file| file.is_file());
        regular
            && fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
            && magic == MAGIC
    }

    /// Writes the file, whole or not at all. What was there under that name is replaced.
    pub fn save(&self, path: &Path) -> Result<(), CapsuleError> {
        let failed = |source| CapsuleError::Io { path: path.into(), source };
        argus_files::write(path, &self.to_bytes(), false).map_err(failed)
    }

    pub fn load(path: &Path) -> Result<Capsule, CapsuleError> {
        let bytes = argus_files::read(path, LARGEST_CAPSULE)
            .map_err(|source| CapsuleError::Io { path: path.into(), source })?;
        Capsule::from_bytes(&bytes, path)
    }

    /// The whole file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        let header = self.header(&mut payload);
        let header = serde_json::to_vec(&header).expect("strings and numbers can always be written");
        let mut bytes = Vec::with_capacity(HEAD + header.len() + payload.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum(&header, &payload).to_le_bytes());
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(&payload);
        bytes
    }

    /// Reads a whole file; `path` is for messages.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Capsule, CapsuleError> {
        let damaged = |source| CapsuleError::Damaged { path: path.into(), source };
        if bytes.len() < HEAD || bytes[..8] != MAGIC {
            return Err(CapsuleError::NotACapsule { path: path.into() });
        }
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let version = word(8) as u32;
        if version != VERSION {
            return Err(CapsuleError::Version { path: path.into(), found: version });
        }
        let (header_len, payload_len) = (word(16), word(24));
        let rest = &bytes[HEAD..];
        if header_len.checked_add(payload_len) != Some(rest.len() as u64) {
            return Err(damaged(CapsuleDamage::Length { bytes: bytes.len() }));
        }
        if header_len > LARGEST_HEADER {
            return Err(damaged(CapsuleDamage::LargeHeader { bytes: header_len }));
        }
        let (header, payload) = rest.split_at(header_len as usize);
        let expected = u128::from_le_bytes(bytes[32..48].try_into().expect("sixteen bytes"));
        if checksum(header, payload) != expected {
            return Err(damaged(CapsuleDamage::Checksum));
        }
        let header: Header = serde_json::from_slice(header).map_err(|error| damaged(error.into()))?;
        let written_by = header.argus.clone();
        let task = task(header, payload).map_err(damaged)?;
        Ok(Capsule { task, written_by })
    }

    fn header(&self, payload: &mut Vec<u8>) -> Header {
        let task = &self.task;
        let Identity { scene, case, runtime, platform, members } = task.identity.clone();
        Header {
            schema: "argus-capsule-1".into(),
            argus: self.written_by.clone(),
            task: hex(task.id.raw()),
            scene,
            case,
            runtime,
            platform,
            members: members
                .into_iter()
                .map(|MemberKernel { member, func_id, name }| HeaderMember {
                    place: place_name(member).into(),
                    func_id: func_id.0,
                    name,
                })
                .collect(),
            blocks: task.blocks,
            abi: if task.abi == KernelAbi::Raw { "raw" } else { "tensors" }.into(),
            fill: if task.fill == Fill::Poison { "poison" } else { "zero" }.into(),
            completed: task.completed,
            notes: task.notes.clone(),
            arguments: task
                .arguments
                .iter()
                .filter_map(|argument| header_argument(argument, payload))
                .collect(),
        }
    }
}

fn header_argument(argument: &Argument, payload: &mut Vec<u8>) -> Option<HeaderArgument> {
    let (dtype, what) = match &argument.what {
        What::Scalar { dtype, bits } => (dtype, HeaderWhat::Scalar { bits: hex(*bits) }),
        What::Tensor(tensor) => {
            let what = HeaderWhat::Tensor {
                role: tensor.role.name().into(),
                shape: tensor.shape.clone(),
                strides: tensor.strides.clone(),
                start_offset: hex(tensor.start_offset),
                address: tensor.address.map(hex),
                created: tensor.created,
                before: header_content(&tensor.before, payload),
                after: header_content(&tensor.after, payload),
            };
            (&tensor.dtype, what)
        }
        What::Missing { .. } => return None,
    };
    let Argument { slot, name, source, .. } = argument.clone();
    Some(HeaderArgument { slot, name, source, dtype: dtype.name().into(), what })
}

fn header_content(content: &Content, payload: &mut Vec<u8>) -> HeaderContent {
    match content {
        Content::Bytes(bytes) => {
            let (offset, size) = (payload.len() as u64, bytes.len() as u64);
            payload.extend_from_slice(bytes);
            HeaderContent::Bytes { offset, size }
        }
        Content::Missing(why) => HeaderContent::Missing { missing: why.clone() },
        Content::Unneeded => HeaderContent::Unneeded,
    }
}

fn task(header: Header, payload: &[u8]) -> Result<CapturedTask, CapsuleDamage> {
    let mut members: Vec<MemberKernel> = Vec::new();
    for HeaderMember { place, func_id, name } in header.members {
        let member = Member::ALL.into_iter().find(|&member| place_name(member) == place);
        let Some(member) = member else { return Err(CapsuleDamage::NoPlace { place }) };
        if members.iter().any(|other| other.member == member) {
            return Err(CapsuleDamage::PlaceTwice { place });
        }
        members.push(MemberKernel { member, func_id: FuncId(func_id), name });
    }
    let mut arguments: Vec<Argument> = Vec::new();
    for argument in header.arguments {
        let slot = argument.slot;
        if slot >= LOCAL_CONTEXT_SLOT || arguments.iter().any(|other| other.slot >= slot) {
            return Err(CapsuleDamage::SlotOrder { slot });
        }
        let wrong = |source| CapsuleDamage::Slot { slot, source };
        let Some(dtype) = DType::from_name(&argument.dtype) else {
            return Err(wrong(SlotDamage::DType { dtype: argument.dtype }));
        };
        let what = self::what(argument.what, dtype, payload).map_err(wrong)?;
        arguments.push(Argument { slot, name: argument.name, what, source: argument.source });
    }
    Ok(CapturedTask {
        id: TaskId::from_raw(number(&header.task)?),
        identity: Identity {
            scene: header.scene,
            case: header.case,
            runtime: header.runtime,
            platform: header.platform,
            members,
        },
        blocks: header.blocks.max(1),
        abi: match header.abi.as_str() {
            "raw" => KernelAbi::Raw,
            "tensors" => KernelAbi::Tensors,
            _ => return Err(CapsuleDamage::Abi { abi: header.abi }),
        },
        fill: if header.fill == "zero" { Fill::Zero } else { Fill::Poison },
        completed: header.completed,
        arguments,
        notes: header.notes,
    })
}

fn what(what: HeaderWhat, dtype: DType, payload: &[u8]) -> Result<What, SlotDamage> {
    match what {
        HeaderWhat::Scalar { bits } => Ok(What::Scalar { dtype, bits: number(&bits)? }),
        HeaderWhat::Tensor { role, shape, strides, start_offset, address, created, before, after } => {
            if shape.is_empty() || shape.len() > MAX_DIMS || strides.len() != shape.len() {
                return Err(SlotDamage::Dimensions { shape: shape.len(), strides: strides.len() });
            }
            let role = Role::from_name(&role).ok_or(SlotDamage::Role { role })?;
            let mut tensor = TensorArgument::contiguous(dtype, role, &shape);
            tensor.strides = strides;
            tensor.start_offset = number(&start_offset)?;
            tensor.created = created;
            tensor.address = address.as_deref().map(number).transpose()?;
            let expected = tensor.logical_bytes();
            tensor.before = content(before, payload, expected)?;
            tensor.after = content(after, payload, expected)?;
            Ok(What::Tensor(tensor))
        }
    }
}

fn content(content: HeaderContent, payload: &[u8], expected: Option<u64>) -> Result<Content, SlotDamage> {
    match content {
        HeaderContent::Unneeded => Ok(Content::Unneeded),
        HeaderContent::Missing { missing } => Ok(Content::Missing(missing)),
        HeaderContent::Bytes { offset, size } => {
            if Some(size) != expected {
                return Err(SlotDamage::PayloadSize { size, view: expected });
            }
            let range = usize::try_from(offset).ok().zip(usize::try_from(size).ok());
            let bytes = range.and_then(|(offset, size)| payload.get(offset..offset.checked_add(size)?));
            bytes.map(|bytes| Content::Bytes(bytes.to_vec())).ok_or(SlotDamage::PayloadPlace { offset, size })
        }
    }
}

fn checksum(header: &[u8], payload: &[u8]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(header);
    hash.update(payload);
    hash.digest128()
}

fn hex(value: u64) -> String {
    format!("0x{value:x}")
}

fn number(text: &str) -> Result<u64, NotHexadecimal> {
    let digits = text.strip_prefix("0x");
    let value = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    value.ok_or_else(|| NotHexadecimal { text: text.to_owned() })
}

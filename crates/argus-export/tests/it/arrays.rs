use std::fs::{self, File};
use std::io::Read;

use argus_abi::{DType, Kind};
use argus_dump::read::{Dump, Record};
use argus_export::Format;
use safetensors::SafeTensors;
use serde_json::Value;

use crate::common::{everything, export, names};
use crate::python;

#[test]
fn numpy_reads_every_array_back_bit_for_bit() {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("tensor_dump");
    let dump = everything(&source);
    for format in [Format::Npy, Format::Npz, Format::Safetensors] {
        let out = home.path().join(format.name());
        let report = export(&dump, format, &out).unwrap();
        assert_eq!(report.records as usize, dump.len());
        assert_eq!(report.files as usize, names(&out).len());
        let bytes: u64 = names(&out).iter().map(|name| out.join(name).metadata().unwrap().len()).sum();
        assert_eq!(report.bytes, bytes);
        let without: Vec<_> = report.without_payload.iter().map(|group| group.reason.as_str()).collect();
        assert_eq!(without, ["captured without its payload"]);
        assert_eq!(report.without_payload[0].records.len(), 1);
        python::run("check_arrays.py", &[&source, &out]);
    }
}

#[test]
fn the_same_dump_gives_the_same_bytes() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    for format in Format::ALL {
        let (first, second) =
            (home.path().join("first").join(format.name()), home.path().join(format.name()));
        export(&dump, format, &first).unwrap();
        export(&dump, format, &second).unwrap();
        assert_eq!(names(&first), names(&second));
        for name in names(&first) {
            let same =
                std::fs::read(first.join(&name)).unwrap() == std::fs::read(second.join(&name)).unwrap();
            assert!(same, "{format:?}: {name}");
        }
    }
}

/// The bytes that an array of a record must hold, from the dump alone: packed elements get a byte each.
fn expected(dump: &Dump, record: &Record) -> Option<Vec<u8>> {
    if record.kind == Kind::Scalar {
        let argus_dump::read::Scalar::Bits(bits) = record.scalar? else { panic!("only of the reference") };
        // An FP4 is half a byte.
        let bits = if record.dtype == Some(DType::Fp4E2M1) { bits & 15 } else { bits };
        return Some(bits.to_le_bytes()[..record.dtype.map_or(8, DType::size)].to_vec());
    }
    let bytes = dump.payload(record).ok()?;
    if record.dtype != Some(DType::Fp4E2M1) {
        return Some(bytes.to_vec());
    }
    let elements = record.numel().unwrap() as usize;
    Some(bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]).take(elements).collect())
}

#[test]
fn archives_hold_the_bytes_of_the_dump_and_their_readers_find_them() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    for format in [Format::Npz, Format::Safetensors] {
        export(&dump, format, &home.path().join(format.name())).unwrap();
    }
    let index: Vec<Value> =
        serde_json::from_slice(&fs::read(home.path().join("npz/index.json")).unwrap()).unwrap();
    assert_eq!(index.len(), dump.len());
    let mut npz = zip::ZipArchive::new(File::open(home.path().join("npz/tensors.npz")).unwrap()).unwrap();
    let bytes = fs::read(home.path().join("safetensors/tensors.safetensors")).unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    let same: Vec<Value> = serde_json::from_str(&metadata["argus_index"]).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut stored = 0;
    for ((record, item), other) in dump.records().zip(&index).zip(&same) {
        let name = item["name"].as_str().unwrap();
        assert_eq!(
            (&other["name"], &other["index"], &item["index"]),
            (&item["name"], &item["index"], &record.index.into())
        );
        let Some(expected) = expected(&dump, &record) else {
            assert!(item["missing"].is_string() && item.get("stored_dtype").is_none(), "{item}");
            assert!(npz.by_name(&format!("{name}.npy")).is_err() && tensors.tensor(name).is_err());
            continue;
        };
        stored += 1;
        let mut file = Vec::new();
        // Reading to the end compares the checksum.
        npz.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut file).unwrap();
        let head = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
        assert_eq!((&file[..6], head % 64), (&b"\x93NUMPY"[..], 0), "{name}");
        let text = String::from_utf8_lossy(&file[10..head]).into_owned();
        assert!(text.contains(&format!("'{}'", item["stored_dtype"].as_str().unwrap())), "{text}");
        assert_eq!(file[head..], expected, "{name} in npz");
        let tensor = tensors.tensor(name).unwrap();
        assert_eq!(tensor.data(), expected, "{name} in safetensors");
        let shape: Vec<u64> = tensor.shape().iter().map(|&extent| extent as u64).collect();
        assert_eq!(shape, if record.kind == Kind::Scalar { &[][..] } else { record.shape() }, "{name}");
        // Readers that map the file need elements at multiples of their size.
        let width = tensor.dtype().bitsize() / 8;
        assert_eq!((tensor.data().as_ptr() as usize - bytes.as_ptr() as usize) % width, 0, "{name}");
    }
    assert_eq!((npz.len(), tensors.len()), (stored, stored));
}

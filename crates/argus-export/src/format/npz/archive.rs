//! A zip archive of members that are stored as they are, written front to back.
//!
//! A member is a local header and its bytes; the directory at the end repeats each header with its place. Numbers that
//! do not fit 32 bits, and more than 65535 members, are in the fields of zip64.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

const VERSION: u16 = 20;
const VERSION_64: u16 = 45;
/// Written on Unix.
const UNIX: u16 = 3 << 8;
/// A regular file that all may read and its owner may write.
const MODE: u32 = 0o100_644;
/// The first of January 1980, when time begins for zip.
const DATE: u16 = 0x21;
/// What stands where a number is in a field of zip64.
const ELSEWHERE: u32 = u32::MAX;

pub(super) struct Archive {
    out: BufWriter<File>,
    directory: BufWriter<File>,
    at: u64,
    members: u64,
}

impl Archive {
    /// `directory` is an empty file that is read and written, and not kept.
    pub(super) fn new(out: BufWriter<File>, directory: File) -> Archive {
        Archive { out, directory: BufWriter::with_capacity(1 << 16, directory), at: 0, members: 0 }
    }

    /// Adds a member. Its bytes come in parts, so that they need not be put together.
    pub(super) fn add(&mut self, name: &[u8], parts: &[&[u8]]) -> io::Result<()> {
        let size: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let mut crc = crc32fast::Hasher::new();
        parts.iter().for_each(|part| crc.update(part));
        let crc = crc.finalize();
        let large = size >= ELSEWHERE.into();
        let far = self.at >= ELSEWHERE.into();
        let short = |value: u64| u32::try_from(value).unwrap_or(ELSEWHERE);

        let mut head = Head::new(*b"PK\x03\x04");
        head.put(&(if large { VERSION_64 } else { VERSION }).to_le_bytes());
        head.put_member(crc, short(size), name.len());
        head.put(&(if large { 20u16 } else { 0 }).to_le_bytes());
        self.out.write_all(head.bytes())?;
        self.out.write_all(name)?;
        let mut written = (head.bytes().len() + name.len()) as u64 + size;
        if large {
            let mut extra = Head::extra(16);
            extra.put(&size.to_le_bytes());
            extra.put(&size.to_le_bytes());
            self.out.write_all(extra.bytes())?;
            written += extra.bytes().len() as u64;
        }
        parts.iter().try_for_each(|part| self.out.write_all(part))?;

        let mut extra = Head::extra(16 * u16::from(large) + 8 * u16::from(far));
        if large {
            extra.put(&size.to_le_bytes());
            extra.put(&size.to_le_bytes());
        }
        if far {
            extra.put(&self.at.to_le_bytes());
        }
        let extra = if large || far { extra.bytes() } else { &[] };
        let version = if large || far { VERSION_64 } else { VERSION };
        let mut row = Head::new(*b"PK\x01\x02");
        row.put(&(UNIX | version).to_le_bytes());
        row.put(&version.to_le_bytes());
        row.put_member(crc, short(size), name.len());
        row.put(&(extra.len() as u16).to_le_bytes());
        // No comment, first disk, bytes.
        row.put(&[0; 6]);
        row.put(&(MODE << 16).to_le_bytes());
        row.put(&short(self.at).to_le_bytes());
        self.directory.write_all(row.bytes())?;
        self.directory.write_all(name)?;
        self.directory.write_all(extra)?;
        self.at += written;
        self.members += 1;
        Ok(())
    }

    /// Writes the directory and what says where it is.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let mut directory = self.directory.into_inner().map_err(io::IntoInnerError::into_error)?;
        directory.rewind()?;
        let size = io::copy(&mut directory, &mut self.out)?;
        let end = self.at + size;
        if self.members >= u16::MAX.into() || end >= ELSEWHERE.into() {
            let mut record = Head::new(*b"PK\x06\x06");
            record.put(&44u64.to_le_bytes());
            record.put(&(UNIX | VERSION_64).to_le_bytes());
            record.put(&VERSION_64.to_le_bytes());
            record.put(&[0; 8]);
            for value in [self.members, self.members, size, self.at] {
                record.put(&value.to_le_bytes());
            }
            self.out.write_all(record.bytes())?;
            let mut locator = Head::new(*b"PK\x06\x07");
            locator.put(&[0; 4]);
            locator.put(&end.to_le_bytes());
            locator.put(&1u32.to_le_bytes());
            self.out.write_all(locator.bytes())?;
        }
        let members = u16::try_from(self.members).unwrap_or(u16::MAX);
        let short = |value: u64| u32::try_from(value).unwrap_or(ELSEWHERE);
        let mut last = Head::new(*b"PK\x05\x06");
        last.put(&[0; 4]);
        last.put(&members.to_le_bytes());
        last.put(&members.to_le_bytes());
        last.put(&short(size).to_le_bytes());
        last.put(&short(self.at).to_le_bytes());
        last.put(&[0; 2]);
        self.out.write_all(last.bytes())?;
        self.out.flush()
    }
}

/// A record of the format, field by field.
struct Head {
    bytes: [u8; 64],
    len: usize,
}

impl Head {
    fn new(signature: [u8; 4]) -> Head {
        let mut head = Head { bytes: [0; 64], len: 0 };
        head.put(&signature);
        head
    }

    /// The field of zip64, for so many bytes.
    fn extra(bytes: u16) -> Head {
        let mut head = Head { bytes: [0; 64], len: 0 };
        head.put(&1u16.to_le_bytes());
        head.put(&bytes.to_le_bytes());
        head
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// What local header and directory say alike: no flags, stored, when, checksum, size twice, length of the name.
    fn put_member(&mut self, crc: u32, size: u32, name: usize) {
        self.put(&[0; 6]);
        self.put(&DATE.to_le_bytes());
        self.put(&crc.to_le_bytes());
        self.put(&size.to_le_bytes());
        self.put(&size.to_le_bytes());
        self.put(&(name as u16).to_le_bytes());
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, SeekFrom};

    use super::*;

    /// An archive that begins at `at`, behind nothing.
    fn archive(at: u64, members: u32) -> zip::ZipArchive<File> {
        let mut file = tempfile::tempfile().unwrap();
        file.seek(SeekFrom::Start(at)).unwrap();
        let out = BufWriter::new(file.try_clone().unwrap());
        let mut archive = Archive::new(out, tempfile::tempfile().unwrap());
        archive.at = at;
        for member in 0..members {
            archive.add(format!("m{member}").as_bytes(), &[b"number ", &member.to_le_bytes()]).unwrap();
        }
        archive.finish().unwrap();
        zip::ZipArchive::new(file).unwrap()
    }

    fn holds_its_members(mut archive: zip::ZipArchive<File>, members: u32) {
        assert_eq!(archive.len(), members as usize);
        for member in [0, members / 2, members - 1] {
            let mut bytes = Vec::new();
            archive.by_name(&format!("m{member}")).unwrap().read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, [b"number ", &member.to_le_bytes()[..]].concat());
        }
    }

    #[test]
    fn more_members_than_sixteen_bits_count() {
        for members in [1, 65_534, 65_535, 65_536, 70_000] {
            holds_its_members(archive(0, members), members);
        }
    }

    #[test]
    fn members_behind_four_gigabytes() {
        let four = u64::from(u32::MAX);
        for at in [four - 60, four - 1, four, four + 1, 5 << 30] {
            holds_its_members(archive(at, 3), 3);
        }
    }

    #[test]
    fn an_empty_archive_is_one() {
        assert_eq!(archive(0, 1).len(), 1);
        let file = tempfile::tempfile().unwrap();
        let out = BufWriter::new(file.try_clone().unwrap());
        Archive::new(out, tempfile::tempfile().unwrap()).finish().unwrap();
        assert_eq!(zip::ZipArchive::new(file).unwrap().len(), 0);
    }
}

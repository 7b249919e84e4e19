//! Protocol buffers without a schema: fields by number.

use crate::check::Rule;
use crate::check::broken::rule;

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message in order.
pub(super) fn fields(mut bytes: &[u8]) -> impl Iterator<Item = Rule<(u64, Field<'_>)>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let field = next(&mut bytes);
        if field.is_err() {
            bytes = &[];
        }
        Some(field)
    })
}

fn next<'a>(bytes: &mut &'a [u8]) -> Rule<(u64, Field<'a>)> {
    let tag = varint(bytes)?;
    let value = match tag & 7 {
        0 => Field::Varint(varint(bytes)?),
        1 => {
            let fixed = split(bytes, 8)?;
            Field::Fixed64(u64::from_le_bytes(fixed.try_into().map_err(|_| "a cut number")?))
        }
        2 => {
            let length = varint(bytes)?;
            let length = usize::try_from(length).map_err(|_| rule!("a field of {length} bytes"))?;
            Field::Bytes(split(bytes, length)?)
        }
        other => return Err(rule!("wire type {other}")),
    };
    Ok((tag >> 3, value))
}

fn split<'a>(bytes: &mut &'a [u8], length: usize) -> Rule<&'a [u8]> {
    let (head, tail) = bytes
        .split_at_checked(length)
        .ok_or_else(|| rule!("{length} bytes are announced, {} are there", bytes.len()))?;
    *bytes = tail;
    Ok(head)
}

pub(super) fn varint(bytes: &mut &[u8]) -> Rule<u64> {
    let mut value = 0u64;
    for shift in 0..10 {
        let (&byte, rest) = bytes.split_first().ok_or("a cut number")?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << (7 * shift);
        if byte < 0x80 {
            return if shift == 9 && byte > 1 {
                Err("a number of more than 64 bits".into())
            } else {
                Ok(value)
            };
        }
    }
    Err("a number of more than 64 bits".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_message() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x19, 1, 0, 0, 0, 0, 0, 0, 0];
        let found: Vec<_> = fields(&bytes).map(Result::unwrap).collect();
        assert_eq!(found, [(1, Field::Varint(150)), (2, Field::Bytes(b"hi")), (3, Field::Fixed64(1))]);
        assert!(fields(&bytes[..6]).last().unwrap().is_err());
        assert!(fields(&[0x0B]).last().unwrap().is_err());
        assert!(varint(&mut &[0xFF; 11][..]).is_err());
    }
}

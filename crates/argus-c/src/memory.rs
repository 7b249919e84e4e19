//! Texts, arrays and structures out of the caller's memory.
//!
//! Null, alignment and counts that no memory can hold are checked here. That memory is as large as the caller says, and
//! does not change during the call, cannot be: the interface asks for it.

use std::ffi::{CStr, c_char};
use std::ptr;

use crate::status::Failure;

/// A text that must be there.
///
/// # Safety
/// Unless it is null, the text ends with a zero byte and does not change during the call.
pub unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    // SAFETY: the caller's promise is ours.
    unsafe { optional_text(text, name) }?.ok_or_else(|| Failure::usage(format!("{name} is null")))
}

/// A text; null is none.
///
/// # Safety
/// As for [`text`].
pub unsafe fn optional_text<'a>(text: *const c_char, name: &str) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null and ends with a zero byte, which the caller promises.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| Failure::usage(format!("{name} is not UTF-8")))
}

/// An array; null is one without elements, and only that.
///
/// # Safety
/// Unless it is null, there are that many elements, and none changes during the call.
pub unsafe fn array<'a, T>(first: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| isize::try_from(bytes).is_ok());
    match (first.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::usage(format!("{name} is null, but {count} are promised"))),
        _ if bytes.is_none() => {
            Err(Failure::usage(format!("{name} cannot have {count} elements: no memory is that large")))
        }
        _ if !first.is_aligned() => Err(unaligned(first, name)),
        // SAFETY: it is neither null nor unaligned, its size fits, and the caller promises the elements.
        _ => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}

fn unaligned<T>(at: *const T, name: &str) -> Failure {
    Failure::usage(format!("{name} is at {at:p}, which is not a multiple of {}", align_of::<T>()))
}

/// A structure of the interface that begins with its own size. Fields that an older caller does not know are zero.
///
/// # Safety
/// Unless it is null, as many bytes are there as the first field says. `T` is a `repr(C)` structure for which all
/// zeros is a value, and whose first field is a `size_t`.
pub unsafe fn sized<T: Copy>(given: *const T, name: &str) -> Result<T, Failure> {
    if given.is_null() {
        return Err(Failure::usage(format!("{name} is null")));
    }
    if !given.is_aligned() {
        return Err(unaligned(given, name));
    }
    // SAFETY: at least the first field is there.
    let size = unsafe { size_at(given) };
    if size < size_of::<usize>() || size > size_of::<T>() {
        let known = size_of::<T>();
        return Err(Failure::usage(format!(
            "{name} has size {size}, this library knows {known}: set size to sizeof, and use a library as new as the header"
        )));
    }
    // SAFETY: all zeros is a value, which the caller promises.
    let mut known: T = unsafe { std::mem::zeroed() };
    // SAFETY: both have `size` bytes, and they are different memory.
    unsafe { ptr::copy_nonoverlapping(given.cast::<u8>(), (&raw mut known).cast::<u8>(), size) };
    Ok(known)
}

/// An array of such structures. They follow each other as the caller's header has them, which may be shorter than ours;
/// null is an array without elements, and only that.
///
/// # Safety
/// Unless it is null, there are that many structures, all of the size of the first. Each is as for [`sized`].
pub unsafe fn sized_array<T: Copy>(first: *const T, count: usize, name: &str) -> Result<Vec<T>, Failure> {
    let mut structures = Vec::new();
    let mut at = first;
    for index in 0..count {
        // SAFETY: the caller promises this many structures, and this one lies behind those before it.
        let structure = unsafe { sized(at, &format!("{name}[{index}]")) }?;
        structures.push(structure);
        // SAFETY: `sized` checked that the structure is there, so its end lies in the array or is the end of it.
        at = unsafe { at.byte_add(size_at(at)) };
    }
    Ok(structures)
}

/// The first field of a structure: its size.
///
/// # Safety
/// It is aligned, and the field is there.
unsafe fn size_at<T>(given: *const T) -> usize {
    // SAFETY: the caller's promise.
    unsafe { given.cast::<usize>().read() }
}

/// Hands an object to the caller.
///
/// # Safety
/// Unless it is null, `place` may be written.
pub unsafe fn give<T>(place: *mut *mut T, object: T) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::usage("the place for the result is null"));
    }
    // SAFETY: it is not null, and the caller promises that it may be written.
    unsafe { place.write(Box::into_raw(Box::new(object))) };
    Ok(())
}

/// Takes an object back, to end it. Null is fine, as it is for `free`.
///
/// # Safety
/// Unless it is null, it came from [`give`] and is not used again.
pub unsafe fn end<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: it came from `Box::into_raw`, and this is its last use.
        drop(unsafe { Box::from_raw(object) });
    }
}

/// An object that the caller was given.
///
/// # Safety
/// Unless it is null, it came from [`give`], lives, and is not changed by another thread during the call.
pub unsafe fn object<'a, T>(object: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's promise is ours.
    unsafe { object.as_ref() }.ok_or_else(|| Failure::usage(format!("{name} is null")))
}

/// An object that is changed.
///
/// # Safety
/// As for [`object`], and no other call uses it at the same time.
pub unsafe fn object_mut<'a, T>(object: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller's promise is ours.
    unsafe { object.as_mut() }.ok_or_else(|| Failure::usage(format!("{name} is null")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a library knows, and what a caller with an older header has.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct New {
        size: usize,
        old: u64,
        added: u64,
    }

    #[repr(C)]
    struct Old {
        size: usize,
        old: u64,
    }

    #[test]
    fn structures_of_an_older_header_follow_each_other_as_it_has_them() {
        let given = [1, 2, 3].map(|old| Old { size: size_of::<Old>(), old });
        // SAFETY: three structures, each as large as it says.
        let read = unsafe { sized_array(given.as_ptr().cast::<New>(), 3, "things") }.ok();
        assert_eq!(read, Some([1, 2, 3].map(|old| New { size: size_of::<Old>(), old, added: 0 }).to_vec()));
        // SAFETY: there is nothing to read.
        assert_eq!(unsafe { sized_array(ptr::null::<New>(), 0, "things") }.ok(), Some(Vec::new()));
        // SAFETY: null is refused.
        assert!(unsafe { sized_array(ptr::null::<New>(), 1, "things") }.is_err());
    }
}

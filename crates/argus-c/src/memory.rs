//! Texts, arrays and structures out of the caller's memory.
//!
//! Null is checked here. That memory is as large as the caller says, and holds still during the call, cannot be: the
//! interface asks for it.

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
    match (first.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::usage(format!("{name} is null, but {count} are promised"))),
        // SAFETY: it is not null, and the caller promises the elements.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
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
    // SAFETY: at least the first field is there.
    let size = unsafe { given.cast::<usize>().read() };
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

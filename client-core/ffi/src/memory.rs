//! The border: pointers of the caller become values, and values go where the caller wants them.
//!
//! Each function checks what can be checked: null, alignment, lengths, sizes, UTF-8. The rest is
//! what all of them ask for: a pointer that passes is valid for the memory that it stands for, that
//! memory is initialised where it is read, and nothing else uses it during the call. Nothing that
//! they return outlives the call of the interface that they are used in.

#![expect(unsafe_code, reason = "what other languages hand over are pointers")]

use std::mem::{MaybeUninit, align_of};
use std::ptr;

use crate::status::{Failure, Status};
use crate::structs::{AmbitText, Growing};

/// No text, list or structure is longer.
const MAX_LENGTH: u64 = 1 << 20;
/// No structure of a later version is larger.
const MAX_SIZE: usize = 4_096;

/// Bytes of the caller; an empty list may have any pointer.
///
/// # Safety
/// As the module says.
pub(crate) unsafe fn bytes<'c>(from: *const u8, length: u64) -> Result<&'c [u8], Failure> {
    // SAFETY: the same is asked of the caller.
    unsafe { slice(from, length, MAX_LENGTH) }
}

/// A text of the caller.
///
/// # Safety
/// As the module says.
pub(crate) unsafe fn text<'c>(from: *const u8, length: u64) -> Result<&'c str, Failure> {
    // SAFETY: the same is asked of the caller.
    let bytes = unsafe { bytes(from, length) }?;
    str::from_utf8(bytes).map_err(|error| Failure::new(Status::BadText, error))
}

/// A text in a structure of the caller.
///
/// # Safety
/// As the module says.
pub(crate) unsafe fn text_of<'c>(text: AmbitText) -> Result<&'c str, Failure> {
    // SAFETY: the same is asked of the caller.
    unsafe { self::text(text.text, text.length) }
}

/// A list of the caller, with at most `most` items.
///
/// # Safety
/// As the module says.
pub(crate) unsafe fn slice<'c, T: Copy>(
    from: *const T,
    length: u64,
    most: u64,
) -> Result<&'c [T], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    if length > most {
        let message = format!("the length {length} is more than {most}");
        return Err(Failure::new(Status::BadLength, message));
    }
    check(from)?;
    // SAFETY: not null, aligned, and short enough; the caller says that this many are there.
    Ok(unsafe { std::slice::from_raw_parts(from, length as usize) })
}

/// Puts a result where the caller wants it.
///
/// # Safety
/// As the module says.
pub(crate) unsafe fn put<T: Copy>(to: *mut T, value: T) -> Result<(), Failure> {
    check(to)?;
    // SAFETY: not null and aligned; the caller says that it may be written.
    unsafe { to.write(value) };
    Ok(())
}

/// Reads a structure of the caller, of this version or another one. What an older one lacks is
/// zero; a newer one must have zeros where this library knows nothing.
///
/// # Safety
/// As the module says.
pub(crate) unsafe fn read<T: Growing>(from: *const T) -> Result<T, Failure> {
    // SAFETY: the same is asked of the caller.
    let size = unsafe { size_at(from) }?;
    let known = size.min(size_of::<T>());
    // SAFETY: `size_at` has checked the pointer; the caller says that `size` bytes are there.
    let all = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size) };
    if all[known..].iter().any(|byte| *byte != 0) {
        let message = "the structure has settings that this library does not know; use a newer one";
        return Err(Failure::new(Status::OtherVersion, message));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: both have `known` bytes. All fields are numbers and pointers, for which zeros and any
    // other bits are values.
    unsafe {
        ptr::copy_nonoverlapping(all.as_ptr(), value.as_mut_ptr().cast::<u8>(), known);
        Ok(value.assume_init())
    }
}

/// Fills a structure of the caller, of this version or another one: as much of it as both know. Its
/// size stays, so that a later call may use it again.
///
/// # Safety
/// As the module says.
pub(crate) unsafe fn fill<T: Growing>(to: *mut T, value: &T) -> Result<(), Failure> {
    // SAFETY: the same is asked of the caller.
    let size = unsafe { size_at(to) }?;
    let known = size.min(size_of::<T>());
    let from = ptr::from_ref(value).cast::<u8>();
    let after_size = size_of::<u32>();
    // SAFETY: `size_at` has checked the pointer; the caller says that `size` bytes may be written.
    // `value` has `known` bytes.
    unsafe {
        let to = to.cast::<u8>();
        ptr::copy_nonoverlapping(from.add(after_size), to.add(after_size), known - after_size);
        to.add(known).write_bytes(0, size - known);
    }
    Ok(())
}

/// The size that a structure of the caller says.
///
/// # Safety
/// As the module says.
unsafe fn size_at<T: Growing>(at: *const T) -> Result<usize, Failure> {
    check(at)?;
    // SAFETY: not null and aligned; each of these structures begins with its size.
    let size = unsafe { at.cast::<u32>().read() } as usize;
    if !(T::FIRST_SIZE..=MAX_SIZE).contains(&size) {
        let message = format!(
            "the structure has the size {size}; this library knows {}; set it to sizeof before the \
             call",
            size_of::<T>()
        );
        return Err(Failure::new(Status::BadSize, message));
    }
    Ok(size)
}

fn check<T>(pointer: *const T) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::new(Status::BadPointer, "a pointer is null"));
    }
    if !pointer.addr().is_multiple_of(align_of::<T>()) {
        let message = format!("a pointer is not aligned to {} bytes", align_of::<T>());
        return Err(Failure::new(Status::BadPointer, message));
    }
    Ok(())
}

/// Copies as many bytes as there is room for.
///
/// # Safety
/// As the module says.
pub(crate) unsafe fn copy(from: &[u8], to: *mut u8, room: u64) -> Result<(), Failure> {
    let length = from.len().min(usize::try_from(room).unwrap_or(usize::MAX));
    if length > 0 {
        check(to)?;
        // SAFETY: not null; the caller says that there is room for this many.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to, length) };
    }
    Ok(())
}

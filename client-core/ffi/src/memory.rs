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

#[cfg(test)]
mod tests {
    use std::ptr::null;

    use super::*;
    use crate::structs::{AmbitFrame, AmbitPlayer};

    /// Memory of the caller: a structure, then bytes that the library must leave alone.
    #[repr(C, align(8))]
    struct Callers([u8; 128]);

    const SIZE: usize = size_of::<AmbitPlayer>();

    fn callers(size: usize) -> Callers {
        let mut memory = Callers([0xee; 128]);
        memory.0[..size].fill(0);
        memory.0[..4].copy_from_slice(&(size as u32).to_ne_bytes());
        memory
    }

    fn player() -> AmbitPlayer {
        AmbitPlayer {
            size: 0,
            state: 3,
            player: 5,
            room: 7,
            name: AmbitText { text: null(), length: 9 },
            resume_token: null(),
            resume_token_length: 11,
        }
    }

    #[test]
    fn a_structure_of_any_version_is_filled_to_its_end_and_not_beyond() {
        for size in [SIZE, SIZE + 24] {
            let mut memory = callers(size);
            let to = (&raw mut memory).cast::<AmbitPlayer>();
            // SAFETY: aligned, and as long as its size says.
            let (filled, back) = unsafe { (fill(to, &player()), read::<AmbitPlayer>(to)) };
            assert_eq!(filled, Ok(()));
            let back = back.expect("its size is known");
            assert_eq!((back.size, back.player, back.resume_token_length), (size as u32, 5, 11));
            assert!(memory.0[SIZE..size].iter().all(|byte| *byte == 0), "{size}");
            assert!(memory.0[size..].iter().all(|byte| *byte == 0xee), "{size}");
        }
    }

    #[test]
    fn a_newer_structure_is_read_unless_it_asks_for_what_is_not_known() {
        let mut memory = callers(SIZE + 16);
        let from = (&raw mut memory).cast::<AmbitPlayer>();
        // SAFETY: aligned, and as long as its size says.
        assert_eq!(unsafe { read(from) }.map(|it| it.room), Ok(0));
        memory.0[SIZE + 15] = 1;
        let from = (&raw mut memory).cast::<AmbitPlayer>();
        // SAFETY: the same.
        let failure = unsafe { read(from) }.map(|it| it.room).expect_err("it is not zero");
        assert_eq!(failure.status, Status::OtherVersion);
    }

    #[test]
    fn a_structure_with_a_size_of_no_version_is_left_alone() {
        for size in [0, 1, 7, MAX_SIZE + 8, u32::MAX as usize] {
            let mut memory = Callers([0xee; 128]);
            memory.0[..4].copy_from_slice(&(size as u32).to_ne_bytes());
            let to = (&raw mut memory).cast::<AmbitPlayer>();
            // SAFETY: aligned; no more than the size is read.
            let failure = unsafe { fill(to, &player()) }.expect_err("no such size");
            assert_eq!(failure.status, Status::BadSize, "{size}");
            assert!(memory.0[4..].iter().all(|byte| *byte == 0xee), "{size}");
        }
    }

    #[test]
    fn lists_are_checked_before_they_are_read() {
        let numbers = [1_u32, 2, 3];
        let at = numbers.as_ptr();
        let odd = at.wrapping_byte_add(1);
        // SAFETY: what passes the checks is `numbers`.
        unsafe {
            assert_eq!(slice(at, 3, 3), Ok(&numbers[..]));
            assert_eq!(slice(at, 2, 3), Ok(&numbers[..2]));
            assert_eq!(slice::<u32>(null(), 0, 3), Ok(&[][..]));
            let status = |list: Result<&[u32], Failure>| list.err().map(|failure| failure.status);
            assert_eq!(status(slice(at, 4, 3)), Some(Status::BadLength));
            assert_eq!(status(slice(at, u64::MAX, 3)), Some(Status::BadLength));
            assert_eq!(status(slice(null(), 1, 3)), Some(Status::BadPointer));
            assert_eq!(status(slice(odd, 1, 3)), Some(Status::BadPointer));
        }
    }

    #[test]
    fn no_more_is_copied_than_there_is_room_for() {
        let mut to = [0xee_u8; 8];
        // SAFETY: `to` has room for more than that.
        unsafe {
            assert_eq!(copy(b"abcdef", to.as_mut_ptr(), 4), Ok(()));
            assert_eq!(to, *b"abcd\xee\xee\xee\xee");
            assert_eq!(copy(b"xyz", to.as_mut_ptr(), u64::MAX), Ok(()));
            assert_eq!(to, *b"xyzd\xee\xee\xee\xee");
            assert_eq!(copy(b"xyz", ptr::null_mut(), 0), Ok(()));
            assert!(copy(b"xyz", ptr::null_mut(), 3).is_err());
        }
    }

    #[test]
    fn a_misaligned_place_gets_nothing() {
        let mut memory = Callers([0xee; 128]);
        let to = (&raw mut memory).wrapping_byte_add(4);
        // SAFETY: both are refused.
        let (put, filled) = unsafe {
            let empty = AmbitFrame { size: 0, ..std::mem::zeroed() };
            (put(to.cast::<u64>(), 7), fill(to.cast::<AmbitFrame>(), &empty))
        };
        for done in [put, filled] {
            assert_eq!(done.map_err(|failure| failure.status), Err(Status::BadPointer));
        }
        assert!(memory.0.iter().all(|byte| *byte == 0xee));
    }
}

//! The compiler's version and its bounds.

use std::ffi::c_char;

/// The version, such as `0.1.0`, with a NUL at the end; never freed.
#[unsafe(no_mangle)]
pub extern "C" fn eggshade_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// A bound of the compiler. The name is not ended by a NUL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Its name; `length` bytes.
    pub name: *const c_char,
    /// Bytes of the name.
    pub length: usize,
    /// What it is when nobody sets it.
    pub initial: usize,
    /// What it can be set to at most.
    pub maximum: usize,
}

/// The bound number `index`, from 0; false when there are no more.
///
/// # Safety
/// `out` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_limit(index: usize, out: *mut Limit) -> bool {
    let Some(bound) = eggshade::limits::table().nth(index) else { return false };
    let name = bound.name;
    let limit = Limit { name: name.as_ptr().cast(), length: name.len(), initial: bound.default, maximum: bound.max };
    if !out.is_null() {
        // SAFETY: the caller says so.
        unsafe { out.write(limit) };
    }
    true
}

//! Texts on their way in and out: bytes with a length in, strings with a NUL at the end out.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char};

/// A text that the caller owns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Its name in diagnostics, with a NUL at the end; may be null. The ending `.tac` says that it is
    /// three-address code.
    pub name: *const c_char,
    /// The bytes; they need no NUL at the end.
    pub bytes: *const c_char,
    /// How many there are.
    pub length: usize,
}

/// The texts of an array; none when a pointer is null where it must not be.
///
/// # Safety
/// `texts` is null or points to `count` texts whose pointers are null or valid.
pub(crate) unsafe fn read_texts<'t>(texts: *const Text, count: usize) -> Option<Vec<(Cow<'t, str>, Cow<'t, str>)>> {
    if texts.is_null() || count == 0 {
        return None;
    }
    // SAFETY: the caller says so.
    let texts = unsafe { std::slice::from_raw_parts(texts, count) };
    texts
        .iter()
        .map(|text| {
            // SAFETY: the caller says so.
            let name = unsafe { read_name(text.name) }.unwrap_or(Cow::Borrowed("shader"));
            if text.bytes.is_null() {
                return (text.length == 0).then_some((name, Cow::Borrowed("")));
            }
            // SAFETY: the caller says so.
            let bytes = unsafe { std::slice::from_raw_parts(text.bytes.cast::<u8>(), text.length) };
            Some((name, String::from_utf8_lossy(bytes)))
        })
        .collect()
}

/// A string with a NUL at the end; none when it is null.
///
/// # Safety
/// `name` is null or points to a string with a NUL at the end.
pub(crate) unsafe fn read_name<'t>(name: *const c_char) -> Option<Cow<'t, str>> {
    // SAFETY: the caller says so.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy())
}

/// A string for C; NUL bytes inside become question marks.
pub(crate) fn c_string(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().map(|b| if b == 0 { b'?' } else { b }).collect();
    CString::new(bytes).unwrap_or_default()
}

//! MojoShader as a judge: it parses Direct3D 9 tokens and gives GLSL that Mesa runs.
//!
//! In: a token stream. Out: its GLSL and the uniforms, samplers and attributes in it, or what is wrong
//! with the stream. The library (Debian's `libmojoshader-dev`) is loaded at run time; a machine without
//! it gets [`OracleError::Missing`].
//!
//! It checks the form of the stream and some rules of its own, but neither slots, nor read ports, nor
//! register counts.

use super::OracleError;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

const NAMES: [&str; 3] = ["libmojoshader.so.0", "libmojoshader.so", "libmojoshader.dylib"];
/// GLSL 1.20, which Mesa's compatibility context takes.
const GLSL: &CStr = c"glsl120";
/// Direct3D's assembly.
const ASSEMBLY: &CStr = c"d3d";

#[repr(C)]
struct RawError {
    error: *const c_char,
    filename: *const c_char,
    position: c_int,
}

#[repr(C)]
struct RawUniform {
    kind: c_int,
    index: c_int,
    array_count: c_int,
    constant: c_int,
    name: *const c_char,
}

#[repr(C)]
struct RawSampler {
    kind: c_int,
    index: c_int,
    name: *const c_char,
    texbem: c_int,
}

#[repr(C)]
struct RawAttribute {
    usage: c_int,
    index: c_int,
    name: *const c_char,
}

/// The start of `MOJOSHADER_parseData`, as far as it is read here.
#[repr(C)]
struct RawParse {
    error_count: c_int,
    errors: *const RawError,
    profile: *const c_char,
    output: *const c_char,
    output_len: c_int,
    instruction_count: c_int,
    shader_type: c_int,
    major_ver: c_int,
    minor_ver: c_int,
    mainfn: *const c_char,
    uniform_count: c_int,
    uniforms: *const RawUniform,
    constant_count: c_int,
    constants: *const c_void,
    sampler_count: c_int,
    samplers: *const RawSampler,
    attribute_count: c_int,
    attributes: *const RawAttribute,
}

type Parse = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const u8,
    c_uint,
    *const c_void,
    c_uint,
    *const c_void,
    c_uint,
    *const c_void,
    *const c_void,
    *const c_void,
) -> *const RawParse;
type Free = unsafe extern "C" fn(*const RawParse);

/// The loaded library.
pub struct Mojo {
    parse: Parse,
    free: Free,
    /// Keeps the functions above where they are.
    _library: Library,
}

impl std::fmt::Debug for Mojo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mojo")
    }
}

/// Registers of float constants as the GLSL has them: in this order, one after the other, in
/// `vs_uniforms_vec4` or `ps_uniforms_vec4`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UniformRange {
    /// First register.
    pub index: u32,
    /// How many there are.
    pub count: u32,
}

/// What MojoShader made of a token stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translation {
    /// The shader.
    pub text: String,
    /// Float constants that it reads.
    pub uniforms: Vec<UniformRange>,
    /// Sampler registers and their names.
    pub samplers: Vec<(u32, String)>,
    /// Names of the attributes that are declared.
    pub attributes: Vec<String>,
}

/// The items of an array of C.
///
/// # Safety
/// There must be `count` of them, alive as long as the result.
unsafe fn items<'a, T>(first: *const T, count: c_int) -> &'a [T] {
    match usize::try_from(count) {
        // SAFETY: the caller promises it.
        Ok(count) if count > 0 && !first.is_null() => unsafe { std::slice::from_raw_parts(first, count) },
        _ => &[],
    }
}

/// # Safety
/// A text that ends with 0, or null.
unsafe fn text(raw: *const c_char) -> String {
    if raw.is_null() {
        return String::new();
    }
    // SAFETY: the caller promises it.
    unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned()
}

impl Mojo {
    /// Loads the library.
    ///
    /// # Errors
    /// [`OracleError::Missing`] when it is not there.
    pub fn open() -> Result<Mojo, OracleError> {
        let missing = |e: libloading::Error| OracleError::Missing(format!("MojoShader: {e}"));
        let mut last = None;
        for name in NAMES {
            // SAFETY: MojoShader runs nothing when it is loaded.
            match unsafe { Library::new(name) } {
                Ok(library) => {
                    // SAFETY: these are the signatures of mojoshader.h.
                    let (parse, free) = unsafe {
                        let parse = *library.get::<Parse>(b"MOJOSHADER_parse\0").map_err(missing)?;
                        (parse, *library.get::<Free>(b"MOJOSHADER_freeParseData\0").map_err(missing)?)
                    };
                    return Ok(Mojo { parse, free, _library: library });
                }
                Err(e) => last = Some(e),
            }
        }
        Err(last.map_or_else(|| OracleError::Missing("MojoShader".into()), missing))
    }

    /// A token stream as GLSL.
    ///
    /// # Errors
    /// [`OracleError::Refused`] with everything that MojoShader says.
    pub fn translate(&self, words: &[u32]) -> Result<Translation, OracleError> {
        self.parsed(GLSL, words)
    }

    /// A token stream as assembly text.
    ///
    /// # Errors
    /// [`OracleError::Refused`] with everything that MojoShader says.
    pub fn disassemble(&self, words: &[u32]) -> Result<String, OracleError> {
        self.parsed(ASSEMBLY, words).map(|t| t.text)
    }

    fn parsed(&self, profile: &CStr, words: &[u32]) -> Result<Translation, OracleError> {
        // the library reads words of the machine
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let (profile, none) = (profile.as_ptr(), std::ptr::null());
        // SAFETY: the buffer has the stated size; all else may be null; the result is freed below and
        // everything of it copied before.
        unsafe {
            let length = bytes.len() as c_uint;
            let raw =
                (self.parse)(profile, std::ptr::null(), bytes.as_ptr(), length, none, 0, none, 0, none, none, none);
            let result = match raw.as_ref() {
                Some(data) => translation(data),
                None => Err(OracleError::Refused("no result".into())),
            };
            (self.free)(raw);
            result
        }
    }
}

/// # Safety
/// `data` must come from the library and not be freed yet.
unsafe fn translation(data: &RawParse) -> Result<Translation, OracleError> {
    // SAFETY: the library fills in counts and arrays that belong together.
    unsafe {
        let errors = items(data.errors, data.error_count);
        if !errors.is_empty() {
            let line = |e: &RawError| format!("byte {}: {}", e.position, text(e.error));
            return Err(OracleError::Refused(errors.iter().map(line).collect::<Vec<_>>().join("; ")));
        }
        let uniforms = items(data.uniforms, data.uniform_count).iter().filter(|u| u.kind == 0 && u.constant == 0);
        let range = |u: &RawUniform| UniformRange { index: u.index as u32, count: u.array_count.max(1) as u32 };
        let samplers = items(data.samplers, data.sampler_count).iter();
        Ok(Translation {
            text: text(data.output),
            uniforms: uniforms.map(range).collect(),
            samplers: samplers.map(|s| (s.index as u32, text(s.name))).collect(),
            attributes: items(data.attributes, data.attribute_count).iter().map(|a| text(a.name)).collect(),
        })
    }
}

/// For tests: the judge, or `None` after saying that it is left out.
///
/// # Panics
/// When it is missing and `EGGSHADE_REQUIRE_JUDGES=1`.
pub fn open_or_skip() -> Option<Mojo> {
    super::or_skip("comparison with MojoShader", Mojo::open())
}

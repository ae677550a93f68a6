//! A context: options, and the log of the last call.

use crate::program::Program;
use crate::text::{Text, c_string, read_name, read_texts};
use eggshade::backend::{Pipeline, Target};
use eggshade::frontend::ast::Version;
use eggshade::ir::diag::{Diagnostic, SourceMap};
use eggshade::ir::types::FpLevel;
use eggshade::limits::Setting;
use eggshade::{Failure, Options, diagnostics, record};
use std::borrow::Cow;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// As it was asked for.
    Ok = 0,
    /// The text is not legal, or exceeds a bound; the log says where.
    Rejected = 1,
    /// The target has too few of something; the log says of what and how many.
    DoesNotFit = 2,
    /// The text asks for something that the target cannot do.
    Unsupported = 3,
    /// A fault of the compiler.
    Internal = 4,
    /// A null pointer, an index out of range, or a name that nothing has.
    BadArgument = 5,
}

impl From<record::Status> for Status {
    fn from(status: record::Status) -> Status {
        match status {
            record::Status::Ok => Status::Ok,
            record::Status::Rejected => Status::Rejected,
            record::Status::DoesNotFit => Status::DoesNotFit,
            record::Status::Unsupported => Status::Unsupported,
            record::Status::Internal => Status::Internal,
        }
    }
}

/// A stage.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Vertices.
    Vertex = 0,
    /// Fragments.
    Fragment = 1,
}

/// The stage of a number that C hands over.
pub(crate) fn stage_of(stage: u32) -> Option<eggshade::ir::types::Stage> {
    use eggshade::ir::types::Stage::{Fragment, Vertex};
    [(Stage::Vertex, Vertex), (Stage::Fragment, Fragment)].into_iter().find(|(c, _)| *c as u32 == stage).map(|p| p.1)
}

/// Options and the log of the last call. One thread at a time.
pub struct Context {
    options: Options,
    log: CString,
}

impl Context {
    fn say(&mut self, status: Status, log: &str) -> Status {
        self.log = c_string(log);
        status
    }

    /// What a compile gave, handed over to C.
    ///
    /// # Safety
    /// `out` is valid.
    unsafe fn hand_over(
        &mut self,
        result: Result<(Program, SourceMap, Vec<Diagnostic>), Failure>,
        out: *mut *mut Program,
    ) -> Status {
        match result {
            Ok((program, sources, warnings)) => {
                // SAFETY: the caller says so.
                unsafe { *out = Box::into_raw(Box::new(program)) };
                self.say(Status::Ok, &diagnostics::render(&sources, &warnings))
            }
            Err(f) => self.say(f.status.into(), &diagnostics::render(&f.sources, &f.diagnostics)),
        }
    }
}

/// Runs `f` on a context; a panic becomes [`Status::Internal`].
///
/// # Safety
/// `context` is null or came from [`eggshade_context_new`] and is not in use.
unsafe fn with(context: *mut Context, f: impl FnOnce(&mut Context) -> Status) -> Status {
    // SAFETY: the caller says so.
    let Some(context) = (unsafe { context.as_mut() }) else { return Status::BadArgument };
    let result = catch_unwind(AssertUnwindSafe(|| f(&mut *context)));
    result.unwrap_or_else(|_| context.say(Status::Internal, "a fault of the compiler"))
}

/// A new context: target `vec4`, pipeline `egraph`. Null when that cannot be. Free it with
/// `eggshade_context_free`.
#[unsafe(no_mangle)]
pub extern "C" fn eggshade_context_new() -> *mut Context {
    let made = catch_unwind(|| {
        let target = eggshade::resolve_target("vec4").ok()?;
        let pipeline = eggshade::resolve_pipeline("egraph").ok()?;
        Some(Context { options: Options::new(target, pipeline), log: CString::default() })
    });
    made.ok().flatten().map_or(std::ptr::null_mut(), |context| Box::into_raw(Box::new(context)))
}

/// Frees a context; programs made with it stay. Null is allowed.
///
/// # Safety
/// `context` came from `eggshade_context_new`, is not in use and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_context_free(context: *mut Context) {
    if !context.is_null() {
        // SAFETY: the caller says so.
        drop(unsafe { Box::from_raw(context) });
    }
}

/// What the last call with this context had to say: errors and warnings with file, line, column and
/// source line; empty when nothing. Valid until the next call with it. Null for null.
///
/// # Safety
/// `context` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_log(context: *const Context) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { context.as_ref() }.map_or(std::ptr::null(), |c| c.log.as_ptr())
}

/// A built-in target, `NAME` or `NAME:PART` (`arbvp1:strict`).
///
/// # Safety
/// Pointers are null or valid; `name` has a NUL at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_set_target(context: *mut Context, name: *const c_char) -> Status {
    // SAFETY: the caller says so.
    unsafe {
        set(context, name, |options, name| {
            options.target = Target::builtin(name).map_err(|e| e.to_string())?;
            Ok(())
        })
    }
}

/// A target of the caller's own: the text of a target file (TOML).
///
/// # Safety
/// Pointers are null or valid; `toml` has a NUL at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_set_target_table(context: *mut Context, toml: *const c_char) -> Status {
    // SAFETY: the caller says so.
    unsafe {
        set(context, toml, |options, text| {
            options.target = Target::from_toml(text).map_err(|e| e.to_string())?;
            Ok(())
        })
    }
}

/// A built-in pipeline: `none`, `paper`, `egraph`, `egraph-saturate`. Comes before `eggshade_set_fp`.
///
/// # Safety
/// Pointers are null or valid; `name` has a NUL at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_set_pipeline(context: *mut Context, name: *const c_char) -> Status {
    // SAFETY: the caller says so.
    unsafe {
        set(context, name, |options, name| {
            options.pipeline = Pipeline::builtin(name).map_err(|e| e.to_string())?;
            Ok(())
        })
    }
}

/// What a rewrite may assume about floats: `strict`, `glsl` or `fast`.
///
/// # Safety
/// Pointers are null or valid; `level` has a NUL at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_set_fp(context: *mut Context, level: *const c_char) -> Status {
    // SAFETY: the caller says so.
    unsafe {
        set(context, level, |options, word| {
            let level = FpLevel::parse(word).ok_or_else(|| format!("`{word}` is none of strict, glsl, fast"))?;
            options.pipeline.fp = level;
            Ok(())
        })
    }
}

/// The language of texts without `#version`: 110, 120, or 100 for GLSL ES.
///
/// # Safety
/// `context` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_set_version(context: *mut Context, version: u32) -> Status {
    // SAFETY: the caller says so.
    unsafe {
        with(context, |context| {
            context.options.default_version = match version {
                100 => Version::Es100,
                110 => Version::Glsl110,
                120 => Version::Glsl120,
                other => return context.say(Status::BadArgument, &format!("{other} is none of 100, 110, 120")),
            };
            context.say(Status::Ok, "")
        })
    }
}

/// Defines a macro for all texts to come; null for `value` is 1.
///
/// # Safety
/// Pointers are null or valid; strings have a NUL at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_define(context: *mut Context, name: *const c_char, value: *const c_char) -> Status {
    // SAFETY: the caller says so.
    let value = unsafe { read_name(value) }.unwrap_or(Cow::Borrowed("1")).into_owned();
    // SAFETY: the caller says so.
    unsafe {
        set(context, name, |options, name| {
            options.defines.push((name.to_owned(), value));
            Ok(())
        })
    }
}

/// Binds an attribute of links to come to a location, as `glBindAttribLocation` does.
///
/// # Safety
/// Pointers are null or valid; `name` has a NUL at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_bind_attribute(context: *mut Context, name: *const c_char, location: u32) -> Status {
    // SAFETY: the caller says so.
    unsafe {
        set(context, name, |options, name| {
            options.link.attributes.push((name.to_owned(), location));
            Ok(())
        })
    }
}

/// Sets a bound of the compiler; `eggshade_limit` lists them.
///
/// # Safety
/// Pointers are null or valid; `name` has a NUL at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_set_limit(context: *mut Context, name: *const c_char, value: usize) -> Status {
    let apply = |options: &mut Options, name: &str| {
        Setting::parse(&format!("{name}={value}")).map(|setting| setting.apply(options))
    };
    // SAFETY: the caller says so.
    unsafe { set(context, name, apply) }
}

/// Changes the options by a string.
///
/// # Safety
/// As [`with`]; `text` is null or has a NUL at the end.
unsafe fn set(
    context: *mut Context,
    text: *const c_char,
    change: impl FnOnce(&mut Options, &str) -> Result<(), String>,
) -> Status {
    // SAFETY: the caller says so.
    unsafe {
        with(context, |context| {
            let Some(text) = read_name(text) else { return context.say(Status::BadArgument, "a null string") };
            match change(&mut context.options, &text) {
                Ok(()) => context.say(Status::Ok, ""),
                Err(error) => context.say(Status::BadArgument, &error),
            }
        })
    }
}

/// Whether a text is legal by itself, as `glCompileShader` asks: `main` and the bodies of functions
/// may be in another text. `stage` is an `EggshadeStage`.
///
/// # Safety
/// Pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_check(context: *mut Context, stage: u32, text: *const Text) -> Status {
    // SAFETY: the caller says so.
    unsafe {
        with(context, |context| {
            let (Some(stage), Some(texts)) = (stage_of(stage), read_texts(text, 1)) else {
                return context.say(Status::BadArgument, "no such stage, or a null text");
            };
            let options = Options { stage: Some(stage), ..context.options.clone() };
            match eggshade::check_unit(&texts[0].0, &texts[0].1, &options) {
                Ok(unit) => context.say(Status::Ok, &diagnostics::render(&unit.sources, &unit.warnings)),
                Err(f) => context.say(f.status.into(), &diagnostics::render(&f.sources, &f.diagnostics)),
            }
        })
    }
}

/// Compiles the texts of one stage together. A single text whose name ends with `.tac` is three-address
/// code and tells its stage itself. On success `*out` is a program to be freed with
/// `eggshade_program_free`, else null.
///
/// # Safety
/// Pointers are null or valid; `texts` points to `count` texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_compile(
    context: *mut Context,
    stage: u32,
    texts: *const Text,
    count: usize,
    out: *mut *mut Program,
) -> Status {
    if out.is_null() {
        return Status::BadArgument;
    }
    // SAFETY: the caller says so.
    unsafe {
        *out = std::ptr::null_mut();
        with(context, |context| {
            let (Some(stage), Some(texts)) = (stage_of(stage), read_texts(texts, count)) else {
                return context.say(Status::BadArgument, "no such stage, or a null text");
            };
            let units: Vec<(&str, &str)> = texts.iter().map(|(n, t)| (n.as_ref(), t.as_ref())).collect();
            let options = Options { stage: Some(stage), ..context.options.clone() }.for_stage(stage);
            let result = eggshade::compile_units(&units, &options).and_then(|built| {
                let program = Program::of_stage(&built, &options)?;
                Ok((program, built.sources, built.warnings))
            });
            context.hand_over(result, out)
        })
    }
}

/// Compiles a vertex and a fragment shader as one program, each of one or more texts. On success `*out`
/// is a program to be freed with `eggshade_program_free`, else null.
///
/// # Safety
/// Pointers are null or valid; they point to as many texts as the counts say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_link(
    context: *mut Context,
    vertex: *const Text,
    vertex_count: usize,
    fragment: *const Text,
    fragment_count: usize,
    out: *mut *mut Program,
) -> Status {
    if out.is_null() {
        return Status::BadArgument;
    }
    // SAFETY: the caller says so.
    unsafe {
        *out = std::ptr::null_mut();
        with(context, |context| {
            let (Some(vertex), Some(fragment)) =
                (read_texts(vertex, vertex_count), read_texts(fragment, fragment_count))
            else {
                return context.say(Status::BadArgument, "a null text");
            };
            let [vertex, fragment] =
                [&vertex, &fragment].map(|t| t.iter().map(|(n, t)| (n.as_ref(), t.as_ref())).collect::<Vec<_>>());
            let options = context.options.clone();
            let result = eggshade::link_units([&vertex, &fragment], &options).and_then(|linked| {
                let program = Program::of_link(&linked, &options)?;
                let [mut first, second] = linked.stages;
                first.warnings.extend(second.warnings);
                Ok((program, second.sources, first.warnings))
            });
            context.hand_over(result, out)
        })
    }
}

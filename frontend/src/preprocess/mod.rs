//! The preprocessor: directives, macros and conditional groups.
//!
//! In: a source text (and, by a callback of the caller, the texts that it includes). Out: the
//! tokens that the parser reads, each with the span of its text, or of the macro's use where a
//! macro made it; plus the `#version`, the `#extension` lines and the known pragmas.
//!
//! Macro expansion is that of C without `#` and `##`: a stack of token lists (`macros.rs`), in
//! which a macro stays disabled while its own expansion is on the stack, and a name met in that
//! time is marked and never expanded again. Tokens are pulled one by one, so that an invocation
//! may span lines, directives and files.
//!
//! Follows the GLSL 1.10.59 and 1.20.8 specification, section 3.3, and ES 1.00.17, section 3.4; `#include`
//! is ours.

mod condition;
mod directive;
mod macros;
mod text;

pub(crate) use condition::parse_int;

pub use directive::KNOWN_EXTENSIONS;
pub use text::print_text;

use crate::ast::{ExtBehavior, Extension, Pragma, Version};
use crate::diags::Diags;
use crate::lexer::{self, Tok, Token};
use crate::{Limits, Options};
use bumpalo::Bump;
use directive::Conditional;
use ir::diag::{Diagnostic, FileId, SourceMap, Span, line_starts};
use macros::{Context, Macro, MacroKind};
use rustc_hash::FxHashMap;

/// What the preprocessor makes.
#[derive(Debug)]
pub struct Preprocessed<'a> {
    /// The language of the text.
    pub version: Version,
    /// The tokens, keywords told apart, ending with [`Tok::Eof`].
    pub tokens: Vec<Token<'a>>,
    /// The `#extension` lines in order.
    pub extensions: Vec<Extension<'a>>,
    /// The known pragmas in order.
    pub pragmas: Vec<Pragma>,
}

/// A text being read.
struct Frame<'a> {
    tokens: &'a [Token<'a>],
    pos: usize,
    file: FileId,
    at_line_start: bool,
    /// The value of `__FILE__`.
    source_string: i64,
    /// What `#line` adds to the line number.
    line_shift: i64,
    line_starts: Vec<u32>,
    /// How many conditionals were open when the file began.
    conditionals: usize,
    /// Whether the caller's definitions are read, which may define any name.
    trusted: bool,
}

pub(crate) struct Preprocessor<'a, 'r> {
    bump: &'a Bump,
    sources: &'r mut SourceMap,
    options: &'r Options<'r>,
    limits: Limits,
    diags: &'r mut Diags,
    version: Version,
    macros: FxHashMap<&'a str, Macro<'a>>,
    contexts: Vec<Context<'a>>,
    frames: Vec<Frame<'a>>,
    conditionals: Vec<Conditional>,
    extensions: Vec<Extension<'a>>,
    pragmas: Vec<Pragma>,
    /// How many tokens macros have made.
    expanded: usize,
    /// How many bytes of text were read.
    bytes: usize,
    /// Whether `defined` means something.
    in_condition: bool,
    /// Whether `#version` may still come.
    version_allowed: bool,
    /// Whether a token has reached the parser.
    any_token: bool,
}

/// Preprocesses the text of `file`.
pub(crate) fn preprocess<'a>(
    bump: &'a Bump,
    sources: &mut SourceMap,
    file: FileId,
    options: &Options<'_>,
    diags: &mut Diags,
) -> Preprocessed<'a> {
    let mut this = Preprocessor {
        bump,
        sources,
        options,
        limits: options.limits,
        diags,
        version: options.default_version,
        macros: FxHashMap::default(),
        contexts: Vec::new(),
        frames: Vec::new(),
        conditionals: Vec::new(),
        extensions: Vec::new(),
        pragmas: Vec::new(),
        expanded: 0,
        bytes: 0,
        in_condition: false,
        version_allowed: true,
        any_token: false,
    };
    let mut tokens = Vec::new();
    this.push_file(file, false);
    this.find_version();
    this.define_builtins();
    this.push_definitions();
    let mut end = Span::new(file, 0, 0);
    while let Some(token) = this.next_expanded() {
        if tokens.len() >= this.limits.tokens {
            let message = format!("more than {} tokens after preprocessing", this.limits.tokens);
            this.diags.fatal(this.limits.error("tokens", token.span, message));
            break;
        }
        tokens.push(token);
    }
    if let Some(last) = tokens.last() {
        end = Span { lo: last.span.hi, ..last.span };
    }
    let texture_3d = this.is_enabled("GL_OES_texture_3D");
    tokens.retain_mut(|token| this.finish(token, texture_3d));
    tokens.push(Token { tok: Tok::Eof, text: "", span: end, space_before: true, no_expand: false });
    Preprocessed { version: this.version, tokens, extensions: this.extensions, pragmas: this.pragmas }
}

impl<'a> Preprocessor<'a, '_> {
    /// Gives a token the kind that the parser sees; false when it is dropped after an error.
    fn finish(&mut self, token: &mut Token<'a>, texture_3d: bool) -> bool {
        let message = match token.tok {
            Tok::Ident => {
                token.tok = lexer::classify(token.text, self.version, texture_3d);
                return true;
            }
            Tok::Illegal | Tok::Str => format!("unexpected character {:?}", token.text.chars().next().unwrap_or(' ')),
            Tok::Hash | Tok::HashHash => format!("unexpected `{}`; a directive begins its line", token.text),
            _ => return true,
        };
        self.diags.push(Diagnostic::error("illegal-character", token.span, message));
        false
    }

    /// Begins to read a file.
    fn push_file(&mut self, file: FileId, trusted: bool) {
        let text = &self.sources.file(file).text;
        self.bytes += text.len();
        if self.bytes > self.limits.source_bytes {
            let message = format!("more than {} bytes of source text", self.limits.source_bytes);
            self.diags.fatal(self.limits.error("source", Span::new(file, 0, 0), message));
            return;
        }
        let line_starts = line_starts(text);
        let text = self.bump.alloc_str(text);
        let tokens = lexer::lex(self.bump, text, file, &self.limits, self.diags);
        self.frames.push(Frame {
            tokens: self.bump.alloc_slice_copy(&tokens),
            pos: 0,
            file,
            at_line_start: true,
            source_string: self.frames.len() as i64,
            line_shift: 0,
            line_starts,
            conditionals: self.conditionals.len(),
            trusted,
        });
    }

    /// Reads the caller's definitions as a text of their own, before the source.
    fn push_definitions(&mut self) {
        if self.options.defines.is_empty() {
            return;
        }
        let mut text = String::new();
        for (name, value) in &self.options.defines {
            let line = format!("#define {name} {value}").replace(['\n', '\r'], " ");
            text.push_str(&line);
            text.push('\n');
        }
        let file = self.sources.add("<definitions>", text);
        self.push_file(file, true);
    }

    /// Looks for the version before anything else, since it decides which names are predefined.
    fn find_version(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        let mut tokens = frame.tokens.iter().skip_while(|t| t.tok == Tok::Newline);
        if let (Some(Tok::Hash), Some("version"), Some(number)) =
            (tokens.next().map(|t| t.tok), tokens.next().map(|t| t.text), tokens.next())
        {
            let number = number.text.parse().ok().and_then(Version::from_number);
            self.version = number.unwrap_or(self.version);
        }
    }

    fn is_skipping(&self) -> bool {
        self.conditionals.last().is_some_and(|c| c.is_skipping())
    }

    /// The state of an extension after all lines so far.
    fn is_enabled(&self, name: &str) -> bool {
        let last = self.extensions.iter().rev().find(|e| e.name.text == name || e.name.text == "all");
        last.is_some_and(|e| e.behavior != ExtBehavior::Disable)
    }

    /// The next token of the files, directives obeyed; it is not taken yet.
    fn peek_file(&mut self) -> Option<Token<'a>> {
        loop {
            if self.diags.stopped() {
                return None;
            }
            let skipping = self.is_skipping();
            let frame = self.frames.last_mut()?;
            let token = frame.tokens[frame.pos];
            match token.tok {
                Tok::Newline => {
                    frame.pos += 1;
                    frame.at_line_start = true;
                }
                Tok::Eof => self.pop_file(),
                Tok::Hash if frame.at_line_start => self.directive(),
                _ if skipping => {
                    frame.at_line_start = false;
                    frame.pos += 1;
                }
                _ => {
                    frame.at_line_start = false;
                    self.version_allowed &= frame.trusted;
                    self.any_token = true;
                    return Some(token);
                }
            }
        }
    }

    fn pop_file(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        while self.conditionals.len() > frame.conditionals {
            let Some(open) = self.conditionals.pop() else { return };
            self.diags.push(Diagnostic::error("unterminated-conditional", open.span, "this group has no `#endif`"));
        }
    }

    /// The line of a place for `__LINE__`, as `#line` has set it.
    fn line_number(&self, span: Span) -> i64 {
        let Some(frame) = self.frames.iter().rev().find(|f| f.file == span.file) else { return 1 };
        frame.line_starts.partition_point(|&start| start <= span.lo) as i64 + frame.line_shift
    }

    fn define_builtins(&mut self) {
        let number = |this: &mut Self, name: &'static str, value: &'static str| {
            let span = Span::default();
            let token = Token { tok: Tok::Int, text: value, span, space_before: true, no_expand: false };
            let body = this.bump.alloc_slice_copy(&[(token, None)]);
            let kind = MacroKind::Object;
            this.macros.insert(name, Macro { kind, body, span, disabled: false, predefined: true });
        };
        for (name, kind) in
            [("__LINE__", MacroKind::Line), ("__FILE__", MacroKind::File), ("__VERSION__", MacroKind::Version)]
        {
            let span = Span::default();
            self.macros.insert(name, Macro { kind, body: &[], span, disabled: false, predefined: true });
        }
        if self.version.is_es() {
            number(self, "GL_ES", "1");
            number(self, "GL_FRAGMENT_PRECISION_HIGH", "1");
        }
        let es = self.version.is_es();
        for extension in KNOWN_EXTENSIONS.iter().filter(|e| e.es == es) {
            number(self, extension.name, "1");
        }
    }
}

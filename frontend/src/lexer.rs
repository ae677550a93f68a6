//! Text to tokens (logos).
//!
//! In: one source text. Out: its tokens with spans in that text, with line ends (which end a
//! directive) but without blanks and comments; those are kept as one flag on the token that follows. A
//! backslash before a line end joins the lines first, and the spans still point into the original.
//!
//! Words are all [`Tok::Ident`] here, since a macro may have any name; [`classify`] tells
//! keywords, types and reserved words apart after preprocessing, because the lists depend on
//! `#version`. Characters that no token begins with become [`Tok::Illegal`] and are reported only
//! where they reach the parser: an apostrophe in `#error don't` or in a skipped group is fine.

use crate::ast::{BuiltinType, SamplerKind, Version};
use crate::diags::Diags;
use crate::limits::Limits;
use bumpalo::Bump;
use ir::diag::{Diagnostic, FileId, Span, line_end};
use logos::Logos;

macro_rules! keywords {
    ($($variant:ident $text:literal),* $(,)?) => {
        /// Keywords that are not types.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Kw {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
        }

        impl Kw {
            /// As written.
            pub fn text(self) -> &'static str {
                match self { $(Kw::$variant => $text,)* }
            }

            fn from_text(text: &str) -> Option<Kw> {
                match text { $($text => Some(Kw::$variant),)* _ => None }
            }
        }
    };
}

keywords! {
    Attribute "attribute", Const "const", Uniform "uniform", Varying "varying", Centroid "centroid",
    Invariant "invariant", In "in", Out "out", InOut "inout", Lowp "lowp", Mediump "mediump",
    Highp "highp", Precision "precision", Struct "struct", Break "break", Continue "continue", Do "do",
    For "for", While "while", If "if", Else "else", Discard "discard", Return "return", True "true",
    False "false",
}

macro_rules! tokens {
    ($($variant:ident $text:literal),* $(,)?) => {
        /// What a token is.
        #[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
        #[logos(error = ())]
        pub enum Tok {
            $(#[doc = concat!("`", $text, "`")] #[token($text)] $variant,)*
            /// The end of a line.
            #[regex(r"\r\n|\n\r|\n|\r")]
            Newline,
            /// Blanks; never leaves the lexer.
            #[regex(r"[ \t\x0b\x0c]+")]
            Blank,
            /// A whole comment; never leaves the lexer.
            #[token("//", line_comment)]
            #[token("/*", block_comment)]
            Comment,
            /// A word.
            #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
            Ident,
            /// `12`, `0x1F`, `017`; a suffix is kept.
            #[regex(r"(0[xX][0-9A-Fa-f]+|[0-9]+)[uU]?", priority = 20)]
            Int,
            /// `1.`, `.5`, `1e3`, `1.5f`.
            #[regex(r"([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?([fF]|lf|LF)?", priority = 20)]
            #[regex(r"[0-9]+[eE][+-]?[0-9]+([fF]|lf|LF)?", priority = 20)]
            #[regex(r"[0-9]+[fF]", priority = 20)]
            Float,
            /// What begins as a number and is none.
            #[regex(r"\.?[0-9][A-Za-z0-9_.]*", priority = 5)]
            BadNumber,
            /// `"..."`, for `#include` only.
            #[regex("\"[^\"\n\r]*\"")]
            Str,
            /// A comment without its end.
            OpenComment,
            /// A character that no token begins with.
            Illegal,
            /// A keyword.
            Kw(Kw),
            /// A type's keyword.
            Type(BuiltinType),
            /// A word reserved for later versions.
            Reserved,
            /// After the last token.
            Eof,
        }

        impl Tok {
            /// The text of an operator or of punctuation.
            pub fn symbol(self) -> Option<&'static str> {
                match self { $(Tok::$variant => Some($text),)* _ => None }
            }
        }
    };
}

tokens! {
    LParen "(", RParen ")", LBracket "[", RBracket "]", LBrace "{", RBrace "}", Dot ".", Comma ",",
    Semi ";", Colon ":", Question "?", Plus "+", Minus "-", Star "*", Slash "/", Percent "%", Lt "<",
    Gt ">", Bang "!", Tilde "~", Caret "^", Amp "&", Pipe "|", Assign "=", PlusPlus "++",
    MinusMinus "--", Le "<=", Ge ">=", EqEq "==", Ne "!=", AndAnd "&&", OrOr "||", XorXor "^^",
    Shl "<<", Shr ">>", AddAssign "+=", SubAssign "-=", MulAssign "*=", DivAssign "/=",
    ModAssign "%=", ShlAssign "<<=", ShrAssign ">>=", AndAssign "&=", XorAssign "^=", OrAssign "|=",
    Hash "#", HashHash "##",
}

fn line_comment(lexer: &mut logos::Lexer<'_, Tok>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find(['\n', '\r']).unwrap_or(rest.len()));
}

fn block_comment(lexer: &mut logos::Lexer<'_, Tok>) -> Result<(), ()> {
    let rest = lexer.remainder();
    match rest.find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            Ok(())
        }
        None => {
            lexer.bump(rest.len());
            Err(())
        }
    }
}

/// One token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token<'a> {
    /// What it is.
    pub tok: Tok,
    /// Its text.
    pub text: &'a str,
    /// Where it is written; for a token that a macro made, where the macro is used.
    pub span: Span,
    /// Whether a blank, a comment or a line end stands before it.
    pub space_before: bool,
    /// Set on a macro's name inside its own expansion: it is not expanded again.
    pub no_expand: bool,
}

impl Token<'_> {
    /// The token's text for a message: `` `x` `` or `end of file`.
    pub fn describe(&self) -> String {
        match self.tok {
            Tok::Eof => "end of file".to_string(),
            Tok::Newline => "end of line".to_string(),
            _ => {
                let short: String = self.text.chars().take(40).collect();
                let cut = if short.len() < self.text.len() { "..." } else { "" };
                let what = match self.tok {
                    Tok::Kw(_) | Tok::Type(_) => "keyword ",
                    Tok::Reserved => "reserved word ",
                    _ => "",
                };
                format!("{what}`{short}{cut}`")
            }
        }
    }
}

/// Where the characters of a text without joined lines came from.
struct Splice<'a> {
    text: &'a str,
    /// Pairs (offset in `text`, offset in the original), growing; empty when nothing was joined.
    starts: Vec<(u32, u32)>,
}

impl<'a> Splice<'a> {
    fn new(bump: &'a Bump, original: &'a str) -> Splice<'a> {
        let bytes = original.as_bytes();
        let mut text = bumpalo::collections::String::new_in(bump);
        let mut starts = Vec::new();
        let mut from = 0;
        for (at, _) in original.match_indices('\\') {
            let end = line_end(bytes, at + 1);
            if end > 0 {
                starts.push((text.len() as u32, from as u32));
                text.push_str(&original[from..at]);
                from = at + 1 + end;
            }
        }
        if starts.is_empty() {
            return Splice { text: original, starts };
        }
        starts.push((text.len() as u32, from as u32));
        text.push_str(&original[from..]);
        Splice { text: text.into_bump_str(), starts }
    }

    fn original(&self, at: usize) -> usize {
        let at = at as u32;
        match self.starts.partition_point(|&(spliced, _)| spliced <= at) {
            0 => at as usize,
            n => (self.starts[n - 1].1 + (at - self.starts[n - 1].0)) as usize,
        }
    }
}

/// All tokens of a text, ending with [`Tok::Newline`] and [`Tok::Eof`].
pub fn lex<'a>(bump: &'a Bump, text: &'a str, file: FileId, limits: &Limits, diags: &mut Diags) -> Vec<Token<'a>> {
    let splice = Splice::new(bump, text);
    let mut tokens = Vec::with_capacity(splice.text.len() / 4 + 2);
    let mut lexer = Tok::lexer(splice.text);
    let mut space_before = true;
    let mut push = |tokens: &mut Vec<Token<'a>>, tok, text, span| {
        tokens.push(Token { tok, text, span, space_before, no_expand: false });
        space_before = tok == Tok::Newline;
    };
    let mut blank_since = false;
    while let Some(found) = lexer.next() {
        let range = lexer.span();
        let text = lexer.slice();
        // The last character decides the end: what follows may begin after a joined line.
        let span = Span::new(file, splice.original(range.start), splice.original(range.end - 1) + 1);
        let tok = match found {
            Ok(Tok::Blank | Tok::Comment) => {
                blank_since = true;
                continue;
            }
            Ok(tok) => tok,
            Err(()) if text.starts_with("/*") => Tok::OpenComment,
            // A byte order mark at the very start is no part of the text.
            Err(()) if text == "\u{feff}" && range.start == 0 => continue,
            Err(()) => Tok::Illegal,
        };
        if tok == Tok::OpenComment {
            let opening = Span { hi: span.lo + 2, ..span };
            diags.push(Diagnostic::error("unterminated-comment", opening, "this comment has no end"));
            break;
        }
        if tokens.len() >= limits.tokens {
            let message = format!("more than {} tokens in one file", limits.tokens);
            diags.fatal(limits.error("tokens", span, message));
            break;
        }
        if tok == Tok::Ident && text.len() > limits.identifier {
            let message = format!("an identifier of {} bytes; at most {} are allowed", text.len(), limits.identifier);
            diags.push(limits.error("identifier", span, message));
        }
        push(&mut tokens, tok, text, span);
        if std::mem::take(&mut blank_since)
            && let Some(last) = tokens.last_mut()
        {
            last.space_before = true;
        }
    }
    let end = Span::new(file, text.len(), text.len());
    push(&mut tokens, Tok::Newline, "", end);
    push(&mut tokens, Tok::Eof, "", end);
    tokens
}

/// Words reserved in every version.
const RESERVED: [&str; 47] = [
    "asm",
    "cast",
    "class",
    "default",
    "double",
    "dvec2",
    "dvec3",
    "dvec4",
    "enum",
    "extern",
    "external",
    "fixed",
    "fvec2",
    "fvec3",
    "fvec4",
    "goto",
    "half",
    "hvec2",
    "hvec3",
    "hvec4",
    "inline",
    "input",
    "interface",
    "long",
    "namespace",
    "noinline",
    "output",
    "packed",
    "public",
    "sampler1D",
    "sampler1DShadow",
    "sampler2DRect",
    "sampler2DRectShadow",
    "sampler2DShadow",
    "sampler3D",
    "sampler3DRect",
    "short",
    "sizeof",
    "static",
    "switch",
    "template",
    "this",
    "typedef",
    "union",
    "unsigned",
    "using",
    "volatile",
];

/// What a word is in a version; `texture_3d` is the state of GL_OES_texture_3D.
pub fn classify(word: &str, version: Version, texture_3d: bool) -> Tok {
    // Most words are plain names; their first letter and length already tell.
    if word.len() > 20 || !word.as_bytes()[0].is_ascii_lowercase() {
        return Tok::Ident;
    }
    if let Some(keyword) = Kw::from_text(word) {
        return match (keyword, version) {
            (Kw::Centroid, Version::Glsl120) => Tok::Kw(keyword),
            (Kw::Centroid, _) => Tok::Ident,
            (Kw::Invariant, Version::Glsl110) => Tok::Ident,
            (Kw::Lowp | Kw::Mediump | Kw::Highp | Kw::Precision, Version::Glsl110) => Tok::Ident,
            (Kw::Lowp | Kw::Mediump | Kw::Highp | Kw::Precision, Version::Glsl120) => Tok::Reserved,
            _ => Tok::Kw(keyword),
        };
    }
    if let Some(ty) = BuiltinType::from_keyword(word) {
        let known = match ty {
            BuiltinType::Matrix { .. } if word.len() > 4 => version == Version::Glsl120,
            BuiltinType::Sampler(SamplerKind::D2 | SamplerKind::Cube) => true,
            BuiltinType::Sampler(SamplerKind::D3) => !version.is_es() || texture_3d,
            BuiltinType::Sampler(_) => !version.is_es(),
            _ => true,
        };
        return match ty {
            _ if known => Tok::Type(ty),
            BuiltinType::Sampler(_) => Tok::Reserved,
            _ => Tok::Ident,
        };
    }
    match word {
        "flat" | "superp" if version.is_es() => Tok::Reserved,
        _ if RESERVED.contains(&word) => Tok::Reserved,
        _ => Tok::Ident,
    }
}

/// The kinds of tokens that the paper distinguishes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaperKind {
    /// A name.
    Identifier,
    /// An operator or punctuation.
    Operator,
    /// A word of the language.
    Keyword,
    /// A literal.
    Constant,
    /// White space.
    Blank,
}

impl PaperKind {
    /// The kind of a token that the parser sees.
    pub fn of(tok: Tok) -> PaperKind {
        match tok {
            Tok::Ident => PaperKind::Identifier,
            Tok::Kw(Kw::True | Kw::False) => PaperKind::Constant,
            Tok::Kw(_) | Tok::Type(_) | Tok::Reserved => PaperKind::Keyword,
            Tok::Int | Tok::Float | Tok::BadNumber => PaperKind::Constant,
            Tok::Newline | Tok::Blank | Tok::Comment | Tok::OpenComment | Tok::Eof => PaperKind::Blank,
            _ => PaperKind::Operator,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            PaperKind::Identifier => "identifier",
            PaperKind::Operator => "operator",
            PaperKind::Keyword => "keyword",
            PaperKind::Constant => "constant",
            PaperKind::Blank => "blank",
        }
    }
}

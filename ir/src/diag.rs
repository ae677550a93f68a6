//! Diagnostics: a message, a code, labelled spans and notes. Stages that read user text return
//! lists of them; the command line renders them with the source line and a caret.

use std::fmt;

/// A file in a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A half-open range of byte offsets in one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Span {
    /// Which file.
    pub file: FileId,
    /// First byte.
    pub lo: u32,
    /// One past the last byte.
    pub hi: u32,
}

impl Span {
    /// A span from `lo` up to `hi`.
    pub fn new(file: FileId, lo: usize, hi: usize) -> Span {
        Span { file, lo: lo as u32, hi: hi as u32 }
    }

    /// The smallest span around both (of the first one's file).
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// The program is legal.
    Warning,
    /// The program is not legal or exceeds a bound.
    Error,
}

/// A span with a short text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there; may be empty.
    pub text: String,
}

/// One finding about the user's input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// A stable kebab-case name, such as `undeclared-name`.
    pub code: &'static str,
    /// One sentence without a full stop.
    pub message: String,
    /// The first label is the main place.
    pub labels: Vec<Label>,
    /// Further remarks, such as the specification's section.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: vec![Label { span, text: String::new() }],
            notes: Vec::new(),
        }
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Adds a second place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a note.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// The main place.
    pub fn span(&self) -> Span {
        self.labels.first().map(|l| l.span).unwrap_or_default()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}[{}]: {}", self.code, self.message)
    }
}

/// How many bytes the line end at `at` has: a carriage return, a line feed, or one of each in either
/// order (GLSL 1.10 section 3.2); 0 where no line ends.
pub fn line_end(bytes: &[u8], at: usize) -> usize {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) | (Some(b'\n'), Some(b'\r')) => 2,
        (Some(b'\r' | b'\n'), _) => 1,
        _ => 0,
    }
}

/// Where the lines of a text start, the first at 0.
pub fn line_starts(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    let mut at = 0;
    while at < bytes.len() {
        let end = line_end(bytes, at);
        at += end.max(1);
        if end > 0 {
            starts.push(at as u32);
        }
    }
    starts
}

/// One source text with its name.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// As the user gave it.
    pub name: String,
    /// The whole text.
    pub text: String,
    line_starts: Vec<u32>,
}

/// All source texts of one compile.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        let line_starts = line_starts(&text);
        self.files.push(SourceFile { name: name.into(), text, line_starts });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file of an id.
    ///
    /// # Panics
    /// When the id is of another map.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, in the order of their ids.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Line and column of a span's start, both from 1; the column counts characters.
    pub fn line_col(&self, span: Span) -> (u32, u32) {
        let file = self.file(span.file);
        let line = file.line_starts.partition_point(|&s| s <= span.lo) - 1;
        let start = file.line_starts[line] as usize;
        let before = file.text.get(start..span.lo as usize).unwrap_or("");
        (line as u32 + 1, before.chars().count() as u32 + 1)
    }

    /// Line of a span's start, from 1; unlike [`SourceMap::line_col`] cheap on long lines too.
    pub fn line(&self, span: Span) -> u32 {
        self.file(span.file).line_starts.partition_point(|&s| s <= span.lo) as u32
    }

    /// Where a line (from 1) starts; the end of the text for a line that it has not.
    pub fn line_start(&self, file: FileId, line: u32) -> usize {
        let file = self.file(file);
        file.line_starts.get(line.max(1) as usize - 1).map_or(file.text.len(), |&start| start as usize)
    }

    /// The text of one line (from 1), without its end.
    pub fn line_text(&self, file: FileId, line: u32) -> &str {
        let file = self.file(file);
        let at = line.max(1) as usize - 1;
        let Some(&start) = file.line_starts.get(at) else { return "" };
        let end = file.line_starts.get(at + 1).map_or(file.text.len(), |&next| next as usize);
        file.text[start as usize..end].trim_end_matches(['\r', '\n'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_with_either_character_or_both() {
        let mut sources = SourceMap::new();
        let file = sources.add("test", "a\rb\nc\r\nd\n\re\r\rf");
        let lines: Vec<&str> = (1..=7).map(|line| sources.line_text(file, line)).collect();
        assert_eq!(lines, ["a", "b", "c", "d", "e", "", "f"]);
        assert_eq!(sources.line_text(file, 8), "");
        assert_eq!(sources.line_col(Span::new(file, 13, 14)), (7, 1));
    }
}

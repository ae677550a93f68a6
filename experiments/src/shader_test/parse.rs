//! The `.shader_test` format to sections: requirements, shader texts, vertex data, commands.
//!
//! In: a file's text. Out: a [`Script`], or why the file is not one. The format is piglit's
//! (`shader_runner`): a line `[name]` begins a section, what stands before the first one is a
//! comment; comments begin with `#` outside of shader texts, and requirements may have C comments.
//! Parentheses and commas between numbers mean nothing.

use super::command::{Command, Parsed};

/// Most numbers of a file's vertex data.
const MAX_VERTEX_NUMBERS: usize = 1 << 20;

/// The vertex shader of `[vertex shader passthrough]`.
const PASSTHROUGH: &str = "attribute vec4 piglit_vertex;\nvoid main() { gl_Position = piglit_vertex; }\n";

/// A file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// Lines of `[require]`, with their numbers.
    pub require: Vec<(usize, String)>,
    /// The vertex stage's texts, in order.
    pub vertex: Vec<String>,
    /// The fragment stage's texts.
    pub fragment: Vec<String>,
    /// `[vertex data]`.
    pub data: Option<VertexData>,
    /// Lines of `[test]`.
    pub commands: Vec<(usize, Command)>,
    /// Sections and commands that this runner does not know, the first ones of each kind.
    pub unknown: Vec<String>,
}

/// Attributes by vertex.
#[derive(Clone, PartialEq, Debug)]
pub struct VertexData {
    /// One entry a column group.
    pub columns: Vec<Column>,
    /// One row a vertex; as many vec4 as there are columns, filled up with 0, 0, 0, 1.
    pub rows: Vec<Vec<[f32; 4]>>,
}

/// An attribute of the vertex data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// The attribute's name.
    pub name: String,
    /// A matrix's column.
    pub elem: u32,
    /// Numbers that it takes.
    pub lanes: usize,
}

/// Reads a file.
///
/// # Errors
/// A sentence with the line's number.
pub fn parse(text: &str) -> Result<Script, String> {
    let mut script = Script::default();
    let mut section = String::new();
    let mut source = String::new();
    let mut data: Option<VertexData> = None;
    let mut in_comment = false;
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.trim_end().strip_suffix(']')) {
            script.end_shader(&section, &mut source);
            section = name.to_owned();
            script.begin_section(&section);
            continue;
        }
        let bare = line.trim();
        if section == "require" && (in_comment || bare.starts_with("/*")) {
            in_comment = !bare.ends_with("*/");
            continue;
        }
        match section.as_str() {
            "vertex shader" | "fragment shader" => {
                source.push_str(line);
                source.push('\n');
            }
            _ if bare.is_empty() || bare.starts_with('#') => {}
            "require" => script.require.push((number, bare.to_owned())),
            "vertex data" => {
                vertex_line(&mut data, bare).map_err(|e| format!("line {number}: {e}"))?;
            }
            "test" => match Command::parse(bare).map_err(|e| format!("line {number}: {e}"))? {
                Parsed::Known(command) => script.commands.push((number, command)),
                Parsed::Unknown => script.note_unknown(format!("command `{bare}`")),
            },
            // Before the first section people write comments of many kinds.
            _ => {}
        }
    }
    script.end_shader(&section, &mut source);
    script.data = data;
    if script.vertex.is_empty() && script.fragment.is_empty() {
        return Err("the file has no shader".to_owned());
    }
    Ok(script)
}

impl Script {
    fn begin_section(&mut self, section: &str) {
        match section {
            "require" | "vertex shader" | "fragment shader" | "vertex data" | "test" => {}
            "vertex shader passthrough" => self.vertex.push(PASSTHROUGH.to_owned()),
            other => self.note_unknown(format!("section [{other}]")),
        }
    }

    fn end_shader(&mut self, section: &str, source: &mut String) {
        let text = std::mem::take(source);
        match section {
            "vertex shader" => self.vertex.push(text),
            "fragment shader" => self.fragment.push(text),
            _ => {}
        }
    }

    fn note_unknown(&mut self, what: String) {
        if self.unknown.len() < 8 {
            self.unknown.push(what);
        }
    }
}

/// The first line names the attributes, each further one is a vertex.
fn vertex_line(data: &mut Option<VertexData>, line: &str) -> Result<(), String> {
    let Some(data) = data else {
        let columns = line.split_whitespace().map(column).collect::<Result<_, _>>()?;
        *data = Some(VertexData { columns, rows: Vec::new() });
        return Ok(());
    };
    let line = line.split('#').next().unwrap_or_default();
    let numbers: Vec<f32> = line.split_whitespace().map(number).collect::<Result<_, _>>()?;
    let wanted: usize = data.columns.iter().map(|c| c.lanes).sum();
    if numbers.len() != wanted {
        return Err(format!("a vertex of {wanted} numbers has {}", numbers.len()));
    }
    if (data.rows.len() + 1) * wanted > MAX_VERTEX_NUMBERS {
        return Err(format!("the vertex data has more than {MAX_VERTEX_NUMBERS} numbers"));
    }
    let mut rest = numbers.as_slice();
    let row = data.columns.iter().map(|c| {
        let (own, others) = rest.split_at(c.lanes);
        rest = others;
        let mut register = [0.0, 0.0, 0.0, 1.0];
        register[..own.len()].copy_from_slice(own);
        register
    });
    let row = row.collect();
    data.rows.push(row);
    Ok(())
}

/// `name/float/3`, `name/vec3/vec3`, and `name/float/3/1` for a matrix's column 1.
fn column(word: &str) -> Result<Column, String> {
    let bad = || format!("`{word}` is no vertex attribute of the form name/float/3");
    let mut parts = word.split('/');
    let (name, kind) = (parts.next().ok_or_else(bad)?, parts.next().ok_or_else(bad)?);
    let lanes_of = |kind: &str| match kind {
        "float" | "int" | "uint" => Some(1),
        _ => kind.trim_start_matches(['i', 'u']).strip_prefix("vec").and_then(|n| n.parse().ok()),
    };
    let third = parts.next().ok_or_else(bad)?;
    let lanes = third.parse().ok().or_else(|| lanes_of(third)).or_else(|| lanes_of(kind)).ok_or_else(bad)?;
    let elem = parts.next().map_or(Ok(0), |e| e.parse().map_err(|_| bad()))?;
    if name.is_empty() || !(1..=4).contains(&lanes) || elem > 3 {
        return Err(bad());
    }
    Ok(Column { name: name.to_owned(), elem, lanes })
}

/// A number as piglit writes them: decimal, or the bits of a float in hexadecimal. Some tests end
/// one with a semicolon, which `strtod` never sees.
pub fn number(word: &str) -> Result<f32, String> {
    let bad = |_| format!("`{word}` is no number");
    let word = word.strip_suffix(';').unwrap_or(word);
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(bits) => u32::from_str_radix(bits, 16).map(f32::from_bits).map_err(|_| bad(())),
        None => word.parse().map_err(|_| bad(())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_become_what_they_say() {
        let script = parse(
            "// a comment\n[require]\nGLSL >= 1.10\n/* so\n */\n[vertex shader passthrough]\n[fragment shader]\n#define X\nvoid main() {}\n\
             [vertex data]\npiglit_vertex/float/2 m/vec3/vec3/1\n1 2 3 4 5 # so\n[test]\nclear\n# no\nfly away\n",
        );
        let script = script.unwrap();
        assert_eq!(script.require, [(3, "GLSL >= 1.10".to_owned())]);
        assert_eq!(script.vertex, [PASSTHROUGH]);
        assert_eq!(script.fragment, ["#define X\nvoid main() {}\n"]);
        let data = script.data.unwrap();
        assert_eq!(data.columns[1], Column { name: "m".to_owned(), elem: 1, lanes: 3 });
        assert_eq!(data.rows, [[[1.0, 2.0, 0.0, 1.0], [3.0, 4.0, 5.0, 1.0]]]);
        assert_eq!(script.commands, [(14, Command::Clear)]);
        assert_eq!(script.unknown, ["command `fly away`"]);
    }

    #[test]
    fn malformed_files_are_told_with_their_line() {
        let error = |text: &str| parse(text).unwrap_err();
        assert!(error("x\n").contains("no shader"));
        assert!(error("").contains("no shader"));
        assert!(error("[vertex data]\nv/float/5\n").contains("line 2"));
        assert!(error("[vertex data]\nv/float/2\n1\n").contains("2 numbers has 1"));
        assert!(error("[vertex data]\nv/float/1\none\n").contains("`one` is no number"));
        assert!(error("[fragment shader]\n[test]\nprobe rgb 1 2\n").contains("line 3"));
    }

    #[test]
    fn numbers_may_be_bits() {
        assert_eq!(number("0x3f800000"), Ok(1.0));
        assert_eq!(number("-1.5e2;"), Ok(-150.0));
        assert!(number("0xzz").is_err());
    }
}

//! The text form of TAC, both ways, and the three-address tree.
//!
//! ```text
//! stage vert
//! version 110
//! entry main
//!
//! attribute vec4 my_Vertex                         ; line 1
//! uniform vec4 my_Matrix[4] cols 4 as "mat4"       ; line 2
//! output vec4 gl_Position
//! temp vec4 t1
//!
//! func main() {                                    ; line 3
//!   MUL t1.xyzw, my_Matrix[0].xyzw, my_Vertex.xxxx ; line 4
//!   ...
//! }
//! ```
//!
//! One item a line. A `;` starts a comment; the comment `line N` carries the source line. Names that
//! are not made of letters, digits, `_` and `.` are quoted. Every operand of a variable ends in a
//! swizzle (a write mask for destinations); an index stands in brackets, `[i.x + 3]` when relative.
//! Literals name their type: `vec2(1, -0.5)`; a lane may also be given by its bits, `0x7fc00000`.
//! Texture lookups end with the sampler and its shape: `TEX t.xyzw, uv.xy, image, 2D`.

mod parse;
mod print;
mod tree;

pub use parse::{parse, parse_within};
pub use print::print;
pub use tree::print_tree;

/// Words that start a line of the text form and so are quoted as names.
const RESERVED: [&str; 9] = ["func", "cols", "as", "invariant", "at", "centroid", "lowp", "mediump", "highp"];

/// Whether a name stands without quotes.
fn is_plain_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
        && !name.ends_with('.')
        && crate::types::Type::parse(name).is_none()
        && !RESERVED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::FileId;

    const SAMPLE: &str = r#"stage vert
version 120
entry main

attribute vec4 my_Vertex                                 ; line 1
uniform vec4 my_Matrix[4] cols 4 as "mat4"               ; line 2
uniform vec2 scale = vec2(1.5, -0.0)
uniform bool flag = bool(true)
uniform int n
sampler SHADOW2D float "image of \"x\""[2]
varying vec3 lights.position[3] at 2
varying vec2 uv invariant centroid
uniform float shared mediump
output vec4 gl_Position invariant
local ivec2 "vec3"
temp vec4 t1

func "f(vec3)"(t1, lights.position) {                    ; line 7
  MUL t1.xyzw, my_Matrix[0].xyzw, my_Vertex.xxxx         ; line 8
  LOOP
    IF flag.x
      BRK
    ELSE
      RET
    ENDIF
  ENDLOOP
  MOV "vec3".y, int(-3)
  MOV lights.position["vec3".y + 1].xz, vec4(1.0, 1e-7, 0x7fc00000, 16777216.0).ww
  MOV t1.xyzw, my_Matrix[n.x + 0].wzyx
  TXL t1.xyzw, t1.xyz, t1.w, "image of \"x\""[1], SHADOW2D
}

func main() {
  CAL "f(vec3)"
  ADD gl_Position.xyzw, t1.xyzw, vec4(1.0, 2.0, 3.0, 4.0) ; line 99
}
"#;

    #[test]
    fn text_reads_back_as_it_was_printed() {
        let program = parse(FileId::default(), SAMPLE).unwrap();
        assert_eq!(print(&program), SAMPLE);
        assert_eq!(crate::tac::verify::verify(&program), []);
    }

    #[test]
    fn errors_point_at_the_word() {
        let cases = [
            ("stage vert\nfunc main() {\n  MOV t.x, 1\n}", "t.x"),
            ("stage vert\ntemp vec2 t\nfunc main() {\n  MOV t.x, u.y\n}", "u.y"),
            ("stage vert\ntemp vec2 t\nfunc main() {\n  BLA t.x\n}", "BLA"),
            ("stage vert\ntemp vec2 t\nfunc main() {\n  MOV t.yx, t.xy\n}", "t.yx"),
            ("stage vert\ntemp vec2 t\nfunc main() {\n  LOAD t.x, t.x\n}", "LOAD"),
            ("stage vert\ntemp vec2 t[70000]\nfunc main() {\n}", "70000"),
            ("stage vert\nfunc main() {\n}\nfunc main() {\n}", "main"),
            ("stage vert\nfunc main() {\n", ""),
            ("stage vert\n}", "}"),
            ("stage vert\nfuncx", "funcx"),
        ];
        for (text, at) in cases {
            let error = parse(FileId::default(), text).unwrap_err();
            let span = error.span();
            assert_eq!(&text[span.lo as usize..span.hi as usize], at, "{error}");
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        // Cut the sample everywhere, and drop or double each byte.
        for i in 0..SAMPLE.len() {
            let (head, tail) = SAMPLE.split_at(i);
            let _ = parse(FileId::default(), head);
            let _ = parse(FileId::default(), &format!("{head}{}", &tail[1..]));
            let _ = parse(FileId::default(), &format!("{head}{}{tail}", &tail[..1]));
        }
        let _ = parse(FileId::default(), "func");
        let _ = parse(FileId::default(), "stage frag\nfunc\tmain() {\n}\u{a0}");
    }

    #[test]
    fn the_tree_walked_depth_first_is_the_code() {
        let text = "stage vert\nattribute vec4 v\nuniform vec4 m[2]\noutput vec4 o\ntemp vec4 a\ntemp vec4 b\n\
            uniform bool c\nfunc main() {\n  IF c.x\n    MUL a.xyzw, m[0].xyzw, v.xxxx\n    MUL b.xyzw, m[1].xyzw, v.yyyy\n    \
            ADD o.xyzw, a.xyzw, b.xyzw\n  ENDIF\n}\n";
        let program = parse(FileId::default(), text).unwrap();
        let expected = "\
function main
  IF
    c.x
  then
    ADD -> o.xyzw
      MUL -> a.xyzw as a.xyzw
        m[0].xyzw
        v.xxxx
      MUL -> b.xyzw as b.xyzw
        m[1].xyzw
        v.yyyy
";
        assert_eq!(print_tree(&program), expected);
    }
}

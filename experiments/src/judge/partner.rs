//! The other stage of a single shader, as GLSL: a vertex shader that writes every varying with
//! something that differs over the picture, a fragment shader that adds up every varying.

use super::inputs::SHIFT;
use eggshade::ir::entity::Var;
use eggshade::ir::tac::{Program, VarDecl, VarKind};
use eggshade::ir::types::{Scalar, Stage};
use std::fmt::Write as _;

/// The attribute of a shader without `gl_Vertex` that is the square's corner.
pub const VERTEX: &str = "judge_vertex";

/// Built-in varyings as the vertex stage writes and the fragment stage reads them.
const BUILT_IN: &[(&str, &str)] = &[
    ("gl_FrontColor", "gl_Color"),
    ("gl_FrontSecondaryColor", "gl_SecondaryColor"),
    ("gl_FogFragCoord", "gl_FogFragCoord"),
];

/// What a fragment shader reads without the vertex stage's help, and what a vertex shader writes that a
/// fragment shader sees only on back faces.
const ALONE: &[&str] = &["gl_FragCoord", "gl_FrontFacing", "gl_PointCoord", "gl_BackColor", "gl_BackSecondaryColor"];

/// The partner of `program`, or the varying that it has no way to write or read. `depth` says whether a
/// fragment shader may look at its place.
///
/// # Errors
/// The name of that varying.
pub fn partner(program: &Program, depth: bool) -> Result<String, String> {
    let es = program.version == 100;
    let mut declarations = String::from(match program.version {
        100 => "#version 100\nprecision highp float;\n",
        v if v >= 120 => "#version 120\n",
        _ => "",
    });
    let vertex = if es { VERTEX } else { "gl_Vertex" };
    let mut body = String::new();
    let written: Vec<Var> =
        program.funcs.values().flat_map(|f| &f.body).filter_map(|i| i.dst.as_ref()).map(|d| d.var).collect();
    let is_there = |var: &Var| program.stage == Stage::Fragment || written.contains(var);
    let varyings = program.vars.iter().filter(|(_, d)| d.kind == VarKind::Varying || is_built_in(d));
    for (_, decl) in varyings.filter(|(var, _)| is_there(var)) {
        for (n, place) in places(program.stage, decl)?.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = match program.stage {
                Stage::Fragment => {
                    writeln!(body, "  {place} = {};", from_position(decl, n, vertex))
                }
                Stage::Vertex => writeln!(body, "  judge_color += {};", to_color(decl, place)),
            };
        }
        if !decl.name.starts_with("gl_") {
            let (base, array) = decl.type_name.split_at(decl.type_name.find('[').unwrap_or(decl.type_name.len()));
            let _ = writeln!(declarations, "varying {base} {}{array};", decl.name);
        }
    }
    Ok(match program.stage {
        Stage::Fragment => {
            let attribute = if es { format!("attribute vec4 {VERTEX};\n") } else { String::new() };
            let _ = writeln!(declarations, "{attribute}uniform vec4 {SHIFT};");
            format!("{declarations}void main() {{\n  gl_Position = {vertex};\n{body}}}\n")
        }
        Stage::Vertex => format!(
            "{declarations}void main() {{\n  vec4 judge_color = vec4({});\n{body}  gl_FragColor = judge_color;\n}}\n",
            if depth { "gl_FragCoord.z" } else { "0.0" }
        ),
    })
}

/// A vertex shader whose `main` gives its position to a varying and draws the square where it is. A text
/// without `main` stays as it is.
pub fn position_as_varying(text: &str, es: bool) -> String {
    let is_word = |at: usize| {
        let boundary = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
        boundary(text[..at].chars().next_back()) && boundary(text[at + 4..].chars().next())
    };
    if !text.match_indices("main").any(|(at, _)| is_word(at)) {
        return text.to_owned();
    }
    // `#version` stays the first line that says anything
    let version = text.lines().position(|l| l.trim_start().starts_with("#version")).map_or(0, |n| n + 1);
    let (head, body): (Vec<&str>, Vec<&str>) =
        (text.lines().take(version).collect(), text.lines().skip(version).collect());
    let precision = if es { "highp " } else { "" };
    format!(
        "{}\n#define main judge_main\n{}\n#undef main\n\
         attribute {precision}vec4 {VERTEX};\nvarying {precision}vec4 judge_place;\n\
         void main() {{\n  judge_main();\n  judge_place = gl_Position;\n  gl_Position = {VERTEX};\n}}\n",
        head.join("\n"),
        body.join("\n")
    )
}

fn is_built_in(decl: &VarDecl) -> bool {
    BUILT_IN.iter().any(|(out, read)| decl.name == *out || decl.name == *read) || decl.name == "gl_TexCoord"
}

/// The places of a varying's elements in the partner's text.
fn places(stage: Stage, decl: &VarDecl) -> Result<Vec<String>, String> {
    if ALONE.contains(&decl.name.as_str()) {
        return Ok(Vec::new());
    }
    if decl.ty.scalar != Scalar::Float || decl.name.contains('.') {
        return Err(decl.name.clone());
    }
    let pair = BUILT_IN.iter().find(|(out, read)| decl.name == *out || decl.name == *read);
    let name = match (pair, stage) {
        (Some((out, _)), Stage::Fragment) => out,
        (Some((_, read)), Stage::Vertex) => read,
        (None, _) if decl.name.starts_with("gl_") && decl.name != "gl_TexCoord" => return Err(decl.name.clone()),
        (None, _) => decl.name.as_str(),
    };
    let is_array = decl.name == "gl_TexCoord" || decl.type_name.contains('[');
    let elems = if decl.name == "gl_TexCoord" { decl.elems.min(8) } else { decl.elems };
    let place = |n: u32| match (is_array, decl.cols) {
        (true, 1) => format!("{name}[{n}]"),
        (true, cols) => format!("{name}[{}][{}]", n / cols, n % cols),
        (false, 1) => name.to_owned(),
        (false, _) => format!("{name}[{n}]"),
    };
    Ok((0..elems).map(place).collect())
}

/// Something between 0.2 and 0.8 that differs by lane and element.
fn from_position(decl: &VarDecl, n: usize, vertex: &str) -> String {
    let shift = (decl.name.bytes().map(u32::from).sum::<u32>() + n as u32) % 5;
    let all = format!(
        "vec4(0.5, 0.45, 0.55, 0.6) + vec4(0.2, 0.1, -0.1, 0.05) * {vertex}.xyxy + vec4(0.02 * {shift}.0) + {SHIFT}"
    );
    let lanes = &"xyzw"[..usize::from(decl.ty.lanes)];
    format!("({all}).{lanes}")
}

fn to_color(decl: &VarDecl, place: &str) -> String {
    let rest = ["", ", 0.0, 0.0, 0.0", ", 0.0, 0.0", ", 0.0", ""][usize::from(decl.ty.lanes.min(4))];
    format!("vec4({place}{rest})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_main_is_wrapped() {
        let text = "#version 120\nvoid main() { gl_Position = vec4(9.0); }";
        let wrapped = position_as_varying(text, false);
        assert!(wrapped.starts_with("#version 120\n#define main judge_main\nvoid main()"), "{wrapped}");
        assert!(wrapped.contains("gl_Position = judge_vertex;"));
        assert_eq!(position_as_varying("float domain() { return 1.0; }", false), "float domain() { return 1.0; }");
    }
}

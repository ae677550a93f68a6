//! The other stage of a single shader, as GLSL: a vertex shader that writes every varying with
//! something that differs over the picture, a fragment shader that adds up every varying.

use eggshade::ir::tac::{Program, VarDecl, VarKind};
use eggshade::ir::types::{Scalar, Stage};
use std::fmt::Write as _;

/// Built-in varyings as the vertex stage writes and the fragment stage reads them.
const BUILT_IN: &[(&str, &str)] = &[
    ("gl_FrontColor", "gl_Color"),
    ("gl_FrontSecondaryColor", "gl_SecondaryColor"),
    ("gl_FogFragCoord", "gl_FogFragCoord"),
];

/// The partner of `program`, or the varying that it has no way to write or read.
///
/// # Errors
/// The name of that varying.
pub fn partner(program: &Program) -> Result<String, String> {
    let version = if program.version >= 120 && program.version != 100 { "#version 120\n" } else { "" };
    let mut declarations = String::from(version);
    let mut body = String::new();
    for decl in program.vars.values().filter(|d| d.kind == VarKind::Varying || is_built_in(d)) {
        for (n, place) in places(program.stage, decl)?.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = match program.stage {
                Stage::Fragment => {
                    writeln!(body, "  {place} = {};", from_position(decl, n))
                }
                Stage::Vertex => writeln!(body, "  color += {};", to_color(decl, place)),
            };
        }
        if !decl.name.starts_with("gl_") {
            let (base, array) = decl.type_name.split_at(decl.type_name.find('[').unwrap_or(decl.type_name.len()));
            let _ = writeln!(declarations, "varying {base} {}{array};", decl.name);
        }
    }
    Ok(match program.stage {
        Stage::Fragment => format!("{declarations}void main() {{\n  gl_Position = gl_Vertex;\n{body}}}\n"),
        Stage::Vertex => format!(
            "{declarations}void main() {{\n  vec4 color = vec4(gl_FragCoord.z);\n{body}  gl_FragColor = color;\n}}\n"
        ),
    })
}

fn is_built_in(decl: &VarDecl) -> bool {
    BUILT_IN.iter().any(|(out, read)| decl.name == *out || decl.name == *read) || decl.name == "gl_TexCoord"
}

/// The places of a varying's elements in the partner's text.
fn places(stage: Stage, decl: &VarDecl) -> Result<Vec<String>, String> {
    if decl.cols > 1 || decl.ty.scalar != Scalar::Float || decl.name.contains('.') {
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
    Ok(match is_array {
        true => (0..decl.elems.min(8)).map(|n| format!("{name}[{n}]")).collect(),
        false => vec![name.to_owned()],
    })
}

/// Something between 0.2 and 0.8 that differs by lane and element.
fn from_position(decl: &VarDecl, n: usize) -> String {
    let shift = (decl.name.bytes().map(u32::from).sum::<u32>() + n as u32) % 5;
    let all =
        format!("vec4(0.5, 0.45, 0.55, 0.6) + vec4(0.2, 0.1, -0.1, 0.05) * gl_Vertex.xyxy + vec4(0.02 * {shift}.0)");
    let lanes = &"xyzw"[..usize::from(decl.ty.lanes)];
    format!("({all}).{lanes}")
}

fn to_color(decl: &VarDecl, place: &str) -> String {
    let rest = ["", ", 0.0, 0.0, 0.0", ", 0.0, 0.0", ", 0.0", ""][usize::from(decl.ty.lanes.min(4))];
    format!("vec4({place}{rest})")
}

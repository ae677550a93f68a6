//! What the outside calls an input or output: the fixed-function stage's word, or a number that both
//! sides of a link agree on.
//!
//! A variable whose location the linker or a caller fixed has that number. The others get the lowest
//! that is free, in order of declaration, and none that aliases a built-in in use: OpenGL's generic
//! attributes 0, 2, 3, 4, 5 and 8 up are other names of position, normal, the colours, the fog
//! coordinate and the texture coordinates (ARB_vertex_program, table X.2), and a varying shares the
//! interpolators with `gl_TexCoord`.

use ir::entity::Var;
use ir::func::Function;
use ir::tac::interface::first_free_run;
use ir::types::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// The generic attribute that a built-in one is another name of.
fn alias(name: &str) -> Option<u32> {
    match name {
        "gl_Vertex" => Some(0),
        "gl_Normal" => Some(2),
        "gl_Color" => Some(3),
        "gl_SecondaryColor" => Some(4),
        "gl_FogCoord" => Some(5),
        _ => name.strip_prefix("gl_MultiTexCoord")?.parse::<u32>().ok().map(|unit| 8 + unit),
    }
}

/// The word for each element of `bound`; all are inputs or all are outputs.
pub(super) fn words(func: &Function<'_>, bound: &BTreeMap<(Var, u32), u32>, output: bool) -> Vec<String> {
    let attribute = func.stage == Stage::Vertex && !output;
    let mut taken = BTreeSet::new();
    for &(var, elem) in bound.keys() {
        let decl = &func.vars[var];
        match decl.location {
            Some(first) => taken.extend(first..first.saturating_add(decl.elems)),
            None if attribute => taken.extend(alias(&decl.name)),
            None if decl.name == "gl_TexCoord" => taken.extend([elem]),
            None => {}
        }
    }
    let mut first: BTreeMap<Var, u32> = BTreeMap::new();
    let mut number = |var: Var| {
        *first.entry(var).or_insert_with(|| {
            let decl = &func.vars[var];
            decl.location.unwrap_or_else(|| {
                let run = first_free_run(&taken, decl.elems);
                taken.extend(run..run + decl.elems);
                run
            })
        })
    };
    let word = |&(var, elem): &(Var, u32)| {
        let name = func.vars[var].name.as_str();
        match built_in(name, elem, attribute) {
            Some(word) => word,
            None if attribute => format!("generic{}", number(var) + elem),
            None => format!("varying{}", number(var) + elem),
        }
    };
    bound.keys().map(word).collect()
}

/// The word for a built-in variable.
fn built_in(name: &str, elem: u32, attribute: bool) -> Option<String> {
    let word = match name {
        "gl_Position" | "gl_Vertex" | "gl_FragCoord" => "position",
        "gl_Normal" => "normal",
        "gl_FrontColor" | "gl_FragColor" | "gl_Color" => "color0",
        "gl_SecondaryColor" | "gl_FrontSecondaryColor" => "color1",
        "gl_BackColor" => "backcolor0",
        "gl_BackSecondaryColor" => "backcolor1",
        "gl_FogCoord" | "gl_FogFragCoord" => "fogcoord",
        "gl_PointSize" => "pointsize",
        "gl_ClipVertex" => "clipvertex",
        "gl_PointCoord" => "pointcoord",
        "gl_FrontFacing" => "facing",
        "gl_FragDepth" => "depth",
        "gl_FragData" => return Some(format!("color{elem}")),
        "gl_TexCoord" => return Some(format!("texcoord{elem}")),
        _ if attribute => return name.strip_prefix("gl_MultiTexCoord").map(|unit| format!("texcoord{unit}")),
        _ => return None,
    };
    Some(word.to_owned())
}

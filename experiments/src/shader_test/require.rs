//! Which of a test's requirements this compiler and simulator meet.

use super::command::UNITS;
use eggshade::Options;
use eggshade::ir::types::Stage;

/// Extensions of the language that the front end knows.
const EXTENSIONS: [&str; 7] = [
    "GL_ARB_draw_buffers",
    "GL_ARB_shader_objects",
    "GL_ARB_shader_texture_lod",
    "GL_ARB_shading_language_100",
    "GL_ARB_texture_rectangle",
    "GL_ARB_vertex_shader",
    "GL_OES_standard_derivatives",
];

/// Longest side of the window.
const MAX_WINDOW: u32 = 2048;

/// What the requirements mean for the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// Texts without `#version` are GLSL ES 1.00.
    pub embedded: bool,
    /// The window.
    pub size: [u32; 2],
}

/// Reads the lines of `[require]`.
///
/// # Errors
/// The first one that is not met.
pub fn check(lines: &[(usize, String)], options: &Options) -> Result<Needs, String> {
    let mut needs = Needs { embedded: false, size: [250, 250] };
    for (_, line) in lines {
        let unmet = || format!("requires `{line}`");
        let words: Vec<&str> = line.split_whitespace().collect();
        let met = match words.as_slice() {
            ["GLSL", "ES", relation, version] => {
                needs.embedded = true;
                holds(1.00, relation, version)
            }
            ["GL", "ES", relation, version] => {
                needs.embedded = true;
                holds(2.0, relation, version)
            }
            // A relation with the highest version: of `<` and the like a lower one would do too, but
            // nothing that is tested here changed between 1.10 and 1.20.
            ["GLSL", relation, version] => holds(1.20, relation, version) || holds(1.10, relation, version),
            ["GL", relation, version] => holds(2.1, relation, version),
            ["SIZE", width, height] => {
                let side = |word: &str| word.parse().ok().filter(|s| (1..=MAX_WINDOW).contains(s));
                match (side(width), side(height)) {
                    (Some(width), Some(height)) => {
                        needs.size = [width, height];
                        true
                    }
                    _ => false,
                }
            }
            // A cap on memory: the compiler has bounds of its own.
            ["rlimit", _] | ["depthbuffer"] | ["depth"] => true,
            [name, relation, number] if name.starts_with("GL_MAX_") => {
                limit(name, options).is_some_and(|have| holds(f64::from(have), relation, number))
            }
            [name] => has_extension(name),
            _ => false,
        };
        if !met {
            return Err(unmet());
        }
    }
    Ok(needs)
}

/// Whether the front end knows an extension.
pub fn has_extension(name: &str) -> bool {
    EXTENSIONS.iter().any(|e| e.eq_ignore_ascii_case(name))
}

fn holds(have: f64, relation: &str, wanted: &str) -> bool {
    let Ok(wanted) = wanted.parse::<f64>() else { return false };
    match relation {
        ">=" => have >= wanted,
        ">" => have > wanted,
        "<=" => have <= wanted,
        "<" => have < wanted,
        "=" | "==" => have == wanted,
        "!=" => have != wanted,
        _ => false,
    }
}

/// What a `glGet` of the limit gives.
fn limit(name: &str, options: &Options) -> Option<u32> {
    let registers = &options.target.registers;
    let fragment = &options.for_stage(Stage::Fragment).target;
    let varyings = fragment.limits.coordinates.unwrap_or(fragment.registers.input.count);
    Some(match name {
        "GL_MAX_VARYING_COMPONENTS" | "GL_MAX_VARYING_FLOATS" => varyings * 4,
        "GL_MAX_VARYING_VECTORS" => varyings,
        "GL_MAX_VERTEX_ATTRIBS" => registers.input.count,
        "GL_MAX_FRAGMENT_UNIFORM_COMPONENTS" | "GL_MAX_VERTEX_UNIFORM_COMPONENTS" => registers.constant.count * 4,
        "GL_MAX_FRAGMENT_UNIFORM_VECTORS" | "GL_MAX_VERTEX_UNIFORM_VECTORS" => registers.constant.count,
        "GL_MAX_VERTEX_TEXTURE_IMAGE_UNITS" => registers.sampler.count.min(UNITS as u32),
        "GL_MAX_TEXTURE_IMAGE_UNITS" | "GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS" => {
            fragment.registers.sampler.count.min(UNITS as u32)
        }
        "GL_MAX_TEXTURE_COORDS" | "GL_MAX_CLIP_PLANES" => 8,
        "GL_MAX_DRAW_BUFFERS" => 1,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_lines(lines: &[&str]) -> Result<Needs, String> {
        let lines: Vec<_> = lines.iter().map(|l| (1, l.to_string())).collect();
        let target = eggshade::resolve_target("vec4").unwrap();
        check(&lines, &Options::new(target, eggshade::resolve_pipeline("none").unwrap()))
    }

    #[test]
    fn requirements_are_met_or_named() {
        assert_eq!(check_lines(&["GLSL >= 1.10", "SIZE 20 30"]), Ok(Needs { embedded: false, size: [20, 30] }));
        assert!(check_lines(&["GL ES >= 2.0", "GLSL ES >= 1.00"]).unwrap().embedded);
        assert!(check_lines(&["GL_MAX_VARYING_COMPONENTS >= 60", "rlimit 1", "GL_ARB_draw_buffers"]).is_ok());
        for line in ["GLSL >= 1.30", "SIZE 0 1", "GL_MAX_VARYING_COMPONENTS >= 400", "GL_NV_nothing", "what is this"] {
            assert_eq!(check_lines(&[line]), Err(format!("requires `{line}`")));
        }
    }
}

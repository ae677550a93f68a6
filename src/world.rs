//! What a shader meets when it runs: uniforms and inputs that the user set by name, OpenGL's state
//! for the rest, and textures.

use crate::render::state::GlState;
use backend::sim::texture::Texture;
use ir::env::Lod;
use ir::tac::{Program, VarKind};
use ir::types::Stage;
use std::collections::BTreeMap;

/// Values given as text: `name=1,2,3` or `name[2]=1,2,3`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings {
    rows: Vec<Setting>,
}

#[derive(Clone, PartialEq, Debug)]
struct Setting {
    name: String,
    item: Option<u32>,
    values: Vec<f32>,
    used: std::cell::Cell<bool>,
}

impl Settings {
    /// Parses a list of settings.
    ///
    /// # Errors
    /// The first one that is not of this form.
    pub fn parse(texts: &[String]) -> Result<Settings, String> {
        texts.iter().map(|t| parse_setting(t)).collect::<Result<_, _>>().map(|rows| Settings { rows })
    }

    /// The registers that the settings mean in a program: by variable name and element, in
    /// `values`. A setting of an array or a matrix fills its elements one after the other.
    ///
    /// # Errors
    /// When a setting names what cannot be set, has more numbers than its variable, or names an
    /// element that it has not.
    pub fn apply(&self, program: &Program, values: &mut BTreeMap<(String, u32), [f32; 4]>) -> Result<(), String> {
        for decl in program.vars.values() {
            for (elem, init) in decl.init.iter().enumerate() {
                values.insert((decl.name.clone(), elem as u32), init.bits.map(f32::from_bits));
            }
            for row in self.rows.iter().filter(|r| r.name == decl.name) {
                match decl.kind {
                    VarKind::Uniform | VarKind::Attribute => {}
                    VarKind::Varying if program.stage == Stage::Fragment => {}
                    VarKind::Sampler { .. } => return Err(format!("{} is a sampler; --texture sets it", row.name)),
                    _ => continue,
                }
                row.used.set(true);
                let lanes = usize::from(decl.ty.lanes);
                let first = row.item.unwrap_or(0).saturating_mul(decl.cols);
                let room = decl.elems.saturating_sub(first) as usize * lanes;
                if row.values.len() > room {
                    return Err(format!("{}: {} numbers for {room} lanes", row.name, row.values.len()));
                }
                for (i, chunk) in row.values.chunks(lanes).enumerate() {
                    let mut register = [0.0; 4];
                    register[..chunk.len()].copy_from_slice(chunk);
                    values.insert((decl.name.clone(), first + i as u32), register);
                }
            }
        }
        Ok(())
    }

    /// The first setting that no program took.
    pub fn unused(&self) -> Option<&str> {
        self.rows.iter().find(|r| !r.used.get()).map(|r| r.name.as_str())
    }
}

fn parse_setting(text: &str) -> Result<Setting, String> {
    let bad = || format!("`{text}` is not of the form name=1,2,3 or name[2]=1,2,3");
    let (name, numbers) = text.split_once('=').ok_or_else(bad)?;
    let (name, item) = match name.strip_suffix(']').and_then(|n| n.rsplit_once('[')) {
        Some((name, item)) => (name, Some(item.parse().map_err(|_| bad())?)),
        None => (name, None),
    };
    let values = numbers.split(',').map(|n| match n.trim() {
        "true" => Ok(1.0),
        "false" => Ok(0.0),
        n => n.parse().map_err(|_| bad()),
    });
    let values = values.collect::<Result<_, _>>()?;
    Ok(Setting { name: name.trim().to_owned(), item, values, used: false.into() })
}

/// All that is the same for every invocation.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// By variable name and element.
    pub values: BTreeMap<(String, u32), [f32; 4]>,
    /// For names that start with `gl_`.
    pub gl: GlState,
    /// By sampler name; a missing one reads as opaque black, as OpenGL has it for an incomplete
    /// texture.
    pub textures: BTreeMap<String, Texture>,
}

impl World {
    /// A value that was set.
    pub fn value(&self, name: &str, elem: u32) -> Option<[f32; 4]> {
        // A BTreeMap of pairs cannot be asked with a borrowed name without allocating; this runs
        // once a register, not once an invocation.
        self.values.get(&(name.to_owned(), elem)).copied()
    }

    /// A uniform: what was set, else OpenGL's state, else 0.
    pub fn uniform(&self, name: &str, elem: u32) -> [f32; 4] {
        self.value(name, elem).or_else(|| self.gl.uniform(name, elem)).unwrap_or([0.0; 4])
    }

    /// A texture lookup.
    pub fn texture(&self, name: &str, coords: [f32; 4], lod: Lod) -> [f32; 4] {
        self.textures.get(name).map_or([0.0, 0.0, 0.0, 1.0], |t| t.lookup(coords, lod))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::tac::VarDecl;
    use ir::types::Type;

    fn program() -> Program {
        let mut vars = cranelift_entity::PrimaryMap::new();
        let mut matrices = VarDecl::new("m", VarKind::Uniform, Type::float(3)).array(6);
        matrices.cols = 3;
        vars.push(matrices);
        vars.push(VarDecl::new("k", VarKind::Uniform, Type::FLOAT));
        vars.push(VarDecl::new("l", VarKind::Local, Type::FLOAT));
        Program { stage: Stage::Vertex, version: 110, vars, funcs: Default::default(), main: ir::FuncId::from_u32(0) }
    }

    fn apply(texts: &[&str]) -> Result<BTreeMap<(String, u32), [f32; 4]>, String> {
        let texts: Vec<String> = texts.iter().map(|t| t.to_string()).collect();
        let settings = Settings::parse(&texts)?;
        let mut values = BTreeMap::new();
        settings.apply(&program(), &mut values)?;
        settings.unused().map_or(Ok(values), |name| Err(format!("{name} is unused")))
    }

    #[test]
    fn numbers_fill_columns_of_the_named_matrix() {
        let values = apply(&["m[1]=1,2,3,4,5,6", "k=true"]).unwrap();
        assert_eq!(values[&("m".to_owned(), 3)], [1.0, 2.0, 3.0, 0.0]);
        assert_eq!(values[&("m".to_owned(), 4)], [4.0, 5.0, 6.0, 0.0]);
        assert_eq!(values[&("k".to_owned(), 0)][0], 1.0);
    }

    #[test]
    fn what_does_not_fit_is_told() {
        assert!(apply(&["k=1,2"]).unwrap_err().contains("2 numbers for 1 lanes"));
        assert!(apply(&["m[2]=1"]).is_err());
        assert!(apply(&["z=1"]).unwrap_err().contains("unused"));
        assert!(apply(&["l=1"]).unwrap_err().contains("unused"), "a local is no input");
        assert!(apply(&["k"]).is_err() && apply(&["k=a"]).is_err() && apply(&["m[x]=1"]).is_err());
    }
}

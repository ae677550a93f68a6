//! The texture reads (GLSL 1.10 section 8.7, GL_ARB_texture_rectangle,
//! GL_ARB_shader_texture_lod, GL_EXT_shader_texture_lod). Names are taken apart:
//! `texture2DProjLod` is kind, `Proj`, `Lod`.

use super::{BuiltinFn, Features, Signature, TexFn, TexLevel};
use crate::ast::SamplerKind;
use crate::typed::Ty;
use ir::types::Stage;

const KINDS: &[(&str, SamplerKind)] = &[
    ("texture1D", SamplerKind::D1),
    ("texture2D", SamplerKind::D2),
    ("texture3D", SamplerKind::D3),
    ("textureCube", SamplerKind::Cube),
    ("shadow1D", SamplerKind::D1Shadow),
    ("shadow2D", SamplerKind::D2Shadow),
    ("texture2DRect", SamplerKind::Rect),
    ("shadow2DRect", SamplerKind::RectShadow),
];

/// Ending, whether it divides, whether it takes a level, whether it is the ES extension's name.
const ENDINGS: &[(&str, bool, bool, bool)] = &[
    ("", false, false, false),
    ("Proj", true, false, false),
    ("Lod", false, true, false),
    ("ProjLod", true, true, false),
    ("LodEXT", false, true, true),
    ("ProjLodEXT", true, true, true),
];

struct Parts {
    kind: SamplerKind,
    proj: bool,
    lod: bool,
    ext: bool,
}

fn parts(name: &str) -> Option<Parts> {
    KINDS.iter().find_map(|&(start, kind)| {
        let end = name.strip_prefix(start)?;
        let &(_, proj, lod, ext) = ENDINGS.iter().find(|e| e.0 == end)?;
        let never = match kind {
            SamplerKind::Rect | SamplerKind::RectShadow => lod,
            SamplerKind::Cube => proj,
            SamplerKind::D2 => false,
            _ => ext,
        };
        (!never).then_some(Parts { kind, proj, lod, ext })
    })
}

/// Whether the name is a texture read anywhere.
pub(super) fn is_name(name: &str) -> bool {
    parts(name).is_some()
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = String> {
    KINDS.iter().flat_map(|k| ENDINGS.iter().map(move |e| format!("{}{}", k.0, e.0))).filter(|n| is_name(n))
}

/// The name of a read, for dumps.
pub(super) fn name_of(t: TexFn) -> String {
    let start = KINDS.iter().find(|k| k.1 == t.kind).map_or("texture", |k| k.0);
    let proj = if t.proj { "Proj" } else { "" };
    let lod = if t.level == TexLevel::Lod { "Lod" } else { "" };
    format!("{start}{proj}{lod}")
}

/// How many lanes the coordinates may have.
fn coords(kind: SamplerKind, proj: bool) -> &'static [u8] {
    use SamplerKind::*;
    match (kind, proj) {
        (D1, false) => &[1],
        (D1, true) => &[2, 4],
        (D2 | Rect, false) => &[2],
        (D2 | Rect, true) => &[3, 4],
        (D3, true) | (D1Shadow | D2Shadow | RectShadow, true) => &[4],
        (D3 | Cube, _) | (D1Shadow | D2Shadow | RectShadow, false) => &[3],
    }
}

/// The overloads of a name that exist here.
pub(super) fn overloads(name: &str, f: &Features) -> Vec<Signature> {
    let Some(p) = parts(name) else { return Vec::new() };
    let es = f.version.is_es();
    let rect = matches!(p.kind, SamplerKind::Rect | SamplerKind::RectShadow);
    let here = match (p.kind, p.ext) {
        _ if rect => f.rectangle,
        (SamplerKind::D2 | SamplerKind::Cube, true) => es && f.texture_lod && f.stage == Stage::Fragment,
        (SamplerKind::D2 | SamplerKind::Cube, false) => !p.lod || f.stage == Stage::Vertex || (f.texture_lod && !es),
        _ => !es && (!p.lod || f.stage == Stage::Vertex || f.texture_lod),
    };
    if !here {
        return Vec::new();
    }
    let mut out = Vec::new();
    for &lanes in coords(p.kind, p.proj) {
        let params = [Ty::Sampler(p.kind), Ty::float(lanes)];
        let sig = |level, extra: bool| Signature {
            func: BuiltinFn::Texture(TexFn { kind: p.kind, proj: p.proj, level }),
            result: Ty::float(4),
            params: params.iter().copied().chain(extra.then_some(Ty::FLOAT)).collect(),
        };
        if p.lod {
            out.push(sig(TexLevel::Lod, true));
        } else {
            out.push(sig(TexLevel::Auto, false));
            if f.stage == Stage::Fragment && !rect {
                out.push(sig(TexLevel::Bias, true));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Version;

    #[test]
    fn reads_exist_where_the_specification_has_them() {
        let frag = Features::new(Version::Glsl110, Stage::Fragment, &[]);
        let vert = Features { stage: Stage::Vertex, ..frag };
        assert_eq!(overloads("texture2D", &frag).len(), 2);
        assert_eq!(overloads("texture2DProj", &frag).len(), 4);
        assert_eq!(overloads("texture2D", &vert).len(), 1);
        assert_eq!(overloads("texture2DLod", &frag).len(), 0);
        assert_eq!(overloads("texture2DLod", &vert).len(), 1);
        assert_eq!(overloads("texture2DRect", &frag).len(), 1);
        assert!(overloads("textureCubeProj", &frag).is_empty());
        let lod = Features { texture_lod: true, ..frag };
        assert_eq!(overloads("texture2DProjLod", &lod).len(), 2);
        let es = Features { texture_lod: true, ..Features::new(Version::Es100, Stage::Fragment, &[]) };
        assert_eq!(overloads("texture2DLodEXT", &es).len(), 1);
        assert!(overloads("texture3D", &es).is_empty());
    }
}

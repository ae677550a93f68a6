//! Two stages as one program: packed varyings draw the same picture, both stages name one location,
//! attributes stand where they are bound, and what cannot be linked is an error of its own.

use eggshade::backend::Target;
use eggshade::backend::sim::raster::Frame;
use eggshade::ir::tac::interface::Packing;
use eggshade::render::mesh::Mesh;
use eggshade::render::{View, draw};
use eggshade::world::World;
use eggshade::{LinkOptions, Linked, Options, link_reflection, resolve_pipeline};

const VERTEX: &str = "attribute vec2 corner; attribute mat2 turn; attribute float size;
    varying vec3 normal; varying vec2 uv; varying float fog; varying vec2 st; varying vec4 whole;
    void main() {
        normal = gl_Normal; uv = gl_Vertex.xy; fog = gl_Vertex.z; st.y = fog + size; st.x = uv.y + corner.x;
        if (fog > 0.0) { uv.y = turn[0].x; return; }
        whole = vec4(uv, st) + turn[1].y; gl_TexCoord[1] = whole;
        gl_Position = gl_ModelViewProjectionMatrix * gl_Vertex;
    }";
const FRAGMENT: &str = "varying vec3 normal; varying vec2 uv; varying float fog; varying vec2 st; varying vec4 whole;
    void main() { gl_FragColor = vec4(normal.zx + st.yx, uv.y - fog, 1.0) + whole + gl_TexCoord[1]; }";

fn options(pipeline: &str, link: LinkOptions) -> Options {
    let mut options = Options::new(Target::builtin("vec4").unwrap(), resolve_pipeline(pipeline).unwrap());
    options.link = link;
    options
}

fn linked(pipeline: &str, packing: Packing) -> Linked {
    let options = options(pipeline, LinkOptions { packing, attributes: Vec::new() });
    eggshade::link([("a.vert", VERTEX), ("a.frag", FRAGMENT)], &options).unwrap()
}

fn picture(linked: &Linked) -> Frame {
    let view = View { mesh: Mesh::parse("sphere").unwrap(), width: 48, height: 48, turn: [20.0, 30.0] };
    let world = World { gl: view.state(), ..World::default() };
    let [vertex, fragment] = linked.stages.each_ref().map(|b| &b.compiled.program);
    draw(vertex, fragment, Target::builtin("vec4").unwrap().eval(), &world, view).unwrap()
}

#[test]
fn packed_varyings_draw_the_same_picture() {
    for pipeline in ["none", "egraph"] {
        let (apart, together) = (linked(pipeline, Packing::Never), linked(pipeline, Packing::Always));
        assert!(apart.packed.is_empty());
        let names: Vec<&str> = together.packed.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["normal+fog", "uv+st"]);
        let count = |l: &Linked| l.stages.each_ref().map(|b| b.compiled.reflection.outputs.len());
        assert_eq!((count(&apart), count(&together)), ([7, 1], [5, 1]));
        let pixels = [&apart, &together].map(|l| picture(l).to_rgba8());
        assert!(pixels[0].chunks(4).any(|p| p[0] != pixels[0][0]), "an empty picture shows nothing");
        assert_eq!(pixels[0], pixels[1]);
    }
}

#[test]
fn varyings_share_registers_when_there_are_too_few() {
    let text = |stage: &str| {
        let declared: String = (0..20).map(|i| format!("varying float v{i};")).collect();
        let body: String = match stage {
            "vert" => {
                (0..20).map(|i| format!("v{i} = gl_Vertex.x + {i}.0;")).collect::<String>() + "gl_Position = gl_Vertex;"
            }
            _ => format!("gl_FragColor = vec4({});", (0..20).map(|i| format!("v{i}")).collect::<Vec<_>>().join("+")),
        };
        format!("{declared} void main() {{ {body} }}")
    };
    let (vertex, fragment) = (text("vert"), text("frag"));
    let link = |packing| {
        let options = options("egraph", LinkOptions { packing, attributes: Vec::new() });
        eggshade::link([("a.vert", &vertex), ("a.frag", &fragment)], &options)
    };
    assert_eq!(link(Packing::Auto).unwrap().packed.len(), 5);
    let failure = link(Packing::Never).unwrap_err();
    assert_eq!(failure.diagnostics[0].code, "does-not-fit");
}

#[test]
fn reflection_names_both_sides_of_every_varying() {
    for packing in [Packing::Never, Packing::Always] {
        let reflection = link_reflection::reflect(&linked("egraph", packing));
        for varying in &reflection.varyings {
            assert!(varying.vertex.is_some(), "{varying:?}");
        }
        // interpolator 1 is taken by gl_TexCoord[1]
        let words: Vec<&str> = reflection.varyings.iter().map(|v| v.semantic.as_str()).collect();
        assert_eq!(words.iter().filter(|w| **w == "texcoord1").count(), 1);
        assert!(!words.contains(&"varying1"), "{words:?}");
    }
    let shared = link_reflection::reflect(&linked("egraph", Packing::Always));
    let parts: Vec<(&str, &str)> =
        shared.varyings.iter().flat_map(|v| &v.parts).map(|p| (p.name.as_str(), p.lanes.as_str())).collect();
    assert_eq!(parts, [("normal", "xyz"), ("fog", "w"), ("uv", "xy"), ("st", "zw")]);
}

#[test]
fn attributes_stand_where_they_are_bound() {
    let bind = |list: &[(&str, u32)]| {
        let attributes = list.iter().map(|&(n, l)| (n.to_owned(), l)).collect();
        let options = options("egraph", LinkOptions { packing: Packing::Auto, attributes });
        eggshade::link([("a.vert", VERTEX), ("a.frag", FRAGMENT)], &options)
    };
    let linked = bind(&[("turn", 4), ("size", 9), ("nobody", 3)]).unwrap();
    let inputs = &linked.stages[0].compiled.reflection.inputs;
    let find = |name: &str, element| inputs.iter().find(|i| i.name == name && i.element == element).unwrap();
    assert_eq!((find("turn", 0).register.as_str(), find("turn", 1).register.as_str()), ("v4", "v5"));
    assert_eq!((find("size", 0).register.as_str(), find("size", 0).semantic.as_str()), ("v9", "generic9"));
    // not bound: the lowest that no other name and no built-in in use has
    assert_eq!(find("corner", 0).semantic, "generic1");
    for (list, text) in [
        (&[("turn", 15)][..], "locations 0 to 15"),
        (&[("turn", 2), ("size", 3)], "bound to one location"),
        (&[("corner", 7), ("size", 7)], "bound to one location"),
    ] {
        let failure = bind(list).unwrap_err();
        assert_eq!(failure.diagnostics[0].code, "link-attribute-location");
        assert!(failure.diagnostics[0].message.contains(text), "{}", failure.diagnostics[0].message);
    }
}

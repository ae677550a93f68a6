//! What the lowering to Direct3D 9 prints, and that the token stream says the same.

use super::text;
use crate::d3d9::{parse, tokens};
use crate::emit::vec4_parse;
use crate::isa::Target;
use ir::diag::FileId;

/// The assembler's text of a program in our text form.
fn lowered(target: &str, program: &str) -> String {
    let program = vec4_parse::parse(FileId(0), program).unwrap();
    let shader = super::d3d9::lower(&program, &Target::builtin(target).unwrap()).unwrap();
    assert_eq!(tokens::read(&tokens::write(&shader).unwrap()).unwrap(), shader);
    let printed = text(&program, &Target::builtin(target).unwrap()).unwrap();
    assert_eq!(parse::parse(FileId(0), &printed).unwrap().insts, shader.insts);
    printed
}

fn error(target: &str, program: &str) -> String {
    let program = vec4_parse::parse(FileId(0), program).unwrap();
    super::d3d9::lower(&program, &Target::builtin(target).unwrap()).unwrap_err().to_string()
}

const VERTEX: &str = r#".target vs_2_0 vert
.temps 2
.input v0 "gl_Vertex" 0 4 position
.input v1 "gl_MultiTexCoord1" 0 4 texcoord1
.input v2 "bones" 0 4 generic1
.output o0 "gl_Position" 0 4 position
.output o1 "uv" 0 2 varying2
.output o2 "gl_FrontColor" 0 4 color0
.uniform c0 "matrices" 0
.uniform c1 "matrices" 1
.literal c2 1.0 0.5
ARL a0.x, v2.x
MUL r0, c[a0.x + 0], v0.x
MAX r1.xyz, r0.xyzz, -r0.xyzz
RSQ r1.w, r1.x
MOV o0, r0
MOV o1.xy, v1.xyyy
MAD o2, r1, r1.w, c2.y
END
"#;

#[test]
fn a_vertex_shader_of_model_2() {
    let expected = "\
vs_2_0
// c0..c1: float4 matrices[2]
dcl_position v0
dcl_texcoord1 v1
dcl_texcoord0 v2
def c2, 1, 0.5, 0, 0
mova a0.x, v2.x
mul r0, c[a0.x], v0.x
max r1.xyz, r0, -r0
rsq r1.w, r1.x
mov oPos, r0
mov oT2.xy, v1
mad oD0, r1, r1.w, c2.y
";
    assert_eq!(lowered("vs_2_0", VERTEX), expected);
}

#[test]
fn older_and_newer_vertex_shaders() {
    let first = lowered("vs_1_1", VERTEX);
    assert!(first.starts_with("vs_1_1\n") && first.contains("\nmov a0.x, v2.x\n"), "{first}");
    let third = lowered("vs_3_0", VERTEX);
    assert!(third.contains("dcl_position o0\ndcl_texcoord2 o1\ndcl_color0 o2\n"), "{third}");
    assert!(third.contains("mov o1.xy, v1\n"), "{third}");
}

const PIXEL: &str = r#".target ps_2_0 frag
.temps 3
.input v0 "gl_Color" 0 4 color0
.input v1 "uv" 0 2 varying3
.output o0 "gl_FragColor" 0 4 color0
.output o1 "gl_FragDepth" 0 1 depth
.uniform c0 "tint" 0
.sampler s0 "map" 0 2D
.sampler s1 "sky" 0 CUBE
TEX r0, v1.xyyy, s0, 2D
KIL r0.xyzz
MUL_SAT r1.xyz, r0.yzxx, c0.x
CGE r1.w, -v0.x, r0.w, c0.y
TXB r2, r0.xyzz, r0.w, s1, CUBE
MOV o0, r1
MOV o1.x, r2.z
END
"#;

#[test]
fn a_pixel_shader_of_model_2() {
    let expected = "\
ps_2_0
// s0: sampler2D map
// s1: samplerCUBE sky
// c0: float4 tint
dcl v0
dcl t3
dcl_2d s0
dcl_cube s1
texld r0, t3, s0
texkill r0
mul_sat r1.xyz, r0.yzxw, c0.x
cmp r1.w, -v0.x, r0, c0.y
texldb r2, r0, s1
mov oC0, r1
mov oDepth, r2.z
";
    assert_eq!(lowered("ps_2_0", PIXEL), expected);
    let third = lowered("ps_3_0", PIXEL);
    assert!(third.contains("dcl_color0 v0\ndcl_texcoord3 v1\n"), "{third}");
}

#[test]
fn what_has_no_form_is_named() {
    let no_position = VERTEX.replace("MOV o0, r0", "MOV o0.xyz, r0.xyzz");
    assert!(error("vs_2_0", &no_position).contains("gl_Position"));
    assert!(error("vs_2_0", &VERTEX.replace("color0", "backcolor0")).contains("gl_FrontColor"));
    assert!(error("vs_2_0", &VERTEX.replace("varying2", "varying8")).contains("texture coordinates"));
    assert!(error("ps_2_0", &PIXEL.replace("s0, 2D", "s0, SHADOW2D").replace("0 2D", "0 SHADOW2D")).contains("shadow"));
    assert!(error("ps_3_0", &PIXEL.replace("color0\n.input v1", "position\n.input v1")).contains("gl_Color"));
}

#[test]
fn an_address_is_written_lane_by_lane() {
    let several = VERTEX.replace("ARL a0.x, v2.x\n", "ARL a0.xyz, v2.ywxx\n");
    assert!(lowered("vs_2_0", &several).contains("\nmova a0.xyz, v2.ywxx\n"), "{}", lowered("vs_2_0", &several));
}

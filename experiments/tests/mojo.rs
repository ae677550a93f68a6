//! Token streams in MojoShader, a reader that shares nothing with ours: it says the same in assembly
//! words, and the GLSL that it makes draws what GLSL written by hand draws.

use eggshade::backend::d3d9::{Constant, Shader, Version, parse, text, tokens};
use eggshade::render::View;
use eggshade::render::mesh::Mesh;
use eggshade_lab::oracle::mojo::{self, Mojo, Translation};
use eggshade_lab::oracle::{Attribute, Corner, Driver, Job, OracleTexture, open_or_skip};

const SIZE: u32 = 16;
const CLEAR: [f32; 4] = [-4096.5; 4];

/// A pair in assembly, with the arrays of its constant tables, and as GLSL, where `c` is the array of
/// constants of a stage.
struct Case {
    vertex: &'static str,
    arrays: &'static [(u16, u16)],
    pixel: &'static str,
    glsl: [&'static str; 2],
}

const CASES: &[Case] = &[
    Case {
        vertex: "vs_1_1\ndcl_position v0\ndcl_texcoord0 v1\ndef c9, 0.5, 2, 0, -1\n\
                 mul r0, v0, c9.x\nadd oPos, r0, r0\nmov r3, c3.wzyx\nmad r1, v1, c2, r3\nmax r1.xy, r1, -v1\n\
                 slt r1.w, r1.x, c2.y\nmov oD0, r1\nlit r2, c9.yxzx\ndst oT0, r1, r2\n",
        arrays: &[],
        pixel: "ps_2_0\ndcl v0\ndcl t0\ndef c4, 2, 0.25, 0, 1\n\
                rsq r0.w, v0.x\nrcp r1.w, v0.y\nmul r0.xyz, v0, r0.w\nmad r0.w, r1.w, c4.y, c1.z\n\
                frc r2, r0\nlrp r3, c4.y, r2, t0\ncmp r3, -r2, c2, r3\ndp3 r1.x, r3, v0\nexp r1.y, r1.x\n\
                log r1.z, r1.y\nmov_sat r3.x, r1.y\ndp2add r3.y, r3, c1, r1.z\npow r3.z, r2.z, c4.x\nmov oC0, r3\n",
        glsl: [
            "uniform vec4 c[16];\nvoid main() {\n  gl_Position = gl_Vertex;\n\
             vec4 r = gl_MultiTexCoord0 * c[2] + c[3].wzyx;\n  r.xy = max(r.xy, -gl_MultiTexCoord0.xy);\n\
             r.w = r.x < c[2].y ? 1.0 : 0.0;\n  gl_FrontColor = r;\n\
             vec4 l = vec4(1.0, 2.0, pow(0.5, 0.5), 1.0);\n  gl_TexCoord[0] = vec4(1.0, r.y * l.y, r.z, l.w);\n}\n",
            "uniform vec4 c[16];\nvoid main() {\n  vec4 v = gl_Color;\n\
             vec4 r0 = vec4(v.xyz * inversesqrt(v.x), 0.25 / v.y + c[1].z);\n  vec4 r2 = fract(r0);\n\
             vec4 r3 = mix(gl_TexCoord[0], r2, 0.25);\n\
             r3 = mix(r3, c[2], vec4(lessThanEqual(r2, vec4(0.0))));\n  float d = dot(r3.xyz, v.xyz);\n\
             vec4 o = r3;\n  o.x = clamp(exp2(d), 0.0, 1.0);\n  o.y = dot(vec2(o.x, r3.y), c[1].xy) + d;\n\
             o.z = r2.z * r2.z;\n  gl_FragColor = o;\n}\n",
        ],
    },
    Case {
        vertex: "vs_2_0\ndcl_position v0\ndcl_texcoord0 v1\ndef c15, 0, 1, 2, 0.5\ndefi i0, 3, 0, 1, 0\ndefb b1, true\n\
                 mov oPos, v0\nmov r0, c15.x\nrep i0\nadd r0, r0, v1\nendrep\nmad r1.x, v1.x, c15.z, c15.w\n\
                 mova a0.x, r1.x\nmul r0, r0, c[a0.x + 5]\nif b1\nadd r0, r0, c[a0.x + 6].wzyx\nelse\nmov r0, c15\n\
                 endif\nsge r1.w, r0.x, r0.y\nmov oT3, r0\nmov oD1, r1.w\n",
        arrays: &[(5, 5)],
        pixel: "ps_2_0\ndcl t3\ndcl v1\ndcl_2d s2\ntexld r0, t3, s2\ntexldp r1, t3, s2\nadd r0, r0, r1\nadd r0.xyz, r0, v1\n\
                mad_sat r0.w, r0.x, c1.x, -c0.y\nmov oC0, r0\n",
        glsl: [
            "uniform vec4 c[16];\nvoid main() {\n  gl_Position = gl_Vertex;\n  vec4 t = gl_MultiTexCoord0;\n\
             int n = int(floor(t.x * 2.0 + 1.0));\n  vec4 r = 3.0 * t * c[n + 5] + c[n + 6].wzyx;\n  gl_TexCoord[3] = r;\n\
             gl_FrontSecondaryColor = vec4(r.x >= r.y ? 1.0 : 0.0);\n}\n",
            "uniform vec4 c[16];\nuniform sampler2D base;\nvoid main() {\n\
             vec4 r = texture2D(base, gl_TexCoord[3].xy) + texture2DProj(base, gl_TexCoord[3]);\n\
             r.xyz += gl_SecondaryColor.xyz;\n  r.w = clamp(r.x * c[1].x - c[0].y, 0.0, 1.0);\n  gl_FragColor = r;\n}\n",
        ],
    },
    Case {
        vertex: "vs_3_0\ndcl_position v0\ndcl_texcoord0 v1\ndcl_position o0\ndcl_texcoord2 o3\ndcl_color0 o1\n\
                 mov o0, v0\nmad o3, v1, c1, c2\nmov o1, c3_abs\n",
        arrays: &[],
        pixel: "ps_3_0\ndcl_texcoord2 v0\ndcl_color0 v5\ndef c9, 0.75, 0, 1, 4\n\
                mov r0, v0\nif_lt r0.x, c9.x\nsincos r1.xy, r0.x\nmov r0.yz, r1.xxy\nelse\n\
                add r0.y, r0_abs.y, c9.z\nendif\ndsx r2.xy, v0\ncrs r3.xyz, v5, c1\nnrm r4.xyz, r3\nadd r0.xyz, r0, r4\n\
                mov r0.w, r2.x\nmov oC0, r0\n",
        glsl: [
            "uniform vec4 c[16];\nvoid main() {\n  gl_Position = gl_Vertex;\n\
             gl_TexCoord[2] = gl_MultiTexCoord0 * c[1] + c[2];\n  gl_FrontColor = abs(c[3]);\n}\n",
            "uniform vec4 c[16];\nvoid main() {\n  vec4 r = gl_TexCoord[2];\n\
             if (r.x < 0.75) r.yz = vec2(cos(r.x), sin(r.x)); else r.y = abs(r.y) + 1.0;\n\
             r.xyz += normalize(cross(gl_Color.xyz, c[1].xyz));\n  r.w = dFdx(gl_TexCoord[2]).x;\n  gl_FragColor = r;\n}\n",
        ],
    },
];

fn shader(source: &str, arrays: &[(u16, u16)]) -> Shader {
    let mut shader = parse::parse(Default::default(), source).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
    shader.constants = arrays.iter().map(|&(at, n)| Constant::vectors("array", at, 4, n)).collect();
    shader
}

fn shaders(case: &Case) -> [Shader; 2] {
    [shader(case.vertex, case.arrays), shader(case.pixel, &[])]
}

/// Register `n` of a stage.
fn register(stage: usize, n: u32) -> [f32; 4] {
    [0, 1, 2, 3].map(|lane| 0.2 + 0.6 * (((stage as u32 * 64 + n * 4 + lane) * 37 % 101) as f32 / 101.0))
}

fn registers(stage: usize, ranges: impl IntoIterator<Item = (u32, u32)>) -> Vec<f32> {
    let all = ranges.into_iter().flat_map(|(first, count)| first..first + count);
    all.flat_map(|n| register(stage, n)).collect()
}

fn texture(name: &str) -> OracleTexture {
    let wave = |n: u32, k: f32| 0.5 + 0.3 * (std::f32::consts::TAU * n as f32 / 8.0 + k).sin();
    let texels = (0..64).map(|n| [wave(n % 8, 0.0), wave(n / 8, 1.0), wave(n % 8, 2.0), wave(n / 8, 3.0)]);
    OracleTexture::flat(name, [8; 2], texels.collect())
}

/// MojoShader's words as the assembler reads them: `end` is none of them, and what pixel shaders of
/// model 2 declare has no usage.
fn assembly(theirs: &str, version: Version) -> String {
    let is_plain = |line: &str| line.starts_with("dcl_color") || line.starts_with("dcl_texcoord");
    let line = |line: &str| match line.split_once(' ') {
        _ if line == "end" => String::new(),
        Some((word, register)) if is_plain(line) && version.to_string().starts_with("ps_2") => {
            format!("dcl{} {register}\n", if word.ends_with("_pp") { "_pp" } else { "" })
        }
        _ => format!("{line}\n"),
    };
    theirs.lines().map(line).collect()
}

#[test]
fn mojoshader_reads_what_we_wrote() {
    let Some(mojo) = mojo::open_or_skip() else { return };
    // Left out: predicated instructions, whose predicate it does not find behind the destination, and
    // floats of more than nine decimals, which it cuts.
    let more = [
        "ps_1_4\ndef c0, 1, 0.5, 0, -1\ntexcrd r0.xyz, t0_dw.xyw\ntexld r1, t1\nphase\nmul_x2_sat r0.xyz, r0, 1-r1\n\
         + mov_d8 r0.w, r1_bx2.w\nmad_pp r0, r0, c0, -v0\n",
        "ps_1_1\ntex t0\ntexbem t1, t0\ndp3_sat r0.xyz, t0_bias, -v0_bx2\n+ mov r0.w, 1-v1.w\n",
        "vs_3_0\ndcl_position v0\ndcl_position o0\ndcl_texcoord0 o1.xy\ndefi i0, 4, 0, 1, 0\nmov r1, v0\nloop aL, i0\n\
         setp_gt p0, r1, c0\nmov o1.xy, v[aL]\nbreak_lt r1.x, c0.x\nendloop\nmov o0, r1\n",
        "ps_2_x\ndcl_pp t0.xy\ndcl_cube s1\ndef c0, -0.5, 0.125, 1024, 0.1\ntexldd r0, t0, s1, t0, t0\ntexkill r0\n\
         mov oC0, c0\nmov oC1, c0\nmov oDepth, r0.x\n",
    ];
    let cases = CASES.iter().flat_map(shaders).chain(more.iter().map(|s| shader(s, &[])));
    for ours in cases {
        let printed = text::print(&ours);
        let theirs = mojo.disassemble(&tokens::write(&ours).unwrap()).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        let theirs = assembly(&theirs, ours.version);
        let again = parse::parse(Default::default(), &theirs).unwrap_or_else(|e| panic!("{e:?}\n{theirs}\n{printed}"));
        assert_eq!(printed, text::print(&Shader { constants: ours.constants.clone(), ..again }), "{theirs}");
    }
}

/// What is wrong is refused, so that the judge is one.
#[test]
fn mojoshader_refuses_broken_streams() {
    let Some(mojo) = mojo::open_or_skip() else { return };
    let mut good = Shader::new(Version::vs(2, 0));
    good.insts = shader("vs_2_0\ndcl_position v0\nrcp r0, v0.x\nmov oPos, r0\n", &[]).insts;
    let refused = |words: &[u32]| mojo.translate(words).unwrap_err().to_string();
    let words = tokens::write(&good).unwrap();
    assert!(refused(&words[..words.len() - 1]).contains("byte"));
    let unknown: Vec<u32> = words.iter().map(|&w| if w & 0xffff == 6 { w | 0x60 } else { w }).collect();
    assert!(refused(&unknown).contains("opcode"), "{}", refused(&unknown));
    let relative = shader("vs_2_0\ndcl_position v0\nmova a0.x, v0.x\nmov oPos, c[a0.x + 3]\n", &[]);
    assert!(refused(&tokens::write(&relative).unwrap()).contains("CTAB"));
}

fn translated(mojo: &Mojo, case: &Case) -> [Translation; 2] {
    shaders(case).map(|s| {
        let words = tokens::write(&s).unwrap();
        mojo.translate(&words).unwrap_or_else(|e| panic!("{e}\n{}", text::print(&s)))
    })
}

#[test]
fn our_tokens_draw_what_they_say() {
    let (Some(mesa), Some(mojo)) = (open_or_skip(Driver::Softpipe), mojo::open_or_skip()) else { return };
    let view = View { mesh: Mesh::Quad, width: SIZE, height: SIZE, turn: [0.0; 2] };
    let (mesh, state) = (Mesh::Quad.triangles(), view.state());
    let corners: Vec<Corner> = mesh.iter().map(Corner::from).collect();
    for case in CASES {
        let [vertex, pixel] = translated(&mojo, case);
        let values = |stage| ("c".to_owned(), registers(stage, [(0, 16)]));
        // one array for both stages of the hand-written pair would be one uniform
        let fragment = case.glsl[1].replace("c[", "k[");
        let reference = Job {
            mesh: &corners,
            state: &state,
            attributes: &[],
            uniforms: &[values(0), ("k".to_owned(), values(1).1)],
            textures: &[texture("base")],
            size: [SIZE; 2],
            clear: CLEAR,
        };
        let position = mesh.iter().map(|v| [v.position[0], v.position[1], v.position[2], 1.0]).collect();
        let uv = mesh.iter().map(|v| [v.uv[0], v.uv[1], 0.0, 1.0]).collect();
        let attribute =
            |location, values| Attribute { name: format!("vs_v{location}"), location, values: vec![values] };
        let packed = |stage: usize, t: &Translation| registers(stage, t.uniforms.iter().map(|r| (r.index, r.count)));
        let ours = Job {
            attributes: &[attribute(0, position), attribute(1, uv)],
            uniforms: &[
                ("vs_uniforms_vec4".to_owned(), packed(0, &vertex)),
                ("ps_uniforms_vec4".to_owned(), packed(1, &pixel)),
            ],
            textures: &[texture("ps_s2")],
            ..reference.clone()
        };
        let name = case.vertex.lines().next().unwrap();
        let (want, got) = (
            mesa.draw([&[case.glsl[0]], &[&fragment]], std::slice::from_ref(&reference)).map(|mut p| p.remove(0)),
            mesa.draw([&[&vertex.text], &[&pixel.text]], &[ours]).map(|mut p| p.remove(0)),
        );
        let (want, got) =
            (want.unwrap_or_else(|e| panic!("{name}: {e}")), got.unwrap_or_else(|e| panic!("{name}: {e}")));
        assert!(want.iter().all(|p| p.iter().all(|v| v.is_finite())), "{name}");
        assert!(want.iter().filter(|p| **p != CLEAR).count() > 50 && want[40] != want[100], "{name}");
        for (at, (want, got)) in want.iter().zip(&got).enumerate() {
            for lane in 0..4 {
                let off = (want[lane] - got[lane]).abs() / want[lane].abs().max(1.0);
                assert!(off <= 1e-4, "{name}, pixel {at}: {want:?} {got:?}");
            }
        }
    }
}

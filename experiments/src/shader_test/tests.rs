use super::*;

fn run(pipeline: &str, text: &str) -> Outcome {
    let target = eggshade::resolve_target("vec4").unwrap();
    run_text(text, &Options::new(target, eggshade::resolve_pipeline(pipeline).unwrap()))
}

fn passes(text: &str) {
    for pipeline in ["none", "egraph"] {
        let outcome = run(pipeline, text);
        assert_eq!(outcome.result, Verdict::Pass, "{pipeline}: {}\n{text}", outcome.reason);
    }
}

fn fails(text: &str, why: &str) {
    let outcome = run("none", text);
    assert!(outcome.result == Verdict::Fail && outcome.reason.contains(why), "{outcome:?}\n{text}");
}

const SMALL: &str = "[require]\nGLSL >= 1.10\nSIZE 16 16\n[vertex shader passthrough]\n[fragment shader]\n";

/// A fragment shader's body and commands in a small window.
fn small(body: &str, commands: &str) -> String {
    format!("{SMALL}{body}\n[test]\n{commands}\n")
}

#[test]
fn a_wrong_pixel_fails_with_its_place() {
    let green = "void main() { gl_FragColor = vec4(0.0, 1.0, 0.0, 0.5); }";
    passes(&small(green, "draw rect -1 -1 2 2\nprobe all rgba 0 1 0 0.5\nrelative probe rgb (1, 1) (0, 1, 0)"));
    passes(&small(green, "draw rect ortho 4 5 2 3\nprobe rect rgba (4, 5, 2, 3) (0, 1, 0, 0.5)\nprobe rgb 6 5 0 0 0"));
    fails(&small(green, "draw rect -1 -1 2 2\nprobe all rgb 0 0.98 0"), "line 9: pixel (0, 0)");
    passes(&small(green, "draw rect -1 -1 2 2\nprobe warn all rgb 1 0 0\ntolerance 0.1\nprobe all rgb 0 0.95 0"));
    fails(&small(green, "draw rect ortho 0 0 4 4\nprobe rgb 4 4 0 1 0"), "pixel (4, 4)");
    fails(&small(green, "probe rgb 16 0 0 0 0"), "outside");
    fails(&small(green, "uniform float absent 1"), "no uniform absent");
}

#[test]
fn uniforms_of_every_shape() {
    let body = "struct S { vec2 v; bool b; };\nuniform mat2 m[2]; uniform S s[2]; uniform int i; uniform bvec2 q;\n\
                void main() { gl_FragColor = vec4(m[1][1].y, s[1].v.x, s[1].b && q.y ? 1.0 : 0.0, float(i) / 4.0); }";
    let set = "uniform mat2 m[1] 0 0 0 0.25\nuniform vec2 s[1].v 0.5 9\nuniform int s[1].b 3\nuniform ivec2 q 0 1\nuniform int i 1\n";
    passes(&small(body, &format!("{set}draw rect -1 -1 2 2\nprobe all rgba 0.25 0.5 1 0.25")));
    fails(&small(body, "uniform mat2 m[2] 0 0 0 0"), "no such element");
    fails(&small(body, "uniform vec2 i 0 0"), "2 numbers");
}

#[test]
fn linking_is_told_from_compiling() {
    let none = |commands: &str| {
        format!(
            "[vertex shader]\nvoid main() {{ gl_Position = gl_Vertex; }}\n[fragment shader]\nvarying float f;\nvoid main() {{ gl_FragColor = vec4(f); }}\n[test]\n{commands}\n"
        )
    };
    assert_eq!(run("none", &none("link error")).result, Verdict::Pass);
    assert_eq!(run("none", &none("link success")).result, Verdict::Fail);
    fails("[fragment shader]\nvoid main() { x; }\n[test]\nlink error\n", "undeclared");
    passes(
        "[fragment shader]\nfloat f();\nvoid main() { gl_FragColor = vec4(f()); }\n[fragment shader]\nfloat f() { return 0.5; }\n[test]\ndraw rect -1 -1 2 2\nprobe all rgb 0.5 0.5 0.5\n",
    );
}

#[test]
fn colours_by_side_and_by_the_last_vertex() {
    let test = |model: &str, first: &str, second: &str, wanted: &str| {
        format!(
            "[require]\nSIZE 8 8\n[vertex shader]\nattribute vec4 v;\nattribute vec4 c;\nvoid main() {{ gl_Position = v; gl_FrontColor = c; gl_BackColor = 2.0 * c; }}\n\
             [fragment shader]\nvoid main() {{ gl_FragColor = gl_Color; }}\n[vertex data]\nv/float/2 c/float/4\n-1 -1 0 0 0 0\n{first} 0 0 0 0\n{second} 0.25 0.75 0.5 0.5\n\
             [test]\nshade model {model}\nenable GL_VERTEX_PROGRAM_TWO_SIDE\ndraw arrays GL_TRIANGLES 0 3\nprobe rgba 0 0 {wanted}\n"
        )
    };
    passes(&test("flat", "3 -1", "-1 3", "0.25 0.75 0.5 0.5"));
    // From behind: twice, and clamped.
    passes(&test("flat", "-1 3", "3 -1", "0.5 1 1 1"));
    passes(&test("smooth", "3 -1", "-1 3", "0.0078 0.0234 0.0156 0.0156"));
}

#[test]
fn clip_planes_cut_in_eye_space() {
    let test = |body: &str| {
        format!(
            "[require]\nSIZE 8 8\n[vertex shader]\nvoid main() {{ {body} }}\n[fragment shader]\nvoid main() {{ gl_FragColor = vec4(1.0); }}\n\
             [test]\northo\nenable GL_CLIP_PLANE1\nclip plane 1 1 0 0 -4\ndraw rect 0 0 8 8\nprobe rgb 3 3 0 0 0\nprobe rgb 4 3 1 1 1\n"
        )
    };
    passes(&test("gl_Position = ftransform();"));
    passes(&test("gl_Position = ftransform(); gl_ClipVertex = gl_ModelViewMatrix * gl_Vertex;"));
}

#[test]
fn discard_keeps_colour_and_depth() {
    let body = "void main() { if (gl_FragCoord.x < 8.0) discard; gl_FragColor = vec4(1.0); }";
    let commands = "clear color 0 0 1 1\nclear depth 0.75\nclear\nenable GL_DEPTH_TEST\ndraw rect -1 -1 2 2\n\
                    probe rect rgb (0, 0, 8, 16) (0, 0, 1)\nprobe rect rgb (8, 0, 8, 16) (1, 1, 1)\nprobe depth 0 0 0.75\nprobe depth 8 0 0.5";
    passes(&small(body, commands));
}

#[test]
fn textures_by_unit() {
    let body = "uniform sampler2D a, b; uniform sampler2DShadow s;\nvoid main() { vec2 p = gl_FragCoord.xy / 16.0;\n\
                gl_FragColor = vec4(texture2D(a, p).rg, texture2D(b, p).b, shadow2D(s, vec3(p, 0.5)).r); }";
    let commands = "texture rgbw 0 (8, 8)\ntexture checkerboard 3 0 (2, 2) (0, 0, 1, 1) (0, 0, 0, 1)\ntexture shadow2D 5 (8, 8)\n\
                    texparameter 2D compare_func less\nuniform int b 3\nuniform int s 5\ndraw rect -1 -1 2 2\n\
                    probe rgba 1 1 1 0 1 0\nprobe rgba 14 1 0 1 0 1\nprobe rgba 1 14 0 0 0 0\nprobe rgba 14 14 1 1 1 1";
    passes(&small(body, commands));
}

#[test]
fn without_shaders_there_is_the_fixed_function() {
    passes(
        "[fragment shader]\nvoid main() { gl_FragColor = gl_Color + gl_TexCoord[0]; }\n[test]\ncolor 0.25 0 0 0\northo 0 2 0 2\ndraw rect tex 0 0 2 2 0 0.5 0 0\nprobe all rgb 0.25 0.5 0\n",
    );
    passes(
        "[vertex shader]\nvoid main() { gl_Position = gl_Vertex; gl_FrontColor = vec4(0.5); }\n[test]\ndraw rect -1 -1 2 2\nprobe all rgb 0.5 0.5 0.5\n",
    );
}

#[test]
fn endless_shaders_and_unmet_needs_are_told() {
    let endless = small(
        "void main() { float f = 0.0; while (f >= 0.0) f += gl_FragCoord.x; gl_FragColor = vec4(f); }",
        "draw rect -1 -1 2 2",
    );
    let target = eggshade::resolve_target("vec4").unwrap();
    let options = Options::new(target, eggshade::resolve_pipeline("none").unwrap());
    let outcome = run_text_within(&endless, &options, 100_000);
    assert!(outcome.result == Verdict::Fail && outcome.reason.contains("more than 100000 instructions"), "{outcome:?}");
    let draws =
        small("void main() { gl_FragColor = vec4(1.0); }", &"draw rect -1 -1 2 2\nprobe all rgb 1 1 1\n".repeat(1000));
    let outcome = run_text_within(&draws, &options, 100_000);
    assert!(outcome.result == Verdict::Fail && outcome.reason.contains("more than 100000 instructions"), "{outcome:?}");
    let skipped = run("none", "[require]\nGLSL >= 1.50\n[fragment shader]\nvoid main() {}\n[test]\n");
    assert_eq!(skipped, Outcome::new(Verdict::Skip, "requires `GLSL >= 1.50`".to_owned()));
    let skipped = run("none", &small("void main() {}", "fly away"));
    assert_eq!(skipped, Outcome::new(Verdict::Skip, "unknown command `fly away`".to_owned()));
}

#[test]
fn no_text_makes_it_panic() {
    let whole = small(
        "uniform vec4 c; void main() { gl_FragColor = c; }",
        "clear color 1 0 0 1\nclear\nuniform vec4 c 0 1 0 1\ndraw rect -1 -1 2 2\nprobe rect rgba (0, 0, 16, 16) (0, 1, 0, 1)",
    );
    for end in 0..whole.len() {
        run("none", &whole[..end]);
    }
    for at in (SMALL.len()..whole.len()).step_by(3) {
        for with in ["-", "9999999999", "[", "nan"] {
            run("none", &format!("{}{with}{}", &whole[..at], &whole[at + 1..]));
        }
    }
}

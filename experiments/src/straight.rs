//! Shaders of any length for measuring how compile time grows: the same few statements again and
//! again, in shapes that stress different stages.
//!
//! In: a shape and a number of lines. Out: a fragment shader of about so many lines. Nothing is dead,
//! and no two lines compute the same, so that a compiler cannot shorten it for free.

use std::fmt::Write;

/// What the lines do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Each line needs the one before.
    Chain,
    /// Eight scalars that go on side by side.
    Lanes,
    /// A branch a line.
    Branches,
    /// A texture lookup a line.
    Textures,
    /// A call a line.
    Calls,
    /// Ordinary vector code: products, normalizations, mixes, powers.
    Mixed,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 6] =
        [Shape::Chain, Shape::Lanes, Shape::Branches, Shape::Textures, Shape::Calls, Shape::Mixed];

    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Chain => "chain",
            Shape::Lanes => "lanes",
            Shape::Branches => "branches",
            Shape::Textures => "textures",
            Shape::Calls => "calls",
            Shape::Mixed => "mixed",
        }
    }

    /// The shader.
    pub fn shader(self, lines: usize) -> String {
        let (head, tail) = match self {
            Shape::Chain => ("void main() { vec4 a = v;\n", "gl_FragColor = a; }\n"),
            Shape::Lanes => (
                "void main() { float s0 = v.x, s1 = v.y, s2 = w.x, s3 = w.y, s4 = v.z, s5 = v.w, s6 = w.z, s7 = w.w;\n",
                "gl_FragColor = vec4(s0 + s1, s2 + s3, s4 + s5, s6 + s7); }\n",
            ),
            Shape::Branches => ("void main() { vec4 a = v;\n", "gl_FragColor = a; }\n"),
            Shape::Textures => ("void main() { vec4 a = vec4(0.0);\n", "gl_FragColor = a; }\n"),
            Shape::Calls => (
                "float g(float x, vec3 k) { return dot(k, vec3(x, x * x, u[0].w)) + max(x, 0.0); }\n\
                 void main() { vec4 a = v;\n",
                "gl_FragColor = a; }\n",
            ),
            Shape::Mixed => (
                "void main() { vec4 a = v; vec4 b = u[0]; vec3 c = w.xyz; float d = v.x;\n",
                "gl_FragColor = a + b + vec4(c, d); }\n",
            ),
        };
        let mut text = format!("uniform vec4 u[8]; uniform sampler2D t; varying vec4 v; varying vec4 w;\n{head}");
        for i in 0..lines {
            self.line(&mut text, i);
        }
        text + tail
    }

    fn line(self, text: &mut String, i: usize) {
        let lane = |n: usize| ["x", "y", "z", "w"][n % 4];
        let (a, b, c) = (lane(i), lane(i + 1), lane(i / 4));
        let written = match self {
            Shape::Chain => writeln!(text, "a = a * u[0] + v.{a}{b}{c}{a};"),
            Shape::Lanes => writeln!(text, "s{0} = s{0} * u[{0}].{a} + s{1};", i % 8, (i + 1) % 8),
            Shape::Branches => {
                writeln!(text, "if (a.x > u[0].{a}) {{ a.y += sin(a.x); }} else {{ a.z -= u[0].{b}; }} a.x += a.y;")
            }
            Shape::Textures => writeln!(text, "a += texture2D(t, v.{a}{c} + a.xy * u[0].{b}) * u[1];"),
            Shape::Calls => writeln!(text, "a.{a} = g(a.{b}, u[{}].{a}{b}{c});", i % 8),
            Shape::Mixed => {
                let lines = [
                    "a = a * b + v;",
                    "b = max(a, v.yxwz * d);",
                    "c = normalize(c + a.xyz);",
                    "d = dot(c, b.xyz) + a.w;",
                    "a.xyz = mix(a.xyz, c, clamp(d, 0.0, 1.0));",
                    "d = pow(max(d, 0.0), 2.5) + u[1].x;",
                    "b.yz = a.xw - c.xy * u[1].w;",
                ];
                writeln!(text, "{}", lines[i % lines.len()])
            }
        };
        written.expect("a string takes all that is written");
    }
}

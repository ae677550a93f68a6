//! What statements and operators compute, by running the lowered code.

mod common;

use common::{color, output, program, run_program};
use frontend::ast::Version::{self, Es100, Glsl110, Glsl120};
use ir::types::Stage;

#[track_caller]
fn check(version: Version, globals: &str, body: &str, expected: [f32; 4]) {
    let got = color(version, globals, body);
    assert_eq!(got, expected, "{body}");
}

#[test]
fn operators() {
    check(Glsl110, "", "gl_FragColor = a + b * 2.0 - a / 2.0;", [3.25, -0.125, -0.5, 9.5]);
    check(Glsl110, "", "gl_FragColor = vec4(k / j, -k / j, k - j, k * j);", [2.0, -2.0, 4.0, 21.0]);
    check(Glsl110, "", "gl_FragColor = vec4(i < j, i > j, i <= i, j >= k);", [1.0, 0.0, 1.0, 0.0]);
    check(
        Glsl110,
        "",
        "gl_FragColor = vec4(a == a, a != b, a.xy == vec2(0.5, -1.25), m2 == m2);",
        [1.0, 1.0, 1.0, 1.0],
    );
    check(Glsl110, "", "gl_FragColor = vec4(yes && i > 2, yes || i > 2, yes ^^ true, !yes);", [0.0, 1.0, 0.0, 0.0]);
    check(Glsl110, "", "gl_FragColor = i == 1 ? a : b;", [0.5, -1.25, 2.0, 3.0]);
    check(Glsl120, "", "gl_FragColor = vec4(i + 0.5, 2 * a.z, j / 2, i - a.x);", [1.5, 4.0, 1.0, 0.5]);
    check(Glsl110, "", "gl_FragColor = vec4((a.x, b.y), -a.y, +a.z, 1.0);", [0.25, 1.25, 2.0, 1.0]);
}

#[test]
fn matrices() {
    check(Glsl110, "", "gl_FragColor = m4 * vec4(1.0, 0.0, 2.0, 1.0);", [32.0, 36.0, 40.0, 44.0]);
    check(Glsl110, "", "gl_FragColor = vec4(1.0, 0.0, 2.0, 1.0) * m4;", [11.0, 27.0, 43.0, 59.0]);
    check(Glsl110, "", "mat2 p = m2 * m2; gl_FragColor = vec4(p[0], p[1]);", [7.0, 10.0, 15.0, 22.0]);
    check(Glsl110, "", "mat2 p = m2 / 2.0 + m2 - 1.0; gl_FragColor = vec4(p[0], p[1]);", [0.5, 2.0, 3.5, 5.0]);
    check(Glsl110, "", "mat2 p = m2; p *= m2; p[1] *= 2.0; gl_FragColor = vec4(p[0], p[1]);", [7.0, 10.0, 30.0, 44.0]);
    check(Glsl110, "", "vec2 v = vec2(1.0, 2.0); v *= m2; gl_FragColor = vec4(v, m2[i]);", [5.0, 11.0, 3.0, 4.0]);
    check(Glsl110, "", "mat3 p = mat3(2.0); p[i][i] = 7.0; gl_FragColor = vec4(p[1], p[0].x);", [0.0, 7.0, 0.0, 2.0]);
    check(Glsl110, "", "gl_FragColor = vec4(mat2(1.0, a.xyz)[1], m3[j - 1].yz);", [-1.25, 2.0, 8.0, 9.0]);
    check(Glsl120, "", "mat2x3 p = mat2x3(m3); gl_FragColor = vec4(p * vec2(1.0, 2.0), 0.0);", [9.0, 12.0, 15.0, 0.0]);
    check(Glsl120, "", "mat3 p = mat3(m2); gl_FragColor = vec4(p[2], p[1].x);", [0.0, 0.0, 1.0, 3.0]);
    check(Glsl120, "", "gl_FragColor = vec3(1.0, 2.0, 3.0) * mat4x3(m4);", [14.0, 38.0, 62.0, 86.0]);
    check(
        Glsl110,
        "",
        "gl_FragColor = vec4(m4[0] == m4[0], m4 != m4, m3 == m3, m2 != m2 * 2.0);",
        [1.0, 0.0, 1.0, 1.0],
    );
}

#[test]
fn swizzles_and_places() {
    check(Glsl110, "", "vec4 v = a; v.zx = b.xy; gl_FragColor = v;", [0.25, -1.25, 1.5, 3.0]);
    check(Glsl110, "", "vec4 v = a; v.xyz = v.zyx; gl_FragColor = v;", [2.0, -1.25, 0.5, 3.0]);
    check(Glsl110, "", "vec4 v = a; v.wzyx.xy = vec2(8.0, 9.0); gl_FragColor = v;", [0.5, -1.25, 9.0, 8.0]);
    check(Glsl110, "", "vec4 v = a; v.yzw[i] += 1.0; gl_FragColor = v;", [0.5, -1.25, 3.0, 3.0]);
    check(Glsl110, "", "vec4 v = a; v[j] = 5.0; v[i - 1] *= 2.0; gl_FragColor = v;", [1.0, -1.25, 2.0, 5.0]);
    check(Glsl110, "", "gl_FragColor = vec4(a[i], b[j], a.wzyx[i], (a + b)[j]);", [-1.25, 4.0, 2.0, 7.0]);
    check(Glsl110, "", "gl_FragColor = a.rgba.abgr;", [3.0, 2.0, -1.25, 0.5]);
}

#[test]
fn steps_and_order() {
    check(Glsl110, "", "int n = i; float x = float(n++); gl_FragColor = vec4(x, n, ++n, n--);", [1.0, 2.0, 3.0, 3.0]);
    check(Glsl110, "", "int n = 3; int m = n + n++ + n; gl_FragColor = vec4(m, n, 0.0, 0.0);", [10.0, 4.0, 0.0, 0.0]);
    check(
        Glsl110,
        "",
        "int n = 1; float f[3]; f[0] = 5.0; f[1] = 6.0; f[2] = 7.0; f[n] = float(n++) + f[n]; gl_FragColor = vec4(f[0], f[1], f[2], n);",
        [5.0, 8.0, 7.0, 2.0],
    );
    check(Glsl110, "", "vec2 v = a.xy; v++; gl_FragColor = vec4(v, v-- * 2.0);", [1.5, -0.25, 3.0, -0.5]);
    check(Glsl110, "", "mat2 m = m2; m++; --m[1]; gl_FragColor = vec4(m[0], m[1]);", [2.0, 3.0, 3.0, 4.0]);
    check(
        Glsl110,
        "int n = 0; float next() { n++; return float(n); }",
        "gl_FragColor = vec4(next(), next(), next(), n);",
        [1.0, 2.0, 3.0, 3.0],
    );
    check(
        Glsl110,
        "int n = 0; bool t() { n++; return true; }",
        "bool x = yes || t(); bool y = yes && t(); gl_FragColor = vec4(x, y, n, 0.0);",
        [1.0, 1.0, 1.0, 0.0],
    );
    check(
        Glsl110,
        "int n = 0; float t() { n++; return 4.0; }",
        "float x = i > 5 ? t() : 2.0; float y = i > 0 ? t() : 2.0; gl_FragColor = vec4(x, y, n, 0.0);",
        [2.0, 4.0, 1.0, 0.0],
    );
    check(Glsl110, "", "vec4 x, y; x = y = a; x.x = y.y = 9.0; gl_FragColor = x + y;", [9.5, 7.75, 4.0, 6.0]);
}

#[test]
fn flow() {
    check(
        Glsl110,
        "",
        "float s = 0.0; for (int n = 0; n < 5; n++) { if (n == 1) continue; if (n == 4) break; s += float(n); } gl_FragColor = vec4(s);",
        [5.0; 4],
    );
    check(Glsl110, "", "int n = 0; while (n < 10) { n += 3; if (n > 5) break; } gl_FragColor = vec4(n);", [6.0; 4]);
    check(
        Glsl110,
        "",
        "int n = 0, m = 0; do { n++; if (n == 2) continue; m += n; } while (n < 4); gl_FragColor = vec4(n, m, 0.0, 0.0);",
        [4.0, 8.0, 0.0, 0.0],
    );
    check(
        Glsl110,
        "",
        "int n = 3; float s = 0.0; while (bool go = n > 0) { s += 2.0; n--; if (!go) s = 100.0; } gl_FragColor = vec4(s);",
        [6.0; 4],
    );
    check(
        Glsl110,
        "",
        "float s = 0.0; for (int x = 0; x < 3; x++) for (int y = 0; y < 3; y++) { if (y > x) break; s += 1.0; } gl_FragColor = vec4(s);",
        [6.0; 4],
    );
    check(
        Glsl110,
        "float f(float x) { if (x > 1.0) return 10.0; for (int n = 0; n < 4; n++) { if (float(n) > x) return float(n); } return 50.0; }",
        "gl_FragColor = vec4(f(2.0), f(0.5), f(-1.0), f(1.0));",
        [10.0, 1.0, 0.0, 2.0],
    );
    check(
        Glsl110,
        "",
        "gl_FragColor = a; if (yes) { gl_FragColor.x = 7.0; return; } gl_FragColor = b;",
        [7.0, -1.25, 2.0, 3.0],
    );
    check(Glsl110, "", "for (;;) { break; } if (false) discard; gl_FragColor = b;", [1.5, 0.25, -0.75, 4.0]);
}

#[test]
fn functions() {
    check(
        Glsl110,
        "void f(in float x, out vec2 y, inout float z) { y = vec2(x, z); z += x; x = 0.0; }",
        "float p = 1.0, q = 2.0; vec4 v; f(p, v.yx, q); v.z = p; v.w = q; gl_FragColor = v;",
        [2.0, 1.0, 1.0, 3.0],
    );
    check(
        Glsl110,
        "void f(inout float x, inout float y) { x += 1.0; y += 10.0; }",
        "float p = 1.0; f(p, p); gl_FragColor = vec4(p);",
        [11.0; 4],
    );
    check(
        Glsl110,
        "float f(float x) { return x * 2.0; } float f(vec2 v) { return v.x + f(v.y); } float f(int n) { return float(n) + 0.5; }",
        "gl_FragColor = vec4(f(1.0), f(vec2(1.0, 2.0)), f(3), f(f(f(1.0))));",
        [2.0, 5.0, 3.5, 8.0],
    );
    check(
        Glsl110,
        "float g; void f(out float r) { g = 5.0; r = 1.0; }",
        "g = 1.0; float x = g; f(g); gl_FragColor = vec4(x, g, 0.0, 0.0);",
        [1.0, 1.0, 0.0, 0.0],
    );
    check(
        Glsl120,
        "void f(inout float v[3], int n) { v[n] += 1.0; } float sum(float v[3]) { return v[0] + v[1] + v[2]; }",
        "float v[3]; v[0] = 1.0; v[1] = 2.0; v[2] = 3.0; f(v, i); gl_FragColor = vec4(v[0], v[1], v[2], sum(v));",
        [1.0, 3.0, 3.0, 7.0],
    );
    check(
        Glsl110,
        "float later(float x); float user() { return later(3.0); } float later(float x) { return x + 1.0; }",
        "gl_FragColor = vec4(user());",
        [4.0; 4],
    );
    check(
        Glsl110,
        "float sin(float x) { return 42.0; }",
        "gl_FragColor = vec4(sin(1.0), cos(0.0), sin(vec2(0.0)));",
        [42.0, 1.0, 0.0, 0.0],
    );
    check(
        Glsl120,
        "float f(float x) { return x; } void g(out int n) { n = 3; }",
        "float x; g(x); gl_FragColor = vec4(f(2), x, 0, 0);",
        [2.0, 3.0, 0.0, 0.0],
    );
    check(
        Glsl120,
        "void f(int n, inout float x[3]) { x[n] = x[n] + 1.0; }",
        "float v[3]; v[0] = v[1] = v[2] = 0.0; int n = 0; f(n++, v); f(n++, v); f(n, v); f(n, v); gl_FragColor = vec4(v[0], v[1], v[2], n);",
        [1.0, 1.0, 2.0, 2.0],
    );
}

#[test]
fn aggregates() {
    let globals = "struct Q { float f; mat2 m; }; struct S { vec3 v; Q q[2]; float w[3]; }; uniform S us[2];";
    check(
        Glsl110,
        globals,
        "S s; s.v = a.xyz; s.q[i].f = 4.0; s.q[0].m = m2; s.q[0].f = 1.0; s.w[2] = 9.0; S t = s; gl_FragColor = vec4(t.v.x, t.q[i].f, t.q[0].m[1].y, t.w[j - 1]);",
        [0.5, 4.0, 4.0, 9.0],
    );
    check(
        Glsl110,
        globals,
        "Q q = Q(1.0, m2); Q p = q; p.m[1][0] = 8.0; gl_FragColor = vec4(q == q, q == p, q != p, p.m[1].x);",
        [1.0, 0.0, 1.0, 8.0],
    );
    check(
        Glsl110,
        globals,
        "gl_FragColor = vec4(Q(a.x, m2).f, Q(a.x, m2).m[1], Q(1.0, m2).m[i].x);",
        [0.5, 3.0, 4.0, 3.0],
    );
    check(
        Glsl110,
        globals,
        "S s[2]; s[i].q[i].m[i][i] = 3.0; s[0].q[1].m[1][1] = 4.0; S t = s[i]; gl_FragColor = vec4(t.q[1].m[1].y, s[i - 1].q[i].m[i].y, 0.0, 0.0);",
        [3.0, 4.0, 0.0, 0.0],
    );
    check(
        Glsl120,
        "",
        "float v[3] = float[3](1.0, 2.0, 3.0); float w[3]; w = v; w[1] = 5.0; gl_FragColor = vec4(v == w, v != w, w[1], v.length());",
        [0.0, 1.0, 5.0, 3.0],
    );
    check(
        Glsl120,
        "const float t[4] = float[](1.0, 2.0, 4.0, 8.0); float[2] pair(float x) { return float[2](x, x + 1.0); }",
        "gl_FragColor = vec4(t[j], t[1], pair(3.0)[i], pair(5.0)[0]);",
        [8.0, 2.0, 4.0, 5.0],
    );
    check(
        Glsl120,
        "const float t[4] = float[](1.0, 2.0, 4.0, 8.0);",
        "float s = 0.0; for (int n = 0; n < 4; n++) s += t[n]; gl_FragColor = vec4(s);",
        [15.0; 4],
    );
    check(
        Glsl110,
        "",
        "float v[4]; for (int n = 0; n < 4; n++) v[n] = arr[n] * 2.0; gl_FragColor = vec4(v[0], v[i], arr[j], v[3]);",
        [20.0, 40.0, 40.0, 80.0],
    );
    check(
        Glsl110,
        "",
        "vec2 v[2]; v[0] = a.xy; v[1] = b.xy; v[i].y = 3.0; vec2 t = v[0]; v[0] = v[1]; v[1] = t; gl_FragColor = vec4(v[0], v[1]);",
        [1.5, 3.0, 0.5, -1.25],
    );
    check(
        Glsl110,
        "",
        "float v[2]; v[1] = 2.0; v[0] = 1.0; gl_FragColor = vec4(v[v[0] < v[1] ? 1 : 0], v[0], 0.0, 0.0);",
        [2.0, 1.0, 0.0, 0.0],
    );
}

#[test]
fn constructors() {
    check(Glsl110, "", "gl_FragColor = vec4(a.xy, b.zw);", [0.5, -1.25, -0.75, 4.0]);
    check(Glsl110, "", "gl_FragColor = vec4(ivec2(a.yz * 1.7), bvec2(a.x, 0.0));", [-2.0, 3.0, 1.0, 0.0]);
    check(
        Glsl110,
        "",
        "gl_FragColor = vec4(float(yes), int(2.75), float(bool(0.0)), vec3(a).z);",
        [1.0, 2.0, 0.0, 2.0],
    );
    check(Glsl110, "", "gl_FragColor = vec4(vec2(3), vec2(true));", [3.0, 3.0, 1.0, 1.0]);
    check(Glsl110, "", "gl_FragColor = vec4(m2);", [1.0, 2.0, 3.0, 4.0]);
    check(Glsl110, "", "gl_FragColor = vec4(1.0, vec3(a.yzw));", [1.0, -1.25, 2.0, 3.0]);
    check(Es100, "", "gl_FragColor = vec4(ivec3(1, 2, 3), int(true));", [1.0, 2.0, 3.0, 1.0]);
}

#[test]
fn constants_are_folded() {
    check(
        Glsl120,
        "const float x = sin(0.0) + pow(2.0, 3.0); const vec3 v = normalize(vec3(0.0, 3.0, 4.0)) * 10.0; const int n = 7 / 2; float q[n];",
        "gl_FragColor = vec4(x, v.yz, q.length());",
        [8.0, 6.0, 8.0, 3.0],
    );
    check(
        Glsl110,
        "const int n = 2 * 3 + 1; const mat2 m = mat2(1.0, 2.0, 3.0, 4.0); const vec2 v = m * vec2(1.0, 2.0); const bool t = n > 3 && true;",
        "gl_FragColor = vec4(n, v, t);",
        [7.0, 7.0, 10.0, 1.0],
    );
    check(
        Glsl110,
        "struct S { float a; vec2 b; }; const S s = S(1.0, vec2(2.0, 3.0));",
        "const float z = s.b.y; gl_FragColor = vec4(s.a, s.b, z);",
        [1.0, 2.0, 3.0, 3.0],
    );
    check(
        Glsl120,
        "uniform float u = 2.5; uniform vec2 w[2] = vec2[](vec2(1.0, 2.0), vec2(3.0, 4.0));",
        "gl_FragColor = vec4(u, w[i], w[0].x);",
        [2.5, 3.0, 4.0, 1.0],
    );
    check(Glsl110, "", "gl_FragColor = vec4(gl_MaxDrawBuffers, gl_MaxLights, 0x10, 010);", [8.0, 8.0, 16.0, 8.0]);
}

#[test]
fn scopes() {
    check(
        Glsl110,
        "float x = 1.0;",
        "float y = x; float x = x + 1.0; { float x = 7.0; y += x; } gl_FragColor = vec4(x, y, 0.0, 0.0);",
        [2.0, 8.0, 0.0, 0.0],
    );
    check(Glsl110, "float g = 3.0; float h = g * 2.0;", "gl_FragColor = vec4(g, h, 0.0, 0.0);", [3.0, 6.0, 0.0, 0.0]);
    check(Glsl110, "float f(float f) { return f; }", "gl_FragColor = vec4(f(2.0));", [2.0; 4]);
    check(
        Glsl110,
        "",
        "float t1 = 1.0; float t2 = t1 * a.x + a.y; gl_FragColor = vec4(t1, t2, 0.0, 0.0);",
        [1.0, -0.75, 0.0, 0.0],
    );
}

#[test]
fn textures() {
    let g = "uniform sampler2D s; uniform sampler1D s1; uniform sampler3D s3; uniform sampler2DShadow sh; uniform sampler1DShadow sh1; uniform samplerCube c; uniform sampler2D many[3];";
    check(Glsl110, g, "gl_FragColor = texture2D(s, a.xy);", [0.5, -1.25, 0.0, 0.0]);
    check(Glsl110, g, "gl_FragColor = texture2D(s, a.xy, 2.0);", [0.5, -1.25, 0.0, 2.0]);
    check(Glsl110, g, "gl_FragColor = texture2DProj(s, a.xyz);", [0.25, -0.625, 1.0, 0.0]);
    check(Glsl110, g, "gl_FragColor = texture2DProj(s, vec4(1.0, 2.0, 9.0, 4.0), 3.0);", [0.25, 0.5, 0.0, 3.0]);
    check(Glsl110, g, "gl_FragColor = texture1DProj(s1, vec2(3.0, 2.0));", [1.5, 1.0, 1.0, 0.0]);
    check(Glsl110, g, "gl_FragColor = texture3D(s3, a.xyz);", [0.5, -1.25, 2.0, 0.0]);
    check(Glsl110, g, "gl_FragColor = shadow2D(sh, a.xyz);", [0.5, -1.25, 2.0, 0.0]);
    check(Glsl110, g, "gl_FragColor = shadow1D(sh1, a.xyz, 1.0);", [0.5, -1.25, 2.0, 1.0]);
    check(Glsl110, g, "gl_FragColor = textureCube(c, b.xyz);", [1.5, 0.25, -0.75, 0.0]);
    check(Glsl110, g, "gl_FragColor = texture2D(many[2], a.xy);", [0.5, -1.25, 0.0, 200.0]);
    check(
        Glsl110,
        &format!(
            "{g} vec4 f(sampler2D t, vec2 p) {{ return texture2D(t, p); }} vec4 g(vec2 p, sampler2D t) {{ return f(t, p * 2.0); }}"
        ),
        "gl_FragColor = g(a.xy, many[1]) + f(s, b.xy) * 10.0;",
        [16.0, 0.0, 0.0, 100.0],
    );
    let program = program(
        Glsl110,
        Stage::Vertex,
        "uniform sampler2D s; void main() { gl_Position = texture2D(s, gl_Vertex.xy) + texture2DProjLod(s, gl_Vertex, 3.0); }",
    );
    let outputs = run_program(&program, &[("gl_Vertex", 0, [1.0, 2.0, 3.0, 2.0])]);
    assert_eq!(output(&program, &outputs, "gl_Position", 0), [1.5, 3.0, 0.0, 3.0]);
}

#[test]
fn state_and_outputs() {
    let text = "void main() { gl_Position = ftransform(); gl_TexCoord[2] = gl_TextureMatrix[1] * gl_MultiTexCoord0; \
        gl_FrontColor = gl_LightSource[1].diffuse * gl_FrontMaterial.shininess; gl_PointSize = gl_Fog.density; \
        for (int i = 0; i < 2; i++) gl_FrontColor += gl_LightSource[i].ambient; }";
    let program = program(Glsl110, Stage::Vertex, text);
    let values = [
        ("gl_ModelViewProjectionMatrix", 0, [2.0, 0.0, 0.0, 0.0]),
        ("gl_ModelViewProjectionMatrix", 1, [0.0, 3.0, 0.0, 0.0]),
        ("gl_ModelViewProjectionMatrix", 3, [0.0, 0.0, 1.0, 1.0]),
        ("gl_Vertex", 0, [1.0, 2.0, 3.0, 1.0]),
        ("gl_TextureMatrix", 4, [5.0, 0.0, 0.0, 0.0]),
        ("gl_MultiTexCoord0", 0, [2.0, 0.0, 0.0, 0.0]),
        ("gl_LightSource.diffuse", 1, [1.0, 2.0, 3.0, 4.0]),
        ("gl_LightSource.ambient", 0, [0.5; 4]),
        ("gl_LightSource.ambient", 1, [0.25; 4]),
        ("gl_FrontMaterial.shininess", 0, [2.0, 0.0, 0.0, 0.0]),
        ("gl_Fog.density", 0, [0.75, 0.0, 0.0, 0.0]),
    ];
    let outputs = run_program(&program, &values);
    assert_eq!(output(&program, &outputs, "gl_Position", 0), [2.0, 6.0, 1.0, 1.0]);
    assert_eq!(output(&program, &outputs, "gl_TexCoord", 2), [10.0, 0.0, 0.0, 0.0]);
    assert_eq!(output(&program, &outputs, "gl_FrontColor", 0), [2.75, 4.75, 6.75, 8.75]);
    assert_eq!(output(&program, &outputs, "gl_PointSize", 0)[0], 0.75);
    let position = program.vars.values().find(|v| v.name == "gl_Position").unwrap();
    assert!(position.invariant);
    assert!(!program.vars.values().any(|v| v.name.starts_with("gl_LightSource.spot")), "only what is used is declared");
}

#[test]
fn discard_ends_the_fragment() {
    let program = program(
        Glsl110,
        Stage::Fragment,
        "uniform float x; void main() { gl_FragColor = vec4(1.0); if (x > 0.5) discard; }",
    );
    assert!(run_program(&program, &[("x", 0, [1.0; 4])]).discarded);
    assert!(!run_program(&program, &[("x", 0, [0.0; 4])]).discarded);
}

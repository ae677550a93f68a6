//! The typed tree, the name table and the three-address code of small shaders, as text.

mod common;

use bumpalo::Bump;
use expect_test::{Expect, expect};
use frontend::ast::Version::Glsl110;
use ir::diag::SourceMap;
use ir::types::Stage::{self, Fragment, Vertex};

fn tac(stage: Stage, text: &str, expected: Expect) {
    expected.assert_eq(&ir::tac::text::print(&common::program(Glsl110, stage, text)));
}

#[test]
fn the_papers_example() {
    let text = "attribute vec4 my_Vertex;\nuniform mat4 my_TransformMatrix;\nvoid main()\n{\n    gl_Position = my_TransformMatrix * my_Vertex;\n}\n";
    tac(
        Vertex,
        text,
        expect![[r#"
        stage vert
        version 110
        entry main

        attribute vec4 my_Vertex                                 ; line 1
        uniform vec4 my_TransformMatrix[4] cols 4 as "mat4"      ; line 2
        temp vec4 t1
        temp vec4 t2
        temp vec4 t3
        temp vec4 t4
        temp vec4 t5
        temp vec4 t6
        temp vec4 t7
        output vec4 gl_Position

        func main() {                                            ; line 3
          MUL t1.xyzw, my_TransformMatrix[0].xyzw, my_Vertex.xxxx ; line 5
          MUL t2.xyzw, my_TransformMatrix[1].xyzw, my_Vertex.yyyy ; line 5
          ADD t3.xyzw, t1.xyzw, t2.xyzw                          ; line 5
          MUL t4.xyzw, my_TransformMatrix[2].xyzw, my_Vertex.zzzz ; line 5
          ADD t5.xyzw, t3.xyzw, t4.xyzw                          ; line 5
          MUL t6.xyzw, my_TransformMatrix[3].xyzw, my_Vertex.wwww ; line 5
          ADD gl_Position.xyzw, t5.xyzw, t6.xyzw                 ; line 5
        }
    "#]],
    );
}

#[test]
fn a_cross_product_is_two_products_and_a_difference() {
    let text = "attribute vec3 a, b;\nvoid main() { gl_Position.xyz = cross(a, b); }";
    tac(
        Vertex,
        text,
        expect![[r#"
        stage vert
        version 110
        entry main

        attribute vec3 a                                         ; line 1
        attribute vec3 b                                         ; line 1
        temp vec3 t1
        temp vec3 t2
        temp vec3 t3
        output vec4 gl_Position

        func main() {                                            ; line 2
          MUL t1.xyz, a.zxy, b.yzx                               ; line 2
          MUL t2.xyz, a.yzx, b.zxy                               ; line 2
          SUB gl_Position.xyz, t2.xyz, t1.xyz                    ; line 2
        }
    "#]],
    );
}

#[test]
fn functions_branches_and_loops() {
    let text = "uniform float limit;\nuniform vec4 tint[3];\nvarying vec2 uv;\nvec4 shade(in vec4 c, out float sum)\n{\n    sum = 0.0;\n    for (int i = 0; i < 3; i++) {\n        if (c.x > limit)\n            continue;\n        sum += tint[i].x;\n    }\n    return c * sum;\n}\nvoid main()\n{\n    float s;\n    vec4 c = shade(vec4(uv, 0.0, 1.0), s);\n    if (s < 0.1)\n        discard;\n    gl_FragColor = c;\n}\n";
    tac(
        Fragment,
        text,
        expect![[r#"
        stage frag
        version 110
        entry main

        uniform float limit                                      ; line 1
        uniform vec4 tint[3] as "vec4[3]"                        ; line 2
        varying vec2 uv                                          ; line 3
        temp vec4 t1
        local vec4 shade.c                                       ; line 17
        local float shade.sum                                    ; line 17
        local vec4 shade.return                                  ; line 17
        temp vec4 t2
        local float s                                            ; line 16
        local vec4 c                                             ; line 17
        temp bool t3
        output vec4 gl_FragColor
        local int i                                              ; line 7
        temp bool t4
        temp bool t5
        temp bool t6
        temp int t7
        temp float t8
        temp int t9
        temp vec4 t10

        func main() {                                            ; line 14
          MOV t1.xy, uv.xy                                       ; line 17
          MOV t1.zw, vec2(0.0, 1.0)                              ; line 17
          MOV shade.c.xyzw, t1.xyzw                              ; line 17
          CAL shade                                              ; line 17
          MOV t2.xyzw, shade.return.xyzw                         ; line 17
          MOV s.x, shade.sum.x                                   ; line 17
          MOV c.xyzw, t2.xyzw                                    ; line 17
          SLT t3.x, s.x, float(0.1)                              ; line 18
          IF t3.x                                                ; line 18
            KIL float(-1.0)                                      ; line 19
          ENDIF                                                  ; line 18
          MOV gl_FragColor.xyzw, c.xyzw                          ; line 20
        }

        func shade(shade.c, shade.sum, shade.return) {           ; line 4
          MOV shade.sum.x, float(0.0)                            ; line 6
          MOV i.x, int(0)                                        ; line 7
          LOOP                                                   ; line 7
            SLT t4.x, i.x, int(3)                                ; line 7
            NOT t5.x, t4.x                                       ; line 7
            IF t5.x                                              ; line 7
              BRK                                                ; line 7
            ENDIF                                                ; line 7
            SLT t6.x, limit.x, shade.c.x                         ; line 8
            IF t6.x                                              ; line 8
              ADD i.x, i.x, int(1)                               ; line 7
              CONT                                               ; line 9
            ENDIF                                                ; line 8
            ADD shade.sum.x, shade.sum.x, tint[i.x + 0].x        ; line 10
            ADD i.x, i.x, int(1)                                 ; line 7
          ENDLOOP                                                ; line 7
          MUL shade.return.xyzw, shade.c.xyzw, shade.sum.xxxx    ; line 12
          RET                                                    ; line 12
        }
    "#]],
    );
}

#[test]
fn structs_become_leaves() {
    let text = "struct Light { vec3 at; float k[2]; };\nuniform Light lights[4];\nuniform int n;\nvoid main() { gl_Position = vec4(lights[n].at, lights[2].k[1]); }";
    tac(
        Vertex,
        text,
        expect![[r#"
        stage vert
        version 110
        entry main

        uniform vec3 lights.at[4] as "vec3[4]"                   ; line 2
        uniform float lights.k[8] as "float[8]"                  ; line 2
        uniform int n                                            ; line 3
        temp vec4 t1
        output vec4 gl_Position

        func main() {                                            ; line 4
          MOV t1.xyz, lights.at[n.x + 0].xyz                     ; line 4
          MOV t1.w, lights.k[5].x                                ; line 4
          MOV gl_Position.xyzw, t1.xyzw                          ; line 4
        }
    "#]],
    );
}

#[test]
fn the_typed_tree_and_the_name_table() {
    let text = "#version 120\nuniform int n;\nvarying vec2 v;\nstruct S { float a; };\nfloat f(float x) { S s = S(x); { float y = 2; s.a += y; } return s.a; }\nvoid main() { gl_Position = vec4(f(n), v.yx, 2 * 3); }\n";
    let arena = Bump::new();
    let mut sources = SourceMap::new();
    let file = sources.add("test", text);
    let analyzed = frontend::analyze(&arena, &mut sources, file, Vertex, &frontend::Options::default());
    let shader = analyzed.shader.unwrap();
    expect![[r#"
        uniform int n#0
        varying vec2 v#1
        output vec4 gl_Position
        function float f(in float x#3)
          declare S s#4
            construct S : S
              x#3 : float
          block
            declare float y#5
              const 2.0 : float
            += : float
              .a : float
                s#4 : S
              y#5 : float
          return
            .a : float
              s#4 : S
        function void main()
          = : vec4
            gl_Position : vec4
            construct vec4 : vec4
              call f : float
                construct float : float
                  n#0 : int
              swizzle yx : vec2
                v#1 : vec2
              const 6 : int
    "#]]
    .assert_eq(&frontend::typed::dump(&shader));
    expect![[r#"
        name  kind      type              scope   line
        n     uniform   int               global  2
        v     varying   vec2              global  3
        S     struct    { float a }       global  4
        f     function  float (in float)  global  5
        x     in        float             f       5
        s     local     S                 f       5
        y     local     float             f/1     5
        main  function  void ()           global  6
    "#]]
    .assert_eq(&frontend::typed::dump_names(&shader, &sources));
}

use super::*;

fn target(name: &str) -> Target {
    Target::builtin(name).unwrap()
}

fn all(version: &str, text: &str) -> Result<Usage, Vec<String>> {
    let found = check(&format!("{version}\n{text}"), &target(version));
    found.map_err(|f| f.iter().map(ToString::to_string).collect())
}

/// Findings on `body` in a program that is legal without it.
fn vertex(version: &str, body: &str) -> Vec<String> {
    let declarations = "dcl_position v0\ndcl_color v1\n";
    let (outputs, end) = match version {
        "vs_3_0" => ("dcl_position o0\ndcl_texcoord1 o1.xy\n", "mov o0, v0\n"),
        _ => ("", "mov oPos, v0\n"),
    };
    let text = format!("{declarations}{outputs}def c9, 1, 2, 3, 4\nmov r0, c0\nmov r1.xyz, c1\n{body}\n{end}");
    all(version, &text).err().unwrap_or_default()
}

fn pixel(version: &str, body: &str) -> Vec<String> {
    let declarations = match version {
        "ps_3_0" => "dcl_texcoord0 v0\ndcl_2d s0\ndcl_cube s1\ndcl vPos.xy\n",
        _ => "dcl v0\ndcl t0\ndcl t1.xy\ndcl_2d s0\n",
    };
    let text = format!("{declarations}mov r0, c0\nmov r1.xyz, c1\n{body}\nmov oC0, r0\n");
    all(version, &text).err().unwrap_or_default()
}

fn finds(found: &[String], says: &str, body: &str) {
    assert!(found.len() == 1 && found[0].contains(says), "{body}: {found:?}");
}

#[test]
fn legal_programs_are_counted() {
    let text = "dcl_position v0\ndcl_color v1\nm4x4 oPos, v0, c0\nmov oD0, v1\n";
    let usage = all("vs_1_1", text).unwrap();
    assert_eq!((usage.instructions, usage.parameters, usage.attributes), (2, 4, 2));
    for version in ["vs_1_0", "vs_1_1", "vs_2_0", "vs_3_0"] {
        assert_eq!(vertex(version, "mad r2, r0, r0.x, -r1.xyzx\nrsq r2.w, r2.w"), [""; 0], "{version}");
    }
    assert_eq!(pixel("ps_2_0", "texld r2, t0, s0\nmad_sat_pp r0.xyz, r2, c0.w, -r1.yzxw"), [""; 0]);
    assert_eq!(pixel("ps_3_0", "texld r2, v0.zwxy, s0\nmad r0.xyz, r2_abs, c0.w, -r1.zyxx\ndsx r2, r0"), [""; 0]);
    assert_eq!(vertex("vs_3_0", "if_lt r0.x, -r1.y\nrep i0\nbreak_ge r0.x, r1.x\nendrep\nelse\nendif"), [""; 0]);
}

#[test]
fn ports() {
    for (version, body, says) in [
        ("vs_1_0", "add r2, v0, v0", "2 references to v"),
        ("vs_1_0", "mul r2, c0.x, c0", "2 references to c"),
        ("vs_1_1", "add r2, v0, v1", "2 different v"),
        ("vs_1_1", "mad r2, c0, r0, c1", "2 different c"),
        ("vs_2_0", "mad r2, c0, r0, c1", "2 different c"),
        ("vs_2_0", "mad r2, c0, c0, c0", "3 times"),
        ("vs_3_0", "mad r2, c0, r0, c1", "2 different c"),
    ] {
        finds(&vertex(version, body), says, body);
    }
    assert!(vertex("vs_1_1", "add r2, v0, v0\nmad r2, c0, c0.x, c0").is_empty());
    finds(&pixel("ps_2_0", "add r2, t0, t1.y"), "2 different t", "t");
    finds(&pixel("ps_3_0", "add r2, c0, c1"), "2 different c", "c");
}

#[test]
fn operands() {
    for (version, body, says) in [
        ("vs_1_1", "rcp r2.x, r0", "one lane"),
        ("vs_2_0", "mul_sat r2, r0, r1.x", "saturated"),
        ("vs_2_0", "mov r2, r0_abs", "not in this version"),
        ("vs_1_1", "abs r2, r0", "not in this version"),
        ("vs_2_0", "mova r2, r0", "cannot write"),
        ("vs_2_0", "mov a0.x, r0.x", "cannot write"),
        ("vs_1_1", "mov a0.y, r0.x", "only `a0.x`"),
        ("vs_2_0", "mov r2, c[a0.x + 3]", "never written"),
        ("vs_1_1", "frc r2.x, r0", "cannot write .x"),
        ("vs_2_0", "crs r2.w, r0, r1", "cannot write .w"),
        ("vs_2_0", "crs r1.xyz, r0, r1", "what it reads"),
        ("vs_2_0", "nrm r2, r0.yzxw", "in place"),
        ("vs_2_0", "mov r2, r1", "`r1.w` is read and never written"),
        ("vs_2_0", "dp4 r2.x, r0, r1", "`r1.w`"),
        ("vs_2_0", "mov r2, v2", "not declared"),
        ("vs_2_0", "mov r2, oPos", "cannot be read"),
        ("vs_2_0", "mov v0, r0", "cannot write"),
        ("vs_2_0", "mov r12, r0", "cannot write"),
        ("vs_1_1", "mov r2, c96", "no `c96`"),
        ("vs_1_1", "mov r2, c[a0.y + 3]", "no address register"),
        ("vs_2_0", "add r2, r0", "takes 3 registers"),
        ("vs_2_0", "foo r2, r0", "no opcode"),
        ("vs_2_0", "cmp r2, r0, r0, r0", "not in this version"),
        ("vs_2_0", "mov r2.yx, r0", "write mask"),
        ("vs_2_0", "def c8, 1, 2, 3, 4", "behind the first"),
        ("vs_3_0", "mov o1, r0", "not these lanes"),
        ("vs_3_0", "mov_sat o1.xy, r0", "saturated"),
        ("vs_2_0", "if_lt r0.x, r1.x", "not in this version"),
        ("vs_3_0", "endif", "without `if`"),
        ("vs_3_0", "break", "outside a loop"),
        ("vs_3_0", "if_lt r0, r1.x\nendif", "one lane"),
        ("vs_2_0", "sincos r2.xy, r0.x, c0, c0", "two different constants"),
    ] {
        finds(&vertex(version, body), says, body);
    }
}

#[test]
fn pixels() {
    for (version, body, says) in [
        ("ps_2_0", "mov r2, r0.zyxw", "no swizzle of ps_2_0"),
        ("ps_2_0", "texld r2, t0.xyyy, s0", "in place"),
        ("ps_2_0", "texld r2.xyz, t0, s0", "whole temporary"),
        ("ps_2_0", "texld r2, c0, s0", "coordinates from r or t"),
        ("ps_2_0", "texld r2, t0, s1", "not declared"),
        ("ps_2_0", "mov r2, t1", "`t1.zw` is not declared"),
        ("ps_2_0", "slt r2, r0, r0", "not in this version"),
        ("ps_2_0", "add oC1, r0, r0", "plain mov"),
        ("ps_2_0", "mov oC2, r0", "`oC2` is written and `oC1` is not"),
        ("ps_2_0", "mov oC0, r0", "written twice"),
        ("ps_2_0", "mov oDepth, r0", "plain mov"),
        ("ps_2_0", "dp2add r2.x, r0, r0, r0", "one lane"),
        ("ps_2_0", "dsx r2, r0", "not in this version"),
        ("ps_3_0", "texld r2, -v0, s0", "with a sign"),
        ("ps_3_0", "dcl_2d s3", "behind the first"),
    ] {
        finds(&pixel(version, body), says, body);
    }
    let usage = all("ps_3_0", "dcl_texcoord0 v0\ndcl_cube s1\ntexld r0, v0, s1\nmov oC0, r0\n").unwrap();
    assert_eq!(usage.tex, 1);
}

#[test]
fn dependent_reads() {
    let chain = |n: usize| "texld r2, r2, s0\n".repeat(n);
    // the first has its coordinates in t and is of order 0
    assert!(pixel("ps_2_0", &format!("texld r2, t0, s0\n{}", chain(3))).is_empty());
    finds(&pixel("ps_2_0", &format!("texld r2, t0, s0\n{}", chain(4))), "order 4", "chain");
    // arithmetic between them changes nothing, other registers do
    finds(&pixel("ps_2_0", &format!("mov r2, t0\n{}add r2, r2, r0\n{}", chain(2), chain(2))), "order 4", "chain");
    assert!(pixel("ps_2_0", &format!("mov r2, t0\n{}mov r3, r0\ntexld r3, r0, s0", chain(3))).is_empty());
}

#[test]
fn counts_say_by_how_much() {
    finds(&vertex("vs_1_1", &"exp r2.x, r0.x\n".repeat(13)), "133 slots, vs_1_1 has 128: 5 too many", "exp");
    finds(&vertex("vs_2_0", &"lrp r2, r0.x, r0, r0\n".repeat(127)), "257 slots", "lrp");
    finds(&pixel("ps_2_0", &"add r2, r0, r0\n".repeat(62)), "65 arithmetic slots", "alu");
    let lookups: String = (0..33).map(|_| "texld r2, t0, s0\n").collect();
    assert!(pixel("ps_2_0", &lookups).iter().any(|f| f.contains("33 texture slots")));
}

#[test]
fn whole_programs() {
    for (version, text, says) in [
        ("vs_1_1", "dcl_position v0\nmov oPos.xyz, v0\n", "`oPos` is not written wholly"),
        ("ps_2_0", "dcl t0\nmov r0, t0\n", "`oC0` is not written"),
        ("vs_3_0", "dcl_position v0\nmov r0, v0\n", "no output is declared as position"),
        ("vs_1_1", "dcl_position v0\ndcl_position v1\nmov oPos, v0\n", "two registers carry"),
        ("vs_1_1", "dcl_position v0\ndcl_color v0\nmov oPos, v0\n", "declared twice"),
        ("vs_1_1", "dcl_wrong v0\nmov oPos, v0\n", "no usage"),
        ("vs_1_1", "dcl_position v0\ndef c0, 1, 2, 3\nmov oPos, v0\n", "4 numbers"),
        ("vs_3_0", "dcl_position v0\ndcl_position o0\nmov o0, v0\nrep i0\n", "without its end"),
    ] {
        finds(&all(version, text).unwrap_err(), says, text);
    }
    let other = check("vs_2_0\nmov oPos, c0\n", &target("ps_2_0")).unwrap_err();
    assert!(other[0].text.contains("vs_2_0 on ps_2_0"));
    assert!(check("vs_9_9\n", &target("vs_2_0")).is_err());
}

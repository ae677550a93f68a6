//! Construction on small programs.

use super::*;
use crate::diag::FileId;
use crate::tac::inline::{MAX_INLINED_INSTS, inline};

fn ssa_text(text: &str) -> String {
    let program = crate::tac::text::parse(FileId::default(), text).unwrap_or_else(|e| panic!("{e}"));
    let program = inline(&program, MAX_INLINED_INSTS).unwrap();
    let arena = Bump::new();
    let func = build(&program, &arena).unwrap();
    if let Err(errors) = crate::verify::verify(&func) {
        panic!("{errors:#?}\n{}", crate::text::print(&func));
    }
    crate::text::print(&func)
}

#[test]
fn partial_writes_gather_and_branches_meet_in_parameters() {
    let text = "stage frag\nuniform vec4 u\nuniform bool b\noutput vec4 o\nlocal vec3 t\nfunc main() {\n\
        MOV t.xyz, u.xyz\nIF b.x\nMOV t.y, u.w\nENDIF\nMOV o.xyz, t.xyz\n}\n";
    let found = ssa_text(text);
    assert!(found.contains("swz v0.xwz"), "{found}");
    assert!(found.contains("jump block4(v1)"), "{found}");
    assert!(found.contains("store_output var2[0].xyz"), "{found}");
}

#[test]
fn loops_make_parameters_only_for_what_they_change() {
    let text = "stage frag\nuniform int n\nuniform vec4 u\noutput vec4 o\nlocal int i\nlocal vec4 s\nlocal vec4 k\n\
        temp bool p\nfunc main() {\nMOV i.x, int(0)\nMOV s.xyzw, vec4(0, 0, 0, 0)\nMOV k.xyzw, u.wzyx\nLOOP\n\
        SGE p.x, i.x, n.x\nIF p.x\nBRK\nENDIF\nADD s.xyzw, s.xyzw, k.xyzw\nADD i.x, i.x, int(1)\nENDLOOP\n\
        ADD o.xyzw, s.xyzw, k.xyzw\n}\n";
    let found = ssa_text(text);
    let header = found.lines().find(|l| l.contains(" loop ")).unwrap();
    assert_eq!(header.matches(": ").count(), 2, "{found}");
}

#[test]
fn arrays_with_constant_indices_are_values() {
    let text = |index: &str| {
        format!(
            "stage vert\nuniform int n\nattribute vec4 v\noutput vec4 o\nlocal vec4 a[3]\nfunc main() {{\n\
             MOV a[1].xyzw, v.xyzw\nMOV a[0].xyzw, v.wzyx\nADD o.xyzw, a[0].xyzw, a[{index}].xyzw\n}}\n"
        )
    };
    assert!(!ssa_text(&text("1")).contains("load"));
    assert!(ssa_text(&text("n.x + 1")).contains("load"));
}

#[test]
fn endless_loops_and_dead_code_are_fine() {
    let text = "stage frag\nuniform bool b\noutput vec4 o\nfunc main() {\nLOOP\nIF b.x\nCONT\nMOV o.x, float(1)\n\
        ELSE\nCONT\nENDIF\nLOOP\nBRK\nENDLOOP\nENDLOOP\nMOV o.y, float(1)\n}\n";
    let found = ssa_text(text);
    assert!(found.contains("store_output") && found.contains("].y, "), "{found}");
}

#[test]
fn long_chains_of_branches_stay_cheap() {
    let mut text = String::from("stage frag\nuniform bool b\noutput vec4 o\nfunc main() {\n");
    let vars = 300;
    for i in 0..vars {
        text.insert_str(text.find("func").unwrap(), &format!("local float x{i}\n"));
        text.push_str(&format!("MOV x{i}.x, float({i})\n"));
    }
    for i in 0..vars {
        text.push_str(&format!("IF b.x\nADD x{i}.x, x{i}.x, float(1)\nENDIF\n"));
    }
    for i in 0..vars {
        text.push_str(&format!("ADD o.x, o.x, x{i}.x\n"));
    }
    text.push_str("}\n");
    let program = crate::tac::text::parse(FileId::default(), &text).unwrap();
    let arena = Bump::new();
    let func = build(&program, &arena).unwrap();
    assert_eq!(crate::verify::verify(&func).map_err(|e| format!("{e:?}")), Ok(()));
    let params: usize = func.layout.iter().map(|&b| func.blocks[b].params.len()).sum();
    assert_eq!(params, vars);
}

#[test]
fn what_is_not_inlined_is_refused() {
    let text = "stage vert\nfunc f() {\n}\nfunc main() {\nCAL f\n}\n";
    let program = crate::tac::text::parse(FileId::default(), text).unwrap();
    assert_eq!(build(&program, &Bump::new()).err(), Some(SsaError::NotInlined));
}

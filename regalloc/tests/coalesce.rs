//! What merging must reach, one case each, and what the limits and options do.

mod common;
use common::{Flow, Prog, def, first_difference, read};
use ir::types::WriteMask;
use regalloc::{CheckError, LaneMaps, Method, Options, Output, RegAllocError, RegFile, VRegInfo, check, run};

fn allocate(p: &Prog) -> Output {
    let out = run(p, &RegFile::new(32), &Options::default()).unwrap();
    check(p, &out).unwrap();
    assert_eq!(first_difference(p, &out, 1, 500), None);
    out
}

/// `v.xyzw <- a, b, c.xy`, computed part by part.
#[test]
fn a_gather_costs_nothing() {
    let mut p = Prog::default();
    let (a, b, c, v) = (p.reg(1), p.reg(1), p.reg(2), p.reg(4));
    p.op(a, &[]);
    p.op(b, &[a]);
    p.op(c, &[a, b]);
    p.copy(v, c, &[(2, 0), (3, 1)]);
    p.copy(v, b, &[(1, 0)]);
    p.copy(v, a, &[(0, 0)]);
    p.sink(v);
    let out = allocate(&p.finish());
    assert_eq!((out.stats.moves_left, out.stats.temps, out.stats.bound), (0, 1, 1));
}

/// A part keeps its place in the gather while it is read elsewhere too.
#[test]
fn a_part_may_be_read_elsewhere_while_the_gather_lives() {
    let mut p = Prog::default();
    let (a, b, v, t) = (p.reg(1), p.reg(1), p.reg(2), p.reg(1));
    p.op(a, &[]);
    p.op(b, &[]);
    p.copy(v, a, &[(0, 0)]);
    p.copy(v, b, &[(1, 0)]);
    p.op(t, &[a, v]);
    p.sink(t);
    p.sink(a);
    p.sink(v);
    let out = allocate(&p.finish());
    assert_eq!(out.stats.moves_left, 0);
}

/// A value wanted in two gathers that live together, in different lanes: one copy stays.
#[test]
fn a_value_in_two_gathers_needs_one_copy() {
    let mut p = Prog::default();
    let (a, b, v, w) = (p.reg(1), p.reg(1), p.reg(2), p.reg(2));
    p.op(a, &[]);
    p.op(b, &[]);
    p.copy(v, a, &[(0, 0)]);
    p.copy(v, b, &[(1, 0)]);
    p.copy(w, a, &[(1, 0)]);
    p.op(b, &[]);
    p.copy(w, b, &[(0, 0)]);
    p.op(a, &[v, w]);
    p.sink(a);
    let out = allocate(&p.finish());
    assert!(out.stats.moves_left <= 2 && out.stats.moves_removed >= 2, "{:?}", out.stats);
}

/// Taken in program order, `d` gets `s` and then neither `e` nor `f` can; they live at different times,
/// so giving up `d` saves a copy. The order of merges is searched.
#[test]
fn the_order_of_merges_is_searched() {
    let mut p = Prog::default();
    let (s, d, e, f) = (p.reg(1), p.reg(4), p.reg(4), p.reg(4));
    p.op(s, &[]);
    p.push(vec![def(d, WriteMask(0b1110))]);
    p.copy(d, s, &[(0, 0)]);
    for v in [e, f] {
        p.push(vec![def(v, WriteMask(0b1101))]);
        p.copy(v, s, &[(1, 0)]);
        p.sink(v);
    }
    p.sink(d);
    let out = allocate(&p.finish());
    assert_eq!((out.stats.moves_removed, out.stats.moves_left), (2, 1));
}

/// `v.x = new; v.yzw = old.yzw` where the old value dies: nothing moves.
#[test]
fn replacing_one_lane_is_in_place() {
    let mut p = Prog::default();
    let (old, new, v) = (p.reg(4), p.reg(1), p.reg(4));
    p.op(old, &[]);
    p.op(new, &[old]);
    p.copy(v, old, &[(1, 1), (2, 2), (3, 3)]);
    p.copy(v, new, &[(0, 0)]);
    p.sink(v);
    let out = allocate(&p.finish());
    assert_eq!((out.stats.moves_left, out.stats.temps), (0, 1));
}

/// A loop that carries a value: the copies at entry and at the end of the body vanish.
#[test]
fn loop_carried_values_stay_in_place() {
    let mut p = Prog::default();
    let (init, i, next) = (p.reg(3), p.reg(3), p.reg(3));
    p.op(init, &[]);
    p.copy(i, init, &[(0, 0), (1, 1), (2, 2)]);
    p.flow(Flow::Loop);
    p.flow(Flow::If);
    p.flow(Flow::Brk);
    p.flow(Flow::EndIf);
    p.op(next, &[i]);
    p.copy(i, next, &[(0, 0), (1, 1), (2, 2)]);
    p.flow(Flow::EndLoop);
    p.sink(i);
    let out = allocate(&p.finish());
    assert_eq!((out.stats.moves_left, out.stats.temps), (0, 1));
}

/// Both arms of an `if` write the merge value.
#[test]
fn arms_write_the_merged_value() {
    let mut p = Prog::default();
    let (a, b, m) = (p.reg(2), p.reg(2), p.reg(2));
    p.flow(Flow::If);
    p.op(a, &[]);
    p.copy(m, a, &[(0, 1), (1, 0)]);
    p.flow(Flow::Else);
    p.op(b, &[]);
    p.copy(m, b, &[(0, 0), (1, 1)]);
    p.flow(Flow::EndIf);
    p.sink(m);
    let out = allocate(&p.finish());
    assert_eq!((out.stats.moves_left, out.stats.temps), (0, 1));
}

/// A copy whose source changes while the copy lives must stay.
#[test]
fn a_copy_that_outlives_its_source_stays() {
    let mut p = Prog::default();
    let (a, b) = (p.reg(1), p.reg(1));
    p.op(a, &[]);
    p.copy(b, a, &[(0, 0)]);
    p.op(a, &[a]);
    p.sink(b);
    p.sink(a);
    let out = allocate(&p.finish());
    assert_eq!(out.stats.moves_left, 1);
}

/// Three lanes and one scalar share a register, and four scalars share one.
#[test]
fn values_share_registers_by_lane() {
    let mut p = Prog::default();
    let vs = [3, 1, 1, 1, 1, 1].map(|w| p.reg(w));
    vs.iter().for_each(|&v| {
        p.op(v, &[]);
    });
    vs.iter().for_each(|&v| {
        p.sink(v);
    });
    let p = p.finish();
    let out = allocate(&p);
    assert_eq!((out.stats.temps, out.stats.bound), (2, 2));
    let scan = Options { method: Method::Scan, ..Options::default() };
    assert_eq!(run(&p, &RegFile::new(32), &scan).unwrap().stats.temps, 6);
}

/// A lane that dies early frees its component although the rest lives on.
#[test]
fn dead_lanes_are_free() {
    let mut p = Prog::default();
    let (wide, late) = (p.reg(4), p.reg(1));
    p.op(wide, &[]);
    p.push(vec![read(wide, WriteMask(0b1000))]);
    p.op(late, &[]);
    p.push(vec![read(wide, WriteMask(0b0111)), read(late, WriteMask(1))]);
    let out = allocate(&p.finish());
    assert_eq!(out.stats.temps, 1);
}

/// A hole: the value is dead between its last read and its next write.
#[test]
fn holes_are_used() {
    let mut p = Prog::default();
    let (a, b) = (p.reg(4), p.reg(4));
    p.op(a, &[]);
    p.sink(a);
    p.op(b, &[]);
    p.sink(b);
    p.op(a, &[]);
    p.sink(a);
    assert_eq!(allocate(&p.finish()).stats.temps, 1);
}

#[test]
fn constraints_hold() {
    let mut p = Prog::default();
    // A texture result without result swizzle, gathered with a scalar: the scalar goes to w.
    let tex = p.new_vreg(VRegInfo::in_place(3));
    let alpha = p.reg(1);
    let out4 = p.new_vreg(VRegInfo { fixed: Some(0), ..VRegInfo::in_place(4) });
    let w_only = p.new_vreg(VRegInfo { maps: LaneMaps::all(1).sending(0, 3), ..VRegInfo::free(1) });
    p.op(w_only, &[]);
    p.op(alpha, &[w_only]);
    p.op(tex, &[w_only]);
    p.copy(out4, tex, &[(0, 0), (1, 1), (2, 2)]);
    p.copy(out4, alpha, &[(3, 0)]);
    p.sink(out4);
    let out = allocate(&p.finish());
    assert_eq!(out.stats.moves_left, 0);
    assert_eq!((out.place(out4).reg, out.place(alpha).map.lane(0), out.place(w_only).map.lane(0)), (0, 3, 3));
}

/// Values that cannot leave their lanes: the bound counts the lane that most of them share.
#[test]
fn the_bound_knows_fixed_lanes() {
    let mut p = Prog::default();
    let vs: Vec<_> = (0..3).map(|_| p.new_vreg(VRegInfo::in_place(1))).collect();
    vs.iter().for_each(|&v| {
        p.op(v, &[]);
    });
    vs.iter().for_each(|&v| {
        p.sink(v);
    });
    let out = allocate(&p.finish());
    assert_eq!((out.stats.temps, out.stats.bound), (3, 3));
}

#[test]
fn contradictions_are_errors() {
    let mut p = Prog::default();
    let v = p.new_vreg(VRegInfo { maps: LaneMaps::EMPTY, ..VRegInfo::free(1) });
    p.op(v, &[]);
    let e = run(&p.finish(), &RegFile::new(4), &Options::default()).unwrap_err();
    assert!(matches!(e, RegAllocError::Impossible { .. }), "{e}");
    let mut p = Prog::default();
    let fixed = VRegInfo { fixed: Some(1), ..VRegInfo::in_place(2) };
    let (a, b) = (p.new_vreg(fixed), p.new_vreg(fixed));
    p.op(a, &[]);
    p.op(b, &[]);
    p.op(a, &[a, b]);
    for method in [Method::Color, Method::Scan] {
        let options = Options { method, ..Options::default() };
        let e = run(&p.clone().finish(), &RegFile::new(4), &options).unwrap_err();
        assert!(matches!(e, RegAllocError::Impossible { .. }), "{e}");
    }
    let mut p = Prog::default();
    p.push(vec![read(regalloc::VReg::from_u32(3), WriteMask(1))]);
    let e = run(&p.finish(), &RegFile::new(4), &Options::default()).unwrap_err();
    assert!(e.to_string().contains("v3.x"), "{e}");
}

#[test]
fn arrays_are_consecutive_and_keep_values_across_indexed_stores() {
    let mut p = Prog::default();
    let array: Vec<_> = (0..3).map(|_| p.reg(2)).collect();
    p.arrays.push(array.clone());
    let (x, y) = (p.reg(4), p.reg(2));
    p.op(x, &[]);
    array.iter().for_each(|&m| {
        p.op(m, &[]);
    });
    let may =
        |&vreg: &regalloc::VReg| regalloc::Operand::Def { vreg, lanes: WriteMask(0b11), kind: regalloc::DefKind::May };
    let mut store = vec![read(x, WriteMask(1))];
    store.extend(array.iter().map(may));
    p.push(store);
    p.op(y, &array);
    p.sink(x);
    p.sink(y);
    let out = allocate(&p.finish());
    let base = out.place(array[0]).reg;
    assert!(array.iter().zip(base..).all(|(&m, r)| out.place(m).reg == r));
    assert_eq!(out.stats.temps, 4);
}

/// The paper's example: multiply and multiply-adds by columns. One register with reuse, one a value
/// without.
#[test]
fn the_gain_of_reuse() {
    let mut p = Prog::default();
    let mut last = p.reg(4);
    p.op(last, &[]);
    for _ in 0..3 {
        let next = p.reg(4);
        p.op(next, &[last]);
        last = next;
    }
    p.sink(last);
    let p = p.finish();
    assert_eq!(allocate(&p).stats.temps, 1);
    let file = RegFile { temps: 32, reuse: false };
    let out = run(&p, &file, &Options::default()).unwrap();
    check(&p, &out).unwrap();
    assert_eq!(out.stats.temps, 4);
}

#[test]
fn no_room_is_an_error_with_numbers() {
    let mut p = Prog::default();
    let vs: Vec<_> = (0..5).map(|i| p.reg(if i == 0 { 2 } else { 4 })).collect();
    vs.iter().for_each(|&v| {
        p.op(v, &[]);
    });
    vs.iter().for_each(|&v| {
        p.sink(v);
    });
    let e = run(&p.finish(), &RegFile::new(4), &Options::default()).unwrap_err();
    assert_eq!(
        e,
        RegAllocError::DoesNotFit {
            needed: 5,
            limit: 4,
            point: 4,
            text: "inst 4".into(),
            live: [0, 1, 0, 4],
            lower_bound: 5
        }
    );
    let text = e.to_string();
    assert!(text.contains("needs 5 temporaries and the target has 4"), "{text}");
    assert!(text.contains("18 components in 5 values") && text.contains("fewer than 5"), "{text}");
}

/// Reading what was never written neither fails nor takes room from others.
#[test]
fn undefined_reads_are_allowed() {
    let mut p = Prog::default();
    let (a, b, c) = (p.reg(4), p.reg(4), p.reg(4));
    p.op(b, &[a]);
    p.flow(Flow::If);
    p.op(c, &[]);
    p.flow(Flow::EndIf);
    p.op(b, &[b, c]);
    p.sink(b);
    let out = allocate(&p.finish());
    assert_eq!(out.stats.temps, 2);
    // Nothing but an undefined read still names a register.
    let mut p = Prog::default();
    let a = p.reg(4);
    p.sink(a);
    assert_eq!(allocate(&p.finish()).stats.temps, 1);
}

/// A merge that makes the program too wide is undone.
#[test]
fn merges_are_undone_when_there_is_no_room() {
    let (mut undone, mut left, mut plain_left) = (0, 0, 0);
    for seed in 0..400 {
        let p = common::optimized(seed, 60, 5);
        let free = run(&p, &RegFile::new(64), &Options::default()).unwrap();
        let plain = run(&p, &RegFile::new(64), &Options { coalesce: false, ..Options::default() }).unwrap();
        if plain.stats.temps < free.stats.temps {
            let out = run(&p, &RegFile::new(plain.stats.temps), &Options::default()).unwrap();
            check(&p, &out).unwrap();
            left += out.stats.moves_left;
            plain_left += plain.stats.moves_left;
            undone += out.stats.merges_undone;
        }
    }
    assert!(
        undone > 0 && left * 10 < plain_left * 9,
        "{undone} undone, {left} copies left, {plain_left} without merges"
    );
}

#[test]
fn a_wrong_allocation_is_caught() {
    let mut p = Prog::default();
    let (a, b) = (p.reg(1), p.reg(1));
    p.op(a, &[]);
    p.op(b, &[]);
    p.push(vec![read(a, WriteMask(1)), read(b, WriteMask(1))]);
    let p = p.finish();
    let mut out = allocate(&p);
    // b on top of a.
    out.places[b] = out.places[a];
    let e = check(&p, &out).unwrap_err();
    assert!(matches!(e, CheckError::WrongValue { inst: 2, vreg, lane: 0, .. } if vreg == a), "{e}");
    // A removed instruction that is no copy.
    let mut out = allocate(&p);
    out.removed.push(1);
    assert_eq!(check(&p, &out), Err(CheckError::BadRemoval { inst: 1 }));
    // A place past the file.
    let mut out = allocate(&p);
    out.places[b].reg = 9;
    assert!(matches!(check(&p, &out), Err(CheckError::BadPlace { .. })));
}

/// Wrong on one path only: the meet must see it.
#[test]
fn a_fault_on_one_path_is_caught() {
    let mut p = Prog::default();
    let (a, b) = (p.reg(1), p.reg(1));
    p.op(a, &[]);
    p.flow(Flow::Loop);
    p.sink(a);
    p.flow(Flow::If);
    p.flow(Flow::Brk);
    p.flow(Flow::EndIf);
    p.op(b, &[]);
    p.sink(b);
    p.flow(Flow::EndLoop);
    let p = p.finish();
    let mut out = allocate(&p);
    assert_ne!(out.place(a), out.place(b));
    out.places[b] = out.places[a];
    let e = check(&p, &out).unwrap_err();
    assert!(matches!(e, CheckError::WrongValue { inst: 2, vreg, .. } if vreg == a), "{e}");
}

#[test]
fn the_dump_shows_places_and_lives() {
    let mut p = Prog::default();
    let (a, b) = (p.reg(3), p.reg(1));
    p.op(a, &[]);
    p.op(b, &[a]);
    p.push(vec![read(a, WriteMask(0b001)), read(b, WriteMask(1))]);
    p.push(vec![read(b, WriteMask(1)), def(a, WriteMask(0b100))]);
    let p = p.finish();
    let text = regalloc::dump::dump(&p, &allocate(&p));
    let want = "\
temps 1 (lower bound 1), values 2, copies removed 0, left 0, merges undone 0
v0 -> r0.xyz  x 0..2  y 0..1  z 0..1 3..3
v1 -> r0.y  x 1..3

      r0   \n    0 ***.  inst 0
    1 |*^.  inst 1
    2 ^|..  inst 2
    3 .^+.  inst 3
";
    assert_eq!(text, want, "\n{text}");
}

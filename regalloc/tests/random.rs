//! Random structured programs: every allocation passes the checker and runs as the program does; a
//! corrupted allocation that runs differently never passes.

mod common;
use common::{Prog, Rng, Shape, first_difference, random};
use regalloc::{LaneMap, Method, Options, Output, RegAllocError, RegFile, VReg, check, run};

fn shapes(seed: u64) -> Shape {
    let mut r = Rng::new(seed ^ 0xabcd);
    Shape {
        insts: 5 + r.below(80) as u32,
        vregs: 2 + r.below(25) as u32,
        arrays: r.chance(30),
        flow: [0, 10, 25][r.below(3) as usize],
        copies: [5, 20, 50][r.below(3) as usize],
        constraints: r.chance(40),
    }
}

fn judge(p: &Prog, out: &Output, seed: u64) {
    if let Err(e) = check(p, out) {
        panic!("seed {seed}: {e}\n{}", regalloc::dump::dump(p, out));
    }
    for way in 0..4 {
        let at = first_difference(p, out, seed * 7 + way, 400);
        assert_eq!(at, None, "seed {seed}: the run differs\n{}", regalloc::dump::dump(p, out));
    }
    assert!(out.stats.bound <= out.stats.temps, "seed {seed}: bound {:?}", out.stats);
}

#[test]
fn every_allocation_is_right() {
    let configs = [
        (Method::Color, true, true),
        (Method::Color, false, true),
        (Method::Scan, true, true),
        (Method::Scan, false, true),
        (Method::Color, true, false),
    ];
    let mut removed = 0;
    for seed in 0..3000 {
        let p = random(seed, shapes(seed));
        for (method, coalesce, reuse) in configs {
            let options = Options { method, coalesce, ..Options::default() };
            let file = RegFile { temps: 256, reuse };
            let out = run(&p, &file, &options).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            judge(&p, &out, seed);
            removed += out.stats.moves_removed;
        }
    }
    assert!(removed > 10_000, "coalescing does something: {removed}");
}

#[test]
fn tight_files_fit_or_say_why() {
    let (mut fitted, mut refused, mut undone) = (0, 0, 0);
    for seed in 0..1500 {
        let p = random(seed, shapes(seed));
        let free = run(&p, &RegFile::new(256), &Options::default()).unwrap();
        let limit = free.stats.temps.saturating_sub(1);
        match run(&p, &RegFile::new(limit), &Options::default()) {
            Ok(out) => {
                judge(&p, &out, seed);
                assert!(out.stats.temps <= limit);
                undone += out.stats.merges_undone;
                fitted += 1;
            }
            Err(RegAllocError::DoesNotFit { needed, limit: said, lower_bound, .. }) => {
                assert_eq!(said, u32::from(limit));
                assert!(needed > said && lower_bound <= needed, "seed {seed}");
                refused += 1;
            }
            Err(e) => panic!("seed {seed}: {e}"),
        }
    }
    assert!(fitted > 10 && refused > 100 && undone > 10, "{fitted} fitted, {refused} refused, {undone} undone");
}

#[test]
fn close_to_the_lower_bound() {
    let (mut temps, mut bound, mut scan) = (0u32, 0u32, 0u32);
    let mut optimal = 0;
    for seed in 0..500 {
        let shape = Shape { insts: 120, vregs: 50, arrays: false, flow: 8, copies: 15, constraints: false };
        let p = random(seed, shape);
        let out = run(&p, &RegFile::new(256), &Options::default()).unwrap();
        let base = Options { method: Method::Scan, ..Options::default() };
        scan += u32::from(run(&p, &RegFile::new(256), &base).unwrap().stats.temps);
        temps += u32::from(out.stats.temps);
        bound += u32::from(out.stats.bound);
        optimal += u32::from(out.stats.temps == out.stats.bound);
    }
    assert!(temps * 100 <= bound * 120, "temps {temps}, bound {bound}, scan {scan}, optimal {optimal}");
    assert!(temps * 10 < scan * 9, "components beat whole registers: {temps} against {scan}");
}

/// Changes one place at random.
fn corrupt(p: &Prog, out: &mut Output, r: &mut Rng) {
    let vreg = VReg::from_u32(r.below(p.vregs.len() as u64) as u32);
    let place = &mut out.places[vreg];
    if r.chance(50) {
        place.reg = r.below(u64::from(out.stats.temps.max(1))) as u16;
    } else {
        let perms: Vec<LaneMap> = regalloc::LaneMaps::all(4).iter().collect();
        place.map = perms[r.below(24) as usize];
    }
}

#[test]
fn corrupted_allocations_are_caught() {
    let (mut harmful, mut caught) = (0, 0);
    for seed in 0..1500 {
        let p = random(seed, Shape { constraints: false, arrays: false, ..shapes(seed) });
        let good = run(&p, &RegFile::new(256), &Options::default()).unwrap();
        let mut r = Rng::new(seed ^ 0x77);
        for _ in 0..4 {
            let mut bad = good.clone();
            corrupt(&p, &mut bad, &mut r);
            // Copies that were identities may not be any more: half the time keep them removed, which
            // the checker must see as well.
            if r.chance(50) {
                bad.removed.clear();
            }
            let differs = (0..6).any(|way| first_difference(&p, &bad, seed * 31 + way, 400).is_some());
            let verdict = check(&p, &bad);
            if differs {
                harmful += 1;
                assert!(verdict.is_err(), "seed {seed}: a wrong allocation passed\n{}", regalloc::dump::dump(&p, &bad));
            }
            caught += u32::from(verdict.is_err());
        }
    }
    assert!(harmful > 700 && caught >= harmful, "{harmful} harmful, {caught} caught");
}

#[test]
fn same_input_same_output() {
    for seed in 0..50 {
        let p = random(seed, shapes(seed));
        let once = run(&p, &RegFile::new(64), &Options::default());
        assert_eq!(once, run(&p, &RegFile::new(64), &Options::default()));
    }
}

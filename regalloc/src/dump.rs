//! The allocation as text, for `--emit alloc`: where each value sits and when it lives, then a chart
//! with a row for each instruction and a column for each physical component.
//!
//! In the chart `*` is a component written by the instruction, `+` one written and read by nobody,
//! `|` one that holds a value across it, `^` one read for the last time, `.` one that is free.

use crate::code::{Code, lane_id};
use crate::func::{Func, VReg};
use crate::liveness;
use crate::output::Output;
use ir::types::LANE_NAMES;
use std::fmt::Write;

/// Draws `output` as an allocation of `func`.
pub fn dump<F: Func + ?Sized>(func: &F, output: &Output) -> String {
    let code = Code::new(func);
    let live = liveness::compute(&code);
    let mut text = String::new();
    let s = &output.stats;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "temps {} (lower bound {}), values {}, copies removed {}, left {}, merges undone {}",
        s.temps, s.bound, s.webs, s.moves_removed, s.moves_left, s.merges_undone
    );
    for v in (0..code.vregs.len()).filter(|&v| code.named[v]) {
        let vreg = VReg::from_u32(v as u32);
        let place = output.place(vreg);
        let _ = write!(text, "{vreg} -> r{}.", place.reg);
        (0..code.vregs[v].lanes).for_each(|l| text.push(LANE_NAMES[place.map.lane(l) as usize]));
        // Lanes with equal ranges are told once.
        let mut told = 0u8;
        for l in 0..code.vregs[v].lanes {
            let ranges = &live.ranges[lane_id(vreg, l) as usize];
            if told >> l & 1 == 1 || ranges.is_empty() {
                continue;
            }
            text.push_str("  ");
            for k in l..code.vregs[v].lanes {
                if live.ranges[lane_id(vreg, k) as usize] == *ranges {
                    told |= 1 << k;
                    text.push(LANE_NAMES[k as usize]);
                }
            }
            ranges.as_slice().iter().for_each(|r| {
                let _ = write!(text, " {}..{}", r.start / 2, (r.end - 1) / 2);
            });
        }
        text.push('\n');
    }
    chart(func, &code, &live, output, &mut text);
    text
}

fn chart<F: Func + ?Sized>(func: &F, code: &Code, live: &liveness::Liveness, output: &Output, text: &mut String) {
    let columns = usize::from(output.stats.temps) * 4;
    let insts = code.num_insts();
    let mut cells = vec![b'.'; columns * insts];
    for v in (0..code.vregs.len()).filter(|&v| code.named[v]) {
        let vreg = VReg::from_u32(v as u32);
        let place = output.place(vreg);
        for l in 0..code.vregs[v].lanes {
            let column = usize::from(place.reg) * 4 + usize::from(place.map.lane(l));
            let lane = lane_id(vreg, l);
            for r in live.ranges[lane as usize].as_slice() {
                for inst in r.start / 2..=(r.end - 1) / 2 {
                    let cell = &mut cells[inst as usize * columns + column];
                    let starts = inst * 2 < r.start;
                    let last = r.end == inst * 2 + 1;
                    match (starts, last, *cell) {
                        (true, ..) => *cell = if r.end == r.start + 1 { b'+' } else { b'*' },
                        (_, true, b'.') => *cell = b'^',
                        (_, false, b'.' | b'^') => *cell = b'|',
                        _ => {}
                    }
                }
            }
        }
    }
    text.push_str("\n      ");
    (0..output.stats.temps).for_each(|r| {
        let _ = write!(text, "r{r:<4}");
    });
    text.push('\n');
    for inst in 0..insts {
        let _ = write!(text, "{inst:>5} ");
        for reg in cells[inst * columns..(inst + 1) * columns].chunks(4) {
            reg.iter().for_each(|&c| text.push(char::from(c)));
            text.push(' ');
        }
        let dropped = if output.removed.binary_search(&(inst as u32)).is_ok() { "  (removed)" } else { "" };
        let _ = writeln!(text, " {}{dropped}", func.describe(inst));
    }
}

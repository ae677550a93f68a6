//! Literals: equal ones once, lanes shared.
//!
//! During selection a literal operand names an entry of a list with all four lanes in order
//! (register number `FIRST` and up). Here the lanes that instructions really read are gathered,
//! widest need first, into as few constant registers as first fit finds, and the operands are
//! rewritten to lanes of those.

use crate::mach::{Constant, File, Program, Reg};
use ir::types::WriteMask;

/// Numbers of literal operands before they are placed start here.
pub(crate) const FIRST: u32 = 1 << 20;

/// Places all literals after the uniforms.
pub(crate) fn pool(program: &mut Program, literals: &[[u32; 4]]) {
    let is_literal = |reg: Reg| reg.file == File::Const && reg.index >= FIRST;
    let mut needs: Vec<Vec<u32>> = Vec::new();
    for inst in &program.insts {
        for (n, src) in inst.srcs.iter().enumerate().filter(|(_, s)| is_literal(s.reg)) {
            let mut lanes: Vec<u32> = Vec::new();
            for lane in inst.lanes_read(n).lanes() {
                let bits = literals[(src.reg.index - FIRST) as usize][lane as usize];
                if !lanes.contains(&bits) {
                    lanes.push(bits);
                }
            }
            needs.push(lanes);
        }
    }
    needs.sort_by_key(|n| std::cmp::Reverse(n.len())); // stable: then in order of use
    let mut pool: Vec<Vec<u32>> = Vec::new();
    let missing = |reg: &[u32], need: &[u32]| need.iter().filter(|b| !reg.contains(b)).count();
    for need in needs {
        let fits = |reg: &Vec<u32>| reg.len() + missing(reg, &need) <= 4;
        let best = (0..pool.len()).filter(|&i| fits(&pool[i])).min_by_key(|&i| missing(&pool[i], &need));
        let index = best.unwrap_or_else(|| {
            pool.push(Vec::new());
            pool.len() - 1
        });
        for bits in need {
            if !pool[index].contains(&bits) {
                pool[index].push(bits);
            }
        }
    }
    let base = program.constants.len() as u32;
    for inst in &mut program.insts {
        for n in 0..inst.srcs.len() {
            let src = inst.srcs[n];
            if !is_literal(src.reg) {
                continue;
            }
            let bits = literals[(src.reg.index - FIRST) as usize];
            let read = inst.places_read(n);
            let wanted: Vec<u32> = read.lanes().map(|p| bits[src.swizzle[p as usize] as usize]).collect();
            let Some(index) = pool.iter().position(|reg| wanted.iter().all(|b| reg.contains(b))) else { continue };
            let place = |bits: u32| pool[index].iter().position(|&b| b == bits).unwrap_or(0) as u8;
            let src = &mut inst.srcs[n];
            src.reg = Reg::new(File::Const, base + index as u32);
            for p in WriteMask::ALL.lanes().filter(|&p| read.has(p)) {
                src.swizzle[p as usize] = place(bits[src.swizzle[p as usize] as usize]);
            }
        }
        inst.normalize();
    }
    program.constants.extend(pool.into_iter().map(|lanes| {
        let mut bits = [0; 4];
        bits[..lanes.len()].copy_from_slice(&lanes);
        Constant::Literal { bits, used: lanes.len() as u8 }
    }));
}

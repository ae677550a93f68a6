//! Ports: how many registers of a file one instruction may read.
//!
//! In: machine code over virtual registers whose operands are encodable one by one. Out: the same, with
//! copies of constants and inputs where an instruction would read too many. Which registers are copied
//! is a vertex cover of the graph whose edges are pairs of registers that meet in an instruction: a copy
//! serves every instruction of its block, so the smallest cover has the fewest copies. The cover is found
//! by taking the register that meets most others; between equals, one that is all that another meets.

use super::colors;
use crate::cfg;
use crate::isa::{FileSpec, Target};
use crate::mach::{Dst, File, Inst, Opcode, Program, Reg, Rel, Src};
use ir::types::WriteMask;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// How long a copy lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sharing {
    /// To its last use in the block: fewest instructions.
    #[default]
    Block,
    /// One use: fewest registers.
    Instruction,
}

/// What can be copied: a register, with its index, while the address register stays loaded.
type Source = (Reg, Option<Rel>, u32);

/// The sources of one file that an instruction reads, each with how often.
type Read = SmallVec<[(Source, u32); 3]>;

/// The files that not every instruction can read enough of.
fn narrow_files(target: &Target) -> impl Iterator<Item = (File, FileSpec)> {
    let files = [File::Const, File::Input].map(|file| (file, target.file(file)));
    files.into_iter().filter(|(_, spec)| spec.ports < 3 || spec.reads < 3)
}

/// Whether any code may need copies because of ports.
pub fn copies_for_ports(target: &Target) -> bool {
    narrow_files(target).next().is_some()
}

/// Copies until every instruction has ports for what it reads.
pub(super) fn copy_for_ports(program: &mut Program, target: &Target, sharing: Sharing) {
    if !copies_for_ports(target) {
        return;
    }
    let colors: BTreeSet<u32> = if target.operands.colors_apart { colors(program) } else { BTreeSet::new() };
    let is_color = |reg: Reg| reg.file == File::Input && colors.contains(&reg.index);
    let insts = std::mem::take(&mut program.insts);
    let ranges: Vec<_> = match sharing {
        Sharing::Block => cfg::blocks(&insts).into_iter().map(|b| b.insts).collect(),
        Sharing::Instruction => (0..insts.len()).map(|i| i..i + 1).collect(),
    };
    let mut out = Vec::with_capacity(insts.len());
    for range in ranges {
        let block = &insts[range];
        let epochs = epochs(block);
        let mut copied = BTreeSet::new();
        for (file, spec) in narrow_files(target) {
            for color in [false, true] {
                let counted = |reg: Reg| reg.file == file && is_color(reg) == color;
                cover(block, &epochs, &counted, spec, &mut copied);
            }
        }
        rewrite(block, &epochs, &copied, program, &mut out);
    }
    program.insts = out;
}

/// How often the address register has been loaded before each instruction.
fn epochs(block: &[Inst]) -> Vec<u32> {
    let mut loads = 0;
    let mut count = |inst: &Inst| {
        let before = loads;
        loads += u32::from(inst.op == Opcode::Arl);
        before
    };
    block.iter().map(&mut count).collect()
}

fn source(src: &Src, epoch: u32) -> Source {
    (src.reg, src.rel, if src.rel.is_some() { epoch } else { 0 })
}

fn read(inst: &Inst, epoch: u32, counted: &dyn Fn(Reg) -> bool) -> Read {
    let mut read = Read::new();
    for src in inst.srcs.iter().filter(|s| counted(s.reg)) {
        let source = source(src, epoch);
        match read.iter_mut().find(|(s, _)| *s == source) {
            Some((_, times)) => *times += 1,
            None => read.push((source, 1)),
        }
    }
    read
}

/// Whether all of it at once is too much.
fn exceeds(read: &[(Source, u32)], spec: FileSpec) -> bool {
    let used: u32 = if spec.count_references { read.iter().map(|r| r.1).sum() } else { read.len() as u32 };
    used > spec.ports
}

/// Adds the sources that are copied in a block, of those that share ports.
fn cover(block: &[Inst], epochs: &[u32], counted: &dyn Fn(Reg) -> bool, spec: FileSpec, copied: &mut BTreeSet<Source>) {
    let all: Vec<Read> = block.iter().zip(epochs).map(|(inst, &epoch)| read(inst, epoch, counted)).collect();
    // one source alone may be too much
    for &(source, times) in all.iter().flatten() {
        if times > spec.reads || (spec.count_references && times > spec.ports) {
            copied.insert(source);
        }
    }
    let mut open: Vec<Read> = Vec::new();
    for read in all {
        let left: Read = read.into_iter().filter(|(s, _)| !copied.contains(s)).collect();
        if exceeds(&left, spec) {
            open.push(left);
        }
    }
    let mut places: BTreeMap<Source, Vec<usize>> = BTreeMap::new();
    for (at, read) in open.iter().enumerate() {
        read.iter().for_each(|(s, _)| places.entry(*s).or_default().push(at));
    }
    let mut met: BTreeMap<Source, usize> = places.iter().map(|(s, at)| (*s, at.len())).collect();
    while let Some(&most) = met.values().max().filter(|&&m| m > 0) {
        let is_all_of_another = |s: &Source| {
            let beside = places[s].iter().flat_map(|&at| &open[at]);
            beside.filter(|(other, _)| other != s).any(|(other, _)| met.get(other) == Some(&1))
        };
        let candidates = || met.iter().filter(|(_, m)| **m == most).map(|(s, _)| *s);
        let Some(chosen) = candidates().find(is_all_of_another).or_else(|| candidates().next()) else { break };
        copied.insert(chosen);
        met.remove(&chosen);
        for &at in &places[&chosen] {
            let before = exceeds(&open[at], spec);
            open[at].retain(|(s, _)| *s != chosen);
            if before && !exceeds(&open[at], spec) {
                for (s, _) in &open[at] {
                    met.entry(*s).and_modify(|m| *m -= 1);
                }
            }
        }
    }
}

/// The block with its copies, each in front of the first use, of the lanes that any use reads.
fn rewrite(block: &[Inst], epochs: &[u32], copied: &BTreeSet<Source>, program: &mut Program, out: &mut Vec<Inst>) {
    let mut copies: FxHashMap<Source, (Reg, usize)> = FxHashMap::default();
    for (inst, &epoch) in block.iter().zip(epochs) {
        let mut inst = inst.clone();
        for n in 0..inst.srcs.len() {
            let source = source(&inst.srcs[n], epoch);
            if !copied.contains(&source) {
                continue;
            }
            let lanes = inst.lanes_read(n);
            let (reg, at) = *copies.entry(source).or_insert_with(|| {
                let reg = program.make_virtual(1);
                let src = Src { rel: source.1, ..Src::new(source.0) };
                out.push(Inst::new(Opcode::Mov, Dst::new(reg, WriteMask(0)), &[src], inst.line));
                (reg, out.len() - 1)
            });
            if let Some(dst) = &mut out[at].dst {
                dst.mask.0 |= lanes.0;
            }
            let width = &mut program.virtuals[reg.index as usize];
            *width = (*width).max(lanes.lanes().last().map_or(1, |l| l + 1));
            inst.srcs[n] = Src { reg, rel: None, ..inst.srcs[n] };
        }
        out.push(inst);
    }
    copies.values().for_each(|&(_, at)| out[at].normalize());
}

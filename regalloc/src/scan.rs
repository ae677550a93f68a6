//! The baseline: linear scan over whole registers.
//!
//! Each web has one interval from its first to its last position, without holes; a register holds
//! one web at a time, whatever its width; lanes stay in place where that is allowed. With reuse
//! switched off every web has a register of its own: the paper's code before register reuse.

use crate::color::ColorMap;
use crate::error::RegAllocError;
use crate::interference::Components;
use crate::ranges::{Pos, Range, Ranges};
use crate::web::Webs;

/// Places every live web, and arrays whole. Fixed webs and arrays go first.
pub fn scan(webs: &Webs, reuse: bool) -> Result<(ColorMap, u32), RegAllocError> {
    let mut regs: Vec<Ranges> = Vec::new();
    let mut color = vec![None; webs.webs.len()];
    // What a web holds: its whole span; for ever without reuse; exactly where it lives when it is fixed,
    // because then it cannot go anywhere else.
    let held = |w: u32| -> Ranges {
        let web = &webs.webs[w as usize];
        match web.span() {
            None => Ranges::default(),
            Some(_) if web.fixed.is_some() => {
                let mut all = Ranges::default();
                web.slots.iter().for_each(|s| all.union(&s.ranges));
                all
            }
            Some((start, end)) if reuse => Ranges::one(start, end),
            Some(_) => Ranges::one(0, Pos::MAX),
        }
    };
    let free = |regs: &[Ranges], reg: usize, w: u32| regs.get(reg).is_none_or(|r| !r.overlaps(&held(w)));
    let put = |regs: &mut Vec<Ranges>, color: &mut ColorMap, reg: usize, w: u32| {
        while regs.len() <= reg {
            regs.push(Ranges::default());
        }
        regs[reg].union(&held(w));
        color[w as usize] = webs.webs[w as usize].maps.first().map(|map| (reg as u32, map));
    };
    let live = |w: &u32| webs.webs[*w as usize].is_live() && webs.webs[*w as usize].array.is_none();
    let all: Vec<u32> = (0..webs.webs.len() as u32).filter(live).collect();
    let (fixed, mut order): (Vec<u32>, Vec<u32>) =
        all.into_iter().partition(|&w| webs.webs[w as usize].fixed.is_some());
    // Several may be fixed in one register, in different lanes; those without a choice go first.
    let mut fixed = fixed;
    fixed.sort_by_key(|&w| (webs.webs[w as usize].maps.len(), w));
    let mut lanes = Components::default();
    for w in fixed {
        let web = &webs.webs[w as usize];
        let reg = u32::from(web.fixed.unwrap_or(0));
        let Some(map) = lanes.free_maps(reg, web).first() else {
            let why = "other values fixed in the same register are live with it";
            return Err(RegAllocError::Impossible { vreg: web.members[0].0, why });
        };
        lanes.place(reg, map, web);
        put(&mut regs, &mut color, reg as usize, w);
        color[w as usize] = Some((reg, map));
    }
    for array in &webs.arrays {
        let fixed = array
            .iter()
            .enumerate()
            .find_map(|(i, &w)| webs.webs[w as usize].fixed.and_then(|f| usize::from(f).checked_sub(i)));
        let fits = |regs: &[Ranges], base: usize| array.iter().enumerate().all(|(i, &w)| free(regs, base + i, w));
        let base = fixed.unwrap_or_else(|| (0..).find(|&b| fits(&regs, b)).unwrap_or(0));
        array.iter().enumerate().for_each(|(i, &w)| put(&mut regs, &mut color, base + i, w));
    }
    order.sort_by_key(|&w| (webs.webs[w as usize].span(), w));
    // Registers that are held to the very end need not be looked at again.
    let mut first = 0;
    for w in order {
        while regs.get(first).is_some_and(|r| r.as_slice() == [Range { start: 0, end: Pos::MAX }]) {
            first += 1;
        }
        let reg = (first..).find(|&r| free(&regs, r, w)).unwrap_or(first);
        put(&mut regs, &mut color, reg, w);
    }
    Ok((color, regs.len() as u32))
}

//! Sets of positions as sorted half-open ranges.
//!
//! Instruction `i` has two positions: `2i`, where it reads (and writes early defs), and `2i + 1`,
//! where it writes. A value defined by `i` and last read by `j` occupies `[2i + 1, 2j + 1)`, so the
//! result of `j` may take its place.

/// A point in the code.
pub type Pos = u32;

/// Positions `start <= p < end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First position inside.
    pub start: Pos,
    /// First position after it.
    pub end: Pos,
}

/// A set of positions: ranges in ascending order that neither overlap nor touch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranges(Vec<Range>);

impl Ranges {
    /// The set of one range.
    pub fn one(start: Pos, end: Pos) -> Ranges {
        Ranges(vec![Range { start, end }])
    }

    /// The ranges.
    pub fn as_slice(&self) -> &[Range] {
        &self.0
    }

    /// Whether no position is inside.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// First position, if any.
    pub fn start(&self) -> Option<Pos> {
        self.0.first().map(|r| r.start)
    }

    /// End of the last range, if any.
    pub fn end(&self) -> Option<Pos> {
        self.0.last().map(|r| r.end)
    }

    /// How many positions are inside.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|r| r.end - r.start).sum()
    }

    /// Whether `pos` is inside.
    pub fn covers(&self, pos: Pos) -> bool {
        let i = self.0.partition_point(|r| r.end <= pos);
        self.0.get(i).is_some_and(|r| r.start <= pos)
    }

    /// Whether some position is in both.
    pub fn overlaps(&self, other: &Ranges) -> bool {
        let (few, many) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        let mut rest = &many.0[..];
        for r in &few.0 {
            rest = &rest[gallop(rest, r.start)..];
            match rest.first() {
                None => return false,
                Some(m) if m.start < r.end => return true,
                Some(_) => {}
            }
        }
        false
    }

    /// Adds a range that starts before every range in the set; ranges that touch become one. For
    /// building backwards ; [`Ranges::finish_backwards`] ends it.
    pub(crate) fn push_backwards(&mut self, start: Pos, end: Pos) {
        debug_assert!(start < end);
        match self.0.last_mut() {
            Some(last) if end >= last.start => last.start = last.start.min(start),
            _ => self.0.push(Range { start, end }),
        }
    }

    /// Ends a series of [`Ranges::push_backwards`].
    pub(crate) fn finish_backwards(&mut self) {
        self.0.reverse();
    }

    /// Adds one range; O(log n) to find the place.
    pub fn insert(&mut self, range: Range) {
        // Every range that overlaps or touches is in `from..to`.
        let from = self.0.partition_point(|r| r.end < range.start);
        let to = from + self.0[from..].iter().take_while(|r| r.start <= range.end).count();
        if from == to {
            self.0.insert(from, range);
            return;
        }
        self.0[from].start = self.0[from].start.min(range.start);
        self.0[from].end = self.0[to - 1].end.max(range.end);
        self.0.drain(from + 1..to);
    }

    /// Adds every position of `other`.
    pub fn union(&mut self, other: &Ranges) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        if other.0.len() <= 4 {
            other.0.iter().for_each(|&r| self.insert(r));
            return;
        }
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut all: Vec<Range> = Vec::with_capacity(self.0.len() + other.0.len());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.start <= y.start => a.next(),
                (_, Some(_)) => b.next(),
                (_, None) => a.next(),
            };
            let Some(&r) = next else { break };
            match all.last_mut() {
                Some(last) if r.start <= last.end => last.end = last.end.max(r.end),
                _ => all.push(r),
            }
        }
        self.0 = all;
    }

    /// How far the free space around `range` reaches before and after it; `range` must be free.
    pub fn slack(&self, range: Range) -> u64 {
        let i = self.0.partition_point(|r| r.end <= range.start);
        let before = if i == 0 { range.start } else { range.start - self.0[i - 1].end };
        // Free to the end of the program counts as a long gap, so a used component is preferred.
        let after = self.0.get(i).map_or(1 << 24, |r| u64::from(r.start - range.end));
        u64::from(before) + after
    }
}

/// Index of the first range that ends after `pos`, by doubling steps.
fn gallop(ranges: &[Range], pos: Pos) -> usize {
    let mut step = 1;
    while step < ranges.len() && ranges[step].end <= pos {
        step *= 2;
    }
    let low = step / 2;
    let high = ranges.len().min(step + 1);
    low + ranges[low..high].partition_point(|r| r.end <= pos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &[(Pos, Pos)]) -> Ranges {
        let mut s = Ranges::default();
        list.iter().for_each(|&(start, end)| s.insert(Range { start, end }));
        s
    }

    #[test]
    fn half_open_ranges_that_touch_do_not_overlap() {
        assert!(!set(&[(1, 5)]).overlaps(&set(&[(5, 9)])));
        assert!(set(&[(1, 6)]).overlaps(&set(&[(5, 9)])));
        assert!(!set(&[(1, 3), (9, 12)]).overlaps(&set(&[(3, 9)])), "a hole is free");
    }

    #[test]
    fn operations_agree_with_sets_of_points() {
        // Every pair of subsets of 0..7, against bit sets.
        let of = |bits: u32| {
            let mut s = Ranges::default();
            (0..7).filter(|i| bits >> i & 1 == 1).for_each(|i| s.insert(Range { start: i, end: i + 1 }));
            s
        };
        for a in 0..128u32 {
            for b in 0..128u32 {
                assert_eq!(of(a).overlaps(&of(b)), a & b != 0, "{a:b} {b:b}");
                let mut u = of(a);
                u.union(&of(b));
                assert_eq!(u, of(a | b));
                assert_eq!(u.len(), (a | b).count_ones());
            }
            (0..7).for_each(|i| assert_eq!(of(a).covers(i), a >> i & 1 == 1));
        }
    }

    #[test]
    fn long_unions_and_overlaps() {
        let even: Vec<_> = (0..50).map(|i| (i * 4, i * 4 + 2)).collect();
        let odd: Vec<_> = (0..50).map(|i| (i * 4 + 2, i * 4 + 4)).collect();
        let (mut a, b) = (set(&even), set(&odd));
        assert!(!a.overlaps(&b));
        a.union(&b);
        assert_eq!(a, Ranges::one(0, 200));
    }

    #[test]
    fn backwards_building_joins_what_touches() {
        let mut s = Ranges::default();
        s.push_backwards(8, 10);
        s.push_backwards(4, 8);
        s.push_backwards(0, 2);
        s.finish_backwards();
        assert_eq!(s, set(&[(0, 2), (4, 10)]));
    }
}

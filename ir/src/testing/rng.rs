//! Random numbers for tests: splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
//! Generators", 2014). The same seed gives the same numbers everywhere.

/// A generator.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// From a seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 when that is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.next_u64() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// True in `part` of `whole` cases.
    pub fn chance(&mut self, part: u32, whole: u32) -> bool {
        self.below(whole) < part
    }

    /// One of the items.
    ///
    /// # Panics
    /// When there are none.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len() as u32) as usize]
    }

    /// A float from `low` to `high`.
    pub fn float(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.below(1 << 24) as f32 / (1 << 24) as f32)
    }
}

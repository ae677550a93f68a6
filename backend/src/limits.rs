//! Bounds of machine code: its reader and its simulator.

ir::bounds! {
    /// Bounds with their defaults.
    pub struct Limits {
        /// Most instructions of a text of machine code. Jump targets have 16 bits.
        insts "assembly-instructions" = 65_536, up to 65_536, "instructions", error "too-many-instructions";
        /// After that many errors the assembler stops.
        errors "assembly-errors" = 20, up to 10_000, "errors", error "too-many-errors";
        /// Most instructions that one run on the simulator executes.
        steps "steps" = 4_000_000, up to 1 << 40, "instructions", error "too-many-steps";
        /// Deepest nesting of subroutine calls on the simulator.
        calls "calls" = 64, up to 1_024, "calls", error "calls-too-deep";
    }
}

impl Limits {
    /// The bounds of a run.
    pub fn run(&self) -> crate::sim::machine::Limits {
        crate::sim::machine::Limits { steps: self.steps as u64, calls: self.calls }
    }
}

//! What is on offer: the physical registers, and how to hand them out.

/// The physical side: `temps` registers of four components.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegFile {
    /// How many temporaries there are. An allocation that needs more is an error with numbers.
    pub temps: u16,
    /// Whether a register (component) may be used again once its value is dead. Off, each virtual
    /// register gets a register of its own and nothing is coalesced: the paper's code before its
    /// register reuse.
    pub reuse: bool,
}

impl RegFile {
    /// `temps` registers, reused.
    pub fn new(temps: u16) -> RegFile {
        RegFile { temps, reuse: true }
    }
}

/// Which allocator runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Method {
    /// Colouring over components: values share registers lane by lane, in any lanes.
    #[default]
    Color,
    /// Linear scan over whole registers, one interval without holes for each value, no lane moves:
    /// the baseline of the ablations.
    Scan,
}

impl Method {
    /// Parses `color` or `scan`.
    pub fn parse(text: &str) -> Option<Method> {
        match text {
            "color" => Some(Method::Color),
            "scan" => Some(Method::Scan),
            _ => None,
        }
    }
}

/// How to allocate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which allocator runs.
    pub method: Method,
    /// Whether copies are merged away.
    pub coalesce: bool,
    /// A limit below the file's own, for experiments.
    pub max_temps: Option<u16>,
}

impl Default for Options {
    fn default() -> Options {
        Options { method: Method::Color, coalesce: true, max_temps: None }
    }
}

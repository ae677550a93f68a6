//! The laboratory: experiments over shaders, targets and pipelines, and the outside judges.

pub mod oracle;

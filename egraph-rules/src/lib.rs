//! The e-graph stage: pure values of a function enter one e-graph, rules rewrite it, an extractor
//! chooses under the target's costs, and the choice goes back to SSA.

pub mod analysis;
pub mod lang;
mod transfer;

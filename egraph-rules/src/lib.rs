//! The e-graph stage: pure values of a function enter one e-graph, rules rewrite it, an extractor
//! chooses under the target's costs, and the choice goes back to SSA.

pub mod analysis;
pub mod blocks;
pub mod cost;
pub mod extract;
pub mod from_egraph;
pub mod lang;
pub mod plan;
pub mod price;
mod transfer;

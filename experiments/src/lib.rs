//! The laboratory: experiments over shaders, targets and pipelines, and the outside judges.
//!
//! ```text
//! files -> jobs -> worker processes -> rows -> CSV, comparisons, ablations, shares
//! ```
//!
//! Every compile runs in a process of its own kind ([`pool`]): a shader that makes the compiler
//! panic, hang, overflow its stack or eat memory is a row that says so, never a hole in the table.

pub mod ablate;
pub mod cli;
pub mod compare;
pub mod compiler_test;
pub mod corpus;
pub mod counts;
pub mod files;
pub mod fuzz;
pub mod job;
pub mod judge;
pub mod known;
pub mod measure;
pub mod oracle;
pub mod output;
pub mod peers;
pub mod pool;
pub mod row;
pub mod run;
pub mod shader_test;
pub mod stats;
pub mod straight;
pub mod table;
pub mod verdict;
pub mod worker;

//! Placeholder while the contract is laid.

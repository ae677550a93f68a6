//! The C interface: what a driver needs behind `glCompileShader`, `glLinkProgram` and the queries of
//! active attributes and uniforms, as a shared library. `include/eggshade.h` is made from this crate;
//! a test holds them together.
//!
//! In: GLSL or three-address code as bytes with a length. Out: a program that owns its code, its
//! description and every string that it hands out, until it is freed.
//!
//! Holds: there is no global state, and a context is used by one thread at a time, so threads with a
//! context each need no lock. No call unwinds into C: a fault of the compiler is
//! [`Status::Internal`](context::Status::Internal). A null pointer where an object or a text must be is
//! [`Status::BadArgument`](context::Status::BadArgument).
//!
//! This is the only place of the compiler with `unsafe` code: pointers that C hands over are read here
//! and nowhere else.

#![allow(unsafe_code, reason = "a C interface reads pointers that C hands over")]

pub mod context;
pub mod limits;
pub mod program;
pub mod text;

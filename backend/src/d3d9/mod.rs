//! Direct3D 9 shaders of models 1 to 3: the form between lowering, text and token stream.
//!
//! [`Shader`] says what a shader *is*, token for token, and nothing of what a target allows: slots,
//! ports, legal swizzles and which opcode exists in which version are the business of tables and
//! checkers. Nothing here knows [`crate::mach`]; a lowering fills in a [`Shader`].
//!
//! ```
//! use backend::d3d9::{Dcl, Dst, Inst, Mask, Opcode, Reg, RegType, Shader, Src, Usage, Version, text};
//!
//! let mut shader = Shader::new(Version::vs(2, 0));
//! let (v0, r0, c0) = (Reg::new(RegType::Input, 0), Reg::new(RegType::Temp, 0), Reg::new(RegType::Const, 0));
//! let position = Reg::new(RegType::Rasterizer, 0);
//! shader.dcls.push(Dcl::usage(Usage::Position, 0, v0));
//! shader.defs.push(backend::d3d9::Def::float(5, [0.0, 1.0, 2.0, 3.0].map(f32::to_bits)));
//! shader.insts.push(Inst::new(Opcode::Mul, Dst::new(r0, Mask::ALL), &[Src::new(c0), Src::lane(v0, 0)]));
//! shader.insts.push(Inst::new(Opcode::Mov, Dst::new(position, Mask::ALL), &[Src::new(r0).negated()]));
//! let printed = "vs_2_0\ndcl_position v0\ndef c5, 0, 1, 2, 3\nmul r0, c0, v0.x\nmov oPos, -r0\n";
//! assert_eq!(text::print(&shader), printed);
//! ```
//!
//! # What a lowering must know
//!
//! - Operands stand in the order of the assembler: `texld` is [`Opcode::Tex`] with a destination and
//!   two sources, coordinates and sampler; `texldp` and `texldb` are the same opcode with
//!   [`Control::Project`] and [`Control::Bias`]; `texldl` is an opcode of its own. `texkill` has its
//!   register as destination and no source. [`Opcode::operands`] has the numbers for a version
//!   (`sincos` reads two constants more in model 2, `sgn` two temporaries).
//! - A comparison (`if_lt`, `break_ge`, `setp_ne`) is [`Opcode::Ifc`], [`Opcode::Breakc`] or
//!   [`Opcode::Setp`] with [`Control::Compare`].
//! - Flow has no destination: `rep i0`, `if b0`, `if p0.x`, `loop aL, i0`, `call l0`, `label l0` carry
//!   sources ([`Inst::flow`]).
//! - An address is `rel` of a source: the register's number plus a lane of `a0` (or `aL`); model 1 has
//!   `a0.x` alone.
//! - `constants` becomes the constant table ([`Constant`]). A relative address needs an array there
//!   whose registers it starts in, or MojoShader refuses the shader.
//! - Declarations and definitions stand before all instructions, and are printed in this order:
//!   declarations, definitions, instructions.
//!
//! Sources: the layout of Direct3D 9's shader code in the driver kit's documentation, and the
//! assembler's syntax in the graphics reference of the same.

mod constant;
mod ctab;
mod declare;
mod opcode;
pub mod parse;
mod register;
mod shader;
pub mod text;
pub mod tokens;

#[cfg(test)]
mod tests;

pub use constant::{Class, Constant, RegisterSet, ScalarKind};
pub use declare::{Dcl, DclKind, Def, SamplerKind, Usage};
pub use ir::types::WriteMask as Mask;
pub use opcode::{Opcode, Operands};
pub use register::{Reg, RegType, Rel};
pub use shader::{Comparison, Control, Dst, Inst, Modifier, Predicate, Shader, Src, Version};

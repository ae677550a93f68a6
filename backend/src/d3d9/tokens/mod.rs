//! The token stream: little-endian words, a version first, the end last.
//!
//! ```text
//! instruction  15:0 opcode  23:16 control  27:24 words that follow (0 in model 1)  28 predicated  30 co-issue
//! destination  10:0 number  12:11 and 30:28 file  13 relative  19:16 mask  23:20 modifiers  27:24 shift  31 = 1
//! source       10:0 number  12:11 and 30:28 file  13 relative  23:16 swizzle  27:24 modifier        31 = 1
//! usage        4:0 usage  19:16 index  30:27 shape of a sampler                                      31 = 1
//! comment      15:0 FFFE  30:16 words that follow
//! ```
//!
//! A relative operand has bit 13; from model 2 on a source word with `a0` or `aL` follows it. A
//! predicate is a source word right behind the destination.
//!
//! [`read`] and [`write`] are inverse on what they take: reading what was written gives the shader
//! again. Files that share a number are told apart by stage and version; one that the version does not
//! have is an error of the writer.

mod read;
mod write;

use super::{Comparison, Control, Reg, RegType, Version};
use ir::types::Stage;
use std::fmt;

pub use read::{read, read_within};
pub use write::{check_dcl, check_def, check_inst, write};

const END: u32 = 0x0000_ffff;
const COMMENT: u32 = 0xfffe;
const DEFB: u32 = 47;
const DEFI: u32 = 48;
const DEF: u32 = 81;
const DCL: u32 = 31;
/// Bit 31 of every word of an operand.
const OPERAND: u32 = 1 << 31;
const RELATIVE: u32 = 1 << 13;
const PREDICATED: u32 = 1 << 28;
const COISSUE: u32 = 1 << 30;
/// Registers that a number of 11 bits tells apart.
const NUMBERS: u32 = 2048;
/// Most words of a comment.
const MAX_COMMENT: usize = 0x7fff;
/// File numbers of `c` from 0, 2048, 4096 and 6144 on.
const CONST_FILES: [u32; 4] = [2, 11, 12, 13];

/// Why a token stream is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// Offset of the word, the version being word 0.
    pub word: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "word {}: {}", self.word, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Whether bytes start like a token stream of this form.
pub fn starts_shader(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|b| version_of(u32::from_le_bytes(*b)).is_some())
}

/// Words as bytes.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Bytes as words.
///
/// # Errors
/// When the last word is cut off.
pub fn from_bytes(bytes: &[u8]) -> Result<Vec<u32>, ReadError> {
    let (words, rest) = bytes.as_chunks::<4>();
    if rest.is_empty() {
        Ok(words.iter().map(|b| u32::from_le_bytes(*b)).collect())
    } else {
        Err(ReadError { word: words.len(), message: "the last word is cut off".into() })
    }
}

fn version_token(version: Version) -> u32 {
    let stage = if version.stage == Stage::Vertex { 0xfffe_0000 } else { 0xffff_0000 };
    stage | u32::from(version.major) << 8 | u32::from(version.minor)
}

fn version_of(token: u32) -> Option<Version> {
    Version::ALL.iter().copied().find(|&v| version_token(v) == token)
}

/// The file of a number, or none when the version has no such file.
fn file_of(number: u32, version: Version) -> Option<RegType> {
    let vertex = version.stage == Stage::Vertex;
    Some(match number {
        0 => RegType::Temp,
        1 => RegType::Input,
        2 | 11 | 12 | 13 => RegType::Const,
        3 if vertex => RegType::Address,
        3 => RegType::Texture,
        4 => RegType::Rasterizer,
        5 => RegType::ColorOut,
        6 if vertex && version.major >= 3 => RegType::Output,
        6 if vertex => RegType::TexCoordOut,
        7 => RegType::ConstInt,
        8 => RegType::Target,
        9 => RegType::Depth,
        10 => RegType::Sampler,
        14 => RegType::ConstBool,
        15 => RegType::Loop,
        17 => RegType::Misc,
        18 => RegType::Label,
        19 => RegType::Predicate,
        _ => return None,
    })
}

/// The number of a file; `c` has more than one.
fn number_of(kind: RegType) -> u32 {
    match kind {
        RegType::Temp => 0,
        RegType::Input => 1,
        RegType::Const => 2,
        RegType::Address | RegType::Texture => 3,
        RegType::Rasterizer => 4,
        RegType::ColorOut => 5,
        RegType::TexCoordOut | RegType::Output => 6,
        RegType::ConstInt => 7,
        RegType::Target => 8,
        RegType::Depth => 9,
        RegType::Sampler => 10,
        RegType::ConstBool => 14,
        RegType::Loop => 15,
        RegType::Misc => 17,
        RegType::Label => 18,
        RegType::Predicate => 19,
    }
}

/// The swizzle as eight bits.
fn swizzle_bits(swizzle: [u8; 4]) -> u32 {
    (0..4).fold(0, |bits, n| bits | u32::from(swizzle[n] & 3) << (2 * n))
}

fn swizzle_of(bits: u32) -> [u8; 4] {
    [0, 2, 4, 6].map(|n| (bits >> n & 3) as u8)
}

fn control_bits(control: Control) -> u32 {
    match control {
        Control::None => 0,
        Control::Project => 1,
        Control::Bias => 2,
        Control::Compare(c) => position(Comparison::ALL, c) + 1,
    }
}

/// Where an item of a table stands.
pub(super) fn position<T: PartialEq>(all: &[T], item: T) -> u32 {
    all.iter().position(|x| *x == item).map_or(0, |n| n as u32)
}

/// Whether a register is declared without a usage.
fn is_plain(reg: Reg, version: Version) -> bool {
    let old = version.stage == Stage::Fragment && version.major < 3;
    reg.kind != RegType::Sampler && (old || reg.kind == RegType::Misc)
}

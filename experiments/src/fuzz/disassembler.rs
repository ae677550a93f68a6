//! Binaries of machine code.

use super::{MAX_BYTES, assembler};
use eggshade::backend::emit::vec4_bits;

/// All bytes are the binary.
pub fn disassembler(data: &[u8]) {
    if let Ok(program) = vec4_bits::decode(&data[..data.len().min(MAX_BYTES)]) {
        assembler::check_program(&program);
    }
}

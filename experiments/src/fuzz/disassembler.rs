//! Binaries of machine code: the vec4 machine's form, and Direct3D's token stream.

use super::{MAX_BYTES, assembler};
use eggshade::backend::d3d9::{Shader, parse, text, tokens};
use eggshade::backend::emit::vec4_bits;

/// All bytes are the binary.
pub fn disassembler(data: &[u8]) {
    let data = &data[..data.len().min(MAX_BYTES)];
    if let Ok(program) = vec4_bits::decode(data) {
        assembler::check_program(&program);
    }
    if let Ok(shader) = tokens::from_bytes(data).and_then(|words| tokens::read(&words)) {
        check_shader(&shader);
    }
}

/// What was read is written and read back the same, as tokens and as text.
pub(super) fn check_shader(shader: &Shader) {
    let printed = text::print(shader);
    let words = tokens::write(shader).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(tokens::read(&words).as_ref(), Ok(shader), "{printed}");
    let parsed = parse::parse(Default::default(), &printed).unwrap_or_else(|e| panic!("{}\n{printed}", e[0].message));
    // the constant table is no part of the text
    assert_eq!(parsed, Shader { constants: Vec::new(), ..shader.clone() }, "{printed}");
}

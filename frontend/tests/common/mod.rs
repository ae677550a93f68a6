//! Helpers of the tests: compile a text, run its TAC on named inputs.
#![allow(dead_code)] // each test file uses its own part

use bumpalo::Bump;
use frontend::ast::Version;
use frontend::{Compiled, Options};
use ir::diag::{Diagnostic, SourceMap};
use ir::entity::Var;
use ir::env::{Env, Outputs, TexRequest};
use ir::tac::Program;
use ir::tac::interp::{InterpOptions, run};
use ir::types::Stage;

/// Compiles a text in a language; a legal one must give legal TAC.
pub fn compile(version: Version, stage: Stage, text: &str) -> Result<Compiled, Vec<Diagnostic>> {
    let arena = Bump::new();
    let mut sources = SourceMap::new();
    let file = sources.add("test", text);
    let options = Options { default_version: version, ..Options::default() };
    let compiled = frontend::compile(&arena, &mut sources, file, stage, &options)?;
    let broken = ir::tac::verify::verify(&compiled.program);
    assert!(broken.is_empty(), "{}\n{text}\n{}", broken[0], ir::tac::text::print(&compiled.program));
    Ok(compiled)
}

/// The same, and it must be legal.
pub fn program(version: Version, stage: Stage, text: &str) -> Program {
    match compile(version, stage, text) {
        Ok(compiled) => compiled.program,
        Err(list) => panic!("{}: {:?}\n{text}", list[0], list[0].notes),
    }
}

/// Inputs and uniforms by name and element.
pub struct World<'p> {
    pub program: &'p Program,
    pub values: &'p [(&'p str, u32, [f32; 4])],
}

impl World<'_> {
    fn find(&self, var: Var, elem: u32) -> [f32; 4] {
        let name = &self.program.vars[var].name;
        self.values.iter().find(|v| v.0 == name && v.1 == elem).map_or([0.0; 4], |v| v.2)
    }
}

impl Env for World<'_> {
    fn input(&self, var: Var, elem: u32) -> [f32; 4] {
        self.find(var, elem)
    }

    fn uniform(&self, var: Var, elem: u32) -> [f32; 4] {
        let decl = &self.program.vars[var];
        match decl.init.get(elem as usize) {
            Some(init) => std::array::from_fn(|i| f32::from_bits(init.bits[i])),
            None => self.find(var, elem),
        }
    }

    /// A texture that shows what it was asked: coordinates, and the level in w.
    fn texture(&self, request: &TexRequest) -> [f32; 4] {
        let level = match request.lod {
            ir::env::Lod::Explicit(level) => level,
            ir::env::Lod::Implicit { bias, .. } => bias,
        };
        [request.coords[0], request.coords[1], request.coords[2], level + 100.0 * request.elem as f32]
    }
}

/// Runs a program.
pub fn run_program(program: &Program, values: &[(&str, u32, [f32; 4])]) -> Outputs {
    let world = World { program, values };
    match run(program, &world, InterpOptions::default()) {
        Ok(outputs) => outputs,
        Err(error) => panic!("{error}\n{}", ir::tac::text::print(program)),
    }
}

/// An output's lanes; unwritten ones are NaN.
pub fn output(program: &Program, outputs: &Outputs, name: &str, elem: u32) -> [f32; 4] {
    let Some((var, _)) = program.vars.iter().find(|(_, d)| d.name == name) else { panic!("no output {name}") };
    std::array::from_fn(|i| outputs.get(var, elem, i as u8).unwrap_or(f32::NAN))
}

/// What `gl_FragColor` gets from statements in `main` of a fragment shader with fixed inputs:
/// `a = (0.5, -1.25, 2, 3)`, `b = (1.5, 0.25, -0.75, 4)`, `i = 1`, `j = 3`, `k = 7`, `yes = true`,
/// `m2 = ((1, 2), (3, 4))`, `m3` and `m4` with columns of rising numbers, `arr = 10, 20, 30, 40`.
pub fn color(version: Version, globals: &str, body: &str) -> [f32; 4] {
    let precision = if version == Version::Es100 { "precision mediump float; " } else { "" };
    let text = format!(
        "{precision}uniform vec4 a, b; uniform int i, j, k; uniform bool yes; uniform mat2 m2; uniform mat3 m3; uniform mat4 m4;\n\
         uniform float arr[4];\n{globals}\nvoid main() {{ {body} }}\n"
    );
    let program = program(version, Stage::Fragment, &text);
    let values = [
        ("a", 0, [0.5, -1.25, 2.0, 3.0]),
        ("b", 0, [1.5, 0.25, -0.75, 4.0]),
        ("i", 0, [1.0, 0.0, 0.0, 0.0]),
        ("j", 0, [3.0, 0.0, 0.0, 0.0]),
        ("k", 0, [7.0, 0.0, 0.0, 0.0]),
        ("yes", 0, [1.0, 0.0, 0.0, 0.0]),
        ("m2", 0, [1.0, 2.0, 0.0, 0.0]),
        ("m2", 1, [3.0, 4.0, 0.0, 0.0]),
        ("m3", 0, [1.0, 2.0, 3.0, 0.0]),
        ("m3", 1, [4.0, 5.0, 6.0, 0.0]),
        ("m3", 2, [7.0, 8.0, 9.0, 0.0]),
        ("m4", 0, [1.0, 2.0, 3.0, 4.0]),
        ("m4", 1, [5.0, 6.0, 7.0, 8.0]),
        ("m4", 2, [9.0, 10.0, 11.0, 12.0]),
        ("m4", 3, [13.0, 14.0, 15.0, 16.0]),
        ("arr", 0, [10.0, 0.0, 0.0, 0.0]),
        ("arr", 1, [20.0, 0.0, 0.0, 0.0]),
        ("arr", 2, [30.0, 0.0, 0.0, 0.0]),
        ("arr", 3, [40.0, 0.0, 0.0, 0.0]),
    ];
    let outputs = run_program(&program, &values);
    output(&program, &outputs, "gl_FragColor", 0)
}

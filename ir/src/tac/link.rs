//! Linking two stages, on TAC, before SSA; and the link tree of one.
//!
//! In come a vertex and a fragment program, out come the same with one list of varyings that both
//! agree on. What the fragment stage does not read is no output of the vertex stage any more, so that
//! dead code elimination takes its computation away. The rules are those of GLSL 1.10 (4.3.5, 4.3.6,
//! 7.6) and 1.20 (4.6.1):
//!
//! 1. A user's varying that the fragment stage reads is declared and written in the vertex stage, and
//!    the vertex stage writes `gl_Position`; GLSL ES 1.00 leaves what was not written undefined.
//!    Built-in varyings are declared always.
//! 2. A varying or uniform that both declare has one type and size, a sampler one shape, and a
//!    varying is invariant in both or in none, and centroid likewise; an ES uniform that both use has
//!    one precision.
//! 3. Initial values of one uniform are equal.
//! 4. `gl_FragCoord` is invariant only if `gl_Position` is, `gl_PointCoord` only if `gl_PointSize` is.
//!
//! The fragment stage's `gl_Color` and `gl_SecondaryColor` come from `gl_FrontColor` and
//! `gl_FrontSecondaryColor`; `gl_FragCoord`, `gl_FrontFacing` and `gl_PointCoord` from the machine.

use crate::entity::{FuncId, Var};
use crate::tac::verify::call_order;
use crate::tac::{Addr, Index, Inst, Program, TacOp, VarDecl, VarKind};
use crate::types::Stage;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Why two stages do not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkError {
    /// A stable kebab-case name.
    pub code: &'static str,
    /// One sentence without a full stop.
    pub message: String,
    /// Lines of the declarations in the vertex and the fragment shader, 0 when none.
    pub lines: (u32, u32),
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.code, self.message)
    }
}

impl std::error::Error for LinkError {}

/// A varying that goes from one stage to the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// In the vertex program.
    pub vertex: Var,
    /// In the fragment program.
    pub fragment: Var,
    /// Name in the fragment program.
    pub name: String,
    /// Registers that it takes.
    pub elems: u32,
}

/// Two stages that fit.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The vertex stage, without outputs that nobody reads.
    pub vertex: Program,
    /// The fragment stage.
    pub fragment: Program,
    /// What goes between them, in the fragment stage's order of declaration.
    pub links: Vec<Link>,
    /// Names of vertex outputs that nobody reads, in order of declaration.
    pub dropped: Vec<String>,
    /// Things that are legal but read undefined values.
    pub warnings: Vec<String>,
}

/// Inputs of the fragment stage that the machine makes.
const MACHINE_INPUTS: [&str; 3] = ["gl_FragCoord", "gl_FrontFacing", "gl_PointCoord"];

/// Outputs of the vertex stage that the machine reads.
const MACHINE_OUTPUTS: [&str; 3] = ["gl_Position", "gl_PointSize", "gl_ClipVertex"];

/// The vertex output behind a fragment input.
fn source_name(name: &str) -> &str {
    match name {
        "gl_Color" => "gl_FrontColor",
        "gl_SecondaryColor" => "gl_FrontSecondaryColor",
        name => name,
    }
}

/// Links a vertex and a fragment program; both legal.
pub fn link(vertex: &Program, fragment: &Program) -> Result<Linked, Vec<LinkError>> {
    let mut errors = Vec::new();
    if vertex.stage != Stage::Vertex || fragment.stage != Stage::Fragment {
        let message = format!("a vertex and a fragment shader are needed, not {} and {}", vertex.stage, fragment.stage);
        return Err(vec![LinkError { code: "link-stages", message, lines: (0, 0) }]);
    }
    if (vertex.version == 100) != (fragment.version == 100) {
        let message = "a GLSL ES and a desktop GLSL shader make no program together".to_owned();
        return Err(vec![LinkError { code: "link-versions", message, lines: (0, 0) }]);
    }
    let by_name: FxHashMap<&str, Var> = vertex.vars.iter().map(|(v, d)| (d.name.as_str(), v)).collect();
    let (vertex_uses, fragment_uses) = (Uses::new(vertex), Uses::new(fragment));
    let mut links = Vec::new();
    let mut warnings = Vec::new();
    for (var, decl) in fragment.vars.iter() {
        let is_varying = decl.is_input(Stage::Fragment) && !MACHINE_INPUTS.contains(&decl.name.as_str());
        let is_shared = decl.kind == VarKind::Uniform || decl.is_sampler();
        if !is_varying && !is_shared {
            continue;
        }
        let other = by_name.get(source_name(&decl.name)).map(|&v| (v, &vertex.vars[v]));
        let other = other.filter(|(_, d)| if is_varying { d.is_output(Stage::Vertex) } else { same_class(d, decl) });
        let Some((other_var, other)) = other else {
            let read = is_varying && fragment_uses.read.contains(&var);
            if read && decl.name.starts_with("gl_") {
                warnings.push(never_written(&decl.name));
            } else if read {
                let message =
                    format!("the fragment shader reads `{}`, which the vertex shader does not declare", decl.name);
                errors.push(LinkError { code: "link-undeclared-varying", message, lines: (0, decl.line) });
            }
            continue;
        };
        if let Some(error) = mismatch(other, decl, is_varying) {
            errors.push(error);
            continue;
        }
        // programs declare one uniform for all their shaders and use it in one: only that the
        // stages disagree on a value that both read is an error
        let both_read = fragment_uses.read.contains(&var) && vertex_uses.read.contains(&other_var);
        if !is_varying && both_read {
            errors.extend(precision_mismatch(other, decl));
        }
        if is_varying && fragment_uses.read.contains(&var) {
            if !vertex_uses.written.contains(&other_var) {
                let message = never_written(&other.name);
                if vertex.version == 100 || other.name.starts_with("gl_") {
                    warnings.push(message);
                } else {
                    let lines = (other.line, decl.line);
                    errors.push(LinkError { code: "link-unwritten-varying", message, lines });
                    continue;
                }
            }
            links.push(Link { vertex: other_var, fragment: var, name: decl.name.clone(), elems: decl.elems });
        }
    }
    errors.extend(machine_mismatch(vertex, fragment, &by_name));
    if errors.is_empty() && vertex.version != 100 {
        let position = by_name.get("gl_Position");
        if !position.is_some_and(|p| vertex_uses.written.contains(p)) {
            let message = "the vertex shader does not write `gl_Position`".to_owned();
            errors.push(LinkError { code: "link-unwritten-position", message, lines: (0, 0) });
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let needed: FxHashSet<Var> = links.iter().map(|l| l.vertex).collect();
    let mut linked =
        Linked { vertex: vertex.clone(), fragment: fragment.clone(), links, dropped: Vec::new(), warnings };
    for (var, decl) in linked.vertex.vars.iter_mut() {
        let seen = !decl.is_output(Stage::Vertex)
            || needed.contains(&var)
            || MACHINE_OUTPUTS.contains(&decl.name.as_str())
            // The back faces' colours stand beside the front ones.
            || (decl.name == "gl_BackColor" || decl.name == "gl_BackSecondaryColor");
        if !seen {
            decl.kind = VarKind::Local;
            linked.dropped.push(decl.name.clone());
        }
    }
    Ok(linked)
}

fn never_written(name: &str) -> String {
    format!("the vertex shader never writes `{name}`, which the fragment shader reads")
}

/// Rule 4.
fn machine_mismatch(vertex: &Program, fragment: &Program, by_name: &FxHashMap<&str, Var>) -> Vec<LinkError> {
    let mut errors = Vec::new();
    for (input, output) in [("gl_FragCoord", "gl_Position"), ("gl_PointCoord", "gl_PointSize")] {
        let decl = fragment.vars.values().find(|d| d.name == input && d.invariant);
        let made = by_name.get(output).map(|&v| &vertex.vars[v]);
        if let (Some(decl), false) = (decl, made.is_some_and(|d| d.invariant)) {
            let message = format!("`{input}` is invariant, but `{output}` is not");
            let lines = (made.map_or(0, |d| d.line), decl.line);
            errors.push(LinkError { code: "link-invariant-mismatch", message, lines });
        }
    }
    errors
}

fn same_class(a: &VarDecl, b: &VarDecl) -> bool {
    (a.kind == VarKind::Uniform || a.is_sampler()) && (b.kind == VarKind::Uniform || b.is_sampler())
}

/// Rules 2 and 3.
fn mismatch(vertex: &VarDecl, fragment: &VarDecl, is_varying: bool) -> Option<LinkError> {
    let what = if is_varying { "varying" } else { "uniform" };
    let name = &fragment.name;
    let lines = (vertex.line, fragment.line);
    let error = |code, message: String| Some(LinkError { code, message, lines });
    // Built-in arrays (`gl_TexCoord`) may be as long as each stage uses them.
    let sizes_differ = vertex.elems != fragment.elems && !name.starts_with("gl_");
    if vertex.ty != fragment.ty || sizes_differ || vertex.cols != fragment.cols {
        let (a, b) = (&vertex.type_name, &fragment.type_name);
        let message = format!("{what} `{name}` is {a} in the vertex shader and {b} in the fragment shader");
        return error("link-type-mismatch", message);
    }
    if !is_varying && vertex.kind != fragment.kind {
        return error("link-type-mismatch", format!("sampler `{name}` has two shapes"));
    }
    if is_varying && vertex.invariant != fragment.invariant && !name.starts_with("gl_") {
        return error("link-invariant-mismatch", format!("varying `{name}` is invariant in one shader only"));
    }
    if is_varying && vertex.centroid != fragment.centroid && !name.starts_with("gl_") {
        return error("link-centroid-mismatch", format!("varying `{name}` is centroid in one shader only"));
    }
    let both = !vertex.init.is_empty() && !fragment.init.is_empty();
    if both && vertex.init != fragment.init {
        return error("link-initializer-mismatch", format!("uniform `{name}` has two initial values"));
    }
    None
}

/// A uniform of two precisions (GLSL ES 1.00, 4.5.3).
fn precision_mismatch(vertex: &VarDecl, fragment: &VarDecl) -> Option<LinkError> {
    let (a, b) = (vertex.precision?, fragment.precision?);
    (a != b).then(|| {
        let (name, a, b) = (&fragment.name, a.keyword(), b.keyword());
        let message = format!("uniform `{name}` is {a} in the vertex shader and {b} in the fragment shader");
        LinkError { code: "link-precision-mismatch", message, lines: (vertex.line, fragment.line) }
    })
}

/// Which variables the code that `main` reaches reads and writes.
struct Uses {
    read: FxHashSet<Var>,
    written: FxHashSet<Var>,
}

impl Uses {
    fn new(program: &Program) -> Uses {
        let mut uses = Uses { read: FxHashSet::default(), written: FxHashSet::default() };
        for func in call_order(program).unwrap_or_default() {
            for inst in &program.funcs[func].body {
                uses.read.extend(variables_read(inst));
                uses.written.extend(inst.dst.iter().map(|d| d.var));
            }
        }
        uses
    }
}

/// All variables that an instruction reads, indices and samplers included.
pub fn variables_read(inst: &Inst) -> Vec<Var> {
    let mut all = Vec::new();
    let rel = |index: Index| index.rel.map(|(var, _)| var);
    for src in &inst.srcs {
        if let Addr::Var(var, index) = src.addr {
            all.push(var);
            all.extend(rel(index));
        }
    }
    all.extend(inst.dst.iter().filter_map(|d| rel(d.index)));
    if let TacOp::Tex(_, tex) = inst.op {
        all.push(tex.sampler);
        all.extend(rel(tex.index));
    }
    all
}

/// A function in the link tree: the paper's linker records who calls it, how deep calls nest, and
/// which attributes, uniforms, variables and outputs it uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkNode {
    /// Which one.
    pub func: FuncId,
    /// Its name.
    pub name: String,
    /// Functions that call it.
    pub callers: Vec<FuncId>,
    /// Functions that it calls.
    pub callees: Vec<FuncId>,
    /// Longest chain of calls from `main` to it; 0 for `main`.
    pub depth: u32,
    /// Most loops that one of its instructions outside of its own loops sits in, along the calls from
    /// `main`.
    pub loops: u32,
    /// Instructions of its own body.
    pub insts: usize,
    /// Variables that it uses, by kind and in order of declaration.
    pub uses: BTreeMap<&'static str, Vec<Var>>,
}

/// The functions that `main` reaches, callers first. Recursive programs have no tree.
pub fn link_tree(program: &Program) -> Vec<LinkNode> {
    let mut order = call_order(program).unwrap_or_default();
    order.reverse();
    let mut nodes: Vec<LinkNode> = Vec::with_capacity(order.len());
    let mut place: FxHashMap<FuncId, usize> = FxHashMap::default();
    for (at, &func) in order.iter().enumerate() {
        place.insert(func, at);
        let decl = &program.funcs[func];
        let callees = loops_around_calls(&decl.body);
        let mut used: BTreeSet<Var> = BTreeSet::new();
        for inst in &decl.body {
            used.extend(variables_read(inst));
            used.extend(inst.dst.iter().map(|d| d.var));
        }
        let mut uses: BTreeMap<&'static str, Vec<Var>> = BTreeMap::new();
        for var in used {
            uses.entry(kind_name(program, var)).or_default().push(var);
        }
        nodes.push(LinkNode {
            func,
            name: decl.name.clone(),
            callers: Vec::new(),
            callees: callees.keys().copied().collect(),
            depth: 0,
            loops: 0,
            insts: decl.body.len(),
            uses,
        });
    }
    // Callers come first, so each depth is final when it is read.
    for at in 0..nodes.len() {
        let (func, depth, loops) = (nodes[at].func, nodes[at].depth, nodes[at].loops);
        for (callee, around) in loops_around_calls(&program.funcs[func].body) {
            let node = &mut nodes[place[&callee]];
            node.callers.push(func);
            node.depth = node.depth.max(depth + 1);
            node.loops = node.loops.max(loops + around);
        }
    }
    nodes
}

/// The functions that a body calls, with the most loops that it does so in.
fn loops_around_calls(body: &[Inst]) -> BTreeMap<FuncId, u32> {
    let mut calls: BTreeMap<FuncId, u32> = BTreeMap::new();
    let mut loops = 0;
    for inst in body {
        match inst.op {
            TacOp::Loop => loops += 1,
            TacOp::EndLoop => loops -= 1,
            TacOp::Call(callee) => {
                let most = calls.entry(callee).or_default();
                *most = loops.max(*most);
            }
            _ => {}
        }
    }
    calls
}

fn kind_name(program: &Program, var: Var) -> &'static str {
    match program.vars[var].kind {
        VarKind::Attribute => "attributes",
        VarKind::Uniform => "uniforms",
        VarKind::Varying => "varyings",
        VarKind::Output => "outputs",
        VarKind::Sampler { .. } => "samplers",
        VarKind::Local => "variables",
        VarKind::Temp => "temporaries",
    }
}

/// The link tree as text.
pub fn print_link_tree(program: &Program) -> String {
    use fmt::Write;
    let nodes = link_tree(program);
    let names = |funcs: &[FuncId]| -> String {
        let names: Vec<&str> = funcs.iter().map(|&f| program.funcs[f].name.as_str()).collect();
        if names.is_empty() { "-".to_string() } else { names.join(", ") }
    };
    let mut out = String::new();
    for node in &nodes {
        let _ = write!(out, "function {}: depth {}, ", node.name, node.depth);
        if node.loops > 0 {
            let _ = write!(out, "called in {} loops, ", node.loops);
        }
        let _ = writeln!(out, "{} instructions", node.insts);
        let _ = writeln!(out, "  called by: {}", names(&node.callers));
        let _ = writeln!(out, "  calls: {}", names(&node.callees));
        for (kind, vars) in &node.uses {
            let names: Vec<&str> = vars.iter().map(|&v| program.vars[v].name.as_str()).collect();
            let _ = writeln!(out, "  {kind}: {}", names.join(", "));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::FileId;
    use crate::tac::text;

    fn program(text: &str) -> Program {
        let program = text::parse(FileId::default(), text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(crate::tac::verify::verify(&program), []);
        program
    }

    fn codes(vertex: &str, fragment: &str) -> Vec<&'static str> {
        let vertex = program(&format!("stage vert\n{vertex}\n"));
        let fragment = program(&format!("stage frag\noutput vec4 gl_FragColor\n{fragment}\n"));
        link(&vertex, &fragment).err().unwrap_or_default().iter().map(|e| e.code).collect()
    }

    #[test]
    fn unread_outputs_become_locals() {
        let vertex = program(
            "stage vert\nattribute vec4 a\noutput vec4 gl_Position\nvarying vec4 used\nvarying vec4 unused\n\
             output vec4 gl_FrontColor\nfunc main() {\nMOV gl_Position.xyzw, a.xyzw\nMOV used.xyzw, a.xyzw\n\
             MOV unused.xyzw, a.xyzw\nMOV gl_FrontColor.xyzw, a.xyzw\n}\n",
        );
        let fragment = program(
            "stage frag\nvarying vec4 gl_Color\nvarying vec4 gl_FragCoord\nvarying vec4 used\nvarying vec4 unused\n\
             output vec4 gl_FragColor\nfunc main() {\nADD gl_FragColor.xyzw, used.xyzw, gl_Color.xyzw\n\
             MOV gl_FragColor.x, gl_FragCoord.x\n}\n",
        );
        let linked = link(&vertex, &fragment).unwrap();
        let names: Vec<&str> = linked.links.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["gl_Color", "used"]);
        assert_eq!(linked.dropped, ["unused"]);
        assert_eq!(linked.warnings, [""; 0]);
        assert_eq!(crate::tac::verify::verify(&linked.vertex), []);
    }

    #[test]
    fn rules_are_checked() {
        let read = "func main() {\nMOV gl_FragColor.xy, v.xy\n}";
        assert_eq!(codes("func main() {\n}", &format!("varying vec2 v\n{read}")), ["link-undeclared-varying"]);
        let position = "output vec4 gl_Position\nfunc main() {\nMOV gl_Position.xyzw, c.xyzw\n}";
        let writes = |decls: &str| format!("uniform vec4 c\n{decls}\n{position}");
        assert_eq!(codes(&writes(""), "varying vec2 v\nfunc main() {\n}"), [""; 0]);
        assert_eq!(codes("func main() {\n}", "func main() {\n}"), ["link-unwritten-position"]);
        assert_eq!(codes(&writes("varying vec2 v"), &format!("varying vec2 v\n{read}")), ["link-unwritten-varying"]);
        let built_in = "varying vec4 gl_Color\nfunc main() {\nMOV gl_FragColor.xy, gl_Color.xy\n}";
        assert_eq!(codes(&writes(""), built_in), [""; 0]);
        let coord = "varying vec4 gl_FragCoord invariant\nfunc main() {\nMOV gl_FragColor.xy, gl_FragCoord.xy\n}";
        assert_eq!(codes(&writes(""), coord), ["link-invariant-mismatch"]);
        assert_eq!(codes(&writes("").replace("gl_Position\n", "gl_Position invariant\n"), coord), [""; 0]);
        assert_eq!(
            codes("varying vec3 v\nfunc main() {\n}", &format!("varying vec2 v\n{read}")),
            ["link-type-mismatch"]
        );
        assert_eq!(
            codes("varying vec2 v invariant\nfunc main() {\n}", &format!("varying vec2 v\n{read}")),
            ["link-invariant-mismatch"]
        );
        assert_eq!(
            codes("varying vec2 v centroid\nfunc main() {\n}", &format!("varying vec2 v\n{read}")),
            ["link-centroid-mismatch"]
        );
        let used = "func main() {\nMOV t.x, u.x\n}";
        let of = |precision: &str, body: &str| format!("uniform float u{precision}\ntemp float t\n{body}");
        let mismatch = |a: String, b: String| codes(&a, &b).contains(&"link-precision-mismatch");
        assert!(mismatch(of(" highp", used), of(" mediump", used)));
        assert!(!mismatch(of(" highp", used), of(" mediump", "func main() {\n}")));
        assert!(!mismatch(of(" highp", "func main() {\n}"), of(" mediump", used)));
        assert!(!mismatch(of(" highp", used), of("", used)));
        assert_eq!(codes("version 100\nfunc main() {\n}", "func main() {\n}"), ["link-versions"]);
        assert_eq!(
            codes("uniform vec3 u\nfunc main() {\n}", "uniform vec4 u\nfunc main() {\n}"),
            ["link-type-mismatch"]
        );
        assert_eq!(
            codes("sampler 2D float u\nfunc main() {\n}", "sampler CUBE float u\nfunc main() {\n}"),
            ["link-type-mismatch"]
        );
        assert_eq!(
            codes("uniform float u = float(1)\nfunc main() {\n}", "uniform float u = float(2)\nfunc main() {\n}"),
            ["link-initializer-mismatch"]
        );
        let vertex = program("stage vert\nfunc main() {\n}");
        assert_eq!(link(&vertex, &vertex).unwrap_err()[0].code, "link-stages");
    }

    #[test]
    fn the_tree_tells_callers_and_depth() {
        let program = program(
            "stage vert\nattribute vec4 a\noutput vec4 gl_Position\nfunc f() {\nMOV gl_Position.x, a.x\n}\n\
             func g() {\nCAL f\n}\nfunc main() {\nCAL f\nLOOP\nCAL g\nBRK\nENDLOOP\n}\nfunc unused() {\n}\n",
        );
        let expected = "\
function main: depth 0, 5 instructions
  called by: -
  calls: f, g
function g: depth 1, called in 1 loops, 1 instructions
  called by: main
  calls: f
function f: depth 2, called in 1 loops, 1 instructions
  called by: main, g
  calls: -
  attributes: a
  outputs: gl_Position
";
        assert_eq!(print_link_tree(&program), expected);
    }
}

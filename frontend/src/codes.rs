//! The table of all codes that the front end gives to its findings.
//!
//! One row a code: how bad, the rule behind it, and a line for people. A finding that names no
//! section itself gets its row's ([`complete`]); one about a bound of ours names the bound instead. A test
//! fails when a code of the source text has no row, a row has no example, or an example lacks
//! its note.

use crate::ast::Version;
use crate::spec::{self, Section};
use ir::diag::Diagnostic;

/// How bad a finding with the code is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Always an error.
    Error,
    /// Always a warning.
    Warning,
    /// Depends on the version or the place.
    Either,
}

/// What stands behind a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The specification; the section where findings name no better one.
    Spec(Section),
    /// A bound of ours, by its name in [`crate::Limits`] or [`ir::limits`].
    Bound(&'static str),
    /// Something else of ours.
    Ours(&'static str),
}

/// One row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// The code.
    pub name: &'static str,
    /// How bad.
    pub level: Level,
    /// Why.
    pub rule: Rule,
    /// What it means, in a line.
    pub about: &'static str,
}

const fn error(name: &'static str, section: Section, about: &'static str) -> Code {
    Code { name, level: Level::Error, rule: Rule::Spec(section), about }
}

const fn warning(name: &'static str, section: Section, about: &'static str) -> Code {
    Code { name, level: Level::Warning, rule: Rule::Spec(section), about }
}

const fn either(name: &'static str, section: Section, about: &'static str) -> Code {
    Code { name, level: Level::Either, rule: Rule::Spec(section), about }
}

const fn bound(name: &'static str, what: &'static str, about: &'static str) -> Code {
    Code { name, level: Level::Error, rule: Rule::Bound(what), about }
}

/// All codes, in alphabetical order.
pub const CODES: &[Code] = &[
    error("ambiguous-call", spec::FUNCTIONS, "several overloads fit a call equally well"),
    error("array-assignment", spec::ASSIGNMENTS, "arrays are values only from 1.20 on"),
    error("array-of-arrays", spec::ARRAYS, "an array cannot have arrays as elements"),
    bound("array-too-large", "array-registers", "an array or a struct needs more registers than the bound"),
    error("attribute-in-fragment", spec::ATTRIBUTE, "attributes are inputs of the vertex stage"),
    error("bad-array-size", spec::ARRAYS, "an array size must be a positive constant int that fits its uses"),
    error("bad-attribute-type", spec::ATTRIBUTE, "attributes are floats, vectors and matrices of floats"),
    error("bad-condition", spec::PREPROCESSOR, "the expression of an `#if` or `#elif` has no value"),
    error("bad-constructor", spec::CONSTRUCTORS, "the arguments do not make a value of the type"),
    error("bad-define", spec::PREPROCESSOR, "a `#define` line is malformed"),
    error("bad-directive", spec::PREPROCESSOR, "a directive lacks what must follow it"),
    error("bad-extension", spec::PREPROCESSOR, "an `#extension` line is malformed"),
    Code {
        name: "bad-include",
        level: Level::Error,
        rule: Rule::Ours("`#include` is an extension of this compiler"),
        about: "an `#include` line is malformed",
    },
    error("bad-invariant", spec::INVARIANT, "only what leaves the vertex stage can be invariant"),
    error("bad-line", spec::PREPROCESSOR, "a `#line` line is malformed"),
    error("bad-main", spec::FUNCTIONS, "`main` takes nothing and returns nothing"),
    error("bad-method", spec::ARRAYS, "only sized arrays have a method, and only `length`"),
    error("bad-number", spec::INTEGERS, "a literal is malformed or of a later version"),
    error("bad-operand", spec::EXPRESSIONS, "an operator does not take an operand of the type"),
    error("bad-operands", spec::EXPRESSIONS, "an operator does not take operands of these types"),
    warning("bad-pragma", spec::PREPROCESSOR, "a known pragma is malformed and ignored"),
    error("bad-precision", spec::PRECISION, "the type takes no precision"),
    error("bad-qualifier", spec::QUALIFIERS, "a qualifier cannot stand here"),
    error("bad-result", spec::FUNCTIONS, "a function cannot return the type"),
    error("bad-return", spec::JUMPS, "the value of a `return` does not fit the function"),
    error("bad-swizzle", spec::VECTOR_COMPONENTS, "the letters are no components of the vector"),
    error("bad-varying-type", spec::VARYING, "varyings are of floats"),
    error("bad-version", spec::PREPROCESSOR, "a `#version` line is malformed"),
    error("both-color-outputs", spec::FRAGMENT_OUTPUTS, "a shader writes `gl_FragColor` or `gl_FragData`, not both"),
    error("condition-not-bool", spec::SELECTION, "a condition must be one bool"),
    bound("conditional-too-deep", "conditional-nesting", "`#if` groups nest too deep"),
    error("discard-in-vertex", spec::JUMPS, "only fragments can be discarded"),
    error("doubled-qualifier", spec::QUALIFIERS, "a declaration has a qualifier twice"),
    error("duplicate-swizzle", spec::VECTOR_COMPONENTS, "a component is written twice at once"),
    warning("empty-declaration", spec::GRAMMAR, "a declaration declares nothing"),
    error("empty-struct", spec::STRUCTURES, "a struct has no member"),
    error("error-directive", spec::PREPROCESSOR, "the text itself reports an error"),
    bound("expression-too-deep", "expression-height", "an expression is too high a tree"),
    warning("extra-tokens", spec::PREPROCESSOR, "a directive is followed by what it does not take"),
    warning("float-suffix", spec::FLOATS, "the suffix `f` exists from 1.20 on"),
    bound("identifier-too-long", "identifier", "a name is too long"),
    error("illegal-character", spec::CHARACTERS, "a character that no token begins with"),
    warning("implicit-return-conversion", spec::JUMPS, "a returned value is converted, which drivers do not agree on"),
    Code {
        name: "include-failed",
        level: Level::Error,
        rule: Rule::Ours("`#include` is an extension of this compiler"),
        about: "an included text cannot be had",
    },
    bound("include-too-deep", "include-nesting", "texts include each other too deep"),
    warning("index-limits", spec::INDEX_LIMITS, "an index that not every ES implementation takes"),
    error("index-not-int", spec::SUBSCRIPTS, "an index must be one int"),
    error("index-out-of-range", spec::ARRAYS, "a constant index is outside of what it indexes"),
    warning("inexact-number", spec::INTEGERS, "an int literal is no whole number that a 32-bit float holds"),
    error("initializer-not-allowed", spec::QUALIFIERS, "variables of the storage cannot be initialized"),
    error("initializer-not-constant", spec::CONSTANT_EXPRESSIONS, "the initializer must be a constant expression"),
    error("jump-outside-loop", spec::JUMPS, "`break` and `continue` belong into loops"),
    warning("late-extension", spec::PREPROCESSOR, "`#extension` stands after declarations"),
    error("late-version", spec::PREPROCESSOR, "`#version` must come first"),
    error("link-mismatch", spec::QUALIFIERS, "the texts of one stage declare something differently"),
    error("local-function", spec::FUNCTIONS, "functions are declared outside of functions"),
    warning("loop-limits", spec::LOOP_LIMITS, "a loop that not every ES implementation takes"),
    error("macro-argument-count", spec::PREPROCESSOR, "a macro is used with another number of arguments"),
    bound("macro-expansion-too-large", "macro-expansion", "macros make too many tokens"),
    bound("macro-nesting-too-deep", "macro-nesting", "macros expand inside each other too deep"),
    error("macro-redefined", spec::PREPROCESSOR, "a macro is defined again with another body"),
    error("mismatched-prototype", spec::FUNCTIONS, "two declarations of a function differ"),
    error("missing-main", spec::FUNCTIONS, "a shader needs a `main`"),
    error("missing-precision", spec::DEFAULT_PRECISION, "a float of the ES fragment language has no precision"),
    warning("missing-return", spec::CALLING_CONVENTIONS, "a function may end without its value"),
    error("needs-version-120", spec::QUALIFIERS, "a feature of 1.20 in another version"),
    error("nested-function", spec::FUNCTIONS, "a function is defined inside a function"),
    error("nested-struct", spec::STRUCTURES, "a struct is declared inside a struct"),
    bound("nesting-too-deep", "nesting", "something nests too deep"),
    error("no-matching-overload", spec::FUNCTIONS, "no function of the name takes such arguments"),
    error("no-stringification", spec::PREPROCESSOR, "the language has no `#` in macros"),
    error("no-such-field", spec::FIELDS, "the type has no such member"),
    error("no-token-pasting", spec::PREPROCESSOR, "the language has no `##`"),
    error("not-a-function", spec::SCOPING, "a variable or type hides the function"),
    error("not-assignable", spec::ASSIGNMENTS, "the expression is no place"),
    either("not-in-version", spec::GRAMMAR, "syntax of another version"),
    error("not-indexable", spec::SUBSCRIPTS, "only arrays, matrices and vectors have elements"),
    warning("number-too-large", spec::INTEGERS, "an int literal does not fit into 32 bits"),
    bound("program-too-large", "instructions", "the code is too long"),
    error("qualifier-not-global", spec::QUALIFIERS, "the qualifier is for variables outside functions"),
    error("qualifier-order", spec::QUALIFIER_ORDER, "qualifiers stand in the wrong order"),
    error("read-only", spec::ASSIGNMENTS, "the variable cannot be written"),
    error("recursion", spec::FUNCTIONS, "a function calls itself"),
    error("redeclared-name", spec::REDECLARATION, "the scope already has the name"),
    error("redefined-builtin", spec::BUILTIN_FUNCTIONS, "ES does not let built-in functions be declared again"),
    error("redefined-function", spec::FUNCTIONS, "a function has two bodies"),
    either("reserved-macro-name", spec::PREPROCESSOR, "a macro's name is kept for others"),
    either("reserved-name", spec::IDENTIFIERS, "a name is kept for the language"),
    error("reserved-operator", spec::OPERATORS, "an operator is reserved for later versions"),
    error("reserved-word", spec::KEYWORDS, "a word is reserved for later versions"),
    error("sampler-misuse", spec::SAMPLERS, "samplers are uniforms or parameters and cannot be written"),
    bound("source-too-large", "source", "the text is too long"),
    error("struct-in-header", spec::FUNCTIONS, "a struct is declared in a function's header"),
    error("syntax-error", spec::GRAMMAR, "the text does not follow the grammar"),
    bound("too-many-constants", "constant-lanes", "constants have too many components together"),
    bound("too-many-errors", "errors", "there are more errors than are shown"),
    bound("too-many-macro-parameters", "macro-parameters", "a macro has too many parameters"),
    bound("too-many-overloads", "overloads", "too many functions have one name"),
    bound("too-many-parameters", "parameters", "a function has too many parameters"),
    bound("too-many-registers", "variable-registers", "the variables need too many registers"),
    bound("too-many-tokens", "tokens", "the text has too many tokens"),
    error("type-mismatch", spec::ASSIGNMENTS, "a value has another type than its place"),
    bound("type-too-deep", "type-nesting", "structs nest too deep"),
    error("undeclared-function", spec::CALLS, "there is no function of the name"),
    error("undeclared-name", spec::SCOPING, "there is no variable of the name"),
    error("undeclared-type", spec::SCOPING, "there is no type of the name"),
    error("undefined-function", spec::FUNCTIONS, "a function is called and has no body"),
    warning("undefined-macro", spec::PREPROCESSOR, "an `#if` uses a name that is no macro"),
    error("uninitialized-const", spec::CONST, "a constant needs its value"),
    error("unknown-directive", spec::PREPROCESSOR, "there is no such directive"),
    either("unknown-extension", spec::PREPROCESSOR, "the extension is not supported"),
    warning("unknown-pragma", spec::PREPROCESSOR, "a pragma that is nearly a known one is ignored"),
    error("unmatched-conditional", spec::PREPROCESSOR, "`#else`, `#elif` or `#endif` without its `#if`"),
    either("unsized-array", spec::ARRAYS, "an array without a size where one is needed"),
    error("unsupported-version", spec::PREPROCESSOR, "a `#version` that this compiler does not have"),
    error("unterminated-comment", spec::COMMENTS, "a comment has no end"),
    error("unterminated-conditional", spec::PREPROCESSOR, "an `#if` has no `#endif`"),
    error("unterminated-macro-call", spec::PREPROCESSOR, "the arguments of a macro have no end"),
    error("version-mismatch", spec::PREPROCESSOR, "the texts of one stage are in different versions"),
    error("void-variable", spec::VOID, "`void` is for functions only"),
];

/// The row of a code.
pub fn find(name: &str) -> Option<&'static Code> {
    CODES.binary_search_by(|c| c.name.cmp(name)).ok().map(|at| &CODES[at])
}

/// Adds the note of the finding's row, unless the finding names a section already.
pub fn complete(diagnostic: &mut Diagnostic, version: Version) {
    let Some(code) = find(diagnostic.code) else { return };
    let note = match code.rule {
        Rule::Spec(section) => section.note(version),
        Rule::Bound(name) => format!("`{name}` is a bound of this compiler, not of the language"),
        Rule::Ours(text) => text.to_string(),
    };
    if let Rule::Bound(name) = code.rule
        && diagnostic.notes.iter().any(|n| n.contains(&format!("`{name}`")))
    {
        return;
    }
    let cited = diagnostic.notes.iter().any(|n| *n == note || (n.starts_with("GLSL ") && n.contains(" section ")));
    if !cited {
        diagnostic.notes.push(note);
    }
}

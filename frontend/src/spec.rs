//! Where the rules stand: one constant a rule, with its section in each of the three languages.
//!
//! The numbers follow the tables of contents of the OpenGL Shading Language 1.10.59 and 1.20.8 and
//! of the OpenGL ES Shading Language 1.00.17. A rule that one of the languages lacks names the section
//! that would have to allow what is refused.

use crate::ast::Version;

/// A section, numbered as in 1.10, 1.20 and ES 1.00.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section([&'static str; 3]);

impl Section {
    /// The note of a diagnostic about a text in that language, for instance `GLSL 1.20 section 4.3.2`.
    pub fn note(self, version: Version) -> String {
        let (language, number) = match version {
            Version::Glsl110 => ("GLSL 1.10", self.0[0]),
            Version::Glsl120 => ("GLSL 1.20", self.0[1]),
            Version::Es100 => ("GLSL ES 1.00", self.0[2]),
        };
        match number.strip_prefix("A.") {
            Some(number) => format!("{language} appendix A section {number}"),
            None => format!("{language} section {number}"),
        }
    }
}

/// The same number in all three.
const fn same(number: &'static str) -> Section {
    Section([number; 3])
}

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: Section = $value;)*

        /// All of them, for tests.
        pub const ALL: &[Section] = &[$($name),*];
    };
}

sections! {
    /// Source strings and their lines.
    SOURCE_STRINGS = same("3.2");
    /// Character set.
    CHARACTERS = same("3.1");
    /// Directives and macros.
    PREPROCESSOR = Section(["3.3", "3.3", "3.4"]);
    /// Comments.
    COMMENTS = Section(["3.4", "3.4", "3.5"]);
    /// Keywords and reserved words.
    KEYWORDS = Section(["3.6", "3.6", "3.7"]);
    /// Identifiers.
    IDENTIFIERS = Section(["3.7", "3.7", "3.8"]);
    /// Basic types.
    TYPES = same("4.1");
    /// `void`
    VOID = same("4.1.1");
    /// Integers and their literals.
    INTEGERS = same("4.1.3");
    /// Floats and their literals.
    FLOATS = same("4.1.4");
    /// Matrices.
    MATRICES = same("4.1.6");
    /// Samplers.
    SAMPLERS = same("4.1.7");
    /// Structures.
    STRUCTURES = same("4.1.8");
    /// Arrays.
    ARRAYS = same("4.1.9");
    /// Implicit conversions; the languages without them say so in 4.1.
    CONVERSIONS = Section(["4.1", "4.1.10", "4.1"]);
    /// Scopes of names.
    SCOPING = same("4.2");
    /// Two declarations of one name in one scope.
    REDECLARATION = Section(["4.2", "4.2", "4.2.7"]);
    /// Storage qualifiers.
    QUALIFIERS = same("4.3");
    /// `const`
    CONST = same("4.3.2");
    /// What is a constant expression.
    CONSTANT_EXPRESSIONS = Section(["4.3.3", "4.3.3", "5.10"]);
    /// `attribute`
    ATTRIBUTE = Section(["4.3.4", "4.3.4", "4.3.3"]);
    /// `uniform`
    UNIFORM = Section(["4.3.5", "4.3.5", "4.3.4"]);
    /// `varying`
    VARYING = Section(["4.3.6", "4.3.6", "4.3.5"]);
    /// Qualifiers of parameters.
    PARAMETERS = Section(["6.1.1", "4.4", "4.4"]);
    /// Precision qualifiers.
    PRECISION = Section(["3.6", "4.5", "4.5.2"]);
    /// `precision mediump float;`
    DEFAULT_PRECISION = Section(["3.6", "4.5", "4.5.3"]);
    /// `invariant`
    INVARIANT = Section(["4.3", "4.6.1", "4.6.1"]);
    /// The order of qualifiers.
    QUALIFIER_ORDER = Section(["4.3", "4.7", "4.7"]);
    /// Operators and which of them are reserved.
    OPERATORS = same("5.1");
    /// `a[i]`
    SUBSCRIPTS = same("5.2");
    /// Function calls.
    CALLS = same("5.3");
    /// Constructors.
    CONSTRUCTORS = same("5.4");
    /// Constructors of vectors and matrices.
    VECTOR_CONSTRUCTORS = same("5.4.2");
    /// Constructors of structures.
    STRUCT_CONSTRUCTORS = same("5.4.3");
    /// Constructors of arrays.
    ARRAY_CONSTRUCTORS = Section(["5.4", "5.4.4", "5.4"]);
    /// Components of vectors.
    VECTOR_COMPONENTS = same("5.5");
    /// Columns of matrices.
    MATRIX_COMPONENTS = same("5.6");
    /// Fields and what else structures and arrays can do.
    FIELDS = same("5.7");
    /// Assignments and what can be assigned.
    ASSIGNMENTS = same("5.8");
    /// Expressions.
    EXPRESSIONS = same("5.9");
    /// Functions, overloads, `main`, recursion.
    FUNCTIONS = same("6.1");
    /// How arguments and results travel.
    CALLING_CONVENTIONS = same("6.1.1");
    /// `if`
    SELECTION = same("6.2");
    /// Loops.
    ITERATION = same("6.3");
    /// Jumps.
    JUMPS = same("6.4");
    /// Built-in variables.
    BUILTIN_VARIABLES = same("7");
    /// `gl_FragColor` and its kin.
    FRAGMENT_OUTPUTS = same("7.2");
    /// Built-in constants.
    BUILTIN_CONSTANTS = same("7.4");
    /// Built-in varyings; ES has none.
    BUILTIN_VARYINGS = Section(["7.6", "7.6", "7"]);
    /// Built-in functions.
    BUILTIN_FUNCTIONS = same("8");
    /// The grammar.
    GRAMMAR = same("9");
    /// Loops that every ES implementation takes.
    LOOP_LIMITS = Section(["6.3", "6.3", "A.4"]);
    /// Indices that every ES implementation takes.
    INDEX_LIMITS = Section(["4.1.9", "4.1.9", "A.5"]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The highest subsection of each section that has any, from the tables of contents.
    const CONTENTS: [(Version, &[(&str, u32)]); 3] = [
        (
            Version::Glsl110,
            &[
                ("3", 7),
                ("4", 3),
                ("4.1", 9),
                ("4.3", 6),
                ("5", 10),
                ("5.4", 3),
                ("6", 4),
                ("6.1", 1),
                ("7", 6),
                ("8", 9),
            ],
        ),
        (
            Version::Glsl120,
            &[
                ("3", 7),
                ("4", 7),
                ("4.1", 10),
                ("4.3", 6),
                ("4.6", 2),
                ("5", 10),
                ("5.4", 4),
                ("6", 4),
                ("6.1", 1),
                ("7", 6),
                ("8", 9),
            ],
        ),
        (
            Version::Es100,
            &[
                ("3", 8),
                ("4", 7),
                ("4.1", 9),
                ("4.2", 7),
                ("4.3", 5),
                ("4.5", 4),
                ("4.6", 4),
                ("5", 13),
                ("5.4", 3),
                ("6", 4),
                ("6.1", 1),
                ("7", 5),
                ("8", 7),
                ("A", 8),
            ],
        ),
    ];

    #[test]
    fn every_section_is_in_its_table_of_contents() {
        for (at, (version, contents)) in CONTENTS.iter().enumerate() {
            for section in ALL {
                let number = section.0[at];
                let known = match number.rsplit_once('.') {
                    None => number.parse::<u32>().is_ok_and(|n| (3..=9).contains(&n)),
                    Some((above, last)) => {
                        let last: u32 = last.parse().unwrap();
                        contents.iter().any(|&(name, count)| name == above && (1..=count).contains(&last))
                    }
                };
                assert!(known, "{version:?} has no section {number}");
            }
        }
    }
}

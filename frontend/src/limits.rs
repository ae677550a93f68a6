//! The bounds on what a text may ask of the front end, and the error that each one gives.
//!
//! Every loop and recursion over user text is under one of these, so no text can make the compiler
//! hang, overflow its stack or fill the memory. Bounds that three-address code has by itself (its
//! instructions, its registers) are in [`ir::limits`].

ir::bounds! {
    /// Bounds with their defaults.
    pub struct Limits {
        /// Deepest nesting of parentheses, blocks, statements and operators that nest to the right.
        nesting "nesting" = 256, up to 1_000, "levels", error "nesting-too-deep";
        /// Greatest height of an expression's tree: `a+a+a` has height 3. Later stages recurse over it.
        expr_height "expression-height" = 500, up to 2_000, "levels", error "expression-too-deep";
        /// Longest source text, files that it includes counted in.
        source_bytes "source" = 4 << 20, up to 256 << 20, "bytes", error "source-too-large";
        /// Most tokens of a file, before and after preprocessing.
        tokens "tokens" = 1_000_000, up to 50_000_000, "tokens", error "too-many-tokens";
        /// Longest identifier.
        identifier "identifier" = 1_024, up to 65_536, "bytes", error "identifier-too-long";
        /// Most tokens that macro expansion may make in all, counting intermediate ones.
        expansion "macro-expansion" = 1_000_000, up to 50_000_000, "tokens", error "macro-expansion-too-large";
        /// Most macro expansions inside each other, by their bodies or by their arguments.
        macro_depth "macro-nesting" = 200, up to 1_000, "levels", error "macro-nesting-too-deep";
        /// Most parameters of a macro.
        macro_params "macro-parameters" = 255, up to 4_096, "parameters", error "too-many-macro-parameters";
        /// Deepest nesting of `#if`.
        conditional_depth "conditional-nesting" = 256, up to 65_536, "levels", error "conditional-too-deep";
        /// Deepest nesting of `#include`.
        include_depth "include-nesting" = 32, up to 1_000, "levels", error "include-too-deep";
        /// After that many errors the front end stops.
        errors "errors" = 20, up to 10_000, "errors", error "too-many-errors";
        /// How deep structs and arrays may nest in each other.
        type_depth "type-nesting" = 64, up to 1_000, "levels", error "type-too-deep";
        /// Most registers of one type: an element, a matrix column or a field takes one.
        type_regs "array-registers" = 65_536, up to 65_536, "registers", error "array-too-large";
        /// Most registers that all variables of a shader may take.
        registers "variable-registers" = 65_536, up to 1 << 20, "registers", error "too-many-registers";
        /// Most functions of one name.
        overloads "overloads" = 256, up to 4_096, "functions", error "too-many-overloads";
        /// Most parameters of a function.
        parameters "parameters" = 1_024, up to 65_536, "parameters", error "too-many-parameters";
        /// Most lanes of all folded constants together.
        constant_lanes "constant-lanes" = 1 << 24, up to 1 << 28, "lanes", error "too-many-constants";
    }
}

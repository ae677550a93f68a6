//! The one table of opcodes. Everything else about them (enum, printer, parser, verifier types,
//! the e-node type, the machine's ALU opcodes) is derived from the rows below; what an opcode
//! computes is in [`crate::eval`] only.
//!
//! A row: variant, mnemonic, number of operands, shape, effect, commutative, form, doc line.

/// Calls `$then!` with all rows.
#[macro_export]
macro_rules! op_table {
    ($then:ident) => {
        $then! {
            // Lane-wise operations of the machine.
            (Add, "add", 2, Lanewise, Pure, true, Core, "a + b"),
            (Mul, "mul", 2, Lanewise, Pure, true, Core, "a * b"),
            (Mad, "mad", 3, Lanewise, Pure, false, Core, "a * b + c, rounded after the product and after the sum"),
            (Min, "min", 2, Lanewise, Pure, true, Core, "the smaller; the other one when one is NaN"),
            (Max, "max", 2, Lanewise, Pure, true, Core, "the larger; the other one when one is NaN"),
            (Slt, "slt", 2, Lanewise, Pure, false, Core, "1 where a < b, else 0"),
            (Sge, "sge", 2, Lanewise, Pure, false, Core, "1 where a >= b, else 0"),
            (Seq, "seq", 2, Lanewise, Pure, true, Core, "1 where a == b, else 0"),
            (Sne, "sne", 2, Lanewise, Pure, true, Core, "1 where a != b, else 0"),
            (Frc, "frc", 1, Lanewise, Pure, false, Core, "a - floor(a)"),
            (Flr, "flr", 1, Lanewise, Pure, false, Core, "floor(a)"),
            (Cmp, "cmp", 3, Lanewise, Pure, false, Core, "b where a < 0, else c"),
            (Neg, "neg", 1, Lanewise, Pure, false, Core, "flips the sign bit"),
            (Abs, "abs", 1, Lanewise, Pure, false, Core, "clears the sign bit"),
            (Sat, "sat", 1, Lanewise, Pure, false, Core, "min(max(a, 0), 1)"),
            // Reductions: operands of that width, one lane of result, summed left to right.
            (Dp2, "dp2", 2, Reduce, Pure, true, Core, "dot product of two lanes"),
            (Dp3, "dp3", 2, Reduce, Pure, true, Core, "dot product of three lanes"),
            (Dp4, "dp4", 2, Reduce, Pure, true, Core, "dot product of four lanes"),
            // Scalar units: lane-wise in meaning, one issue a lane on the machine.
            (Rcp, "rcp", 1, ScalarUnit, Pure, false, Core, "1 / a"),
            (Rsq, "rsq", 1, ScalarUnit, Pure, false, Core, "1 / sqrt(|a|)"),
            (Ex2, "ex2", 1, ScalarUnit, Pure, false, Core, "2 to the power a"),
            (Lg2, "lg2", 1, ScalarUnit, Pure, false, Core, "base-2 logarithm of a"),
            (Sin, "sin", 1, ScalarUnit, Pure, false, Core, "sine of a (radians)"),
            (Cos, "cos", 1, ScalarUnit, Pure, false, Core, "cosine of a (radians)"),
            // Lanes.
            (Swz, "swz", 1, Swizzle, Pure, false, Core, "picks lanes of one value; the pattern is immediate"),
            (Cat, "cat", -1, Concat, Pure, false, Core, "the lanes of 2 to 4 values one after the other, at most four"),
            // Leaves. Those with an immediate variable read element `elem` of it.
            (Const, "const", 0, Leaf, Pure, false, Core, "an immediate literal"),
            (Undef, "undef", 0, Leaf, Pure, false, Core, "any value; reading it is never an error"),
            (Input, "input", 0, Leaf, Pure, false, Core, "an attribute or a varying of the fragment stage"),
            (Uniform, "uniform", 0, Leaf, Pure, false, Core, "a uniform's element"),
            (InputAt, "input_at", 1, Leaf, Pure, false, Core, "element elem + a of an input array"),
            (UniformAt, "uniform_at", 1, Leaf, Pure, false, Core, "element elem + a of a uniform array"),
            // Memory and effects, kept in order.
            (Load, "load", -1, Leaf, Read, false, Core, "element elem (+ a) of an indexable local array"),
            (Store, "store", -1, Effect, Write, false, Core, "stores the last operand to element elem (+ a) of a local array"),
            (StoreOutput, "store_output", 1, Effect, Write, false, Core, "writes the masked lanes of an output's element, each lane from the same lane of the value"),
            (Call, "call", -1, Effect, Write, false, Core, "runs a kept function; the operands are its arguments"),
            (Result, "result", 0, Leaf, Read, false, Core, "what the last call before it in the block left in a variable's element"),
            (Kil, "kil", 1, Effect, Write, false, Core, "ends the fragment when any lane is below 0"),
            (Tex, "tex", -1, Texture, Implicit, false, Core, "texture lookup: coordinates (last lane: shadow reference)"),
            (Txp, "txp", -1, Texture, Implicit, false, Core, "the same with a vec4 whose xyz is divided by w first"),
            (Txb, "txb", -1, Texture, Implicit, false, Core, "lookup with a level bias: coordinates, bias"),
            (Txl, "txl", -1, Texture, Pure, false, Core, "lookup at an explicit level: coordinates, level"),
            (Ddx, "ddx", 1, Lanewise, Implicit, false, Core, "difference along x in the 2x2 quad"),
            (Ddy, "ddy", 1, Lanewise, Implicit, false, Core, "difference along y in the 2x2 quad"),
            // Operations of the source language; `passes::lower_types` expands them into the ones above.
            (Mov, "mov", 1, Lanewise, Pure, false, Source, "the same lanes, read as the result's type"),
            (Sub, "sub", 2, Lanewise, Pure, false, Source, "a - b"),
            (Div, "div", 2, Lanewise, Pure, false, Source, "a * rcp(b)"),
            (Idiv, "idiv", 2, Lanewise, Pure, false, Source, "a / b toward zero, for whole numbers below 2^22"),
            (Sqrt, "sqrt", 1, Lanewise, Pure, false, Source, "rcp(rsq(a))"),
            (Pow, "pow", 2, Lanewise, Pure, false, Source, "ex2(b * lg2(a))"),
            (Nrm, "nrm", 1, Normalize, Pure, false, Source, "a * rsq(dp(a, a))"),
            (Lrp, "lrp", 3, Lanewise, Pure, false, Source, "mad(c, b - a, a): from a to b by c"),
            (Trunc, "trunc", 1, Lanewise, Pure, false, Source, "toward zero"),
            (Ceil, "ceil", 1, Lanewise, Pure, false, Source, "-floor(-a)"),
            (Sign, "sign", 1, Lanewise, Pure, false, Source, "slt(0, a) - slt(a, 0)"),
            (Not, "not", 1, Lanewise, Pure, false, Source, "1 where a is 0, else 0"),
            (And, "and", 2, Lanewise, Pure, true, Source, "both, of bools"),
            (Or, "or", 2, Lanewise, Pure, true, Source, "either, of bools"),
            (Xor, "xor", 2, Lanewise, Pure, true, Source, "exactly one, of bools"),
            (Select, "select", 3, Lanewise, Pure, false, Source, "b where a is not 0, else c; a is one bool or one for each lane"),
        }
    };
}

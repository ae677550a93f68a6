//! Invariant 19: calls agree with the signatures that the function knows.

use super::Findings;
use crate::func::{Callee, Function};
use crate::op::Op;

/// Checks every call and result of the layout. Entities exist (invariant 2).
pub(crate) fn check(func: &Function<'_>, found: &mut Findings) {
    let signatures = func.signature.iter().chain(func.callees.iter().map(|c| &c.signature));
    for &(var, elem) in signatures.flat_map(|s| s.args.iter().chain(&s.results)) {
        if func.vars.get(var).is_none_or(|d| elem >= d.elems) {
            found.block(19, None, format!("a signature names {var}[{elem}], which does not exist"));
            return;
        }
    }
    for &block in &func.layout {
        let mut last: Option<&Callee> = None;
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            let mut fail = |message: String| found.inst(19, func, block, inst, message);
            match (data.op, data.imm) {
                (Op::Call, imm) => {
                    last = func.callee(imm);
                    let Some(callee) = last else {
                        fail("it calls nothing".to_owned());
                        continue;
                    };
                    let args = &callee.signature.args;
                    if args.len() != data.args.len() {
                        fail(format!("{} arguments, not {}", data.args.len(), args.len()));
                    }
                    let narrow =
                        args.iter().zip(data.args).position(|(a, &v)| func.vars[a.0].ty.lanes != func.ty(v).lanes);
                    if let Some(n) = narrow {
                        fail(format!("argument {n} has {} lanes", func.ty(data.args[n]).lanes));
                    }
                }
                (Op::Result, crate::func::Imm::Elem { var, elem })
                    if !last.is_some_and(|c| c.signature.results.contains(&(var, elem))) =>
                {
                    fail("no call before it in its block leaves that".to_owned());
                }
                _ => {}
            }
        }
    }
}

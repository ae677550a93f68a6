//! Every rule of the registry, numerically; and the judge itself on rules that are wrong.

use egraph_rules::built_in_rules;
use egraph_rules::numeric::{Effort, check_rule};
use egraph_rules::rules::{Applier, Group, Registry, Rule};
use ir::Op;
use ir::diag::FileId;
use ir::types::FpLevel;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn every_rule_of_the_registry_holds() {
    let rules = built_in_rules().rules();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some(rule) = rules.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.extend(check_rule(rule, Effort::default()).err().map(|e| e.to_string()));
        }
        wrong
    };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut wrong: Vec<String> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().flat_map(|t| t.join().expect("the judge does not panic")).collect()
    });
    wrong.sort();
    assert!(wrong.is_empty(), "{} wrong rules:\n{}", wrong.len(), wrong.join("\n"));
}

fn registry(text: &str) -> Registry {
    let mut registry = Registry::new();
    registry.add_text(text, FileId(0), Group::Arith).unwrap();
    registry
}

#[test]
fn deliberately_wrong_rules_are_caught() {
    for text in [
        // Wrong for -0.
        "w strict A (add ?a 0) => ?a",
        // Wrong for NaN and infinity.
        "w strict A (mul ?a 0) => 0",
        "w strict A (sub ?a ?a) => 0",
        // Wrong for NaN.
        "w strict A (seq (slt ?a ?b) 0) => (sge ?a ?b)",
        // Rounds otherwise.
        "w strict A (add (add ?a ?b) ?c) => (add ?a (add ?b ?c))",
        // Not on a target whose MAD rounds once.
        "w strict A (add (mul ?a ?b) ?c) => (mad ?a ?b ?c)",
        // Wrong, at any level.
        "w glsl A (sub ?a ?b) => (sub ?b ?a)",
        "w glsl A (dp3 ?a ?b) => (dp3 ?a ?a)",
        "w glsl A (mul ?a 2) => (mul ?a 2.001)",
        // Makes a NaN of sqrt(0).
        "w glsl A (rcp (rsq ?a)) => (mul ?a (rsq ?a))",
        // The fraction of a negative number.
        "w glsl A (frc (neg ?a)) => (neg (frc ?a))",
    ] {
        let registry = registry(text);
        assert!(check_rule(&registry.rules()[0], Effort::default()).is_err(), "not caught: {text}");
    }
}

#[test]
fn wrong_code_is_caught() {
    let applier = Applier {
        ops: &[Op::Dp3],
        apply: |egraph, _, node| vec![egraph_rules::lang::make(egraph, Op::Dp3, &[node.args[0], node.args[0]])],
        seldom: false,
        examples: &["(dp3 v1:3 v2:3)"],
    };
    let rule = Rule::code("wrong", Group::Dot, FpLevel::Glsl, "A", applier);
    assert!(check_rule(&rule, Effort::default()).is_err());
}

#[test]
fn a_rule_without_a_test_cannot_register() {
    let applier = Applier { ops: &[Op::Add], apply: |_, _, _| Vec::new(), seldom: false, examples: &[] };
    let rule = Rule::code("untested", Group::Arith, FpLevel::Strict, "A", applier);
    assert!(Registry::new().add(rule.clone()).unwrap_err().contains("no examples"));
    // Nor one whose example shows nothing.
    let applier = Applier { examples: &["(add v1:1 v2:1)"], ..applier };
    let rule = Rule::code("idle", Group::Arith, FpLevel::Strict, "A", applier);
    assert!(check_rule(&rule, Effort::default()).unwrap_err().what.contains("does nothing"));
}

#[test]
fn names_are_unique() {
    let text = "a strict A (min ?a ?a) => ?a\na strict A (max ?a ?a) => ?a\n";
    let errors = Registry::new().add_text(text, FileId(0), Group::Arith).unwrap_err();
    assert!(errors[0].message.contains("two rules"));
}

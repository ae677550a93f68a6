//! The text form of rules.
//!
//! In: the text of a `.rules` file. Out: rules, and a diagnostic for each line that is none.
//!
//! ```text
//! # name        level  phases  left => right  if conditions  within bound
//! mul-one       strict AB      (mul ?a 1) => ?a  if ieee()
//! add-neg       glsl   A       (add ?a (neg ?a)) => 0  if finite(?a)
//! dot-scale     glsl   B       ({dp2,dp3,dp4} (mul ?a (splat ?s)) ?b) => (mul ({dp2,dp3,dp4} ?a ?b) ?s)
//! ```
//!
//! One rule a line, `#` begins a comment. `<=>` makes a second rule `NAME-back`. Braces make one
//! rule for each word, all braces in step, named `NAME-WORD` after the first brace. `sub`, `lrp` and
//! `not` are written out. The bound is the largest relative error; without it [`DEFAULT_BOUND`].

use super::cond::Cond;
use super::pattern::{MAX_VARS, Pat};
use super::program::{MAX_REGISTERS, Program, TooLarge};
use super::{Body, Group, Phases, Rule, TextRule};
use ir::Op;
use ir::diag::{Diagnostic, FileId, Span};
use ir::op::{Form, Shape};
use ir::types::{FpLevel, Swizzle};

/// Largest relative error of a rule above `strict` that names none.
pub const DEFAULT_BOUND: f32 = 1e-5;

/// Deepest nesting of a pattern.
const MAX_DEPTH: usize = 16;

/// Most rules in one text.
pub const MAX_RULES: usize = 4096;

/// Reads a text of rules.
pub fn parse_rules(text: &str, file: FileId, group: Group) -> (Vec<Rule>, Vec<Diagnostic>) {
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or("").trim_end();
        let span = Span::new(file, at + (code.len() - code.trim_start().len()), at + code.len());
        at += line.len();
        if code.trim().is_empty() {
            continue;
        }
        match expand_braces(code.trim()) {
            Ok(lines) => {
                for line in lines {
                    match parse_line(&line, group) {
                        Ok(new) => rules.extend(new),
                        Err(message) => errors.push(Diagnostic::error("bad-rule", span, message)),
                    }
                }
            }
            Err(message) => errors.push(Diagnostic::error("bad-rule", span, message)),
        }
        if rules.len() > MAX_RULES {
            errors.push(Diagnostic::error("bad-rule", span, format!("more than {MAX_RULES} rules")));
            break;
        }
    }
    (rules, errors)
}

fn expand_braces(line: &str) -> Result<Vec<String>, String> {
    let Some(open) = line.find('{') else { return Ok(vec![line.to_string()]) };
    let count = line[open..].find('}').map(|close| line[open + 1..open + close].split(',').count());
    let count = count.ok_or("a `{` without `}`")?;
    let mut out = Vec::new();
    for i in 0..count {
        let (mut text, mut rest, mut suffix) = (String::new(), line, None);
        while let Some(open) = rest.find('{') {
            let close = open + rest[open..].find('}').ok_or("a `{` without `}`")?;
            let words: Vec<&str> = rest[open + 1..close].split(',').map(str::trim).collect();
            if words.len() != count {
                return Err("all braces of a rule hold equally many words".into());
            }
            suffix = suffix.or(Some(words[i]));
            text.push_str(&rest[..open]);
            text.push_str(words[i]);
            rest = &rest[close + 1..];
        }
        text.push_str(rest);
        let (name, tail) = text.split_once(char::is_whitespace).ok_or("a rule has a name, level, phases and sides")?;
        out.push(format!("{name}-{} {tail}", suffix.unwrap_or("")));
    }
    Ok(out)
}

fn parse_line(line: &str, group: Group) -> Result<Vec<Rule>, String> {
    let mut words = line.splitn(2, char::is_whitespace);
    let mut word = |what: &str| -> Result<(String, String), String> {
        let first = words.next().filter(|w| !w.is_empty()).ok_or(format!("expected {what}"))?.to_string();
        let rest = words.next().unwrap_or("").trim_start().to_string();
        Ok((first, rest))
    };
    let (name, rest) = word("a name")?;
    let (level, rest) = rest.split_once(char::is_whitespace).ok_or("expected a level after the name")?;
    let level = FpLevel::parse(level).ok_or(format!("`{level}` is no level (strict, glsl, fast)"))?;
    let (phases, rest) = rest.trim_start().split_once(char::is_whitespace).ok_or("expected phases after the level")?;
    let phases = Phases::parse(phases).ok_or(format!("`{phases}` are no phases (letters A, B, D)"))?;

    let (rest, bound) = match rest.split_once(" within ") {
        Some((rest, bound)) => {
            let value = bound.trim().parse::<f32>().ok().filter(|b| *b > 0.0 && *b < 1.0);
            (rest, value.ok_or(format!("`{}` is no error bound", bound.trim()))?)
        }
        None => (rest, DEFAULT_BOUND),
    };
    let (sides, conds) = rest.split_once(" if ").map_or((rest, ""), |(s, c)| (s, c));
    let (left, right, both) = match sides.split_once("<=>") {
        Some((l, r)) => (l, r, true),
        None => {
            let (l, r) = sides.split_once("=>").ok_or("expected `=>` between the sides")?;
            (l, r, false)
        }
    };
    let mut vars: Vec<String> = Vec::new();
    let left = parse_pattern(left, &mut vars)?;
    let on_left = vars.len();
    let right = parse_pattern(right, &mut vars)?;
    let conds = parse_conds(conds, &vars)?;
    if vars.len() > on_left {
        return Err(format!("`?{}` stands on the right only", vars[on_left]));
    }
    let make = |name: String, lhs: Pat, rhs: Pat| -> Result<Rule, String> {
        if lhs.root_op().is_none() {
            return Err("the pattern to match is an operation".into());
        }
        let mut seen = Vec::new();
        lhs.for_each_var(&mut |v| seen.push(v));
        if let Some(missing) = (0..vars.len()).find(|v| !seen.contains(&(*v as u8))) {
            return Err(format!("`?{}` is missing on the side to match", vars[missing]));
        }
        let program = Program::new(&lhs, &conds, level)
            .map_err(|TooLarge| format!("the pattern to match has more than {MAX_REGISTERS} operands"))?;
        let body = Body::Text(TextRule { lhs, rhs, conds: conds.clone(), vars: vars.len(), program });
        Ok(Rule { name, group, level, phases, bound, body })
    };
    let mut rules = vec![make(name.clone(), left.clone(), right.clone())?];
    if both {
        rules.push(make(format!("{name}-back"), right, left)?);
    }
    Ok(rules)
}

fn parse_conds(text: &str, vars: &[String]) -> Result<Vec<(Cond, u8)>, String> {
    let mut out = Vec::new();
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (name, arg) = part
            .strip_suffix(')')
            .and_then(|p| p.split_once('('))
            .ok_or(format!("`{part}` is no condition such as `finite(?a)`"))?;
        let cond = Cond::parse(name.trim()).ok_or(format!("no condition is named `{}`", name.trim()))?;
        if cond.of_target() {
            if !arg.trim().is_empty() {
                return Err(format!("`{}` takes no variable", name.trim()));
            }
            out.push((cond, 0));
            continue;
        }
        let var = arg.trim().strip_prefix('?').and_then(|v| vars.iter().position(|n| n == v));
        out.push((cond, var.ok_or(format!("`{}` is no variable of the rule", arg.trim()))? as u8));
    }
    Ok(out)
}

fn parse_pattern(text: &str, vars: &mut Vec<String>) -> Result<Pat, String> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let pat = parse_term(&tokens, &mut at, vars, 0)?;
    match tokens.get(at) {
        Some(extra) => Err(format!("`{extra}` after the end of a pattern")),
        None => Ok(pat),
    }
}

fn parse_term(tokens: &[&str], at: &mut usize, vars: &mut Vec<String>, depth: usize) -> Result<Pat, String> {
    if depth > MAX_DEPTH {
        return Err(format!("a pattern deeper than {MAX_DEPTH}"));
    }
    let token = *tokens.get(*at).ok_or("a pattern ends too early")?;
    *at += 1;
    if let Some(name) = token.strip_prefix('?') {
        let index = vars.iter().position(|v| v == name).unwrap_or_else(|| {
            vars.push(name.to_string());
            vars.len() - 1
        });
        return if index < MAX_VARS {
            Ok(Pat::Var(index as u8))
        } else {
            Err(format!("more than {MAX_VARS} variables in a rule"))
        };
    }
    if token != "(" {
        return token.parse().map(Pat::Lit).map_err(|_| format!("`{token}` is no number, variable or `(`"));
    }
    let head = *tokens.get(*at).ok_or("an operation is missing after `(`")?;
    *at += 1;
    let mut args = Vec::new();
    while *tokens.get(*at).ok_or("a `)` is missing")? != ")" {
        args.push(parse_term(tokens, at, vars, depth + 1)?);
    }
    *at += 1;
    term(head, args)
}

/// The pattern of a word and its operands.
fn term(head: &str, mut args: Vec<Pat>) -> Result<Pat, String> {
    let count = |n: usize, args: &[Pat]| {
        if args.len() == n { Ok(()) } else { Err(format!("`{head}` takes {n} operands, not {}", args.len())) }
    };
    if head == "splat" || head.starts_with("swz.") {
        count(1, &args)?;
        let arg = Box::new(args.remove(0));
        return match head.strip_prefix("swz.") {
            None => Ok(Pat::Splat(arg)),
            Some(lanes) => {
                let swizzle = Swizzle::parse(lanes).ok_or(format!("`{lanes}` is no swizzle"))?;
                Ok(Pat::Swz(swizzle, arg))
            }
        };
    }
    let neg = |p: Pat| Pat::Op(Op::Neg, vec![p]);
    let op = |o: Op, a: &[&Pat]| Pat::Op(o, a.iter().map(|&p| p.clone()).collect());
    match head {
        "sub" => {
            count(2, &args)?;
            let b = neg(args.remove(1));
            return Ok(op(Op::Add, &[&args[0], &b]));
        }
        "lrp" => {
            count(3, &args)?;
            let diff = op(Op::Add, &[&args[1], &neg(args[0].clone())]);
            return Ok(op(Op::Mad, &[&args[2], &diff, &args[0]]));
        }
        "not" => {
            count(1, &args)?;
            return Ok(op(Op::Seq, &[&args[0], &Pat::Lit(0.0)]));
        }
        _ => {}
    }
    let plain = |o: &Op| {
        o.form() == Form::Core && o.is_pure() && !matches!(o.shape(), Shape::Leaf | Shape::Texture | Shape::Swizzle)
    };
    let op = Op::parse(head).filter(plain).ok_or(format!("no rule can name the operation `{head}`"))?;
    match op.arity() {
        Some(n) => count(n, &args)?,
        None if (2..=4).contains(&args.len()) => {}
        None => return Err(format!("`{head}` takes 2 to 4 operands, not {}", args.len())),
    }
    Ok(Pat::Op(op, args))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        parse_rules(text, FileId(0), Group::Arith).1.into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn a_line_is_a_rule_and_braces_make_several() {
        let text = "a strict A (add ?a ?b) => (add ?b ?a)\n\
                    # nothing\n\
                    d glsl BD ({dp3,dp4} (neg ?a) ?b) <=> (neg ({dp3,dp4} ?a ?b)) if ieee(), finite(?a) within 0.01\n";
        let (rules, errors) = parse_rules(text, FileId(0), Group::Arith);
        assert_eq!(errors, []);
        let names: Vec<&str> = rules.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["a", "d-dp3", "d-dp3-back", "d-dp4", "d-dp4-back"]);
        assert_eq!(rules[1].bound, 0.01);
        let Body::Text(text) = &rules[1].body else { panic!("a text rule") };
        assert_eq!(text.conds, [(Cond::Ieee, 0), (Cond::Finite, 0)]);
    }

    #[test]
    fn each_error_names_what_is_wrong() {
        for (text, part) in [
            ("a strict A (add ?a ?b)", "expected `=>`"),
            ("a loose A (add ?a ?b) => ?a", "`loose` is no level"),
            ("a glsl Q (add ?a ?b) => ?a", "`Q` are no phases"),
            ("a glsl A (add ?a) => ?a", "takes 2 operands"),
            ("a glsl A (frob ?a) => ?a", "`frob`"),
            ("a glsl A (neg ?a) => ?b", "on the right only"),
            ("a glsl A (add ?a ?b) <=> (neg ?a)", "missing on the side to match"),
            ("a glsl A (neg ?a => ?a", "`)` is missing"),
            ("a glsl A (neg ?a) => ?a if shiny(?a)", "`shiny`"),
            ("a glsl A (neg ?a) => ?a if finite(?b)", "`?b` is no variable"),
            ("a glsl A ({dp2,dp3 ?a ?b) => ?a", "without `}`"),
            ("a glsl A (neg ?a) => ?a within 7", "no error bound"),
            ("a glsl A ?a => (neg ?a)", "to match is an operation"),
            ("a", "a level"),
        ] {
            let found = errors(text);
            assert!(found.iter().any(|e| e.contains(part)), "{text}: {found:?}");
        }
    }

    #[test]
    fn deep_patterns_end_in_an_error() {
        let text = format!("a glsl A {}?a{} => ?a", "(neg ".repeat(5000), ")".repeat(5000));
        assert!(errors(&text)[0].contains("deeper than"));
    }
}

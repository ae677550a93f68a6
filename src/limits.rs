//! All bounds of the compiler by name: what `--limit` sets and `eggshade limits` lists.

use crate::Options;
use backend::pipeline;
use ir::limits::Bound;

/// The bounds of the front end, of three-address code and SSA, of the pipeline, and of machine code.
pub fn table() -> impl Iterator<Item = &'static Bound> {
    let front = frontend::Limits::TABLE.iter();
    front.chain(ir::limits::Limits::TABLE).chain(pipeline::BOUNDS).chain(backend::limits::Limits::TABLE)
}

/// A bound and the value that it shall have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The bound's name.
    pub name: &'static str,
    /// From 1 to the bound's maximum.
    pub value: usize,
}

impl Setting {
    /// Reads `NAME=N`.
    ///
    /// # Errors
    /// A sentence: when it is not of that form, there is no bound of the name (with the nearest one), or
    /// the bound cannot have the value.
    pub fn parse(text: &str) -> Result<Setting, String> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=N")?;
        let Some(bound) = table().find(|b| b.name == name) else {
            let hint = nearest(name).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(format!("no bound has the name `{name}`{hint} (`eggshade limits` lists them)"));
        };
        match value.parse() {
            Ok(value) if (1..=bound.max).contains(&value) => Ok(Setting { name: bound.name, value }),
            _ => Err(format!("`{name}` is a number from 1 to {}", bound.max)),
        }
    }

    /// Makes it hold.
    pub fn apply(self, options: &mut Options) {
        let Setting { name, value } = self;
        let known = options.limits.set(name, value)
            || options.back.limits.set(name, value)
            || options.pipeline.set_bound(name, value)
            || options.machine.set(name, value);
        debug_assert!(known, "{name} is in the table");
    }
}

/// The name that shares most pairs of letters.
fn nearest(name: &str) -> Option<&'static str> {
    // A long word is no typing mistake.
    if name.len() > 64 {
        return None;
    }
    let own: Vec<&[u8]> = name.as_bytes().windows(2).collect();
    let shared = |other: &'static str| {
        let theirs: Vec<&[u8]> = other.as_bytes().windows(2).collect();
        let same = own.iter().filter(|pair| theirs.contains(pair)).count();
        (200 * same / (own.len() + theirs.len()).max(1), other)
    };
    table().map(|b| shared(b.name)).max().filter(|&(percent, _)| percent >= 50).map(|(_, name)| name)
}

/// The table as text: a line of figures and a line of meaning for each bound.
pub fn print() -> String {
    let mut text = String::new();
    for Bound { name, default, max, unit, code, doc } in table() {
        let error = if code.is_empty() { "no error: the stage does less".to_owned() } else { format!("error {code}") };
        text.push_str(&format!("{name} = {default} {unit} (at most {max}), {error}\n   {doc}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_every_one_can_be_set() {
        let mut names: Vec<&str> = table().map(|b| b.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let pipeline = crate::resolve_pipeline("egraph").unwrap();
        let mut options = Options::new(crate::resolve_target("vec4").unwrap(), pipeline);
        // `apply` asserts that somebody knows the name.
        table().for_each(|b| Setting::parse(&format!("{}=1", b.name)).unwrap().apply(&mut options));
        assert_eq!((options.limits.tokens, options.back.limits.ssa, options.machine.steps), (1, 1, 1));
    }

    #[test]
    fn mistakes_are_told() {
        let error = |text: &str| Setting::parse(text).unwrap_err();
        assert!(error("nestin=3").contains("did you mean `nesting`?"), "{}", error("nestin=3"));
        assert!(error("macro-expansoin=3").contains("`macro-expansion`"));
        assert!(!error("zzz=3").contains("did you mean"));
        assert!(error("nesting=0").contains("from 1 to 1000") && error("nesting=1001").contains("from 1 to 1000"));
        assert!(error("nesting").contains("NAME=N"));
    }
}

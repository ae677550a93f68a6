//! `counts`: instructions on every target beside another compiler's for the same instruction set, one
//! table.
//!
//! In: shaders, pairs of targets (`VERTEX/FRAGMENT`), and the peer's answers by profile. Out: a row a
//! shader with two cells a pair, a row of sums and one of geometric means over the shaders that both
//! compile. Nothing is compared across instruction sets.

use crate::peers::PeerRow;
use crate::row::{Outcome, Row};
use crate::stats::geometric_mean;
use crate::table::{Align, Table};
use std::fmt::Write as _;

/// The profiles of NVIDIA's compiler that are targets here, too.
pub const CGC_PROFILES: [&str; 8] = ["arbvp1", "arbfp1", "vs_1_1", "vs_2_0", "vs_3_0", "ps_2_0", "ps_3_0", "vp20"];

/// A target for each stage; none where the pair has only one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// Of vertex shaders.
    pub vertex: Option<String>,
    /// Of fragment shaders.
    pub fragment: Option<String>,
}

impl Pair {
    /// Reads `VERTEX/FRAGMENT`, where `-` is none; one name alone is both.
    ///
    /// # Errors
    /// A sentence.
    pub fn parse(text: &str) -> Result<Pair, String> {
        let (vertex, fragment) = text.split_once('/').unwrap_or((text, text));
        let name = |word: &str| match word {
            "" => Err(format!("`{text}`: expected VERTEX/FRAGMENT, with - for none")),
            "-" => Ok(None),
            word => Ok(Some(word.to_owned())),
        };
        Ok(Pair { vertex: name(vertex)?, fragment: name(fragment)? })
    }

    /// The target of a stage (`vert` or `frag`).
    pub fn of(&self, stage: &str) -> Option<&str> {
        if stage == "vert" { self.vertex.as_deref() } else { self.fragment.as_deref() }
    }

    /// Its name in the table's head.
    pub fn name(&self) -> String {
        match (&self.vertex, &self.fragment) {
            (Some(v), Some(f)) if v == f => v.clone(),
            (v, f) => format!("{}/{}", v.as_deref().unwrap_or("-"), f.as_deref().unwrap_or("-")),
        }
    }
}

/// One shader on one pair.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// Ours; none when the pair has no target for the stage.
    pub ours: Option<Row>,
    /// The peer's, when it was asked.
    pub peer: Option<PeerRow>,
}

impl Cell {
    /// Ours and the peer's, when both compile.
    fn both(&self) -> Option<(u64, u64)> {
        let ours = self.ours.as_ref().filter(|r| r.status == Outcome::Ok)?;
        let peer = self.peer.as_ref().filter(|p| p.ok)?;
        Some((ours.instructions, peer.instructions))
    }

    fn words(&self) -> [String; 2] {
        let ours = match &self.ours {
            Some(row) if row.status == Outcome::Ok => row.instructions.to_string(),
            Some(row) => row.status.to_string(),
            None => String::new(),
        };
        let peer = match &self.peer {
            Some(p) if p.ok => p.instructions.to_string(),
            Some(_) => "fails".to_owned(),
            None => String::new(),
        };
        [ours, peer]
    }
}

/// The table, as Markdown: `rows` are shaders with a cell for each pair.
pub fn report(pairs: &[Pair], rows: &[(String, Vec<Cell>)]) -> String {
    let mut heads = vec![("file".to_owned(), Align::Left)];
    for pair in pairs {
        heads.push((pair.name(), Align::Right));
        heads.push(("cgc".to_owned(), Align::Right));
    }
    let mut table = Table::with_heads(heads);
    for (file, cells) in rows {
        table.row([file.clone()].into_iter().chain(cells.iter().flat_map(Cell::words)));
    }
    let column = |n: usize| rows.iter().filter_map(move |(_, cells)| cells.get(n).and_then(Cell::both));
    let mut sums = vec!["sum where both compile".to_owned()];
    let mut notes = String::new();
    for (n, pair) in pairs.iter().enumerate() {
        let (ours, peer) = column(n).fold((0, 0), |sum, (o, p)| (sum.0 + o, sum.1 + p));
        let count = column(n).count();
        sums.extend(if count == 0 { [String::new(), String::new()] } else { [ours.to_string(), peer.to_string()] });
        if count > 0 {
            let ratios = column(n).filter(|&(_, p)| p > 0).map(|(o, p)| o.max(1) as f64 / p as f64);
            let mean = geometric_mean(ratios);
            let more = column(n).filter(|(o, p)| o > p).count();
            let less = column(n).filter(|(o, p)| o < p).count();
            let _ = writeln!(
                notes,
                "{}: geometric mean of ours over cgc's {mean:.3} over {count} shaders; fewer {less}, more {more}",
                pair.name()
            );
        }
    }
    table.row(sums);
    format!("{}\n{notes}", table.markdown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;

    fn cell(ours: u64, peer: Option<u64>) -> Cell {
        let row = Row { instructions: ours, ..Row::failed(&Job::default(), Outcome::Ok, "") };
        let peer = peer.map(|instructions| PeerRow {
            file: String::new(),
            ok: instructions > 0,
            instructions,
            temps: 0,
            micros: 0,
            error: String::new(),
        });
        Cell { ours: Some(row), peer }
    }

    #[test]
    fn pairs_are_read() {
        assert_eq!(Pair::parse("a/b").unwrap().name(), "a/b");
        assert_eq!(Pair::parse("vec4").unwrap().name(), "vec4");
        let one = Pair::parse("vs_1_1/-").unwrap();
        assert_eq!((one.of("vert"), one.of("frag")), (Some("vs_1_1"), None));
        assert!(Pair::parse("a/").is_err());
    }

    #[test]
    fn sums_and_means_are_over_what_both_compile() {
        let pairs = [Pair::parse("a/b").unwrap()];
        let rows = [
            ("x".to_owned(), vec![cell(2, Some(4))]),
            ("y".to_owned(), vec![cell(8, Some(8))]),
            ("z".to_owned(), vec![cell(100, Some(0))]),
        ];
        let text = report(&pairs, &rows);
        assert!(text.contains("|  10 |    12 |") || text.contains("10 |    12"), "{text}");
        assert!(text.contains("0.707 over 2 shaders; fewer 1, more 0"), "{text}");
        assert!(text.contains("fails"), "{text}");
    }
}

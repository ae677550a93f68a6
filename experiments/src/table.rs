//! Aligned Markdown tables.

/// Which side a column's cells lean to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table: columns with their heads, rows of cells.
#[derive(Clone, Debug)]
pub struct Table {
    heads: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty one.
    pub fn new<const N: usize>(heads: [(&str, Align); N]) -> Table {
        Table::with_heads(heads.iter().map(|(h, a)| ((*h).to_owned(), *a)).collect())
    }

    /// An empty one whose columns are only known at run time.
    pub fn with_heads(heads: Vec<(String, Align)>) -> Table {
        Table { heads, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        // A bar would end the cell.
        self.rows.push(cells.into_iter().map(|c| c.replace('|', "\\|")).collect());
    }

    /// The text, cells padded so that the source reads as a table too.
    pub fn markdown(&self) -> String {
        let width = |i: usize| {
            let cells = self.rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count());
            cells.chain([self.heads[i].0.chars().count(), 3]).max().unwrap_or(3)
        };
        let widths: Vec<usize> = (0..self.heads.len()).map(width).collect();
        let mut out = String::new();
        let mut line = |cells: &[String]| {
            for (i, &width) in widths.iter().enumerate() {
                let cell = cells.get(i).map_or("", String::as_str);
                let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
                match self.heads[i].1 {
                    Align::Left => out.push_str(&format!("| {cell}{pad} ")),
                    Align::Right => out.push_str(&format!("| {pad}{cell} ")),
                }
            }
            out.push_str("|\n");
        };
        line(&self.heads.iter().map(|h| h.0.clone()).collect::<Vec<_>>());
        let rule = |(i, h): (usize, &(String, Align))| match h.1 {
            Align::Left => "-".repeat(widths[i]),
            Align::Right => format!("{}:", "-".repeat(widths[i] - 1)),
        };
        line(&self.heads.iter().enumerate().map(rule).collect::<Vec<_>>());
        self.rows.iter().for_each(|r| line(r));
        out
    }
}

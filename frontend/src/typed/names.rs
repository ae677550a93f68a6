//! The text form of the name table (`--emit names`): name, kind, type, scope, line.

use super::Shader;
use ir::diag::SourceMap;
use std::fmt::Write;

/// A row a declared name, in order of declaration, in columns.
pub fn dump_names(shader: &Shader<'_>, sources: &SourceMap) -> String {
    let head = ["name", "kind", "type", "scope", "line"].map(String::from);
    let rows = shader.names.iter().map(|n| {
        let line = sources.line_col(n.span).0.to_string();
        [n.name.to_string(), n.kind.to_string(), n.ty.clone(), n.scope.clone(), line]
    });
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
    // One very long type must not widen all rows.
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0).min(40);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let mut out = String::new();
    for row in &rows {
        for (text, &width) in row.iter().zip(&widths) {
            let _ = write!(out, "{text:width$}  ");
        }
        let _ = writeln!(out, "{}", row[4]);
    }
    out
}

//! The list of findings of one run, with its bound.

use crate::Limits;
use crate::ast::Version;
use crate::codes;
use ir::diag::{Diagnostic, Severity};

/// Warnings beyond this many are dropped; they carry no news and an error list must stay readable.
const WARNINGS: usize = 200;

/// Findings in the order in which they were made.
#[derive(Debug)]
pub struct Diags {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    limits: Limits,
    stopped: bool,
}

impl Diags {
    /// An empty list that stops the front end after as many errors as the bound says.
    pub fn new(limits: &Limits) -> Diags {
        Diags { list: Vec::new(), errors: 0, warnings: 0, limits: *limits, stopped: false }
    }

    /// Adds a finding, unless the run is stopped.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.stopped {
            return;
        }
        if diagnostic.severity == Severity::Warning {
            self.warnings += 1;
            if self.warnings <= WARNINGS {
                self.list.push(diagnostic);
            }
            return;
        }
        self.errors += 1;
        let span = diagnostic.span();
        self.list.push(diagnostic);
        if self.errors >= self.limits.errors {
            self.stopped = true;
            let message = format!("stopped after {} errors", self.errors);
            self.list.push(self.limits.error("errors", span, message));
        }
    }

    /// Adds an error after which going on makes no sense.
    pub fn fatal(&mut self, diagnostic: Diagnostic) {
        self.push(diagnostic);
        self.stopped = true;
    }

    /// Whether the run should end now.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Whether there was any error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// The findings about a text in that language, each with the note that its code asks for.
    pub fn into_vec(mut self, version: Version) -> Vec<Diagnostic> {
        self.list.iter_mut().for_each(|d| codes::complete(d, version));
        self.list
    }
}

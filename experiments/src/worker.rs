//! The worker's half of [`crate::pool`]: tasks come in, one JSON line each, rows go out.
//!
//! A panic is a row that says so, and the state that it may have left half done is made anew.

use crate::row::Outcome;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe};
use std::thread;

/// Stack of the working thread: what a program's main thread has by default on Linux.
const STACK_BYTES: usize = 8 << 20;

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Something that a worker process does.
pub trait Task: Serialize + DeserializeOwned + Sync + 'static {
    /// What comes of it.
    type Row: Serialize + DeserializeOwned + Send;
    /// What a worker keeps from one task to the next.
    type State;
    /// The hidden subcommand that starts a worker for this kind.
    const WORKER: &'static str;

    /// A worker's first state.
    fn open() -> Self::State;

    /// Does it.
    fn answer(&self, state: &mut Self::State) -> Self::Row;

    /// The row of one that was not answered.
    fn failed(&self, status: Outcome, reason: String) -> Self::Row;
}

/// Answers tasks until the input ends.
///
/// # Errors
/// When the other side sends what is no task, or goes away.
pub fn serve<T: Task>() -> Result<(), String> {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("a value that is no text");
        let place = info.location().map(|l| format!("{}:{}: ", l.file(), l.line())).unwrap_or_default();
        PANIC.with_borrow_mut(|p| *p = format!("{place}{text}"));
    }));
    let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(answer::<T>).map_err(|e| e.to_string())?;
    worker.join().map_err(|_| "the worker's thread died".to_owned())?
}

fn answer<T: Task>() -> Result<(), String> {
    let mut state = Some(T::open());
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let task: T = serde_json::from_str(&line).map_err(|e| format!("not a task: {e}"))?;
        let row = match panic::catch_unwind(AssertUnwindSafe(|| task.answer(state.get_or_insert_with(T::open)))) {
            Ok(row) => row,
            Err(_) => {
                state = None;
                task.failed(Outcome::Panic, PANIC.take())
            }
        };
        let mut text = serde_json::to_string(&row).map_err(|e| e.to_string())?;
        text.push('\n');
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| e.to_string())?;
    }
    Ok(())
}

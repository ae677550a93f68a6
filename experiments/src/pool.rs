//! Worker processes: as many as asked, each does one job after the other.
//!
//! In: jobs. Out: one row a job, in the order of the jobs, whatever the compiler does: a worker that
//! takes longer than the bound is killed (`timeout`), one that dies is a `crash` with its last
//! words, and the next job gets a new one. A bound on memory keeps a runaway compile from taking the
//! machine with it.

use crate::job::Job;
use crate::row::{Outcome, Row};
use crate::worker::Task;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How the workers run.
#[derive(Clone, PartialEq, Debug)]
pub struct PoolOptions {
    /// The laboratory's own program file.
    pub program: PathBuf,
    /// Workers at once.
    pub workers: usize,
    /// The bound on one job.
    pub timeout: Duration,
    /// Bound on a worker's address space in MiB.
    pub memory: u64,
    /// Whether to show progress (only ever on a terminal).
    pub progress: bool,
}

impl PoolOptions {
    /// This program, a worker a core, 10 seconds, 2 GiB.
    ///
    /// # Errors
    /// When the system does not tell the program's file.
    pub fn here() -> Result<PoolOptions, String> {
        Ok(PoolOptions {
            program: std::env::current_exe().map_err(|e| format!("cannot find this program's file: {e}"))?,
            workers: thread::available_parallelism().map_or(1, usize::from),
            timeout: Duration::from_secs(10),
            memory: 2048,
            progress: true,
        })
    }
}

/// Compiles all jobs.
///
/// # Errors
/// When no worker can be started.
pub fn run(options: &PoolOptions, jobs: &[Job]) -> Result<Vec<Row>, String> {
    run_tasks(options, jobs)
}

/// Does all tasks of one kind.
///
/// # Errors
/// When no worker can be started.
pub fn run_tasks<T: Task>(options: &PoolOptions, jobs: &[T]) -> Result<Vec<T::Row>, String> {
    let threads = options.workers.clamp(1, jobs.len().max(1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| e.to_string())?;
    let slots: Vec<Mutex<Option<Worker>>> = (0..threads).map(|_| Mutex::new(None)).collect();
    let bar = progress(options, jobs.len());
    let rows: Result<Vec<T::Row>, String> = pool.install(|| {
        jobs.par_iter()
            .with_max_len(1)
            .map(|job| {
                let slot = &slots[rayon::current_thread_index().unwrap_or(0)];
                // A worker is taken out while it works: a poisoned lock holds nothing half done.
                let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
                let row = one(options, &mut slot, job);
                bar.inc(1);
                row
            })
            .collect()
    });
    bar.finish_and_clear();
    rows
}

/// A bar on standard error; indicatif draws nothing when that is no terminal.
fn progress(options: &PoolOptions, jobs: usize) -> ProgressBar {
    if !options.progress {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(jobs as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} (left {eta})") {
        bar.set_style(style);
    }
    bar
}

fn one<T: Task>(options: &PoolOptions, slot: &mut Option<Worker>, job: &T) -> Result<T::Row, String> {
    let mut worker = match slot.take() {
        Some(worker) => worker,
        None => Worker::start(options, T::WORKER)?,
    };
    match worker.ask(job, options.timeout) {
        Answer::Row(row) => {
            *slot = Some(worker);
            Ok(*row)
        }
        Answer::Late => {
            worker.end(true);
            let bound = options.timeout.as_secs_f64();
            Ok(job.failed(Outcome::Timeout, format!("longer than {bound} s")))
        }
        Answer::Dead => {
            let (status, words) = worker.end(false);
            Ok(job.failed(Outcome::Crash, cause(status, &words)))
        }
    }
}

enum Answer<R> {
    Row(Box<R>),
    Late,
    Dead,
}

struct Worker {
    child: Child,
    jobs: Option<ChildStdin>,
    rows: Receiver<String>,
    words: Arc<Mutex<Vec<u8>>>,
    readers: Vec<JoinHandle<()>>,
}

/// How much of a worker's last words is kept.
const WORDS: usize = 4096;

impl Worker {
    fn start(options: &PoolOptions, word: &str) -> Result<Worker, String> {
        let told = |e: std::io::Error| format!("cannot start a worker ({}): {e}", options.program.display());
        let mut command = if cfg!(unix) {
            // The shell sets the bound on memory, then becomes the worker.
            let mut shell = Command::new("sh");
            let kilobytes = options.memory.saturating_mul(1024);
            shell.args(["-c", &format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\"")]).arg(&options.program);
            shell
        } else {
            Command::new(&options.program)
        };
        command.arg(word).env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(told)?;
        let (send, rows) = channel();
        let mut readers = Vec::new();
        if let Some(out) = child.stdout.take() {
            readers.push(thread::spawn(move || {
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    if send.send(line).is_err() {
                        break;
                    }
                }
            }));
        }
        let words = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut err) = child.stderr.take() {
            let words = words.clone();
            readers.push(thread::spawn(move || {
                let mut chunk = [0; 1024];
                while let Ok(n @ 1..) = err.read(&mut chunk) {
                    let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
                    let room = WORDS.saturating_sub(words.len());
                    words.extend_from_slice(&chunk[..n.min(room)]);
                }
            }));
        }
        let jobs = child.stdin.take();
        Ok(Worker { child, jobs, rows, words, readers })
    }

    fn ask<T: Task>(&mut self, job: &T, timeout: Duration) -> Answer<T::Row> {
        let Ok(mut line) = serde_json::to_string(job) else { return Answer::Dead };
        line.push('\n');
        let sent = self.jobs.as_mut().is_some_and(|j| j.write_all(line.as_bytes()).and_then(|()| j.flush()).is_ok());
        if !sent {
            return Answer::Dead;
        }
        match self.rows.recv_timeout(timeout) {
            Ok(line) => serde_json::from_str(&line).map_or(Answer::Dead, |row| Answer::Row(Box::new(row))),
            Err(RecvTimeoutError::Timeout) => Answer::Late,
            Err(RecvTimeoutError::Disconnected) => Answer::Dead,
        }
    }

    /// Waits until the process is gone.
    fn end(&mut self, kill: bool) -> (Option<ExitStatus>, String) {
        self.jobs = None;
        if kill {
            // It may have ended by itself in the meantime.
            let _ = self.child.kill();
        }
        let status = self.child.wait().ok();
        self.readers.drain(..).for_each(|r| drop(r.join()));
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        (status, String::from_utf8_lossy(&words).into_owned())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A worker between two jobs ends when its input does; one in the middle is not waited for.
        self.end(true);
    }
}

/// What killed a worker.
fn cause(status: Option<ExitStatus>, words: &str) -> String {
    let last = words.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("no last words");
    if words.contains("overflowed its stack") {
        return "stack overflow".to_owned();
    }
    if words.contains("memory allocation of") {
        return "out of memory".to_owned();
    }
    status.map_or(last.to_owned(), |s| format!("{s}: {last}"))
}

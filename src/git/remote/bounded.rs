//! A program that is started and left once it takes too long or too much: what it is told by a server has no end of its own.
//!
//! Must never outlast its time: the program and what it starts are one group, which is ended as a whole.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(10);

/// How long it may take, and how much it may bring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How long it may take.
    pub(super) time: Duration,
    /// How many bytes it may print, and write to one file.
    pub(super) bytes: u64,
    /// How much memory it may have: what its libraries map, and what it reads a pack with.
    pub(super) memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(60), bytes: 64 << 20, memory: 1 << 30 }
    }
}

/// What came of a program.
pub(super) enum Outcome {
    /// It has ended.
    Ended(Ended),
    /// It took too long.
    Slow,
    /// It brought too much.
    TooMuch,
}

/// A program that has ended.
pub(super) struct Ended {
    pub(super) is_success: bool,
    /// Its standard output.
    pub(super) printed: String,
    /// Its standard error.
    pub(super) said: String,
}

/// What was read of one of the program's outputs.
struct Heard {
    bytes: Vec<u8>,
    is_too_much: bool,
}

/// Runs a program, whose input is the caller's to set.
///
/// # Errors
/// It cannot be started.
pub(super) fn run(mut command: Command, limits: Limits) -> io::Result<Outcome> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    narrow(&child, limits);
    let printed = heard(child.stdout.take(), limits.bytes);
    let said = heard(child.stderr.take(), limits.bytes);
    let mut left = limits.time;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if left.is_zero() {
            end(&mut child);
            return Ok(Outcome::Slow);
        }
        thread::sleep(LOOK);
        left = left.saturating_sub(LOOK);
    };
    // Whatever it has started and left would keep the outputs open.
    end(&mut child);
    let (printed, said) = (printed.recv(), said.recv());
    let (Ok(printed), Ok(said)) = (printed, said) else { return Ok(Outcome::TooMuch) };
    if printed.is_too_much || said.is_too_much {
        return Ok(Outcome::TooMuch);
    }
    let text = |heard: Heard| String::from_utf8_lossy(&heard.bytes).into_owned();
    Ok(Outcome::Ended(Ended { is_success: status.success(), printed: text(printed), said: text(said) }))
}

/// Lets the program, and all that it starts from now on, have no more memory and no larger files.
#[cfg(target_os = "linux")]
fn narrow(child: &Child, limits: Limits) {
    use rustix::process::{Resource, Rlimit, prlimit};
    let limit = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    // One that has ended already needs none.
    let _ = prlimit(Some(Pid::from_child(child)), Resource::As, limit(limits.memory));
    let _ = prlimit(Some(Pid::from_child(child)), Resource::Fsize, limit(limits.bytes));
}

/// Elsewhere a program has only its time.
#[cfg(not(target_os = "linux"))]
const fn narrow(_: &Child, _: Limits) {}

/// Ends the program and all that it has started.
fn end(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

/// Reads an output to its end, or as much of it as is taken; then it is closed, which ends whoever writes to it.
fn heard(output: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Heard> {
    let (told, heard) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.map(|output| output.take(most.saturating_add(1)).read_to_end(&mut bytes));
        drop(read);
        let is_too_much = u64::try_from(bytes.len()).is_ok_and(|length| length > most);
        // Whoever waited for it has left.
        let _ = told.send(Heard { bytes, is_too_much });
    });
    heard
}

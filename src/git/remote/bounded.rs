//! Runs a program with limits on time, memory and output: a server can send data without end.
//!
//! Must never exceed its time or memory: the program and its children form one process group, which is killed as a
//! whole, and children that it started before the limits were set are found and limited too.
#![cfg_attr(
    target_os = "linux",
    expect(clippy::disallowed_methods, reason = "the system tells of processes in files")
)]

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Interval between checks whether the program has ended.
const LOOK: Duration = Duration::from_millis(10);

/// Limits of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Maximum run time.
    pub(super) time: Duration,
    /// Maximum number of bytes that it may print, and write to one file.
    pub(super) bytes: u64,
    /// Maximum memory: for its libraries' mappings, and for reading a pack.
    pub(super) memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(60), bytes: 64 << 20, memory: 1 << 30 }
    }
}

/// Result of a program.
pub(super) enum Outcome {
    /// It ended.
    Ended(Ended),
    /// It took too long.
    Slow,
    /// It printed too much.
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

/// Bytes read from one of the program's outputs.
struct Heard {
    bytes: Vec<u8>,
    is_too_much: bool,
}

/// Runs a program, whose standard input the caller sets.
///
/// # Errors
/// It cannot be started.
pub(super) fn run(mut command: Command, limits: Limits) -> io::Result<Outcome> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    narrow(pid, limits);
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
        // On a busy machine it may have started children before.
        narrow(pid, limits);
        thread::sleep(LOOK);
        left = left.saturating_sub(LOOK);
    };
    // Remaining children would keep the outputs open.
    end(&mut child);
    let (printed, said) = (printed.recv(), said.recv());
    let (Ok(printed), Ok(said)) = (printed, said) else { return Ok(Outcome::TooMuch) };
    if printed.is_too_much || said.is_too_much {
        return Ok(Outcome::TooMuch);
    }
    let text = |heard: Heard| String::from_utf8_lossy(&heard.bytes).into_owned();
    Ok(Outcome::Ended(Ended { is_success: status.success(), printed: text(printed), said: text(said) }))
}

/// Limits the memory and file size of a program, its children, and all that they start from now on.
#[cfg(target_os = "linux")]
fn narrow(pid: Pid, limits: Limits) {
    use rustix::process::{Resource, Rlimit, prlimit};
    let limit = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    for pid in started(pid) {
        // It fails only for a process that has ended.
        let _ = prlimit(Some(pid), Resource::As, limit(limits.memory));
        let _ = prlimit(Some(pid), Resource::Fsize, limit(limits.bytes));
    }
}

/// Maximum number of processes that are limited: Git starts three.
#[cfg(target_os = "linux")]
const STARTED_MAX: usize = 100;

/// Returns a program and its descendants, as far as the system reports them.
#[cfg(target_os = "linux")]
fn started(program: Pid) -> Vec<Pid> {
    let mut found = vec![program];
    let mut at = 0;
    while let Some(pid) = found.get(at).copied().filter(|_| found.len() < STARTED_MAX) {
        at += 1;
        let path = format!("/proc/{0}/task/{0}/children", pid.as_raw_nonzero());
        let children = std::fs::read_to_string(path).unwrap_or_default();
        found.extend(children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
    }
    found
}

/// Sets no limits: on other systems, only the run time is limited.
#[cfg(not(target_os = "linux"))]
const fn narrow(_: Pid, _: Limits) {}

/// Kills the program and its children.
fn end(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

/// Reads an output to its end or up to the limit; then it is closed, which ends its writer.
fn heard(output: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Heard> {
    let (told, heard) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.map(|output| output.take(most.saturating_add(1)).read_to_end(&mut bytes));
        drop(read);
        let is_too_much = u64::try_from(bytes.len()).is_ok_and(|length| length > most);
        // It fails if the receiver is gone.
        let _ = told.send(Heard { bytes, is_too_much });
    });
    heard
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_a_program_started_before_it_was_bounded_is_bounded_too() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec 3<&0; sh -c 'read go <&3; ulimit -v; ulimit -f' & wait"]);
        let mut child = shell
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let pid = Pid::from_child(&child);
        while started(pid).len() < 2 {
            thread::sleep(LOOK);
        }
        let limits = Limits { memory: 256 << 20, ..Limits::default() };
        narrow(pid, limits);
        child.stdin.take().expect("it is piped").write_all(b"go\n").expect("it is read");
        let printed = child.wait_with_output().expect("it ends").stdout;
        let printed = String::from_utf8(printed).expect("a text");
        // Memory is in units of 1,024 bytes, files in blocks of 512 or 1,024.
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines.first(), Some(&"262144"), "{printed}");
        assert!(matches!(lines.get(1), Some(&"131072" | &"65536")), "{printed}");
    }
}

//! Runs other programs: without a shell, with limits on output and time, and killed together with their child
//! processes.
#![expect(clippy::disallowed_methods, reason = "a program that hangs is ended by the clock")]

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Limits on a program's output and run time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Maximum size of its standard output, in bytes.
    pub(super) output_bytes_max: u64,
    /// Maximum run time.
    pub(super) time_max: Duration,
}

/// Maximum number of bytes kept of a program's standard error; the rest is discarded.
const COMPLAINT_BYTES_MAX: u64 = 64 << 10;

/// How a program ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// Not found.
    Missing,
    /// It exited by itself.
    Itself {
        /// Its exit status.
        status: ExitStatus,
        /// Its standard output.
        output: Vec<u8>,
        /// Its standard error, as far as it was kept.
        complaint: String,
    },
    /// It exceeded the output limit and was killed.
    TooMuch,
    /// It exceeded the time limit and was killed.
    TooLong,
}

enum Event {
    Output(io::Result<Vec<u8>>),
    Complaint(Vec<u8>),
    Status(io::Result<ExitStatus>),
}

/// Runs a program of the `PATH` to its end. It has no standard input and does not prompt for passwords.
///
/// # Errors
/// It cannot be started or read.
pub(super) fn run(program: &str, arguments: &[OsString], bounds: Bounds) -> io::Result<Ended> {
    let mut command = Command::new(program);
    command.args(arguments).env("GIT_TERMINAL_PROMPT", "0");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ended::Missing),
        Err(error) => return Err(error),
    };
    let group = Group::of(&child);
    let events = watched(child, bounds.output_bytes_max);
    let ended = gathered(&events, bounds);
    if !matches!(ended, Ok(Ended::Itself { .. })) {
        group.end();
    }
    ended
}

/// Returns the message of a kubectl log line, without its time, which differs between runs: `E1125 19:34:23.588146
/// 4127 run.go:72] …`. `None` for other lines.
pub(super) fn logged(line: &str) -> Option<&str> {
    let (level, rest) = line.split_at_checked(1)?;
    let (day, _) = rest.split_once(' ')?;
    let is_day = day.len() == 4 && day.bytes().all(|byte| byte.is_ascii_digit());
    let (_, said) = rest.split_once("] ")?;
    (matches!(level, "I" | "W" | "E" | "F") && is_day).then_some(said)
}

/// Reads the program's output and waits for its end on separate threads, so that neither blocks the other.
fn watched(mut child: Child, output_bytes_max: u64) -> Receiver<Event> {
    let (sender, events) = channel();
    let output = child.stdout.take();
    let complaint = child.stderr.take();
    // Send errors are ignored: the receiver has given up.
    let to = sender.clone();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // One byte above the limit, to detect excess output.
        let read = output.map_or(Ok(0), |output| output.take(output_bytes_max + 1).read_to_end(&mut bytes));
        let _ = to.send(Event::Output(read.map(|_| bytes)));
    });
    let to = sender.clone();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut complaint) = complaint {
            let _ = complaint.by_ref().take(COMPLAINT_BYTES_MAX).read_to_end(&mut bytes);
            let _ = io::copy(&mut complaint, &mut io::sink());
        }
        let _ = to.send(Event::Complaint(bytes));
    });
    thread::spawn(move || {
        let _ = sender.send(Event::Status(child.wait()));
    });
    events
}

fn gathered(events: &Receiver<Event>, bounds: Bounds) -> io::Result<Ended> {
    let deadline = Instant::now() + bounds.time_max;
    let (mut output, mut complaint, mut status) = (None, None, None);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(event) = events.recv_timeout(left) else { return Ok(Ended::TooLong) };
        match event {
            Event::Output(bytes) => {
                let bytes = bytes?;
                if u64::try_from(bytes.len()).is_ok_and(|bytes| bytes > bounds.output_bytes_max) {
                    return Ok(Ended::TooMuch);
                }
                output = Some(bytes);
            }
            Event::Complaint(bytes) => complaint = Some(bytes),
            Event::Status(end) => status = Some(end?),
        }
        if let (Some(_), Some(_), Some(status)) = (&output, &complaint, status) {
            let complaint = complaint.unwrap_or_default();
            return Ok(Ended::Itself {
                status,
                output: output.unwrap_or_default(),
                complaint: String::from_utf8_lossy(&complaint).into_owned(),
            });
        }
    }
}

/// A process group: a program with all its child processes.
struct Group {
    #[cfg(unix)]
    leader: rustix::process::Pid,
}

#[cfg(unix)]
impl Group {
    fn of(child: &Child) -> Self {
        Self { leader: rustix::process::Pid::from_child(child) }
    }

    /// Kills the whole group. A group that has already ended is ignored.
    fn end(&self) {
        let _ = rustix::process::kill_process_group(self.leader, rustix::process::Signal::KILL);
    }
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// Without process groups, an abandoned program ends when its pipes are closed.
#[cfg(not(unix))]
impl Group {
    fn of(_: &Child) -> Self {
        Self {}
    }

    fn end(&self) {}
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsString;
    use std::time::Duration;

    use super::{Bounds, Ended, logged, run};

    fn shell(script: &str, output_bytes_max: u64, time_max: Duration) -> Ended {
        let arguments = [OsString::from("-c"), OsString::from(script)];
        run("sh", &arguments, Bounds { output_bytes_max, time_max }).expect("sh starts")
    }

    #[test]
    fn a_line_of_a_log_is_known_by_its_head() {
        assert_eq!(
            logged("E1125 19:34:23.588146    4127 run.go:72] \"failed\" err=[a] b"),
            Some("\"failed\" err=[a] b")
        );
        for other in ["", "E", "Error: no", "E1125", "E112x 19:34 a] b", "error: 1125 a] b", "é1125 a] b"] {
            assert_eq!(logged(other), None, "{other}");
        }
    }

    const LONG: Duration = Duration::from_secs(100);

    #[test]
    fn what_a_program_prints_and_how_it_ends_is_told() {
        let Ended::Itself { status, output, complaint } = shell("echo data; echo no >&2; exit 3", 100, LONG)
        else {
            panic!("it ends by itself")
        };
        assert_eq!((status.code(), output, complaint), (Some(3), b"data\n".to_vec(), "no\n".to_owned()));
        assert!(matches!(
            run("no-such-program-anywhere", &[], Bounds { output_bytes_max: 1, time_max: LONG }),
            Ok(Ended::Missing)
        ));
    }

    #[test]
    fn what_prints_too_much_or_takes_too_long_is_ended_with_all_that_it_started() {
        assert!(matches!(shell("sleep 1000", 1000, Duration::from_millis(50)), Ended::TooLong));
        // Ensures that the inner program runs before the output limit is reached.
        let file = std::env::temp_dir().join(format!("nodeform-group-{}", std::process::id()));
        let script = format!("sleep 1000 & echo $! > '{}'; yes", file.display());
        assert!(matches!(shell(&script, 1000, LONG), Ended::TooMuch));
        #[expect(clippy::disallowed_methods, reason = "the test's own file")]
        let inner = std::fs::read_to_string(&file).expect("the inner program began");
        let _ = std::fs::remove_file(&file);
        let inner = rustix::process::Pid::from_raw(inner.trim().parse().expect("an id")).expect("is no 0");
        let is_gone = || {
            let state = format!("/proc/{}/stat", inner.as_raw_nonzero());
            #[expect(clippy::disallowed_methods, reason = "what the kernel says of it")]
            let state = std::fs::read_to_string(state).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        // The kill is asynchronous.
        assert!((0..1_000_000).any(|_| is_gone()), "the inner program is still there");
    }
}

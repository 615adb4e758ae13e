//! What a person at a terminal sees beside lines: bars that move, and are gone when the work is done.
#![cfg(unix)]

use std::process::{Command, Stdio};

use crate::shell::{aside, out, root, start};

const BARS: [char; 3] = ['█', '▒', '░'];

/// What the screen of a terminal shows in the end: a carriage return goes to the start of the line, `ESC [ K` clears from
/// there.
fn screen(printed: &str) -> Vec<String> {
    let mut lines = vec![Vec::new()];
    let mut column = 0;
    let mut letters = printed.chars().peekable();
    while let Some(letter) = letters.next() {
        let line = lines.last_mut().expect("there is one");
        match letter {
            '\n' => {
                lines.push(Vec::new());
                column = 0;
            }
            '\r' => column = 0,
            '\u{1b}' => {
                let code: String = letters.by_ref().take_while(|letter| *letter != '[').collect();
                assert_eq!(code, "", "a sequence that this screen does not know");
                let end = letters.by_ref().find(char::is_ascii_alphabetic);
                if end == Some('K') {
                    line.truncate(column);
                }
            }
            letter => {
                match line.get_mut(column) {
                    Some(there) => *there = letter,
                    None => line.push(letter),
                }
                column += 1;
            }
        }
    }
    lines.into_iter().map(|line| line.into_iter().collect()).collect()
}

#[test]
fn a_rollout_shows_bars_on_a_terminal_which_are_gone_at_its_end() {
    let nodeform = env!("CARGO_BIN_EXE_nodeform");
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{nodeform} demo --speed max"), "/dev/null"]);
    let Ok(ran) = command.current_dir(root()).env("NO_COLOR", "1").stdin(Stdio::null()).output() else {
        assert!(std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(), "`script` is missing");
        eprintln!("skipped: 1 test needs `script`");
        return;
    };
    let printed = String::from_utf8(ran.stdout).expect("UTF-8");
    assert!(printed.contains("Adding ░░░░░░░░░░░░░░░░░░░░ 0 of 1"), "{printed}");
    assert!(printed.contains("Removing ████████████████████ "), "{printed}");
    let screen = screen(&printed);
    let left: Vec<&String> = screen.iter().filter(|line| line.contains(BARS)).collect();
    assert_eq!(left, Vec::<&String>::new());
    // The same lines as without a terminal.
    let piped = start(&["demo", "--speed", "max"], root(), "");
    assert!(!out(&piped).contains(BARS) && !aside(&piped).contains(BARS), "{}", aside(&piped));
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim_end().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    assert_eq!(lines(&screen.join("\n")), lines(&out(&piped)));
}

#[test]
fn progress_is_coloured_on_a_terminal_alone_names_its_node_once_and_fits_80_columns() {
    let piped = out(&start(&["demo", "--speed", "max"], root(), ""));
    assert!(!piped.contains('\u{1b}'), "{piped}");
    let is_progress =
        |line: &&str| line.get(2..3) == Some(":") && line.starts_with(|digit: char| digit.is_ascii_digit());
    let progress: Vec<&str> = piped.lines().filter(is_progress).collect();
    assert!(progress.len() > 15, "{piped}");
    for line in progress {
        assert!(line.chars().count() <= 80, "{line}");
        let name = line.split('`').nth(1).expect("a node is named");
        assert_eq!(line.matches(name).count(), 1, "{line}");
    }
    assert!(piped.contains("`  creating VM\n") && piped.contains("  creating VM (attempt 2)\n"), "{piped}");
    assert!(piped.contains("  waiting for VM to join\n"), "{piped}");
    assert!(!piped.contains("sufficient capacity"), "only the first sentence of Azure's text: {piped}");

    let nodeform = env!("CARGO_BIN_EXE_nodeform");
    let on_terminal = |flag: &str, no_color: &str| {
        let mut command = Command::new("script");
        command.args(["-qec", &format!("{nodeform} demo --speed max {flag}"), "/dev/null"]);
        command.current_dir(root()).env("TERM", "xterm").env("NO_COLOR", no_color).stdin(Stdio::null());
        command.output().ok().map(|ran| String::from_utf8(ran.stdout).expect("UTF-8"))
    };
    let Some(coloured) = on_terminal("", "") else {
        assert!(std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(), "`script` is missing");
        eprintln!("skipped: 1 test needs `script`");
        return;
    };
    assert!(coloured.contains("\u{1b}[32m+\u{1b}[0m `aks-"), "{coloured}");
    assert!(coloured.contains("\u{1b}[31m-\u{1b}[0m `aks-"), "{coloured}");
    for plain in [on_terminal("--no-color", ""), on_terminal("", "1")] {
        assert!(!plain.expect("`script` is there").contains("\u{1b}[32m"), "no colour was asked for");
    }
}

//! Tests of the view at three sizes, of its keys, and that the terminal is restored.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::refresh::News;
use super::screen::{Taken, View};
use crate::model::{CapacityType, MicroUsdPerHour, Price};
use crate::render::fleet::{Fleet, Key, PodRow, Row, Stage, Step, Use, fleet_text};
use crate::render::plain_text;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 50)];

fn seen_at() -> Timestamp {
    "2026-11-30T09:14:00Z".parse().expect("a time")
}

/// Returns a node by its number; the kinds of rows repeat.
fn row(number: i64) -> Row {
    let stages =
        [Stage::Ready, Stage::Ready, Stage::Ready, Stage::Draining, Stage::NotReady, Stage::Launching];
    let stage = stages[usize::try_from(number).expect("small") % stages.len()];
    let share = |of: i64| Use { requested: Some(of * (number * 37 % 101) / 100), of: Some(of) };
    let nothing = Use { requested: Some(0), of: None };
    let has_node = stage.has_node();
    let planned = match number % 6 {
        1 => vec!["- delete: underutilized: its pods fit on 2 other nodes".to_owned()],
        2 => vec!["drifted: ImageDrift".to_owned()],
        3 => vec!["- delete: Drifted".to_owned()],
        5 => vec!["+ create: 4 Pending pods".to_owned()],
        _ => Vec::new(),
    };
    let held = match number % 6 {
        1 => vec!["move-pods: freeze `release week`, until 2026-12-04T00:00:00Z".to_owned()],
        4 => vec!["pod `shop/cart-0` has `karpenter.sh/do-not-disrupt`".to_owned()],
        _ => Vec::new(),
    };
    let pod = |key: &str, is_daemon| PodRow {
        key: key.to_owned(),
        cpu: 500,
        memory: 1 << 30,
        is_daemon,
        is_protected: false,
    };
    Row {
        name: format!("aks-general-purpose-{number:03}x7k2p9ab"),
        pool: Some(if number % 4 == 0 { "batch" } else { "general-purpose" }.to_owned()),
        size: Some(if number % 3 == 0 { "Standard_D8as_v5" } else { "Standard_D4s_v5" }.to_owned()),
        zone: Some(format!("westeurope-{}", number % 3 + 1)),
        bought: Some(if number % 4 == 0 { CapacityType::Spot } else { CapacityType::OnDemand }),
        stage,
        cpu: if has_node { share(3_860) } else { nothing },
        memory: if has_node { share(12 << 30) } else { nothing },
        pods: Use { requested: Some(if has_node { number % 40 } else { 0 }), of: has_node.then_some(110) },
        // Every seventh price is unknown.
        price: if number % 7 == 0 { Price::Unknown } else { Price::Listed(MicroUsdPerHour(230_000)) },
        created: seen_at().checked_sub(SignedDuration::from_mins(number * 61)).ok(),
        planned,
        held,
        notes: Vec::new(),
        pod_list: Some(vec![pod("shop/web-7f9c", false), pod("kube-system/ama-logs-x2", true)]),
    }
}

fn fleet(nodes: i64) -> Fleet {
    Fleet {
        at: Some(seen_at()),
        rows: (1..=nodes).map(row).collect(),
        pending: Some(if nodes == 0 { 0 } else { 12 }),
        provisioners: vec![
            "NodeFleet `default`: mode auto; plan `k7x2p9`: +2 ~0 -1, $9310 → $8898/month".to_owned(),
        ],
        notes: Vec::new(),
    }
}

/// A screen of a given size that shows a fleet.
struct Screen {
    terminal: Terminal<TestBackend>,
    view: View,
    now: Timestamp,
}

impl Screen {
    fn of(fleet: Fleet, (columns, lines): (u16, u16)) -> Self {
        let terminal = Terminal::new(TestBackend::new(columns, lines)).expect("a screen in memory");
        let mut view = View::default();
        assert_eq!(view.take_in(News::Seen(Box::new(fleet))), Step::Stay);
        Self { terminal, view, now: seen_at() }
    }

    /// Returns the text on the screen, without trailing blanks.
    fn text(&mut self) -> String {
        self.view.draw(&mut self.terminal, Some(self.now), false).expect("it is drawn");
        let buffer = self.terminal.backend().buffer();
        let cells: Vec<&str> = buffer.content().iter().map(ratatui::buffer::Cell::symbol).collect();
        let lines =
            cells.chunks(usize::from(buffer.area.width)).map(|line| line.concat().trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    fn press(&mut self, keys: &[Key]) -> String {
        for key in keys {
            assert_eq!(self.view.press(*key), Step::Stay, "{key:?}");
        }
        self.text()
    }

    fn write(&mut self, word: &str) -> String {
        let letters: Vec<Key> = word.chars().map(Key::Letter).collect();
        self.press(&letters)
    }
}

/// Compares with a file in the folder `golden`; `UPDATE=1` writes it.
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/top/golden").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).expect("written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{name} differs; `UPDATE=1` rewrites it:\n{text}");
}

#[test]
fn the_view_of_no_few_and_many_nodes_fits_screens_of_three_sizes() {
    for nodes in [0, 14, 500] {
        let mut all = String::new();
        for (columns, lines) in SIZES {
            let text = Screen::of(fleet(nodes), (columns, lines)).text();
            assert_eq!(text.lines().count(), usize::from(lines));
            // Blank lines above the last one are omitted.
            let (body, foot) = text.trim_end().rsplit_once('\n').expect("several lines");
            all.push_str(&format!("== {columns}x{lines}\n{}\n{foot}\n", body.trim_end()));
        }
        golden(&format!("{nodes}-nodes.txt"), &all);
    }
}

#[test]
fn a_screen_of_any_size_is_drawn_and_its_last_line_says_how_to_leave() {
    for columns in (1..220).step_by(7) {
        for lines in [1, 2, 3, 5, 24] {
            let text = Screen::of(fleet(14), (columns, lines)).text();
            let last = text.lines().last().expect("a line").to_owned();
            assert!(last.starts_with(if columns < 2 { '…' } else { 'q' }), "{columns}x{lines}: {text}");
        }
    }
}

#[test]
fn keys_filter_sort_explain_and_come_back() {
    let mut screen = Screen::of(fleet(14), (200, 30));
    let all = screen.text();
    assert!(all.contains("> aks-general-purpose-001x7k2p9ab"), "{all}");
    let typed = screen.write("/spot ready");
    assert!(typed.contains("/spot ready_") && !typed.contains("-001x7k2p9ab"), "{typed}");
    assert!(typed.contains("> aks-general-purpose-004x7k2p9ab"), "the first that is left: {typed}");
    let kept = screen.press(&[Key::Enter]);
    assert!(kept.contains("/ filter: spot ready") && kept.contains(" of 14 rows"), "{kept}");
    assert_eq!(screen.press(&[Key::Escape]), all);
    let none = screen.write("/nothing");
    assert!(none.contains("no node matches the filter; Esc clears it"), "{none}");
    screen.press(&[Key::Escape]);
    let sorted = screen.write("sss");
    assert!(sorted.contains("s sort: CPU"), "{sorted}");
    // 37 × 11 hundredths modulo 101: the highest usage.
    let first = sorted.lines().find(|line| line.contains("x7k2p9ab")).expect("a row");
    let fullest =
        fleet(14).rows.into_iter().filter(|row| row.cpu.of.is_some()).max_by_key(|row| row.cpu.requested);
    assert!(first.contains(&fullest.expect("a node").name), "{sorted}");
    screen.press(&[Key::Home]);
    let explained = screen.press(&[Key::Enter]);
    for said in ["planned", "held by", "shop/web-7f9c", "nodeform explain node/aks-", "Esc back"] {
        assert!(explained.contains(said), "{said}: {explained}");
    }
    assert_eq!(screen.press(&[Key::Escape]), sorted);
    assert_eq!(screen.view.press(Key::Letter('q')), Step::Quit);
    assert_eq!(screen.view.press(Key::Interrupt), Step::Quit);
}

#[test]
fn rows_keep_their_place_while_nodes_come_go_and_change() {
    let mut screen = Screen::of(fleet(6), (200, 30));
    let order = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| line.contains("x7k2p9ab"));
        rows.filter_map(|line| line.split('-').nth(3)?.get(..3).map(str::to_owned)).collect()
    };
    // Sorted by CPU.
    let before = order(&screen.write("sss"));
    let mut next = fleet(7);
    next.rows.retain(|row| !row.name.contains("-003"));
    for row in &mut next.rows {
        row.cpu.requested = row.cpu.of.map(|of| of - row.cpu.requested.unwrap_or(0));
    }
    screen.view.take_in(News::Seen(Box::new(next)));
    let mut expected: Vec<String> = before.into_iter().filter(|name| name != "003").collect();
    expected.push("007".to_owned());
    assert_eq!(order(&screen.text()), expected);
}

#[test]
fn what_could_not_be_read_is_said_and_the_last_view_stays_with_its_age() {
    let mut screen = Screen::of(fleet(3), (100, 12));
    let good = screen.text();
    screen.now = screen.now.checked_add(SignedDuration::from_secs(42)).expect("a time");
    screen.view.take_in(News::Failed("the API server did not answer within 30 s".to_owned()));
    let stale = screen.text();
    assert!(
        stale.contains(
            "not refreshed: the API server did not answer within 30 s; this is the view of 42s ago"
        ),
        "{stale}"
    );
    assert!(stale.contains("001x7k2p9ab") && good.contains("001x7k2p9ab"), "{stale}");
    let mut never = Screen::of(fleet(0), (100, 12));
    never.view = View::default();
    never.view.take_in(News::Failed("no route to host".to_owned()));
    let text = never.text();
    assert!(text.contains("nothing was read yet: no route to host"), "{text}");
    assert!(!text.contains("has no nodes"), "unknown is not empty: {text}");
}

#[test]
fn without_pods_bars_and_sums_are_unknown_and_names_do_nothing_to_a_terminal() {
    let mut fleet = fleet(2);
    fleet.pending = None;
    fleet.notes = vec!["pods cannot be listed (`list`): 403\u{1b}[2J".to_owned()];
    for row in &mut fleet.rows {
        row.name = format!("{}\u{202e}\u{1b}[31m", row.name);
        (row.pod_list, row.pods.requested) = (None, None);
        (row.cpu.requested, row.memory.requested) = (None, None);
    }
    let text = plain_text(&fleet_text(&fleet, 120));
    assert!(text.starts_with("2 nodes  CPU ·"), "{text}");
    assert!(text.contains("? Pending") && text.contains("?/110"), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    assert!(!text.contains("0%"), "{text}");
}

/// Set if this test runs in its own terminal.
const INSIDE: &str = "NODEFORM_TEST_IN_TERMINAL";

#[test]
fn a_panic_and_an_error_leave_the_terminal_as_it_was() {
    match std::env::var(INSIDE).as_deref() {
        Ok("panic") => {
            let _: std::io::Result<()> = within(|terminal| {
                terminal.draw(|_| {})?;
                panic!("drawn wrong")
            });
        }
        Ok(_) => {
            let failed: std::io::Result<()> = within(|terminal| {
                terminal.draw(|_| {})?;
                Err(std::io::Error::other("gone"))
            });
            println!("it ended with: {}", failed.expect_err("it failed"));
        }
        Err(_) => {
            for (how, said) in [("panic", "drawn wrong"), ("error", "it ended with: gone")] {
                outside(how, said);
            }
        }
    }
}

/// Runs this test again in a terminal, and checks what was written to it.
fn outside(how: &str, said: &str) {
    let test = "cli::top::tests::a_panic_and_an_error_leave_the_terminal_as_it_was";
    let program = std::env::current_exe().expect("this program");
    let command = format!("{} --exact --nocapture {test}", program.display());
    let ran = std::process::Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env(INSIDE, how)
        .stdin(std::process::Stdio::null())
        .output();
    let Ok(ran) = ran else {
        assert!(std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(), "`script` is missing");
        eprintln!("skipped: 1 test needs `script`");
        return;
    };
    let written = String::from_utf8_lossy(&ran.stdout).into_owned();
    let (enter, leave) = ("\u{1b}[?1049h", "\u{1b}[?1049l");
    let entered = written.find(enter).unwrap_or_else(|| panic!("the screen was taken: {written}"));
    let left = written.find(leave).unwrap_or_else(|| panic!("the screen was left: {written}"));
    let told = written.find(said).unwrap_or_else(|| panic!("`{said}` was said: {written}"));
    assert!(entered < left && left < told, "what is said stands behind the screen: {written:?}");
    assert!(written.contains("\u{1b}[?25h"), "the cursor is there: {written:?}");
}

/// Runs a closure in full-screen mode.
fn within(work: impl FnOnce(&mut ratatui::DefaultTerminal) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut taken = Taken::take()?;
    work(taken.terminal())
}

//! `nodeform top`: printed once, and in a terminal that is resized, filtered, sorted and left.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{PATIENCE, Program};

const WORLD: &str = include_str!("world.yaml");

async fn started(arguments: &[&str]) -> Program {
    let program = Program::of(WORLD, arguments).await;
    program.wait_for(|state| state["pods"].as_array().is_some_and(|pods| pods.len() >= 5)).await;
    program
}

#[tokio::test]
async fn the_nodes_of_a_cluster_are_printed_without_azure_and_nothing_is_written() {
    let record = tempfile::NamedTempFile::new().expect("a file");
    let program = started(&["--record", &record.path().display().to_string()]).await;
    let unset = [("AZURE_CLIENT_SECRET", ""), ("AZURE_ENVIRONMENT_FILEPATH", "")];
    let ran = program.nodeform(&["top", "--once"], &unset).await;
    assert_eq!((ran.code, ran.said.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.printed.starts_with("1 node  CPU ░"), "{}", ran.printed);
    assert!(ran.printed.contains("  5 Pending\n"), "{}", ran.printed);
    assert!(ran.printed.contains("No NodeFleet and no NodeClaims"), "{}", ran.printed);
    let row = ran.printed.lines().find(|line| line.contains("aks-system-12345678-vmss000000"));
    let row = row.unwrap_or_else(|| panic!("names are whole: {}", ran.printed));
    for said in ["system", "D4s_v5", "on-demand", "ready", "0/110"] {
        assert!(row.contains(said), "{said}: {row}");
    }
    // Without a terminal it is the same without being asked for; ages go on meanwhile.
    let again = program.nodeform(&["top"], &unset).await.printed;
    assert_eq!(again.lines().take(3).collect::<Vec<_>>(), ran.printed.lines().take(3).collect::<Vec<_>>());
    assert_eq!(again.lines().count(), ran.printed.lines().count(), "{again}");
    let recorded = std::fs::read_to_string(record.path()).expect("it was written");
    let is_write = |line: &&str| line.contains("\"method\":\"P") || line.contains("\"method\":\"DELETE");
    let written: Vec<&str> = recorded.lines().filter(is_write).collect();
    // The test's own, to look at Azure.
    let signs_in = |line: &&str| line.contains("/oauth2/");
    assert!(matches!(written.as_slice(), [only] if signs_in(only)), "{written:#?}");
}

#[tokio::test]
async fn nodes_that_nodeform_makes_and_what_holds_them_are_told() {
    let program = started(&["--speed", "600"]).await;
    let ran = program.nodeform(&["apply", "--auto-approve"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let (_, nodes) = program.kube("GET", "/api/v1/nodes", &Value::Null).await;
    let names = nodes["items"].as_array().expect("a list").iter();
    let names = names.filter_map(|node| node["metadata"]["name"].as_str());
    let new = names.filter(|name| name.starts_with("aks-general")).map(str::to_owned).next().expect("a node");
    let keep = json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}});
    assert_eq!(program.patch(&format!("/api/v1/nodes/{new}"), &keep).await.0, 200);
    let ran = program.nodeform(&["top", "--once"], &[]).await;
    assert!(ran.printed.contains("No NodeFleet; 1 NodeClaim of nodeform"), "{}", ran.printed);
    assert!(ran.printed.contains("  0 Pending\n"), "{}", ran.printed);
    let row = ran.printed.lines().find(|line| line.contains(&new)).expect("the node has a row");
    assert!(row.contains("general-purpose  ") && row.contains("5/") && row.contains('█'), "{row}");
    assert!(row.contains("held: it has `karpenter.sh/do-not-disrupt`"), "{row}");
}

/// A number of columns or lines.
fn of(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("there is one")
}

/// A program in a terminal.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: Arc<Mutex<vt100::Parser>>,
    folder: tempfile::TempDir,
}

impl Terminal {
    /// Starts `nodeform top`; what its terminal is like afterwards is printed behind it.
    fn of(program: &Program) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let own = |name: &str| folder.path().join(name).display().to_string();
        let nodeform = env!("CARGO_BIN_EXE_nodeform");
        let inner = format!("echo \\$\\$ > {}; exec {nodeform} top --interval 1", own("pid"));
        let command = format!(
            "tty > {}; stty cols 80 rows 24; sh -c \"{inner}\"; echo \"ended with $?\"; stty -a; echo over",
            own("tty")
        );
        let mut child = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .envs(program.variables())
            .env("TERM", "xterm-256color")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` is there");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(of(24), of(80), 0)));
        let (mut written, seen) = (child.stdout.take().expect("it is piped"), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = written.read(&mut bytes) {
                seen.lock().expect("nobody panics").process(&bytes[..count]);
            }
        });
        let keys = child.stdin.take().expect("it is piped");
        Self { child, keys, screen, folder }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("the terminal takes keys");
        self.keys.flush().expect("the terminal takes keys");
    }

    fn told(&self, name: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        std::fs::read_to_string(path).expect("it was written").trim().to_owned()
    }

    fn resize(&self, columns: u16, lines: u16) {
        self.screen.lock().expect("nobody panics").screen_mut().set_size(of(lines), of(columns));
        let (columns, lines) = (columns.to_string(), lines.to_string());
        let done =
            Command::new("stty").args(["-F", &self.told("tty"), "cols", &columns, "rows", &lines]).status();
        assert!(done.expect("`stty` is there").success());
    }

    /// Waits until the screen is like this.
    async fn wait(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let text = || self.screen.lock().expect("nobody panics").screen().contents();
        let waited = tokio::time::timeout(PATIENCE, async {
            while !holds(&text()) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        assert!(waited.await.is_ok(), "never came: {what}\n{}", text());
        text()
    }

    /// Waits until it is over, and looks whether the terminal is as it was.
    async fn leaves_it_as_it_was(mut self) {
        let text = self.wait("the end", |text| text.contains("\nover")).await;
        assert!(text.contains("ended with 0"), "{text}");
        let modes = |mode: &str| text.split([' ', '\n', ';']).any(|word| word == mode);
        assert!(modes("icanon") && modes("echo") && modes("isig"), "{text}");
        let parser = self.screen.lock().expect("nobody panics");
        assert!(!parser.screen().alternate_screen() && !parser.screen().hide_cursor());
        drop(parser);
        assert!(self.child.wait().expect("it ran").success());
    }
}

#[tokio::test]
async fn in_a_terminal_it_is_resized_filtered_sorted_explains_a_node_and_is_left_with_q() {
    let program = started(&[]).await;
    let mut terminal = Terminal::of(&program);
    let narrow = terminal.wait("rows", |text| text.contains("> aks-sys")).await;
    assert!(narrow.contains("vmss000000") && !narrow.contains("on-demand"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    terminal.resize(160, 30);
    let wide = terminal.wait("all columns", |text| text.contains("on-demand")).await;
    assert!(wide.contains("> aks-system-12345678-vmss000000"), "{wide}");
    assert!(wide.lines().count() == 30 && wide.lines().last().is_some_and(|line| line.starts_with("q quit")));
    terminal.press("/nothing");
    terminal.wait("no row", |text| text.contains("/nothing_") && text.contains("no node matches")).await;
    terminal.press("\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}system\r");
    terminal.wait("the row", |text| text.contains("/ filter: system") && text.contains("> aks-system")).await;
    terminal.press("s");
    terminal.wait("another order", |text| text.contains("s sort: pool")).await;
    terminal.press("\r");
    let explained =
        terminal.wait("the node", |text| text.contains("node aks-system-12345678-vmss000000")).await;
    assert!(explained.contains("taints CriticalAddonsOnly=true:NoSchedule"), "{explained}");
    assert!(explained.contains("Standard_D4s_v5, on-demand, zone westeurope-1"), "{explained}");
    // A pod comes while somebody looks: what is shown is read again.
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "late", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "x"}]}});
    assert_eq!(program.kube("POST", "/api/v1/namespaces/default/pods", &pod).await.0, 201);
    terminal.wait("one more pod", |text| text.contains("6 Pending")).await;
    terminal.press("q");
    terminal.wait("the rows again", |text| text.contains("s sort: pool")).await;
    terminal.press("q");
    terminal.leaves_it_as_it_was().await;
}

#[tokio::test]
async fn ctrl_c_and_a_signal_leave_the_terminal_as_it_was() {
    let program = started(&[]).await;
    let mut terminal = Terminal::of(&program);
    terminal.wait("rows", |text| text.contains("> aks-sys")).await;
    terminal.press("\u{3}");
    terminal.leaves_it_as_it_was().await;
    let terminal = Terminal::of(&program);
    terminal.wait("rows", |text| text.contains("> aks-sys")).await;
    let killed = Command::new("kill").args(["-TERM", &terminal.told("pid")]).status();
    assert!(killed.expect("`kill` is there").success());
    terminal.leaves_it_as_it_was().await;
}

#[tokio::test]
async fn an_api_server_that_is_gone_is_said_beside_the_last_view() {
    let mut program = started(&[]).await;
    let terminal = Terminal::of(&program);
    terminal.wait("rows", |text| text.contains("> aks-sys")).await;
    program.end().await;
    let stale = terminal.wait("why not", |text| text.contains("not refreshed: ")).await;
    assert!(stale.contains("> aks-sys"), "the last view stays: {stale}");
    let mut terminal = terminal;
    terminal.press("q");
    terminal.leaves_it_as_it_was().await;
}

//! The pages of the book that need a live cluster are true: their blocks of `bash` run in order, as one person's session,
//! against the simulator, and print what a block of `text` right after them shows. `…` there stands for anything.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::pages::{Block, blocks, copy, root};
use crate::program::Program;
use crate::review::forge::{Forge, TOKEN};

const WORLD: &str = include_str!("world.yaml");

/// The address that the book uses for anybody's repository.
const REPOSITORY: &str = "https://forge.example/platform/nodes";

/// How long a block may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(240);

/// Somebody who types what a page says, in a folder of their own.
struct Reader {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
    /// What is left of each block, by process group: programs that go on in the background.
    groups: Vec<u32>,
}

impl Reader {
    fn new(mut variables: Vec<(String, String)>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["examples", "charts"] {
            copy(&root().join(name), &folder.path().join(name));
        }
        let programs = Path::new(env!("CARGO_BIN_EXE_nodeform")).parent().expect("a folder").to_owned();
        let path = std::env::var("PATH").expect("a path");
        let tools = root().join("target/tools/kubernetes");
        variables.extend([
            ("PATH".to_owned(), format!("{}:{}:{path}", programs.display(), tools.display())),
            // Helm would keep its releases in Secrets, which it sends as Protobuf. With this driver it renders and checks
            // alone; `tests/e2e` installs the chart in a real cluster.
            ("HELM_DRIVER".to_owned(), "memory".to_owned()),
            ("HELM_MEMORY_DRIVER_DATA".to_owned(), "/dev/null".to_owned()),
            ("HOME".to_owned(), folder.path().display().to_string()),
            ("NO_COLOR".to_owned(), "1".to_owned()),
        ]);
        Self { folder, variables, groups: Vec::new() }
    }

    /// Whether this machine has these programs; CI has.
    fn has(&self, programs: &[&str]) -> bool {
        let (_, path) = self.variables.iter().find(|(name, _)| name == "PATH").expect("it is set");
        let is_there = |name: &&&str| path.split(':').any(|folder| Path::new(folder).join(name).is_file());
        let missing: Vec<&&str> = programs.iter().filter(|name| !is_there(name)).collect();
        assert!(
            missing.is_empty() || std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(),
            "missing: {missing:?}"
        );
        if !missing.is_empty() {
            eprintln!("skipped: 1 page needs {missing:?}");
        }
        missing.is_empty()
    }

    /// Runs a block where the last one ended, with the variables that were exported; returns what is wrong.
    async fn runs(&mut self, block: &Block, shown: Option<&Block>, place: Option<&Path>) -> Vec<String> {
        let own = self.folder.path();
        let (exported, printed) = (own.join("exported"), own.join("printed"));
        let script = format!(
            "set -eu -o pipefail\nif [ -f {0} ]; then . {0}; fi\n{1}\nexport -p > {0}\n",
            exported.display(),
            block.text.replace(REPOSITORY, &self.repository())
        );
        let output = std::fs::File::create(&printed).expect("it can be made");
        let mut child = Command::new("bash")
            .args(["-c", &script])
            .current_dir(place.unwrap_or(own))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a file"))
            .stderr(output)
            .process_group(0)
            .spawn()
            .expect("bash starts");
        self.groups.extend(child.id());
        let ended = tokio::time::timeout(PATIENCE, child.wait()).await;
        let text = std::fs::read_to_string(&printed).expect("it is text");
        let at = block.lines.start + 1;
        let code = match ended {
            Ok(status) => status.expect("it ran").code(),
            Err(_) => None,
        };
        let mut faults = Vec::new();
        if code != Some(block.exit) {
            faults.push(format!("line {at}: ends with {code:?}, not {}:\n{}{text}", block.exit, block.text));
        }
        if let Some(shown) = shown.filter(|shown| !is_shown(&shown.text, &text)) {
            faults.push(format!("line {at}: prints\n{text}and not\n{}", shown.text));
        }
        faults
    }

    fn repository(&self) -> String {
        let said = self.variables.iter().find(|(name, _)| name == "REPOSITORY");
        said.map_or_else(|| REPOSITORY.to_owned(), |(_, url)| url.clone())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        for group in &self.groups {
            let _ = std::process::Command::new("kill")
                .args(["--", &format!("-{group}")])
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// Whether a text is what a page shows, where `…` stands for anything.
fn is_shown(shown: &str, text: &str) -> bool {
    let text: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let mut parts = shown.split('…');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// What a page has to run, each block with what it shows.
fn session(page: &str) -> Vec<(Block, Option<Block>)> {
    let path = root().join("docs").join(page);
    let page = std::fs::read_to_string(path).expect("the page is there");
    let mut session: Vec<(Block, Option<Block>)> = Vec::new();
    let mut follows = false;
    for block in blocks(&page) {
        match (block.language.as_str(), follows) {
            ("bash", _) => {
                session.push((block, None));
                follows = true;
            }
            ("text", true) => {
                session.last_mut().expect("there is one").1 = Some(block);
                follows = false;
            }
            _ => follows = false,
        }
    }
    session
}

/// Runs a page of a cluster that is there.
async fn holds(page: &str, reader: &mut Reader) {
    let mut faults = Vec::new();
    for (block, shown) in session(page) {
        faults.extend(reader.runs(&block, shown.as_ref(), None).await);
    }
    assert!(faults.is_empty(), "{page}: {}", faults.join("\n"));
}

#[tokio::test]
async fn applying_is_as_its_page_says() {
    let program = Program::of(WORLD, &["--speed", "60"]).await;
    let mut reader = Reader::new(program.variables());
    if reader.has(&["kubectl"]) {
        holds("applying.md", &mut reader).await;
    }
}

#[tokio::test]
async fn the_controller_is_installed_as_its_page_says() {
    let program = Program::of(WORLD, &["--speed", "60"]).await;
    let mut reader = Reader::new(program.variables());
    if reader.has(&["kubectl", "helm"]) {
        holds("in-the-cluster.md", &mut reader).await;
    }
}

#[tokio::test]
async fn it_is_tried_without_azure_as_its_page_says() {
    let mut reader = Reader::new(Vec::new());
    if reader.has(&["kubectl", "jq"]) {
        holds("trying-it-without-azure.md", &mut reader).await;
    }
}

#[tokio::test]
async fn plans_are_reviewed_as_their_page_says() {
    let program = Program::of(WORLD, &["--speed", "60"]).await;
    let forge = Forge::with_tls().await;
    let mut variables = program.variables();
    let own = [
        ("REPOSITORY", forge.url()),
        ("NODEFORM_GIT_TOKEN", TOKEN.to_owned()),
        ("GIT_SSL_CAINFO", forge.ca().display().to_string()),
    ];
    variables.extend(own.map(|(name, value)| (name.to_owned(), value)));
    let mut reader = Reader::new(variables);
    if !reader.has(&["kubectl", "git"]) {
        return;
    }
    let session = session("reviewing.md");
    assert_eq!(session.len(), 4, "set up, propose, review, carry out");
    let mut faults = Vec::new();
    let mut place: Option<PathBuf> = None;
    for (number, (block, shown)) in session.iter().enumerate() {
        // Between proposing and reviewing, somebody looks at the branch; then it is merged.
        if number == 2 {
            assert!(faults.is_empty(), "{}", faults.join("\n"));
            forge.merge("nodeform/demo/create");
            let files = forge.git(&["diff", "--name-only", "HEAD~1", "HEAD"]);
            let plan = files.lines().find_map(|file| file.strip_suffix("/plan.jsonc")).expect("a plan");
            place = Some(forge.path(plan));
        }
        faults.extend(reader.runs(block, shown.as_ref(), place.as_deref().filter(|_| number == 2)).await);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_page_with_blocks_for_a_live_cluster_is_run() {
    let run = ["applying.md", "in-the-cluster.md", "reviewing.md", "trying-it-without-azure.md"];
    for entry in std::fs::read_dir(root().join("docs")).expect("the folder is there") {
        let name = entry.expect("an entry").file_name().display().to_string();
        let is_page = name.ends_with(".md");
        assert!(!is_page || session(&name).is_empty() != run.contains(&name.as_str()), "{name}");
    }
}

//! Starts the program as a shell does, and reads what it says.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program.
const NODEFORM: &str = env!("CARGO_BIN_EXE_nodeform");

/// Starts the program in a folder with this on its standard input, and waits until it ends.
pub(crate) fn start(arguments: &[&str], folder: &Path, input: &str) -> Output {
    let mut command = Command::new(NODEFORM);
    fed(command.args(arguments).current_dir(folder).env_remove("CLICOLOR_FORCE"), input)
}

/// Starts the program in the checkout where these folders are the whole `PATH`.
pub(crate) fn with_path(arguments: &[&str], path: &str) -> Output {
    let mut command = Command::new(NODEFORM);
    command.args(arguments).current_dir(root()).env_remove("CLICOLOR_FORCE");
    fed(command.env("PATH", path).env("KUBECONFIG", "/dev/null"), "")
}

/// Starts a program with this on its standard input, and waits until it ends.
pub(crate) fn fed(command: &mut Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // A program that ends before it reads closes the pipe; that is its right.
    let _ = child.stdin.take().expect("standard input is a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("the program ends")
}

/// The folder of the checkout.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Starts the program in the checkout, with nothing on its standard input.
pub(crate) fn nodeform(arguments: &[&str]) -> Output {
    start(arguments, root(), "")
}

/// What a program wrote to its standard output.
pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// What a program wrote to its standard error.
pub(crate) fn aside(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// A fresh folder of the tests' own.
pub(crate) fn empty_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// A fresh folder of the tests' own with these files.
#[expect(clippy::disallowed_methods, reason = "tests write files")]
pub(crate) fn folder_of(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = empty_folder(name);
    for (path, text) in files {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().expect("has a folder")).expect("the folder can be made");
        std::fs::write(file, text).expect("the file can be written");
    }
    folder
}

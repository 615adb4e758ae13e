//! Starts the program as a shell does, and reads what it says.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Starts the program in a folder with this on its standard input, and waits until it ends.
pub(crate) fn start(arguments: &[&str], folder: &Path, input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nodeform"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A command that fails before it reads closes the pipe; that is its right.
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

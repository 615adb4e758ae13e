//! The `nodeform` binary: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    nodeform::cli::run(std::env::args_os())
}

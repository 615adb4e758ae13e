//! The `nodeform` binary: parse, run, exit code.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    nodeform::cli::run(std::env::args_os())
}

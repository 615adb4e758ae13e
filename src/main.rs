//! The `nodeform` binary: parse, run, exit code.

fn main() {}

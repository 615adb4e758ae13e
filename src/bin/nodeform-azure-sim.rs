//! Serves a simulated Azure and a small cluster until standard input closes.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program: its arguments, its files, its output"
)]

use std::process::ExitCode;

use clap::Parser as _;
use nodeform::azure_sim::{Options, Simulator};
use nodeform::catalog::Catalog;
use nodeform::model::Region;
use tokio::io::AsyncReadExt as _;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    match serve(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve(options: &Options) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let simulator = Simulator::start(options, skus).await?;
        for note in simulator.notes() {
            eprintln!("note: {note}");
        }
        println!("{}", serde_json::to_string(&simulator.files.announcement)?);
        until_input_ends().await;
        Ok(())
    })
}

/// What the embedded catalogue has of a region.
fn skus(location: &str) -> anyhow::Result<Vec<serde_json::Value>> {
    let catalog =
        Catalog::embedded(&Region::new(location)).map_err(|unknown| anyhow::anyhow!("{unknown}"))?;
    Ok(catalog.skus())
}

/// Ends with standard input, or when asked to stop.
async fn until_input_ends() {
    let mut input = tokio::io::stdin();
    let mut buffer = [0_u8; 4096];
    let ended = async { while matches!(input.read(&mut buffer).await, Ok(count) if count > 0) {} };
    tokio::select! {
        () = ended => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

//! Generates the tables of the default catalog: `make_catalog DATA_DIR OUT_DIR`.
#![expect(clippy::disallowed_methods, reason = "this program's job is to read and write files")]

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use nodeform::catalog::build::{RawTexts, tables};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [data, out] = arguments.as_slice() else {
        bail!(
            "failed to start: expected two folders\nhint: run `cargo run --bin make_catalog -- DATA_DIR src/catalog/default`"
        );
    };
    let read = |path: &str| {
        std::fs::read_to_string(data.join(path)).with_context(|| format!("failed to read `{path}`"))
    };
    let made = tables(&RawTexts {
        prices: &read("prices/retail-ondemand-usd-per-hour.json")?,
        disks: &read("prices/managed-disk-usd-per-month.json")?,
        shapes: &read("reference/cluster_autoscaler_sizes.json")?,
        families: &read("reference/known_skus.json")?,
        gpus: &read("reference/supported_gpus.json")?,
        locations: &read("reference/locations.json")?,
        data_disks: &read("reference/data_disks.json")?,
    });
    let made =
        made.map_err(|fault| anyhow::anyhow!("failed to read the list of {}: {}", fault.list, fault.what))?;
    for table in &made {
        let path = out.join(&table.path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        std::fs::write(&path, &table.text)
            .with_context(|| format!("failed to write `{}`", path.display()))?;
    }
    Ok(())
}

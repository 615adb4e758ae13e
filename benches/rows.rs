//! Rows of figures: printed, and kept in `target/figures.json` as name, value and unit.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::{Value, json};

/// The figures that were measured.
#[derive(Default)]
pub(crate) struct Rows(Vec<Value>);

impl Rows {
    /// Prints a figure and keeps it.
    pub(crate) fn add(&mut self, name: &str, value: f64, unit: &str) {
        let _ = writeln!(io::stdout(), "{name:<32} {value:>14.4} {unit}");
        self.0.push(json!({"name": name, "value": value, "unit": unit}));
    }

    /// Writes the figures beside those of other names that are there already: several programs measure.
    pub(crate) fn write(self, root: &Path) {
        let file = root.join("target/figures.json");
        let there = fs::read_to_string(&file).unwrap_or_default();
        let there: Vec<Value> = serde_json::from_str(&there).unwrap_or_default();
        let is_other = |row: &Value| self.0.iter().all(|own| own["name"] != row["name"]);
        let mut rows: Vec<Value> = there.into_iter().filter(is_other).collect();
        rows.extend(self.0);
        fs::create_dir_all(root.join("target")).expect("the target folder can be made");
        fs::write(&file, format!("{:#}\n", Value::from(rows))).expect("the figures can be written");
        let _ = writeln!(io::stdout(), "written to {}", file.display());
    }
}

/// The processor's name.
pub(crate) fn processor() -> String {
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = facts.lines().find(|line| line.starts_with("model name"));
    model.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown processor").to_owned()
}

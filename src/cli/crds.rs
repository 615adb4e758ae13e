//! `nodeform crds`.

use super::arguments::CrdsArguments;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::api::{Kind, KindFacts};

pub(super) fn run(arguments: &CrdsArguments, ui: Ui) -> Result<Exit, Failure> {
    let all: Vec<&KindFacts> = Kind::ALL.into_iter().map(Kind::facts).collect();
    let wanted = arguments.kind.as_deref().map(str::to_lowercase);
    let is_wanted = |facts: &KindFacts| match wanted.as_deref() {
        Some(name) => facts.singular == name || facts.plural == name || facts.short_names.contains(&name),
        None => true,
    };
    let documents: Vec<&str> =
        all.iter().filter(|facts| is_wanted(facts)).map(|facts| facts.crd.trim_end()).collect();
    if documents.is_empty() {
        let known: Vec<String> = all.iter().map(|facts| format!("`{}`", facts.singular)).collect();
        let wanted = wanted.unwrap_or_default();
        return Err(Failure::error(format!("there is no kind `{wanted}`"))
            .hint(format!("the kinds are {}", known.join(", "))));
    }
    ui.text(&format!("{}\n", documents.join("\n---\n")))?;
    Ok(Exit::Done)
}

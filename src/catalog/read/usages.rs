//! Reads the quota usage of a subscription: `az vm list-usage -o json`, or ARM's response of `…/usages`.
//!
//! Numbers may be written as text. Returns either the whole list or all faults, each with its line.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Number;
use serde_json::value::RawValue;

use super::fault::CatalogFault;
use crate::model::Usage;

/// How to create such a file.
const HINT: &str = "give the output of `az vm list-usage --location REGION -o json`";

/// Maximum number of faults to list: a file of another kind has one in every row.
const FAULTS_MAX: usize = 10;

/// ARM's response.
#[derive(Deserialize)]
struct Page<'t> {
    #[serde(borrow)]
    value: Vec<&'t RawValue>,
    #[serde(default, rename = "nextLink")]
    next: Option<String>,
}

/// One quota, as Azure writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    name: Name,
    #[serde(deserialize_with = "amount")]
    current_value: Option<i64>,
    #[serde(deserialize_with = "amount")]
    limit: Option<i64>,
}

#[derive(Deserialize)]
struct Name {
    value: String,
}

/// A number, or one written as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(Number),
    Text(String),
    Nothing(()),
}

/// Reads the quotas of a file, in its order. Rows without numbers (`null`) are skipped.
///
/// # Errors
/// Every fault, by line.
pub(in crate::catalog) fn read(file: &str, text: &str) -> Result<Vec<Usage>, Vec<CatalogFault>> {
    let text = text.trim_start_matches('\u{feff}');
    let rows = rows(file, text).map_err(|fault| vec![fault])?;
    let (mut usages, mut faults) = (Vec::new(), Vec::new());
    for raw in rows {
        match serde_json::from_str::<Row>(raw.get()) {
            Ok(Row { name, current_value: Some(used), limit: Some(limit) }) => {
                usages.push(Usage { name: Arc::from(name.value), used, limit });
            }
            Ok(Row { .. }) => {}
            Err(error) => {
                let line = line_of(text, raw).saturating_add(error.line()).saturating_sub(1);
                faults.push(fault(file, line, format!("this is no usage of a quota: {}", said(&error))));
            }
        }
    }
    if faults.is_empty() {
        return Ok(usages);
    }
    let count = faults.len();
    faults.truncate(FAULTS_MAX);
    if let Some(last) = faults.last_mut().filter(|_| count > FAULTS_MAX) {
        last.what = format!("{} (and {} more faults)", last.what, count - FAULTS_MAX);
    }
    Err(faults)
}

fn rows<'t>(file: &str, text: &'t str) -> Result<Vec<&'t RawValue>, CatalogFault> {
    let syntax = |error: serde_json::Error| {
        let what = if text.trim().is_empty() { "the file is empty".to_owned() } else { said(&error) };
        fault(file, error.line(), what)
    };
    if !text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(syntax);
    }
    let page: Page<'t> = serde_json::from_str(text).map_err(syntax)?;
    match page.next.filter(|next| !next.is_empty()) {
        None => Ok(page.value),
        Some(_) => {
            let line = text.split("\"nextLink\"").next().map_or(1, |before| before.matches('\n').count() + 1);
            let what = "the list goes on at `nextLink`, and quotas of the next page would count as unknown";
            Err(fault(file, line, what.to_owned()))
        }
    }
}

fn fault(file: &str, line: usize, what: String) -> CatalogFault {
    CatalogFault::new(file, format!("line {line}"), what).hint(HINT)
}

/// Returns the text of an error without its position.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

/// Returns the line on which a part of a text starts.
fn line_of(text: &str, part: &RawValue) -> usize {
    let offset = part.get().as_ptr().addr().saturating_sub(text.as_ptr().addr());
    text.get(..offset).unwrap_or(text).matches('\n').count() + 1
}

/// Parses an amount, clamped to 64 bits.
fn amount<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let text = match Amount::deserialize(deserializer) {
        Ok(Amount::Nothing(())) => return Ok(None),
        Ok(Amount::Number(number)) => number.to_string(),
        Ok(Amount::Text(text)) => text,
        Err(_) => return Err(serde::de::Error::custom("`currentValue` and `limit` must be numbers")),
    };
    let whole = text.trim();
    let whole = whole.strip_suffix(".0").unwrap_or(whole);
    let amount: Result<i128, _> = whole.parse();
    let amount =
        amount.map_err(|_| serde::de::Error::custom(format!("`{}` is no whole number", text.trim())))?;
    let bounds = i128::from(i64::MIN)..=i128::from(i64::MAX);
    Ok(Some(i64::try_from(amount.clamp(*bounds.start(), *bounds.end())).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::read;

    fn said(text: &str) -> String {
        match read("usage.json", text) {
            Ok(usages) => {
                let said =
                    usages.iter().map(|usage| format!("{} {}/{}", usage.name, usage.used, usage.limit));
                said.collect::<Vec<_>>().join(", ")
            }
            Err(faults) => faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        }
    }

    #[test]
    fn the_list_of_az_and_the_answer_of_arm_are_read_with_numbers_and_texts() {
        let rows = r#"[
          {"currentValue": "8", "limit": "10", "localName": "Total Regional vCPUs", "name": {"localizedValue": "Total Regional vCPUs", "value": "cores"}},
          {"currentValue": 0, "limit": 3000000000, "name": {"value": "standardDSv5Family"}, "unit": "Count"},
          {"currentValue": 1, "limit": -1, "name": {"value": "lowPriorityCores"}},
          {"currentValue": null, "limit": null, "name": {"value": "standardFSFamily"}}
        ]"#;
        let all = "cores 8/10, standardDSv5Family 0/3000000000, lowPriorityCores 1/-1";
        assert_eq!(said(rows), all);
        assert_eq!(said(&format!("\u{feff}{{\"value\": {rows}, \"nextLink\": \"\"}}")), all);
        assert_eq!(
            said(r#"[{"currentValue": "99999999999999999999", "limit": 7.0, "name": {"value": "cores"}}]"#),
            format!("cores {}/7", i64::MAX)
        );
    }

    #[test]
    fn every_fault_says_its_line() {
        let text = "[\n  {\"currentValue\": 1,\n   \"limit\": \"many\", \"name\": {\"value\": \"cores\"}},\n  {\"limit\": 1}\n]";
        let hint = "\nhint: give the output of `az vm list-usage --location REGION -o json`";
        assert_eq!(
            said(text),
            format!(
                "`usage.json` at line 3: this is no usage of a quota: `many` is no whole number{hint}\n\
                 `usage.json` at line 4: this is no usage of a quota: missing field `name`{hint}"
            )
        );
        assert_eq!(said("Name  CurrentValue\n"), format!("`usage.json` at line 1: expected value{hint}"));
        assert_eq!(said(""), format!("`usage.json` at line 1: the file is empty{hint}"));
        assert!(said("{\n\"value\": [],\n\"nextLink\": \"x\"}").contains("line 3: the list goes on"));
        assert!(said("{\"value\": 3}").contains("line 1: invalid type"));
    }

    #[test]
    fn a_file_of_another_kind_has_no_more_than_ten_faults() {
        let text = format!("[{}]", vec!["{}"; 400].join(","));
        assert_eq!(said(&text).matches("hint: ").count(), 10);
        assert!(said(&text).contains("(and 390 more faults)"));
    }
}

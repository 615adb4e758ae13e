//! Paged lists.

use serde_json::{Value, json};

use super::{Azure, Call, Stage};
use crate::sim::faults::Occasion;
use crate::sim::http::{Answer, decoded};

/// Answers a list of named resources, ordered by their lower-case names. The next page starts after the name in the
/// token. A resource is rendered only if it is on the page.
pub(crate) fn answer<N: AsRef<str>, F: FnOnce() -> Value>(
    azure: &Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    all: impl Iterator<Item = (N, F)>,
) -> Answer {
    let token = call.request.query("$skiptoken").unwrap_or_default();
    let after = data_encoding::BASE64URL_NOPAD
        .decode(token.as_bytes())
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_default();
    let size = usize::try_from(azure.settings.page_size).unwrap_or(usize::MAX);
    let mut rest = all.filter(|(name, _)| token.is_empty() || name.as_ref() > after.as_str());
    let (names, page): (Vec<N>, Vec<Value>) =
        rest.by_ref().take(size).map(|(name, shown)| (name, shown())).unzip();
    let has_more = rest.next().is_some();
    // Moved, because the macro would copy the whole page.
    let mut body = Value::from_iter([("value", page)]);
    let is_cut = has_more && stage.faults.cuts_list(&Occasion::of(call), stage.now);
    if let (Some(last), true, false) = (names.last(), has_more, is_cut) {
        body["nextLink"] = json!(call.absolute(&next_target(&call.request.target, last.as_ref())));
    }
    Answer::json(200, &body)
}

/// Returns the target of the next page: the same query with another token.
fn next_target(target: &str, last: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let kept: Vec<&str> = query
        .split('&')
        .filter(|pair| {
            let key = pair.split('=').next().unwrap_or_default();
            !decoded(key, true).eq_ignore_ascii_case("$skiptoken")
        })
        .collect();
    let token = data_encoding::BASE64URL_NOPAD.encode(last.as_bytes());
    format!("{path}?{}&%24skiptoken={token}", kept.join("&"))
}

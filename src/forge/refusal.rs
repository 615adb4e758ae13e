//! Classifies unsuccessful answers.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;

use super::answer::{Kind, kind_of};
use super::fault::{FaultKind, Words};
use super::limits::{WAIT_DEFAULT, WAIT_MAX};

/// An unsuccessful answer.
#[derive(Debug)]
pub(super) struct Refusal<'a> {
    pub(super) status: u16,
    pub(super) headers: &'a HeaderMap,
    /// The current time.
    pub(super) now: Timestamp,
}

impl Refusal<'_> {
    /// Classifies the answer by status and headers; `body` returns its text, without the token.
    pub(super) fn kind(&self, body: impl Fn() -> String) -> FaultKind {
        let status = self.status;
        if let Some(until) = self.wait_until() {
            return FaultKind::Wait { status, until };
        }
        let text = body();
        let because = Words::of(&said(&text));
        match status {
            300..=399 => FaultKind::Redirects { status, to: self.leads_to() },
            401 => FaultKind::NotAccepted { because },
            403 => FaultKind::Denied { because },
            404 | 410 => FaultKind::NotFound,
            409 => FaultKind::Conflict { because },
            500.. => FaultKind::Broken { status, because },
            400..=499 if kind_of(text.as_bytes()) == Kind::Html => {
                FaultKind::NotTheApi { status, what: "a page of HTML".to_owned() }
            }
            400..=499 => FaultKind::Invalid { status, because },
            _ => FaultKind::NotTheApi { status, what: "an unknown status".to_owned() },
        }
    }

    /// Returns the earliest time of the next request: after 429, and after GitHub's equivalents, a 403 with a time or
    /// without remaining requests.
    fn wait_until(&self) -> Option<Timestamp> {
        let asked = self.header(RETRY_AFTER.as_str()).and_then(|text| self.retry_after(text));
        let is_used_up = self.header("x-ratelimit-remaining") == Some("0");
        let reset = self.header("x-ratelimit-reset").filter(|_| is_used_up);
        let reset = reset.and_then(|text| Timestamp::from_second(text.trim().parse().ok()?).ok());
        let is_meant = match self.status {
            429 => true,
            403 => asked.is_some() || reset.is_some(),
            503 => asked.is_some(),
            _ => false,
        };
        let until = asked.or(reset).unwrap_or_else(|| self.after(WAIT_DEFAULT));
        is_meant.then(|| until.clamp(self.now, self.after(WAIT_MAX)))
    }

    /// Parses `Retry-After`, a number of seconds or a date.
    fn retry_after(&self, text: &str) -> Option<Timestamp> {
        let text = text.trim();
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
        if is_number {
            let seconds = text.parse().unwrap_or(u64::MAX);
            return Some(self.after(Duration::from_secs(seconds).min(WAIT_MAX)));
        }
        jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp())
    }

    fn after(&self, wait: Duration) -> Timestamp {
        let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
        self.now.saturating_add(wait).unwrap_or(Timestamp::MAX)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the scheme and host of a redirect; the rest may contain anything.
    fn leads_to(&self) -> String {
        let url = self.header(LOCATION.as_str()).map(url::Url::parse);
        match url {
            Some(Ok(url)) => url.origin().ascii_serialization(),
            // A path of the same host.
            Some(Err(_)) => "another path".to_owned(),
            None => "an unknown address".to_owned(),
        }
    }
}

/// Returns an error's message: `message` of Gitea, GitHub and Azure DevOps, with GitHub's `errors`; `message`, `error`
/// or `error_description` of GitLab, which may be lists and objects.
fn said(text: &str) -> String {
    let Ok(Value::Object(body)) = serde_json::from_str(text) else { return String::new() };
    let field = |name: &str| body.get(name).map(words).filter(|words| !words.is_empty());
    let message = field("message").or_else(|| field("error_description")).or_else(|| field("error"));
    [message, field("errors")].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Returns the texts in a value; for GitHub's errors `message`, else field and `code`.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join("; "),
        Value::Object(error) => match (error.get("message"), error.get("field"), error.get("code")) {
            (Some(message), _, _) if !message.is_null() => words(message),
            (_, Some(field), Some(code)) => format!("{} {}", words(field), words(code)),
            _ => error
                .iter()
                .map(|(name, value)| format!("{name}: {}", words(value)))
                .collect::<Vec<_>>()
                .join("; "),
        },
        Value::Number(number) => number.to_string(),
        Value::Bool(_) | Value::Null => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn kind(status: u16, headers: &[(&'static str, &str)], body: &str) -> String {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        let headers: HeaderMap = headers.iter().map(pair).collect();
        let now = "2026-11-29T12:00:00Z".parse().unwrap();
        Refusal { status, headers: &headers, now }.kind(|| body.to_owned()).to_string()
    }

    #[test]
    fn every_status_says_what_it_means() {
        let message = r#"{"message": "no\u001b[2J"}"#;
        for (status, text) in [
            (
                302,
                "it redirects to `an unknown address` (302), which is not followed, because it would send the token there",
            ),
            (400, "the request was not accepted (400): no\u{fffd}[2J"),
            (401, "the token was not accepted (401): no\u{fffd}[2J"),
            (403, "the token has no permission (403): no\u{fffd}[2J"),
            (404, "it does not exist, or the token may not see it (404)"),
            (409, "it conflicts with something that exists (409): no\u{fffd}[2J"),
            (422, "the request was not accepted (422): no\u{fffd}[2J"),
            (500, "it failed (500): no\u{fffd}[2J"),
            (599, "it failed (599): no\u{fffd}[2J"),
        ] {
            assert_eq!(kind(status, &[], message), text);
        }
        assert_eq!(kind(400, &[], "<html>"), "the answer (400) is not one of its API: a page of HTML");
        assert_eq!(kind(502, &[], "<html>"), "it failed (502)");
    }

    #[test]
    fn too_many_requests_is_a_time_to_wait_until_and_never_more_than_an_hour() {
        let minute = "too many requests (429): waiting until 2026-11-29T12:01:00Z";
        let hour = "too many requests (429): waiting until 2026-11-29T13:00:00Z";
        assert_eq!(kind(429, &[], ""), minute);
        assert_eq!(kind(429, &[("retry-after", "60")], ""), minute);
        assert_eq!(kind(429, &[("retry-after", "Sun, 29 Nov 2026 12:01:00 GMT")], ""), minute);
        assert_eq!(kind(429, &[("retry-after", "soon")], ""), minute);
        assert_eq!(kind(429, &[("retry-after", "-5")], ""), minute);
        for long in ["99999999", "99999999999999999999999999", "Sun, 29 Nov 2099 12:00:00 GMT"] {
            assert_eq!(kind(429, &[("retry-after", long)], ""), hour);
        }
        let now = "too many requests (429): waiting until 2026-11-29T12:00:00Z";
        assert_eq!(kind(429, &[("retry-after", "Sun, 29 Nov 2020 12:00:00 GMT")], ""), now);
    }

    #[test]
    fn github_says_too_many_requests_by_403_too() {
        let reset = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1795953900")];
        assert_eq!(kind(403, &reset, ""), "too many requests (403): waiting until 2026-11-29T12:05:00Z");
        assert_eq!(
            kind(403, &[("retry-after", "30")], ""),
            "too many requests (403): waiting until 2026-11-29T12:00:30Z"
        );
        let left = [("x-ratelimit-remaining", "7"), ("x-ratelimit-reset", "1795953900")];
        assert_eq!(kind(403, &left, ""), "the token has no permission (403)");
    }

    #[test]
    fn the_words_of_each_forge_are_found() {
        for (body, words) in [
            (
                r#"{"message": "Validation Failed", "errors": [{"resource": "PullRequest", "code": "custom", "message": "No commits"}]}"#,
                "Validation Failed; No commits",
            ),
            (
                r#"{"message": "Validation Failed", "errors": [{"field": "head", "code": "invalid"}]}"#,
                "Validation Failed; head invalid",
            ),
            (
                r#"{"message": ["Another open merge request already exists"]}"#,
                "Another open merge request already exists",
            ),
            (r#"{"message": {"title": ["is too long"]}}"#, "title: is too long"),
            (r#"{"error": "insufficient_scope", "error_description": "needs api"}"#, "needs api"),
            (
                r#"{"$id": "1", "message": "TF401179: exists", "typeKey": "X", "eventId": 0}"#,
                "TF401179: exists",
            ),
            ("[]", ""),
            ("nothing", ""),
        ] {
            assert_eq!(said(body), words);
        }
    }

    #[test]
    fn a_redirect_names_the_host_alone() {
        let to = |location| kind(307, &[("location", location)], "");
        let words = |to| {
            format!(
                "it redirects to `{to}` (307), which is not followed, because it would send the token there"
            )
        };
        assert_eq!(to("https://evil.example/a?token=canary"), words("https://evil.example"));
        assert_eq!(to("/login"), words("another path"));
    }
}

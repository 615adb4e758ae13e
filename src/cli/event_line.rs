//! A rollout event as a progress line: the node's name once, then the action.
//!
//! Lines fit a terminal of the usual width. Azure's messages are cut after their first sentence; the full text is in
//! `-o jsonl` and in the final output. Never prints anything.

use crate::plan::{Change, ChangeId, PlanSpec};
use crate::render::wrap::wrapped;
use crate::render::{Line, Style};
use crate::rollout::{Effect, Event, Object, Outcome};

/// Maximum width of a progress line, also on wider terminals: lines of equal width are easier to compare.
const COLUMNS_MAX: usize = 80;

/// First words of the text of a failed request, before the path.
const METHODS: [&str; 5] = ["DELETE", "GET", "PATCH", "POST", "PUT"];

/// Returns the lines of an event, prefixed with `time` if given; empty for events that are not shown.
pub(super) fn lines(spec: &PlanSpec, event: &Event, time: Option<&str>, columns: usize) -> Vec<Line> {
    let Some(line) = line(spec, event) else { return Vec::new() };
    let columns = columns.min(COLUMNS_MAX);
    let Some(time) = time else { return wrapped(&line, columns) };
    let width = time.chars().count();
    let lead = |place: usize| if place == 0 { time.to_owned() } else { " ".repeat(width) };
    let parts = wrapped(&line, columns.saturating_sub(width)).into_iter().enumerate();
    let led = parts.map(|(place, part)| {
        let lead = Line::new(Style::Dim, lead(place));
        part.spans.into_iter().fold(lead, |line, span| line.with(span.style, span.text))
    });
    led.collect()
}

fn line(spec: &PlanSpec, event: &Event) -> Option<Line> {
    let of = |change: &ChangeId, style: Style, text: String| {
        let head = Head::of(spec, change);
        let text = head.without_own_name(&text);
        Some(head.line().with(style, text))
    };
    match event {
        Event::Began(action) => match is_worth_a_line(&action.effect) {
            true => of(&action.change, Style::Plain, doing(&action.effect)),
            false => None,
        },
        Event::Did(_) => None,
        Event::TriesAgain { action, because, is_new } => {
            if let Effect::Evict(pod) = &action.effect {
                let text = format!("`{}` not evicted yet: {}", pod.key, first_sentence(because));
                return of(&action.change, Style::Dim, text);
            }
            if !is_new {
                return None;
            }
            let text = format!("{} failed, trying again: {}", doing(&action.effect), first_sentence(because));
            of(&action.change, Style::Warning, text)
        }
        Event::Failed { action, because } => {
            let text = format!("{} failed: {}", doing(&action.effect), first_sentence(because));
            of(&action.change, Style::Warning, text)
        }
        Event::Panicked { action, because } => {
            of(&action.change, Style::Warning, format!("{}: {because}", doing(&action.effect)))
        }
        Event::Waits { change, wait } => of(change, Style::Dim, format!("waiting for {}", wait.what)),
        Event::Settled { change, outcome } => {
            let style = if outcome.is_so() { Style::Bold } else { Style::Warning };
            of(change, style, settled(outcome))
        }
        Event::Blind { because } => {
            let text = format!("paused: cannot read {}", first_sentence(because));
            Some(Line::new(Style::Warning, text))
        }
    }
}

/// The start of a line.
struct Head<'a> {
    style: Style,
    symbol: &'static str,
    name: &'a str,
}

impl<'a> Head<'a> {
    fn of(spec: &'a PlanSpec, change: &'a ChangeId) -> Self {
        let head = |style, symbol, name| Self { style, symbol, name };
        match spec.changes.get(change).map(|planned| &planned.change) {
            Some(Change::Create(create)) => head(Style::Add, "+", &create.vm),
            Some(Change::Delete(delete)) => head(Style::Remove, "-", delete.target.node.as_str()),
            Some(Change::Update(update)) => head(Style::Change, "~", update.target.node.as_str()),
            Some(Change::Adopt(adopt)) => head(Style::Change, "i", adopt.target.node.as_str()),
            Some(Change::Forget(forget)) => head(Style::Change, ".", forget.target.node.as_str()),
            Some(Change::NoOp(_)) | None => head(Style::Change, "~", &change.0),
        }
    }

    fn line(&self) -> Line {
        let Self { style, symbol, name } = *self;
        Line::new(style, symbol).with(Style::Plain, format!(" `{name}`  "))
    }

    /// Removes the name that the line starts with: of its VM only `VM` remains, of its node nothing.
    fn without_own_name(&self, text: &str) -> String {
        let mut short = String::new();
        // Names are in backticks, so every second part is a name.
        for (place, part) in text.split('`').enumerate() {
            if place % 2 == 0 {
                short.push_str(part);
            } else if self.is_own(part) {
                let kept = short.strip_suffix(" of node ").unwrap_or(short.trim_end()).len();
                short.truncate(kept);
            } else {
                short.push_str(&format!("`{part}`"));
            }
        }
        short
    }

    /// Returns whether a name is that of the node, or of the VM of a later attempt.
    fn is_own(&self, name: &str) -> bool {
        let Some(rest) = name.strip_prefix(self.name) else { return false };
        let attempt = rest.strip_prefix('-').filter(|attempt| !attempt.is_empty());
        rest.is_empty() || attempt.is_some_and(|attempt| attempt.bytes().all(|digit| digit.is_ascii_digit()))
    }
}

/// Returns a description of the action.
fn doing(effect: &Effect) -> String {
    let plain = match effect {
        Effect::CreateVm(attempt) if attempt.number > 1 => {
            return format!("creating VM (attempt {})", attempt.number);
        }
        Effect::Evict(pod) => return format!("evicting `{}`", pod.key),
        Effect::DeletePod(pod) => return format!("deleting pod `{}`", pod.key),
        Effect::Nominate(pod) => return format!("nominating it for pod `{}`", pod.key),
        Effect::CreateVm(_) => "creating VM",
        Effect::DeleteVm(_) => "deleting VM",
        Effect::CreateClaim(_) => "creating NodeClaim",
        Effect::CreateToken => "creating bootstrap token",
        Effect::DeleteToken(_) => "deleting bootstrap token",
        Effect::PutInterface(_) => "creating NIC",
        Effect::PutExtension(_) => "adding billing extension",
        Effect::DeleteInterface(_) => "deleting NIC",
        Effect::Confirm(_) => "asking Azure",
        Effect::Tag(_) => "setting tags",
        Effect::Patch(patch) => match patch.object {
            Object::Claim(_) => "updating NodeClaim",
            Object::Node(_) => "updating Node",
        },
        Effect::DeleteObject(object) => match object.object {
            Object::Claim(_) => "deleting NodeClaim",
            Object::Node(_) => "deleting Node",
        },
        Effect::Record(_) => "recording the result",
    };
    plain.to_owned()
}

fn settled(outcome: &Outcome) -> String {
    match outcome.because() {
        Some(because) => format!("{}: {}", outcome.word(), first_sentence(because)),
        None => outcome.word().to_owned(),
    }
}

/// Returns the first sentence of a message, without its full stop and without the failed request: the line already
/// names the action and the node, and Azure's ids are wider than a terminal.
fn first_sentence(text: &str) -> &str {
    let text = without_request(text.lines().next().unwrap_or_default());
    text.split(". ").next().unwrap_or_default().trim_end_matches('.')
}

fn without_request(text: &str) -> &str {
    let request = text.split_once(": ").and_then(|(request, rest)| Some((request.split_once(' ')?, rest)));
    match request {
        Some(((method, path), rest))
            if METHODS.contains(&method) && path.starts_with('/') && !path.contains(' ') =>
        {
            rest
        }
        Some(_) | None => text,
    }
}

/// Returns whether an action is shown; writes to dependent cluster objects are not.
fn is_worth_a_line(effect: &Effect) -> bool {
    match effect {
        Effect::CreateVm(_) | Effect::DeleteVm(_) | Effect::Evict(_) | Effect::DeletePod(_) => true,
        Effect::CreateClaim(_)
        | Effect::CreateToken
        | Effect::DeleteToken(_)
        | Effect::PutInterface(_)
        | Effect::PutExtension(_)
        | Effect::DeleteInterface(_)
        | Effect::Confirm(_)
        | Effect::Tag(_)
        | Effect::Patch(_)
        | Effect::Nominate(_)
        | Effect::DeleteObject(_)
        | Effect::Record(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Head, Style, first_sentence, lines};
    use crate::plan::tests::world::example_plan;
    use crate::render::line::plain_text;
    use crate::rollout::{Action, Attempt, Effect, Event, Outcome};

    const AZURE: &str = "the zone has no capacity for this size (ZonalAllocationFailed): Allocation failed. We do not have \
                         sufficient capacity for the requested VM size in this zone. Read more at http://aka.ms/x";

    #[test]
    fn a_line_names_its_node_once_and_fits_80_columns() {
        let plan = example_plan();
        let (change, create, _) = plan.spec.creates().next().expect("a node is created");
        let attempt = |number: u32| Attempt {
            claim: create.claim.clone(),
            claim_uid: Arc::from("u"),
            number,
            choice: 0,
            name: Arc::from(format!("{}-{number}", create.vm)),
        };
        let action = |number| Action { change: change.clone(), effect: Effect::CreateVm(attempt(number)) };
        let path = "/subscriptions/0/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines";
        let because = format!("PUT {path}/{}: {AZURE}", create.vm);
        let failed = Event::Failed { action: action(2), because };
        let because = Arc::<str>::from(AZURE);
        let settled = Outcome::Failed { code: Arc::from("ZonalAllocationFailed"), because };
        let settled = Event::Settled { change: change.clone(), outcome: settled };
        for (event, said) in [
            (Event::Began(action(1)), "creating VM"),
            (Event::Began(action(2)), "creating VM (attempt 2)"),
            (failed, "(ZonalAllocationFailed): Allocation failed\n"),
            (settled, "failed: the zone"),
        ] {
            for columns in [70, 200] {
                let text = plain_text(&lines(&plan.spec, &event, Some("00:51  "), columns));
                let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(text.matches(&*create.vm).count(), 1, "{text}");
                assert!(text.starts_with(&format!("00:51  + `{}`  ", create.vm)), "{text}");
                assert!(text.contains(said) || joined.contains(said.trim_end()), "{text}");
                assert!(text.lines().all(|line| line.chars().count() <= columns.min(80)), "{text}");
                assert!(!text.contains("sufficient") && !text.contains("/subscriptions/"), "{text}");
            }
        }
    }

    #[test]
    fn what_a_line_waits_for_leaves_out_its_own_name_and_no_other() {
        let head = Head { style: Style::Add, symbol: "+", name: "aks-a" };
        for (text, short) in [
            ("waiting for VM `aks-a` to join", "waiting for VM to join"),
            ("waiting for VM `aks-a-2` to be gone", "waiting for VM to be gone"),
            ("waiting for 1 pod of node `aks-a` to end", "waiting for 1 pod to end"),
            (
                "waiting for node `aks-ab`, which takes its pods",
                "waiting for node `aks-ab`, which takes its pods",
            ),
            ("evicting `aks-a/aks-a`", "evicting `aks-a/aks-a`"),
            ("waiting for VM `aks-a2` to join", "waiting for VM `aks-a2` to join"),
        ] {
            assert_eq!(head.without_own_name(text), short);
        }
        assert_eq!(first_sentence("version 1.2 is old. Use another."), "version 1.2 is old");
        assert_eq!(first_sentence("no capacity."), "no capacity");
    }

    #[test]
    fn the_symbol_has_its_colour_and_the_words_stand_alone_without() {
        let plan = example_plan();
        let (change, _) = plan.spec.deletes().next().expect("a node is deleted");
        let event = Event::Settled { change: change.clone(), outcome: Outcome::Done };
        let lines = lines(&plan.spec, &event, None, 80);
        let styles: Vec<Style> = lines[0].spans.iter().map(|span| span.style).collect();
        assert!(styles.contains(&Style::Remove) && styles.contains(&Style::Bold), "{styles:?}");
        assert_eq!(plain_text(&lines), "- `empty-1`  done\n");
    }
}

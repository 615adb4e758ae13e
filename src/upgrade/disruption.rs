//! Converts expiry and consolidation settings of older pools to `disruption` and `expireAfter`.

use super::remark::{Job, Sort};
use super::syntax::{Entry, Node};

/// Formats seconds in the largest unit, up to hours, that divides them: `2592000` is `720h`.
fn duration(seconds: i64) -> String {
    match seconds {
        0 => "0s".to_owned(),
        _ if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        _ if seconds % 60 == 0 => format!("{}m", seconds / 60),
        _ => format!("{seconds}s"),
    }
}

/// Expiry and consolidation fields of a Provisioner.
#[derive(Default)]
pub(super) struct Times {
    expired: Option<Entry>,
    empty: Option<Entry>,
    consolidation: Option<Entry>,
}

impl Times {
    /// Stores one of the fields.
    pub(super) fn take(&mut self, entry: Entry) {
        match &*entry.key {
            "ttlSecondsUntilExpired" => self.expired = Some(entry),
            "ttlSecondsAfterEmpty" => self.empty = Some(entry),
            _ => self.consolidation = Some(entry),
        }
    }

    /// Writes the fields into the spec of a NodePool.
    pub(super) fn write(self, spec: &mut Node, job: &mut Job<'_>) {
        let Self { expired, empty, consolidation } = self;
        let seconds = |entry: &Entry| entry.value.as_integer().filter(|seconds| *seconds >= 0);
        let expire = match expired {
            Some(entry) => {
                let age = seconds(&entry).map_or_else(|| "Never".to_owned(), duration);
                let now = format!("`spec.template.spec.expireAfter: {age}`");
                job.moved((entry.line, &["spec", "ttlSecondsUntilExpired"]), &now);
                entry.renamed("expireAfter").with(Node::text(&age))
            }
            None => {
                let message = "nodes of a Provisioner without `ttlSecondsUntilExpired` never expired, those of a NodePool \
                               do after 720h: `spec.template.spec.expireAfter: Never` is written out";
                job.say(Sort::Noted, (spec.line, &["spec"]), message.to_owned(), None);
                Entry::new("expireAfter", Node::text("Never"))
            }
        };
        spec.put_at("template.spec", expire);
        let is_on = consolidation.as_ref().is_some_and(|entry| {
            entry.value.get("enabled").and_then(Node::scalar).as_deref() == Some("true")
        });
        let (policy, after, from) = match (consolidation, empty) {
            (Some(entry), other) if is_on => {
                let now = "`spec.disruption.consolidationPolicy: WhenEmptyOrUnderutilized`";
                job.moved((entry.line, &["spec", "consolidation"]), now);
                if let Some(other) = other {
                    job.lost(
                        (other.line, &["spec", "ttlSecondsAfterEmpty"]),
                        "was never allowed beside `consolidation`",
                        "set `spec.disruption.consolidateAfter` where nodes should wait",
                    );
                }
                ("WhenEmptyOrUnderutilized", "0s".to_owned(), Some(entry))
            }
            (_, Some(entry)) => {
                let after = seconds(&entry).map_or_else(|| "Never".to_owned(), duration);
                let now = format!(
                    "`spec.disruption.consolidateAfter: {after}` with `consolidationPolicy: WhenEmpty`"
                );
                job.moved((entry.line, &["spec", "ttlSecondsAfterEmpty"]), &now);
                ("WhenEmpty", after, Some(entry))
            }
            (off, None) => {
                if let Some(entry) = &off {
                    let now = "`spec.disruption.consolidateAfter: Never`";
                    job.moved((entry.line, &["spec", "consolidation"]), now);
                } else {
                    let message = "a Provisioner without `ttlSecondsAfterEmpty` and `consolidation` removed no node by \
                                   itself, a NodePool does: `spec.disruption.consolidateAfter: Never` is written out";
                    job.say(Sort::Noted, (spec.line, &["spec"]), message.to_owned(), None);
                }
                ("WhenEmpty", "Never".to_owned(), off)
            }
        };
        let mut policy = Entry::new("consolidationPolicy", Node::text(policy));
        let mut after = Entry::new("consolidateAfter", Node::text(&after));
        if let Some(mut entry) = from {
            // A comment on the number's line stays with the number.
            entry.lead_to(&mut policy);
            if entry.value.as_integer().is_some() {
                after = entry.renamed("consolidateAfter").with(after.value);
            }
        }
        spec.put_at("disruption", policy);
        spec.put_at("disruption", after);
    }
}

/// Rewrites `disruption` of `karpenter.sh/v1beta1`. Returns whether anything changed.
pub(super) fn beta(spec: &mut Node, job: &mut Job<'_>) -> bool {
    let mut is_changed = false;
    if spec.at("disruption.expireAfter").is_some()
        && let Some(entry) = spec.at_mut("disruption").and_then(|disruption| disruption.take("expireAfter"))
    {
        is_changed = true;
        let at: (usize, &[&str]) = (entry.line, &["spec", "disruption", "expireAfter"]);
        let there = spec.at("template.spec.expireAfter").and_then(Node::scalar);
        match there.filter(|there| entry.value.scalar().as_ref() != Some(there)) {
            // Only the author knows which of the two is intended, so the one in effect today is kept.
            Some(there) => {
                let message = format!("is now `spec.template.spec.expireAfter`, which says `{there}` here");
                job.say(Sort::Lost, at, message, None);
            }
            None => {
                job.moved(at, "`spec.template.spec.expireAfter`");
                spec.put_at("template.spec", entry);
            }
        }
    }
    is_changed |= spec.edit_at("disruption.consolidationPolicy", |policy| {
        if policy.as_text() != Some("WhenUnderutilized") {
            return false;
        }
        let at: &[&str] = &["spec", "disruption", "consolidationPolicy"];
        job.moved((policy.line, at), "`WhenEmptyOrUnderutilized`");
        *policy = Node::text("WhenEmptyOrUnderutilized");
        true
    });
    is_changed |= spec.edit_at("disruption.budgets", |budgets| {
        budgets.edit_parts(|place, _, budget| {
            let index = format!("[{place}]");
            budget.edit_at("reasons", |reasons| {
                self::reasons(reasons, &["spec", "disruption", "budgets", &index, "reasons"], job)
            })
        })
    });
    // Without its reason, a budget for expiry only would apply to all disruption.
    is_changed |= spec.edit_at("disruption.budgets", |budgets| {
        let is_void = |budget: &Entry| budget.value.get("reasons").is_some_and(Node::is_empty);
        if !budgets.items().iter().any(is_void) {
            return false;
        }
        budgets.parts_mut().into_iter().for_each(|parts| parts.retain(|budget| !is_void(budget)));
        true
    });
    if spec.at("disruption.budgets").is_some_and(Node::is_empty)
        && let Some(disruption) = spec.at_mut("disruption")
    {
        disruption.take("budgets");
    }
    if spec.get("disruption").is_some_and(Node::is_empty) {
        spec.take("disruption");
    }
    is_changed
}

/// Rewrites the reasons of a budget: they are capitalized in v1, and expiry is no longer one of them.
fn reasons(list: &mut Node, path: &[&str], job: &mut Job<'_>) -> bool {
    const REASONS: [&str; 3] = ["Underutilized", "Empty", "Drifted"];
    let mut expired = None;
    let is_changed = list.edit_parts(|place, _, reason| {
        let text = reason.as_text().unwrap_or_default().to_owned();
        let index = format!("[{place}]");
        let at = [path, &[&index]].concat();
        if text.eq_ignore_ascii_case("expired") {
            expired = Some(place);
            job.lost(
                (reason.line, &at),
                "is no longer a reason: expiry ignores budgets",
                "`spec.template.spec.terminationGracePeriod` bounds how long an expired node drains",
            );
            return false;
        }
        let wanted = REASONS.into_iter().find(|known| known.eq_ignore_ascii_case(&text) && *known != text);
        let Some(wanted) = wanted else { return false };
        job.moved((reason.line, &at), &format!("`{wanted}`"));
        *reason = Node::text(wanted);
        true
    });
    if let Some(parts) = expired.and_then(|place| list.parts_mut().map(|parts| (place, parts))) {
        parts.1.remove(parts.0);
    }
    is_changed || expired.is_some()
}

//! All fields of a plan's spec and how each is verified: the page shows it, or apply derives it again and compares.
//!
//! The file has no field without effect. A test changes every leaf of plans and compares the results with this table.
//! Must never decide anything: it describes what `covers`, `approve` and the page do.

use Held::{Both, Derived, Shown};

/// How a field is tied to what was reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// `PLAN.md` shows it.
    Shown,
    /// Apply derives it again and compares: a difference is rejected or ignored.
    Derived,
    /// Both.
    Both,
}

impl Held {
    /// Returns whether `PLAN.md` shows it.
    #[must_use]
    pub const fn is_shown(self) -> bool {
        matches!(self, Self::Shown | Self::Both)
    }

    /// Returns its description for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Derived => "derived again",
            Self::Both => "shown and derived again",
        }
    }
}

/// A field, including everything below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Path below `spec`; `*` is any key or index.
    pub path: &'static str,
    /// How it is verified.
    pub held: Held,
    /// What verifies it.
    pub by: &'static str,
}

const fn field(path: &'static str, held: Held, by: &'static str) -> Field {
    Field { path, held, by }
}

/// All fields of `spec`.
pub const FIELDS: &[Field] = &[
    field("cluster", Derived, "the checker: that of `execution.cluster`, the cluster that is applied to"),
    field("scope", Derived, "the checker: the NodePools that the plan was made from"),
    field("parent", Derived, "names nothing that is sent: creates are known by their own names"),
    field("whatIf", Derived, "a plan with assumptions (what-if) is never applied"),
    field("targets", Derived, "planning again is narrowed to it, and adds nothing"),
    field("wishes", Derived, "planning again asks for it, and adds nothing"),
    field("expiresAt", Shown, "the head, and `Ids and digests`; at most 30 days after `execution.seenAt`"),
    field("inputs", Derived, "the checker, and the preconditions of creates"),
    field(
        "claims",
        Both,
        "`Create` and `Other settings`; compared with the NodeClaim that planning again asks for",
    ),
    field("changes.*.change", Both, "`Create`, `Delete` and `Update in place`; compared with planning again"),
    field("changes.*.preconditions", Derived, "the fresh plan: its preconditions must be included"),
    field("waves", Both, "`Order`; applied in the order of the fresh plan, never with more concurrency"),
    field("execution.cluster", Both, "`Ids and digests`; compared with the cluster that is applied to"),
    field("execution.seenAt", Shown, "`Ids and digests`; not in the future"),
    field(
        "execution.machines",
        Both,
        "`Create` and `Other settings`; compared whole, but for an image of at most 30 days",
    ),
    field(
        "execution.launches",
        Both,
        "`Create` and `Other settings`; compared whole, but for choices that are gone by now",
    ),
    field(
        "execution.nodes",
        Derived,
        "every id is compared with the node, its NodeClaim and its VM as they are",
    ),
    field("execution.removals.*.grace", Both, "`Delete`; planning again: never shorter than was approved"),
    field("execution.removals.*.after", Derived, "the fresh plan: waits for all dependencies of either"),
    field(
        "execution.removals.*.owners",
        Both,
        "`Delete`; compared with the owners of the pods that are there",
    ),
    field("execution.nominations", Shown, "`Create`"),
    field("execution.madeFor", Shown, "`Create`"),
];

/// Returns the field that contains a path, given by its keys and indices.
#[must_use]
pub fn of(path: &[&str]) -> Option<&'static Field> {
    FIELDS.iter().find(|field| {
        let wanted: Vec<&str> = field.path.split('.').collect();
        wanted.len() <= path.len() && wanted.iter().zip(path).all(|(one, other)| *one == "*" || one == other)
    })
}

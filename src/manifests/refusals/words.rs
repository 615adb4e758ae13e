//! Parses the sentences in which Karpenter's Azure provider reports that Azure refused a VM.
//!
//! The provider replaces Azure's sentence with its own, embedded in others. A sentence that is truncated, or is not one
//! of these, is ignored: it is never an error.

use std::ops::Range;

use jiff::SignedDuration;

use crate::model::{CapacityType, RefusedBecause, RefusedPlace, SkuName, Zone};

/// Time for which the quota of a family counts as exhausted; smaller sizes may still fit. The provider waits for an
/// hour if the limit is 0, which its sentence does not state.
const QUOTA: SignedDuration = SignedDuration::from_mins(10);
/// Time for which the spot quota counts as exhausted.
const QUOTA_OF_SPOT: SignedDuration = SignedDuration::from_hours(1);
/// Time for which capacity counts as unavailable, and spot as sold out.
const NO_ROOM: SignedDuration = SignedDuration::from_hours(1);
/// Time for which a size counts as not sold, except for spot: this rarely changes within a day.
const NOT_SOLD: SignedDuration = SignedDuration::from_hours(23);

/// Maximum length of a text that is accepted as the name of a size.
const NAME_LENGTH_MAX: usize = 80;

/// A refusal parsed from a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// The reason.
    pub(super) because: RefusedBecause,
    /// The size; `None` if the sentence names none.
    pub(super) size: Option<SkuName>,
    /// The zones.
    pub(super) place: RefusedPlace,
    /// The capacity type; `None` for both.
    pub(super) capacity_type: Option<CapacityType>,
    /// Time for which the provider avoids such offerings: its own values, in minutes and hours.
    pub(super) lasts: SignedDuration,
    /// Range of the sentence in the message.
    stands: Range<usize>,
}

/// Finds a refusal in a message.
pub(super) fn read(message: &str) -> Option<Words> {
    FORMS.iter().find_map(|form| form.read(message))
}

/// Returns the part of a message that reports a refusal; the rest may name anything.
pub(super) fn part(message: &str) -> &str {
    read(message).map_or("", |words| &message[words.stands])
}

/// A sentence pattern: its parts in order, and its meaning.
struct Form {
    parts: &'static [Part],
    because: RefusedBecause,
    /// Default, if the sentence does not state it.
    capacity_type: Option<CapacityType>,
    lasts: SignedDuration,
}

/// A part of a sentence pattern.
enum Part {
    Text(&'static str),
    Size,
    /// The zone that is affected.
    Zone,
    /// The zone that was tried: every zone is affected, or offerings without a zone if none was requested.
    Tried,
    Bought,
}

use Part::{Bought, Size, Text, Tried, Zone as InZone};

/// The sentence patterns; of two with the same beginning, the longer one is first.
const FORMS: &[Form] = &[
    Form {
        parts: &[Text("has reached the regional vCPU quota for spot")],
        because: RefusedBecause::SubscriptionQuotaReached,
        capacity_type: Some(CapacityType::Spot),
        lasts: QUOTA_OF_SPOT,
    },
    Form {
        parts: &[
            Text("subscription level "),
            Bought,
            Text(" vCPU quota for "),
            Size,
            Text(" has been reached"),
        ],
        because: RefusedBecause::SubscriptionQuotaReached,
        capacity_type: None,
        lasts: QUOTA,
    },
    Form {
        parts: &[
            Text("the requested SKU is unavailable for instance type "),
            Size,
            Text(" in zone "),
            Tried,
            Text(" with capacity type "),
            Bought,
        ],
        because: RefusedBecause::SkuNotAvailable,
        capacity_type: None,
        lasts: NOT_SOLD,
    },
    Form {
        parts: &[
            Text("unable to allocate resources in the selected zone ("),
            InZone,
            Text(") with "),
            Bought,
            Text(" capacity type and "),
            Size,
            Text(" VM size"),
        ],
        because: RefusedBecause::OverconstrainedZonalAllocationFailure,
        capacity_type: None,
        lasts: NO_ROOM,
    },
    Form {
        parts: &[Text("unable to allocate resources in the selected zone ("), InZone, Text(").")],
        because: RefusedBecause::ZonalAllocationFailure,
        capacity_type: None,
        lasts: NO_ROOM,
    },
    Form {
        parts: &[Text("unable to allocate resources with selected VM size ("), Size, Text(")")],
        because: RefusedBecause::AllocationFailure,
        capacity_type: None,
        lasts: NO_ROOM,
    },
    Form {
        parts: &[
            Text("unable to allocate resources in all zones with "),
            Bought,
            Text(" capacity type and "),
            Size,
            Text(" VM size"),
        ],
        because: RefusedBecause::OverconstrainedAllocationFailure,
        capacity_type: None,
        lasts: NO_ROOM,
    },
    Form {
        parts: &[Text("VM size "), Size, Text(" is not supported for this subscription")],
        because: RefusedBecause::SkuNotAvailable,
        capacity_type: None,
        lasts: NOT_SOLD,
    },
];

impl Form {
    fn read(&self, message: &str) -> Option<Words> {
        let Some(Text(first)) = self.parts.first() else { return None };
        let begins = message.find(first)?;
        let mut rest = &message[begins..];
        let mut words = Words {
            because: self.because,
            size: None,
            place: RefusedPlace::Everywhere,
            capacity_type: self.capacity_type,
            lasts: self.lasts,
            stands: begins..begins,
        };
        for part in self.parts {
            rest = part.take(rest, &mut words)?;
        }
        words.stands.end = message.len() - rest.len();
        let is_of_spot = words.capacity_type == Some(CapacityType::Spot);
        if words.because == RefusedBecause::SkuNotAvailable && is_of_spot {
            words.lasts = NO_ROOM;
        }
        Some(words)
    }
}

impl Part {
    /// Removes the part from the text; `None` if the text does not begin with it.
    fn take<'t>(&self, text: &'t str, words: &mut Words) -> Option<&'t str> {
        if let Text(wanted) = self {
            return text.strip_prefix(wanted);
        }
        let end = text.find(|letter: char| !is_of_name(letter)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        match self {
            Text(_) => {}
            Bought => words.capacity_type = Some(CapacityType::parse(name)?),
            Size => words.size = Some(SkuName::new(named(name)?)),
            InZone => words.place = RefusedPlace::Zone(zone(name)),
            Tried => words.place = scope(&zone(name)),
        }
        Some(rest)
    }
}

const fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

fn named(name: &str) -> Option<&str> {
    Some(name).filter(|name| !name.is_empty() && name.len() <= NAME_LENGTH_MAX)
}

/// Returns a zone as in its label: older versions wrote nothing if no zone was requested.
fn zone(name: &str) -> Zone {
    Zone::new(if name.is_empty() { "0" } else { name })
}

/// Returns the affected zones if a VM in this zone was requested and Azure has none in any zone: every zone, or no
/// zone.
pub(super) fn scope(tried: &Zone) -> RefusedPlace {
    if tried.as_str() == "0" { RefusedPlace::Zone(tried.clone()) } else { RefusedPlace::EveryZone }
}

//! The sentences in which Karpenter's Azure provider says that Azure refused a VM, and what each comes to.
//!
//! The provider puts its own sentence in the place of Azure's and hands it on inside others. A sentence that was cut
//! off before it says all that it has to say, or that is not one of these, says nothing: it is never an error.

use std::ops::Range;

use jiff::SignedDuration;

use crate::model::{CapacityType, RefusedBecause, RefusedPlace, SkuName, Zone};

/// For how long the quota of a family counts as used up: smaller sizes may still fit. The provider waits for an hour
/// where the limit is 0, which its sentence does not say.
const QUOTA: SignedDuration = SignedDuration::from_mins(10);
/// For how long the quota of spot counts as used up.
const QUOTA_OF_SPOT: SignedDuration = SignedDuration::from_hours(1);
/// For how long there counts to be no room, and spot as sold out.
const NO_ROOM: SignedDuration = SignedDuration::from_hours(1);
/// For how long a size counts as not sold that is not about spot: that seldom changes within a day.
const NOT_SOLD: SignedDuration = SignedDuration::from_hours(23);

/// The longest name of a size or zone that is taken for one.
const NAME_LENGTH_MAX: usize = 80;

/// What a message says of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// Why.
    pub(super) because: RefusedBecause,
    /// The size; `None` where the sentence names none.
    pub(super) size: Option<SkuName>,
    /// Where.
    pub(super) place: RefusedPlace,
    /// Bought in which way; `None` for both.
    pub(super) capacity_type: Option<CapacityType>,
    /// For how long the provider leaves such offerings alone: its own times, in minutes and hours.
    pub(super) lasts: SignedDuration,
    /// Where the sentence stands in the message.
    stands: Range<usize>,
}

/// Finds what a message says of a refusal.
pub(super) fn read(message: &str) -> Option<Words> {
    FORMS.iter().find_map(|form| form.read(message))
}

/// Returns the part of a message that says something of a refusal; the rest may name anything.
pub(super) fn part(message: &str) -> &str {
    read(message).map_or("", |words| &message[words.stands])
}

/// A sentence: what stands in it one after the other, and what it comes to.
struct Form {
    parts: &'static [Part],
    because: RefusedBecause,
    /// Where nothing else is said.
    capacity_type: Option<CapacityType>,
    lasts: SignedDuration,
}

/// A part of a sentence.
enum Part {
    Text(&'static str),
    Size,
    /// The zone, which is meant alone.
    Zone,
    /// The zone that was tried: what is meant is every zone, or where no zone is asked for.
    Tried,
    Bought,
}

use Part::{Bought, Size, Text, Tried, Zone as InZone};

/// The sentences; of two that begin alike the longer one stands first.
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
    /// Takes the part off the text; `None` where something else stands there.
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

/// Returns a zone as its label has it: older versions wrote nothing where no zone was asked for.
fn zone(name: &str) -> Zone {
    Zone::new(if name.is_empty() { "0" } else { name })
}

/// Returns what is meant where Azure was asked for a VM in this zone and has none in any: every zone, or none.
pub(super) fn scope(tried: &Zone) -> RefusedPlace {
    if tried.as_str() == "0" { RefusedPlace::Zone(tried.clone()) } else { RefusedPlace::EveryZone }
}

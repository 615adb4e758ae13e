//! The automatic mode: schedules rounds, selects which of their changes start, and builds the NodeFleet's status.
//!
//! ```text
//!  waiting pods ─▶ Batch ┐                     ┌─ creates alone ───────────┐
//!  time ─────────────────┼─▶ Rounds ─▶ round ──┤                           ├─▶ chosen ─▶ what begins
//!  what is in flight ────┘                     └─ the rest, without those  ┘      ▲
//!                                                 that wait in vain             Wants: twice, 15 s apart
//! ```
//!
//! Planning is skipped if nothing has changed since a round without changes ([`Rest`]). Nodes that users delete by hand
//! get a plan of their own ([`by_hand`]), which may start in any round.
//!
//! Values in, decisions out; `controller` acts on them. Never starts a change that is in no checked plan, nor one of a
//! deleted pool.

mod back_off;
mod batch;
mod by_hand;
mod chosen;
mod conditions;
mod drafts;
mod evictions;
pub mod fights;
mod gone;
mod lost;
mod pod_events;
mod rest;
mod rounds;
mod since;
mod standing;
mod startups;
pub mod status;
mod upkeep;
mod waiting;
mod wants;
mod worlds;

pub use back_off::{BackOff, Made, NeverJoined, NotDone, Tried};
pub use batch::Batch;
pub use by_hand::{ByHand, Definition, Waits, by_hand, by_name};
pub use chosen::{Choosing, left_out};
pub use drafts::Drafts;
pub use evictions::{Evictions, SpotOffering};
pub use fights::{Fights, Fought};
pub use gone::gone;
pub use lost::{Lost, LostMark};
pub use pod_events::PodEvents;
pub use rest::{Rest, Rested};
pub use rounds::{InFlight, Next, Rounds};
pub use since::Since;
pub use standing::{FleetRef, Standing, standing};
pub use startups::{Startups, WaitingPod};
pub use status::{Awaiting, Paced, in_flight};
pub use upkeep::{Open, People, Step as ProposalStep, Upkeep, differences};
pub use waiting::{Known, PodWaits, waiting};
pub use wants::Wants;
pub use worlds::{by_itself, creates_alone, to_be_reviewed, without_waiting};

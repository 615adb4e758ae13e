//! The domain types: plain values, valid from construction.
//!
//! Any module may use this one; it depends on no other module of the crate. It never parses documents (that is
//! `manifests` and `policy`), never decides (that is `solve`), and has no behaviour beyond the algebra of its own
//! values.

pub mod allowance;
pub mod amount;
mod approver;
pub mod available_volume;
pub mod buffer;
pub mod canonical;
pub mod claimed;
pub mod disruption;
pub mod disruption_budget;
pub mod eviction;
pub mod fleet;
pub mod gang;
pub mod hold;
pub mod instance_type;
pub mod label;
pub mod learned;
pub mod name;
pub mod node;
pub mod node_class;
pub mod node_selector;
pub mod overlay;
pub mod pod;
pub mod pool;
pub mod preemption;
pub mod preference;
pub mod purpose;
pub mod quantity;
pub mod quota;
pub mod refusal;
pub mod requirement;
pub mod requirement_form;
pub mod resources;
mod reviewed;
pub mod secret;
pub mod secret_json;
pub mod selector;
pub mod shown;
pub mod storage;
pub mod taint;
pub mod values;
pub mod what_if;
pub mod wish;
pub mod written;

pub use amount::{CapacityType, MicroUsd, MicroUsdPerHour, Price};
pub use approver::Approver;
pub use buffer::{Buffer, BufferPods};
pub use canonical::Digest;
pub use claimed::{Claimed, Drift, Lack, Stamp, Trouble};
pub use disruption::{Budget, BudgetNodes, ConsolidationPolicy, Disruption, DisruptionReason};
pub use fleet::{
    Commitment, Discount, Fleet, FleetLimits, MinValuesPolicy, Mode, NetworkSetup, Prefer, Prices, Safety,
    SpreadHosts, Strategy,
};
pub use gang::{Gang, Gangs, Group, GroupRef};
pub use hold::{ChangeClass, Freeze, FreezeWindow, Hold, Holds};
pub use instance_type::{DataDisks, InstanceType, Offering, OsDisk};
pub use learned::{Alike, Learned, LearnedNode, LearnedSize, Tried};
pub use name::{
    BufferName, ClaimName, ClassName, LabelKey, Namespace, NamespaceLabels, NodeName, OverlayName, PodKey,
    PoolName, Purpose, Region, SkuName, Zone,
};
pub use node::{Node, NodeStage};
pub use node_class::{GpuMode, ImageFamily, NodeClass};
pub use node_selector::NodeSelector;
pub use overlay::{Overlay, Percent, PriceChange};
pub use pod::{
    HostPort, NodeAffinity, Pod, PodAffinityTerm, PodPlace, PodSpec, PodState, Preferred, Protocol,
    SchedulingRule, SpreadConstraint, Strength, Workload,
};
pub use pool::{ExpireAfter, Pool};
pub use preemption::Preemption;
pub use preference::{ExtraCost, Form, Preference};
pub use quantity::Quantity;
pub use quota::{Quota, QuotaLimit, SizeQuota, Taken, Usage};
pub use refusal::{Refusal, RefusedBecause, RefusedPlace};
pub use requirement::{Conflict, Operator, Requirement, Requirements};
pub use requirement_form::RequirementEntry;
pub use resources::{ResourceName, Resources};
pub use reviewed::Reviewed;
pub use secret::{SENSITIVE, Secret};
pub use secret_json::SecretJson;
pub use selector::LabelSelector;
pub use taint::{Effect, SoftTaints, Stance, Taint, Toleration};
pub use values::Values;
pub use what_if::{AbsentNode, Supposed, Target, WhatIf};
pub use wish::Wishes;

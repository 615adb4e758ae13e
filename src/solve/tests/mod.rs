//! Small worlds, each showing one rule: values in, text out.

mod again;
mod apart;
mod availability;
mod beside;
mod choices;
mod consolidation;
mod demand;
mod due;
mod existing;
mod explained;
mod headroom;
mod karpenter;
mod labels;
mod limits;
mod needed;
mod overlays;
mod packing;
mod preferences;
mod prices;
mod replicas;
mod reports;
mod shrink;
mod topology;
mod variety;
mod volumes;
mod world;

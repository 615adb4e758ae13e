//! Assumed values of size fields that the source leaves out: no size may win because less is known about it.
//!
//! The rules are applied where sources are read and instance types are created; this module only lists them. A test
//! checks each row against the code, and `docs/reference/estimates.md` shows them. Must list every field of a size that
//! can be unknown.

/// Assumption about one field of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// The field, as in the JSON of a catalogue.
    pub field: &'static str,
    /// Its value in the default catalogue if Azure does not publish it.
    pub by_default: &'static str,
    /// Its value if user-supplied files leave it out.
    pub left_out: &'static str,
    /// Why this assumption is conservative.
    pub cautious: &'static str,
}

/// Every field that can be unknown.
pub const ASSUMED: [Assumed; 18] = [
    Assumed {
        field: "vcpus",
        by_default: "of sizes that no list describes, the number in the name",
        left_out: "the file is refused",
        cautious: "since version 2 names state the vCPUs; a file without them is damaged",
    },
    Assumed {
        field: "memoryBytes",
        by_default: "of sizes that no list describes: D 4 GiB a vCPU (2 with `l`), E 8 (7 from 96 vCPUs), from version 6; \
                     others are not offered",
        left_out: "the file is refused",
        cautious: "no known size of these series has less",
    },
    Assumed {
        field: "arch",
        by_default: "of sizes that no list describes, arm64 with `p`, else amd64",
        left_out: "the same",
        cautious: "the letter is part of every Arm name, so no pod gets a node that cannot run it",
    },
    Assumed {
        field: "gpus",
        by_default: "a GPU size whose GPUs no list counts is not offered",
        left_out: "the same: sizes that AKS supports for GPUs, and all of N",
        cautious: "it is not taken for a cheap size without GPUs",
    },
    Assumed {
        field: "gpu",
        by_default: "a size with GPUs that is not in AKS' list is not offered",
        left_out: "the same",
        cautious: "without maker and driver no pod can use its GPUs",
    },
    Assumed {
        field: "zones",
        by_default: "all zones of the region; none where these are not known",
        left_out: "none: only \"no zone\" (`0`) is offered",
        cautious: "all sizes of the default are alike, so none wins; a pod that needs a zone is not promised one",
    },
    Assumed {
        field: "capabilities.premiumStorage",
        by_default: "by the name",
        left_out: "neither label value; the OS disk has the dearer price of premium and standard SSD",
        cautious: "pods that ask for either value get another size, and the disk is never too cheap",
    },
    Assumed {
        field: "capabilities.acceleratedNetworking",
        by_default: "by the name",
        left_out: "neither label value; VMs are created without it",
        cautious: "pods that ask for either value get another size, and Azure refuses no VM",
    },
    Assumed {
        field: "capabilities.ephemeral",
        by_default: "by the series, no larger than it is",
        left_out: "none: the OS disk is a managed one",
        cautious: "a managed disk costs, an ephemeral one does not",
    },
    Assumed {
        field: "capabilities.encryptionAtHost",
        by_default: "by the name",
        left_out: "no",
        cautious: "classes that ask for it do not use the size",
    },
    Assumed {
        field: "capabilities.generations",
        by_default: "by the name",
        left_out: "neither label value, no trusted launch, no Kata",
        cautious: "pods and classes that need a generation get another size",
    },
    Assumed {
        field: "capabilities.trustedLaunchDisabled",
        by_default: "by the name",
        left_out: "not disabled",
        cautious: "Azure's answer names it only where it is so; without generation 2 there is none all the same",
    },
    Assumed {
        field: "capabilities.spot",
        by_default: "by the name",
        left_out: "not sold as spot",
        cautious: "the size is bought on demand, which costs more",
    },
    Assumed {
        field: "capabilities.dataDisksMax",
        by_default: "the published table",
        left_out: "the published table; a size that is not in it takes as few as any with as many vCPUs, marked `~`",
        cautious: "Azure attaches no fewer to any such size, so no pod waits for its disk",
    },
    Assumed {
        field: "capabilities.ultraSsdRegional",
        by_default: "no",
        left_out: "no",
        cautious: "a pod that needs an ultra disk is not promised one",
    },
    Assumed {
        field: "capabilities.ultraSsdZones",
        by_default: "none",
        left_out: "none",
        cautious: "a pod that needs an ultra disk is not promised one",
    },
    Assumed {
        field: "onDemand",
        by_default: "unknown",
        left_out: "the default's price of the region, marked `~`; else unknown",
        cautious: "a size of unknown price is used only where no priced one fits, and is named beside every sum",
    },
    Assumed {
        field: "spot",
        by_default: "35 % of the price on demand, marked `~`",
        left_out: "the same; where spot prices of other sizes are given, as large a part of the price on demand as the \
                   largest of these",
        cautious: "discounts are mostly larger, and no size looks cheaper than those whose price is known",
    },
];

/// Returns the list as rows of Markdown.
#[must_use]
pub fn markdown() -> String {
    let row = |assumed: &Assumed| {
        let Assumed { field, by_default, left_out, cautious } = assumed;
        format!("| `{field}` | {by_default} | {left_out} | {cautious} |\n")
    };
    let head = "| field | default catalogue | left out of files that you give | why that is cautious |\n\
                | --- | --- | --- | --- |\n";
    head.to_owned() + &ASSUMED.iter().map(row).collect::<String>()
}

//! The commands and their flags, named as in Terraform, kubectl and az.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use super::context::ContextArguments;
use super::gates::GateArguments;
use super::headings;
use super::init_review::ReviewForge;
use super::input::{InputArguments, KubectlArguments};
use super::laid::LaidArguments;
#[cfg(feature = "live")]
use super::live::LiveArguments;
use super::names::NamesArguments;
use crate::manifests::listed::cluster_kinds;

/// Plans the nodes of a Kubernetes cluster on Azure (AKS).
#[derive(Parser, Debug)]
#[command(name = "nodeform", version, about, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Start here:\n  nodeform init my-cluster\n  nodeform plan my-cluster\n")]
pub(super) struct CommandLine {
    /// Never colour the output
    #[arg(long, global = true)]
    pub(super) no_color: bool,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Show the node changes that manifests need, with cost and reasons
    Plan(PlanArguments),
    /// Apply a plan to a live cluster
    #[cfg(feature = "live")]
    Apply(super::apply::ApplyArguments),
    /// Apply a plan to a simulated cluster: in a minute, without an account
    #[cfg(feature = "sim-server")]
    Demo(super::demo::DemoArguments),
    /// Push a live plan to a branch for review
    #[cfg(feature = "live")]
    Propose(super::propose::ProposeArguments),
    /// Run in the cluster: replan continuously and apply what the NodeFleet allows
    #[cfg(feature = "live")]
    Controller(super::controller::ControllerArguments),
    /// Show what the fleet is doing, from objects of the cluster alone
    #[cfg(feature = "live")]
    Status(super::status::StatusArguments),
    /// Show the nodes of a live cluster: what pods request of them, what they cost, what is planned
    #[cfg(feature = "live")]
    Top(super::top::TopArguments),
    /// Approve a plan that waits in the cluster, where the NodeFleet names no repository
    #[cfg(feature = "live")]
    Approve(super::approve::ApproveArguments),
    /// Reject a plan that waits in the cluster, or stop one that was approved
    #[cfg(feature = "live")]
    Reject(super::approve::RejectArguments),
    /// Show a saved plan
    Show(ShowArguments),
    /// Show how two snapshots, or two saved plans, differ
    Diff(DiffArguments),
    /// Check a saved plan: its digest, and every rule once more
    Verify(VerifyArguments),
    /// Keep nodes that a plan under review would delete
    Narrow(super::narrow::NarrowArguments),
    /// Check manifests: every fault at once
    Validate(ValidateArguments),
    /// Say why: pod/NAME, deployment/NAME, node/NAME, pool/NAME or size/NAME
    Explain(ExplainArguments),
    /// List the sizes of a region, with prices and what pods may use of them
    Catalog(CatalogArguments),
    /// Save what planning needs of manifests and dumps, to plan from later or elsewhere
    Snapshot(SnapshotArguments),
    /// Write starter manifests, optionally from existing agent pools
    Init(InitArguments),
    /// Print the CustomResourceDefinitions
    Crds(CrdsArguments),
    /// Print a JSON Schema
    Schema(SchemaArguments),
    /// Print a shell's completions
    Completions(CompletionsArguments),
    /// Write the man pages
    Man(ManArguments),
    /// Print the version
    Version(VersionArguments),
}

/// What planning needs beside its input.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct WorldArguments {
    #[command(flatten)]
    pub(super) input: InputArguments,
    #[command(flatten)]
    pub(super) laid: LaidArguments,
    #[cfg(feature = "live")]
    #[command(flatten)]
    pub(super) live: LiveArguments,
    #[cfg(feature = "live")]
    #[command(flatten)]
    pub(super) context: ContextArguments,
    /// Use this region's sizes and prices [default: that of the NodeFleet, the nodes or the pools]
    #[arg(long, alias = "region", value_name = "REGION", help_heading = headings::INPUT)]
    pub(super) location: Option<String>,
    /// Use these sizes and prices, not the embedded ones; repeatable
    ///
    /// Each is an answer of Azure's SKU or price list, or a list of instance types
    #[arg(long, value_name = "FILE", help_heading = headings::INPUT)]
    pub(super) catalog: Vec<PathBuf>,
    /// Keep within these quotas: the output of `az vm list-usage -l REGION -o json`
    #[arg(long, value_name = "FILE", help_heading = headings::INPUT)]
    pub(super) usage: Option<PathBuf>,
    /// Plan for this time: `now` or 2026-11-21T09:00:00Z; required to evaluate expireAfter, consolidateAfter and schedules
    #[arg(long, value_name = "TIME", help_heading = headings::INPUT)]
    pub(super) at: Option<String>,
    #[command(flatten)]
    pub(super) what_if: WhatIfArguments,
    /// Do not assume the DaemonSets that AKS runs on every node
    #[arg(long, help_heading = headings::INPUT)]
    pub(super) no_system_daemonsets: bool,
}

/// Questions: what is supposed that is not so.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct WhatIfArguments {
    /// As if these nodes did not exist: a label selector [default: all but those of system agent pools]
    ///
    /// SELECTOR is written as after kubectl's -l. The pods of these nodes are Pending, and today's cost is shown
    /// beside the planned one
    #[arg(long, value_name = "SELECTOR", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = headings::WHAT_IF)]
    pub(super) from_scratch: Option<String>,
    /// As if this zone had failed, such as 1 or eastus-1; repeatable
    ///
    /// Its nodes are gone, and nothing can be bought there
    #[arg(long, value_name = "ZONE", help_heading = headings::WHAT_IF)]
    pub(super) without_zone: Vec<String>,
    /// As if workloads had the replicas that their HorizontalPodAutoscaler or KEDA allows
    #[arg(
        long,
        help_heading = headings::WHAT_IF,
        value_enum,
        value_name = "min|max|current",
        hide_possible_values = true,
        default_value = "current"
    )]
    pub(super) hpa: HpaArgument,
    /// As if CronJobs ran as many pods as they may (peak), or only those that run [default: running, if INPUT has pods]
    ///
    /// The default is running where INPUT holds nodes with their pods, and peak where it does not
    #[arg(long, value_enum, value_name = "running|peak", hide_possible_values = true, help_heading = headings::WHAT_IF)]
    pub(super) cron: Option<CronArgument>,
    /// As if this workload had N pods; overrides --hpa; repeatable
    ///
    /// Write KIND/NAMESPACE/NAME=N where the name is not enough. If more pods run than N, those are removed that
    /// Kubernetes would remove first
    #[arg(long, value_name = "[KIND/]NAME=N", help_heading = headings::WHAT_IF)]
    pub(super) scale: Vec<String>,
}

/// How many replicas autoscaled workloads have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum HpaArgument {
    /// As few as allowed
    Min,
    /// As many as allowed
    Max,
    /// As many as there are
    #[default]
    Current,
}

/// Which pods of CronJobs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CronArgument {
    /// Those that exist
    Running,
    /// As many as may run at once
    Peak,
}

/// What people paste first; the kinds of a whole dump are told where there is no input.
const PLAN_EXAMPLES: &str = "Examples:\n  nodeform plan examples/quickstart\n  \
    kubectl get nodes,nodeclaims,pods -A -o yaml | nodeform plan --git origin/main --path deploy -\n  \
    nodeform snapshot examples/existing-fleet --out prod.json\n  \
    nodeform plan --snapshot prod.json --with examples/quickstart\n  \
    nodeform plan examples/existing-fleet --replace aks-general-purpose-4xk2p\n  \
    nodeform plan examples/quickstart -o md --fail-on delete --max-monthly-increase 500\n\n\
    Exit codes: 0 done, 1 error, 2 changes (--detailed-exitcode), 4 a gate failed.\n";

#[derive(Args, Debug)]
#[command(disable_help_flag = true, after_help = PLAN_EXAMPLES)]
pub(super) struct PlanArguments {
    #[command(flatten)]
    pub(super) world: WorldArguments,
    /// Show what changes from these files or folders to INPUT; repeatable
    ///
    /// `-o json` and `--out` hold the plan of INPUT, with the comparison in its evidence
    #[arg(long, value_name = "INPUT", conflicts_with = "snapshot", help_heading = headings::INPUT)]
    pub(super) before: Vec<PathBuf>,
    /// Plan only changes of nodepool/NAME or node/NAME; repeatable
    ///
    /// What they need is planned too, such as the change of another node whose pods share a new node with theirs. Not
    /// for routine use: other changes stay pending
    #[arg(long, value_name = "KIND/NAME", help_heading = headings::CHANGES)]
    pub(super) target: Vec<String>,
    /// Replace this node as if it had drifted; repeatable
    ///
    /// Budgets, do-not-disrupt and PodDisruptionBudgets keep it as they keep a drifted node, and then nothing is
    /// planned
    #[arg(long, value_name = "NODE", conflicts_with = "before", help_heading = headings::CHANGES)]
    pub(super) replace: Vec<String>,
    /// Stop managing this node and keep it running; repeatable
    ///
    /// It loses its NodeClaim and its pool's label
    #[arg(long, value_name = "NODE", conflicts_with = "before", help_heading = headings::CHANGES)]
    pub(super) forget: Vec<String>,
    /// Delete every node of every NodePool, or of the targets, and create none
    ///
    /// Disruption budgets do not hold these deletions back; do-not-disrupt, PodDisruptionBudgets, freezes and
    /// `delete-pool: hold` do
    #[arg(long, help_heading = headings::CHANGES, conflicts_with_all = ["before", "replace", "forget", "from_scratch"])]
    pub(super) destroy: bool,
    /// Do not plan: show what changed since the snapshot; `--out` updates it
    #[arg(long, help_heading = headings::CHANGES, requires = "snapshot", conflicts_with_all = [
        "before", "target", "replace", "forget", "destroy", "strategy", "verbose", "from_scratch", "without_zone",
        "hpa", "cron", "scale", "with", "prune", "no_system_daemonsets", "fail_on", "max_monthly_increase",
    ])]
    pub(super) refresh_only: bool,
    /// Also say what happens by itself, what people review and what is held: by the NodeFleet of INPUT (`fleet`) or of a file
    #[arg(long, value_name = "fleet|FILE", conflicts_with = "before", help_heading = headings::CHANGES)]
    pub(super) against: Option<super::against::Against>,
    #[command(flatten)]
    pub(super) names: NamesArguments,
    /// Choose nodes by this strategy [default: the NodeFleet's, else cheapest]
    #[arg(long, value_enum, help_heading = headings::CHANGES)]
    pub(super) strategy: Option<StrategyArgument>,
    /// Expire the plan after 30m, 8h, 7d, at most 30 days [default: 4 hours]
    #[cfg(feature = "live")]
    #[arg(long, value_name = "DURATION", help_heading = headings::LIVE)]
    pub(super) valid_for: Option<String>,
    /// Save the plan to this file
    #[arg(long, value_name = "FILE", help_heading = headings::OUTPUT)]
    pub(super) out: Option<PathBuf>,
    /// Print the plan in this form
    #[arg(short, long, value_enum, default_value_t = PlanOutput::Human, help_heading = headings::OUTPUT)]
    pub(super) output: PlanOutput,
    /// Print every node and pod instead of a page (with `-o human`)
    #[arg(long, help_heading = headings::OUTPUT)]
    pub(super) all: bool,
    /// Also compute a lower bound on the cost
    #[arg(short, long, help_heading = headings::OUTPUT)]
    pub(super) verbose: bool,
    /// Exit with 2 if changes are proposed; a failed gate comes first
    ///
    /// Where two inputs are compared, the plan of the second counts. A failed gate exits with 4
    #[arg(long, help_heading = headings::GATES)]
    pub(super) detailed_exitcode: bool,
    #[command(flatten)]
    pub(super) gates: GateArguments,
    /// Print this help; `nodeform help plan` says more on each flag
    #[arg(id = "help", short = 'h', long = "help", action = ArgAction::HelpShort)]
    _help: Option<bool>,
}

/// How the nodes of a plan are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StrategyArgument {
    /// The cheapest fleet that holds the pods
    Cheapest,
    /// Karpenter's own: first-fit decreasing, and disruption as Karpenter does it
    Karpenter,
    /// The plan of `cheapest`, compared with Karpenter's fleet and the lower bound
    Both,
}

/// How the nodes of the plan are chosen that is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OneStrategyArgument {
    /// The cheapest fleet that holds the pods
    Cheapest,
    /// First fit, pod after pod, as Karpenter provisions; nodes go as it disrupts them
    Karpenter,
}

/// How a plan is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PlanOutput {
    /// For people
    Human,
    /// The plan file
    Json,
    /// The NodeClaims to create
    Yaml,
    /// Markdown for a pull request, of at most 3,900 characters
    Md,
    /// The fleet before and after as a picture with tables: one file that requests nothing
    Html,
    /// As `terraform show -json`: for policies and cost tools
    TfJson,
    /// NodeClaims to create (`+ nodeclaim/NAME`) and delete (`-`), by name; `~` updates, `i` adopts and `.` forgets one;
    /// a node without a NodeClaim is `node/NAME`
    Name,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  nodeform plan examples/quickstart --out plan.json\n  nodeform show plan.json --all\n"
)]
pub(super) struct ShowArguments {
    /// The saved plan; `-` is standard input, `nodeplan/ID` a NodePlan of the cluster
    #[arg(value_name = "PLAN")]
    pub(super) plan: PathBuf,
    #[cfg(feature = "live")]
    #[command(flatten)]
    pub(super) context: super::context::ContextArguments,
    /// Print every request that applying a live plan sends, without secrets
    #[cfg(feature = "live")]
    #[arg(long, conflicts_with_all = ["all", "output"])]
    pub(super) requests: bool,
    /// Print every node and pod instead of a page (with `-o human` and `-o md`)
    #[arg(long)]
    pub(super) all: bool,
    /// Draw a bar for each node: what pods request of it before and after (with `-o human` and `-o md`)
    #[arg(long, conflicts_with = "all")]
    pub(super) graph: bool,
    /// How to print the plan
    #[arg(short, long, value_enum, default_value_t = PlanOutput::Human)]
    pub(super) output: PlanOutput,
    #[command(flatten)]
    pub(super) gates: GateArguments,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nodeform snapshot examples/existing-fleet --out monday.json\n  \
    nodeform snapshot examples/existing-fleet --out friday.json\n  nodeform diff monday.json friday.json\n\n\
    Exit codes: 0 no difference, 2 there are differences, 1 error: as `plan --detailed-exitcode`, unlike `kubectl diff`.\n")]
pub(super) struct DiffArguments {
    /// The snapshot or saved plan to start from; `-` is standard input
    #[arg(value_name = "BEFORE")]
    pub(super) before: PathBuf,
    /// The snapshot or saved plan to compare it to; `-` is standard input
    #[arg(value_name = "AFTER")]
    pub(super) after: PathBuf,
    /// Print every difference instead of a page
    #[arg(long)]
    pub(super) all: bool,
    /// How to print the difference
    #[arg(short, long, value_enum, default_value_t = DiffOutput::Human)]
    pub(super) output: DiffOutput,
}

/// How a difference is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DiffOutput {
    /// For people
    Human,
    /// For programs
    Json,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  nodeform plan examples/quickstart --out plan.json\n  nodeform verify plan.json\n"
)]
pub(super) struct VerifyArguments {
    /// The saved plan, or a plan's folder of a repository; `-` is standard input
    #[arg(value_name = "PLAN|FOLDER")]
    pub(super) plan: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nodeform validate examples/quickstart\n  \
    kubectl get nodepools -o yaml | nodeform validate --fix - > nodepools.yaml\n")]
pub(super) struct ValidateArguments {
    #[command(flatten)]
    pub(super) input: InputArguments,
    /// Rewrite older guides, and guides for other clouds, into the form that AKS takes: in the files themselves,
    /// standard input to standard output
    #[arg(long)]
    pub(super) fix: bool,
    /// How to print faults: for people, or as annotations of GitHub Actions
    #[arg(short, long, value_enum, default_value_t = ValidateOutput::Human)]
    pub(super) output: ValidateOutput,
}

/// How faults are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ValidateOutput {
    /// For people
    Human,
    /// `::error file=…,line=…` for GitHub Actions
    Github,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nodeform explain pod/inflate-0 examples/quickstart\n  \
    nodeform explain deployment/inflate examples/quickstart\n  \
    nodeform explain pool/general-purpose examples/quickstart\n  \
    nodeform explain size/Standard_D4s_v5 examples/quickstart --all-regions\n")]
pub(super) struct ExplainArguments {
    /// What to explain: pod/NAME (or how pods' names begin), a workload such as deployment/NAME, node/NAME,
    /// pool/NAME or size/NAME. Where the only INPUT is a saved plan, pods, workloads and nodes are explained from it
    #[arg(value_name = "KIND/NAME")]
    pub(super) target: String,
    /// The pod's namespace; else default, else the only one that has such a pod
    #[arg(short, long)]
    pub(super) namespace: Option<String>,
    /// With size/NAME: what it costs in every region
    #[arg(long)]
    pub(super) all_regions: bool,
    /// Which plan to explain: the cheapest, or as Karpenter would; else as the NodeFleet says, else cheapest
    #[arg(long, value_enum, value_name = "cheapest|karpenter", hide_possible_values = true)]
    pub(super) strategy: Option<OneStrategyArgument>,
    #[command(flatten)]
    pub(super) world: WorldArguments,
}

#[derive(Args, Debug)]
#[command(after_help = concat!("Of a live cluster:\n  nodeform snapshot --kubectl --context prod --out prod.json\n\nExamples:\n  nodeform snapshot examples/existing-fleet --out prod.json\n  kubectl get ", cluster_kinds!(), " \\\n    \
    -A -o json | nodeform snapshot - --at now --out prod.json\n"))]
pub(super) struct SnapshotArguments {
    #[command(flatten)]
    pub(super) input: InputArguments,
    #[command(flatten)]
    pub(super) kubectl: KubectlArguments,
    #[cfg(feature = "live")]
    #[command(flatten)]
    pub(super) live: LiveArguments,
    #[command(flatten)]
    pub(super) context: ContextArguments,
    /// Save the snapshot to this file instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// When the input was seen: `now` or 2026-11-21T09:00:00Z; required to evaluate expireAfter, consolidateAfter and
    /// schedules
    #[arg(long, value_name = "TIME")]
    pub(super) at: Option<String>,
    /// Sizes and prices to hold in the snapshot, as `plan` takes them; else it names the embedded ones
    #[arg(long, value_name = "FILE")]
    pub(super) catalog: Vec<PathBuf>,
    /// What the subscription uses of its quotas, as `plan` takes it
    #[arg(long, value_name = "FILE")]
    pub(super) usage: Option<PathBuf>,
    /// The region whose sizes and prices are used; else the NodeFleet's, the nodes' or the pools'
    #[arg(long, alias = "region", value_name = "REGION")]
    pub(super) location: Option<String>,
    #[command(flatten)]
    pub(super) names: NamesArguments,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nodeform catalog --location westeurope --family D --cpu-max 8\n  \
    nodeform catalog --gpu -o json\n")]
pub(super) struct CatalogArguments {
    /// The region; else the one of the given lists, else eastus
    #[arg(long, alias = "region", value_name = "REGION")]
    pub(super) location: Option<String>,
    /// Sizes and prices to use instead of the embedded ones; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(super) catalog: Vec<PathBuf>,
    /// Sizes whose name holds this text
    #[arg(value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Sizes of this family letter, such as D, or series, such as Dds_v5
    #[arg(long, value_name = "FAMILY")]
    pub(super) family: Option<String>,
    /// Sizes of this architecture: amd64 or arm64
    #[arg(long, value_name = "ARCH")]
    pub(super) arch: Option<String>,
    /// Sizes with at least this many vCPUs
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) cpu_min: Option<u32>,
    /// Sizes with at most this many vCPUs
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) cpu_max: Option<u32>,
    /// Sizes with at least this much memory, such as 16Gi
    #[arg(long, value_name = "QUANTITY", allow_negative_numbers = true)]
    pub(super) memory_min: Option<String>,
    /// Sizes with at most this much memory
    #[arg(long, value_name = "QUANTITY", allow_negative_numbers = true)]
    pub(super) memory_max: Option<String>,
    /// Sizes with a GPU
    #[arg(long)]
    pub(super) gpu: bool,
    /// Sizes in this zone, such as westeurope-1
    #[arg(long, value_name = "ZONE")]
    pub(super) zone: Option<String>,
    /// Sizes of at most this many dollars per hour on demand
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub(super) price_max: Option<String>,
    /// How to print the sizes
    #[arg(short, long, value_enum, default_value_t = CatalogOutput::Table)]
    pub(super) output: CatalogOutput,
}

/// How the catalogue is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CatalogOutput {
    /// For people
    Table,
    /// For programs
    Json,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nodeform init my-cluster --location westeurope\n  nodeform plan my-cluster\n  \
    nodeform init moved --from examples/agent-pools/az/nodepools.json --location westeurope\n  \
    az aks show -g rg -n my-cluster -o json | nodeform init - --from -\n  \
    nodeform init . --review github --git-repository https://github.com/acme/nodes\n"
)]
pub(super) struct InitArguments {
    /// The folder to write to; `-` prints instead
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(super) folder: PathBuf,
    /// Start from these agent pools: the output of `az aks nodepool list -o json` or `az aks show -o json`, or
    /// a dump of Nodes; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(super) from: Option<PathBuf>,
    /// The cluster's name; else the one that FILE says, else my-cluster
    #[arg(long, value_name = "NAME")]
    pub(super) cluster_name: Option<String>,
    /// The cluster's region; else the one that FILE says, else eastus
    #[arg(long, alias = "region", value_name = "REGION")]
    pub(super) location: Option<String>,
    /// Mode `review`: write what a repository of this forge needs too, FOLDER being its checkout
    #[arg(long, value_enum, value_name = "FORGE", requires = "git_repository")]
    pub(super) review: Option<ReviewForge>,
    /// The repository that plans are reviewed in, by HTTPS
    #[arg(long, value_name = "URL", requires = "review")]
    pub(super) git_repository: Option<String>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  nodeform crds nodefleet\n  nodeform crds | kubectl apply --server-side -f -\n"
)]
pub(super) struct CrdsArguments {
    /// Only this kind, such as nodepool
    #[arg(value_name = "KIND")]
    pub(super) kind: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  nodeform schema plan\n")]
pub(super) struct SchemaArguments {
    /// What to print the schema of; without it, the names that there are
    #[arg(value_name = "NAME")]
    pub(super) name: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  nodeform completions bash\n\nTo have them, as bash: \
    `source <(nodeform completions bash)` in ~/.bashrc.\n")]
pub(super) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(super) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  nodeform man man-pages\n")]
pub(super) struct ManArguments {
    /// The folder to write the pages to
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  nodeform version -o json\n")]
pub(super) struct VersionArguments {
    /// How to print the version
    #[arg(short, long, value_enum, default_value_t = VersionOutput::Human)]
    pub(super) output: VersionOutput,
}

/// How the version is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum VersionOutput {
    /// For people
    Human,
    /// For programs
    Json,
}

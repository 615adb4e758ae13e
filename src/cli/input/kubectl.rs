//! `snapshot --kubectl`: lists a live cluster with the user's kubectl.
//!
//! Lists the available kinds, then those that planning reads: never writes anything, and never requests Secrets or
//! ConfigMaps. Kinds that may not be listed are reported, never silently taken as empty.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use super::super::context::ContextArguments;
use super::super::exit::Failure;
use super::super::process::{Bounds, Ended, logged, run};
use super::super::progress::Progress;
use crate::manifests::folder::shell_word;
use crate::manifests::listed::{CLUSTER_KINDS, ListedKind, NEEDED_KINDS, SNAPSHOT_KINDS};
use crate::manifests::{DUMP_BYTES_MAX, Source, tree};
use crate::snapshot::Gap;

/// How long kubectl may take to say which kinds there are: it asks each API group.
const KINDS_TIME_MAX: Duration = Duration::from_secs(60);

/// The most bytes of their names; clusters with hundreds of CRDs have some ten kilobytes.
const KINDS_BYTES_MAX: u64 = 4 << 20;

/// How long one listing may take; tens of thousands of pods take a minute.
const LIST_TIME_MAX: Duration = Duration::from_secs(600);

/// Which cluster is asked.
#[derive(Args, Clone, Debug, Default)]
pub(in super::super) struct KubectlArguments {
    /// Take the snapshot of a live cluster: the `kubectl` of this machine lists the kinds that planning reads, never
    /// Secrets or ConfigMaps, and changes nothing; the time is now. INPUT beside it is read as well
    #[arg(long, conflicts_with = "at")]
    pub(in super::super) kubectl: bool,
}

/// What a cluster holds.
#[derive(Debug, Default)]
pub(in super::super) struct Listing {
    /// The objects, as kubectl prints them.
    pub(in super::super) sources: Vec<Source>,
    /// The kinds that were listed, be it without an object.
    pub(in super::super) listed: BTreeSet<String>,
    /// What is missing in it for a plan, beside what every plan finds missing itself.
    pub(in super::super) gaps: Vec<Gap>,
    /// What the user has to know, a line each.
    pub(in super::super) warnings: Vec<String>,
}

/// What came of one call of kubectl.
enum Answer {
    Done(Vec<u8>),
    /// It failed: what it printed, and what it said beside that.
    Failed(Vec<u8>, String),
}

impl ContextArguments {
    /// Lists what the cluster holds.
    ///
    /// # Errors
    /// kubectl is missing, the cluster cannot be reached, or nodes or pods may not be listed.
    pub(in super::super) fn list_by_kubectl(&self) -> Result<Listing, Failure> {
        let mut listing = Listing::default();
        let kinds = self.kinds(&mut listing)?;
        let progress = Progress::start(&format!("listing {} kinds with kubectl", kinds.len()));
        let names: Vec<&str> = kinds.iter().map(|kind| kind.resource).collect();
        if let Answer::Done(bytes) = self.get(&names.join(","))? {
            listing.sources.push(Source::new("<kubectl>", bytes));
            listing.listed.extend(kinds.iter().map(|kind| kind.word.to_owned()));
            return Ok(listing);
        }
        // One forbidden kind makes the whole request fail, and only the error message says which one.
        let mut forbidden = Vec::new();
        for kind in kinds {
            progress.say(format!("listing {} with kubectl", kind.word));
            match self.get(kind.resource)? {
                Answer::Done(bytes) => {
                    listing.sources.push(Source::new(format!("<kubectl get {}>", kind.word), bytes));
                    listing.listed.insert(kind.word.to_owned());
                }
                Answer::Failed(_, complaint) if !is_forbidden(&complaint) => {
                    return Err(self.unreachable(&self.get_arguments(kind.resource), &complaint));
                }
                Answer::Failed(..) if NEEDED_KINDS.contains(&kind.word) => {
                    return Err(needed(kind.word));
                }
                Answer::Failed(..) => forbidden.push(kind.word),
            }
        }
        listing.without(&forbidden);
        Ok(listing)
    }

    /// Returns the kinds that planning reads and the cluster serves.
    fn kinds(&self, listing: &mut Listing) -> Result<Vec<ListedKind>, Failure> {
        let arguments = self.arguments(&["api-resources", "--verbs=list", "--output=name"]);
        let bounds = Bounds { output_bytes_max: KINDS_BYTES_MAX, time_max: KINDS_TIME_MAX };
        let (names, complaint) = match self.ask(&arguments, bounds)? {
            Answer::Done(names) => (names, None),
            Answer::Failed(names, complaint) => (names, Some(complaint)),
        };
        let names = String::from_utf8_lossy(&names).into_owned();
        let served: BTreeSet<&str> = names.lines().map(str::trim).collect();
        let kinds: Vec<ListedKind> =
            SNAPSHOT_KINDS.into_iter().filter(|kind| served.contains(kind.resource)).collect();
        let is_served = |word: &&'static str| kinds.iter().any(|kind| kind.word == *word);
        match complaint {
            Some(complaint) if !NEEDED_KINDS.iter().all(is_served) => {
                return Err(self.unreachable(&arguments, &complaint));
            }
            // An aggregated API server is unavailable, such as that of metrics.
            Some(complaint) => {
                listing.warnings.push(format!("kubectl does not see every kind: {}", first(&complaint)));
            }
            None if !NEEDED_KINDS.iter().all(is_served) => {
                return Err(Failure::error(format!("`{}` names neither nodes nor pods", shown(&arguments)))
                    .hint("check that the context is that of a cluster: `kubectl config get-contexts`"));
            }
            None => {}
        }
        Ok(kinds)
    }

    fn get(&self, kinds: &str) -> Result<Answer, Failure> {
        let bounds = Bounds { output_bytes_max: DUMP_BYTES_MAX, time_max: LIST_TIME_MAX };
        self.ask(&self.get_arguments(kinds), bounds)
    }

    fn get_arguments(&self, kinds: &str) -> Vec<OsString> {
        self.arguments(&["get", kinds, "--all-namespaces", "--output=json"])
    }

    fn arguments(&self, words: &[&str]) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = words.iter().map(Into::into).collect();
        // Passed as one word, so that a name with a leading dash is not taken as a flag of kubectl.
        let context = self.context.iter().map(|name| ("--context=", OsString::from(name)));
        let kubeconfig = self.kubeconfig.iter().map(|file| ("--kubeconfig=", file.clone().into_os_string()));
        for (flag, value) in context.chain(kubeconfig) {
            let mut word = OsString::from(flag);
            word.push(value);
            arguments.push(word);
        }
        arguments
    }

    fn ask(&self, arguments: &[OsString], bounds: Bounds) -> Result<Answer, Failure> {
        let failed = |how: String| Failure::error(format!("`{}` {how}", shown(arguments)));
        match run("kubectl", arguments, bounds) {
            Ok(Ended::Itself { status, output, .. }) if status.success() => Ok(Answer::Done(output)),
            Ok(Ended::Itself { output, complaint, .. }) => Ok(Answer::Failed(output, complaint)),
            Ok(Ended::Missing) => Err(Failure::error("there is no `kubectl` on the PATH").hint(format!(
                "install it, or make a dump where it is: `kubectl get {CLUSTER_KINDS} -A -o json > dump.json`, and \
                 then `nodeform snapshot dump.json --at TIME`"
            ))),
            Ok(Ended::TooMuch) => {
                Err(failed(format!("printed more than {} bytes and was ended", bounds.output_bytes_max)))
            }
            Ok(Ended::TooLong) => {
                Err(failed(format!("took longer than {} s and was ended", bounds.time_max.as_secs()))
                    .hint("check that it answers without a prompt; log in there first if it asks you to"))
            }
            Err(error) => Err(failed(format!("cannot be run: {error}"))),
        }
    }

    fn unreachable(&self, arguments: &[OsString], complaint: &str) -> Failure {
        Failure::error(format!("`{}` failed: {}", shown(arguments), first(complaint)))
            .hint("run it by itself until it succeeds; `--context` and `--kubeconfig` name another cluster")
    }
}

impl Listing {
    /// Notes the kinds that may not be listed.
    fn without(&mut self, forbidden: &[&'static str]) {
        for word in forbidden {
            self.warnings.push(format!("no permission to list {word}: planning as if there were none"));
        }
        self.gaps.extend(Gap::of_kinds(forbidden));
    }
}

/// The failure of a snapshot without a kind that nothing can be said without.
fn needed(word: &str) -> Failure {
    Failure::error(format!("no permission to list {word}; nodeform cannot plan without them")).hint(
        "this needs a role with `list` on nodes and pods in all namespaces: check with `kubectl auth can-i list pods -A`",
    )
}

fn is_forbidden(complaint: &str) -> bool {
    complaint.contains("(Forbidden)") || complaint.contains(" is forbidden")
}

/// The line of a complaint that says what is wrong, without what a terminal would obey. Before it, kubectl logs each
/// attempt with a time.
fn first(complaint: &str) -> String {
    let lines = || complaint.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut said = lines().filter(|line| logged(line).is_none());
    let first = said.clone().find(|line| line.to_lowercase().starts_with("error")).or(said.next());
    first.or(lines().next()).map_or_else(
        || "it said nothing".to_owned(),
        |line| tree::shortened(line).replace(char::is_control, " "),
    )
}

fn shown(arguments: &[OsString]) -> String {
    let words = arguments.iter().map(|word| {
        let word = word.to_string_lossy();
        if word.starts_with("--") || word.contains(',') { word.into_owned() } else { shell_word(&word) }
    });
    std::iter::once("kubectl".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

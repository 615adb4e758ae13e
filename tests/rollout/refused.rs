//! Folders of plans that are not what was reviewed, a thousand by seed: each is refused, and without an [`ApprovedPlan`]
//! nothing can be done of it. Whole plans that somebody forged, digests and page included, are `cli::merged::leaves`' to try.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use nodeform::api::node_plan::{NodePlanStatus, Phase};
use nodeform::ledger::{self, Ledger, PlanSummary, Recorded};
use nodeform::model::Wishes;
use nodeform::offline::{self, World};
use nodeform::plan::{Plan, file};
use nodeform::render::proposal::{derived, derived_by};
use nodeform::review::proposal::{self, Content, DESTROYS, Files, FolderName, MARKDOWN, PLAN};
use nodeform::review::{ApprovedPlan, CheckedPlan, Now, Terms, approve};
use serde_json::json;

use crate::stage::Stage;

const WORLD: &str = include_str!("../live/world.yaml");

/// How many folders of each kind.
const OF_EACH: u64 = 170;

/// A folder on the branch, and the world in which it is looked at.
#[derive(Clone)]
struct Case {
    month: String,
    folder: String,
    files: Vec<(String, Vec<u8>)>,
    world: World,
    ledger: Ledger,
}

/// A small generator: the same cases everywhere.
struct Seed(u64);

impl Seed {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(most.max(1)).unwrap()).unwrap()
    }
}

impl Case {
    fn of(plan: &Plan, world: &World) -> Self {
        let name = FolderName::of(plan).unwrap();
        let derived = derived(plan);
        let destroys = derived.destroys_text().map(|text| (DESTROYS, text));
        let files = [(MARKDOWN, derived.markdown), (PLAN, file::write(plan))].into_iter().chain(destroys);
        Self {
            folder: name.folder(),
            month: name.month,
            files: files.map(|(name, text)| (name.to_owned(), text.into_bytes())).collect(),
            world: world.clone(),
            ledger: Ledger::default(),
        }
    }

    /// What `apply --merged` comes to before it plans again, in its order: an approval, or why there is none.
    fn looked_at(&self) -> Result<ApprovedPlan, String> {
        let said = |fault: &dyn std::fmt::Display| fault.to_string();
        let name = FolderName::parse(&self.month, &self.folder).map_err(|fault| said(&fault))?;
        if let Some(known) = self.ledger.of_id(&name.id).filter(|known| known.is_spent()) {
            return Err(format!("spent: {:?}", known.phase()));
        }
        let files = self.files.iter().map(|(name, bytes)| (name.clone(), Content::Bytes(bytes.clone())));
        let files = Files::of(files.collect()).map_err(|fault| said(&fault))?;
        let read = proposal::read(Some(&name), files, derived_by).map_err(|fault| said(&fault))?;
        let (snapshot, policy) = (read.plan.snapshot(), read.plan.policy());
        let checked = CheckedPlan::judged(&snapshot, &policy, read.plan)
            .map_err(|refused| format!("judge: {}", refused.findings.len()))?;
        let World { snapshot, policy, .. } = &self.world;
        let now = Now { snapshot, policy, begun: &BTreeSet::new() };
        approve(checked, now, Terms::default()).map_err(|faults| said(&faults[0]))
    }

    fn bytes(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.files.iter().any(|(file, _)| file == name) {
            self.files.push((name.to_owned(), Vec::new()));
        }
        &mut self.files.iter_mut().find(|(file, _)| file == name).unwrap().1
    }
}

/// Somebody changed a letter, took one out, put one in, or put a file beside.
fn edited(mut case: Case, seed: &mut Seed) -> Case {
    let file = [PLAN, PLAN, PLAN, MARKDOWN, "notes.txt"][seed.below(5)];
    let letter = b"0123456789abcxyz -\n{}"[seed.below(21)];
    let bytes = case.bytes(file);
    let at = seed.below(bytes.len());
    match seed.below(3) {
        0 if !bytes.is_empty() && bytes[at] != letter => bytes[at] = letter,
        1 if !bytes.is_empty() => drop(bytes.remove(at)),
        _ => bytes.insert(at, letter),
    }
    case
}

fn expired(mut case: Case, seed: &mut Seed) -> Case {
    let plan = String::from_utf8(case.bytes(PLAN).clone()).unwrap();
    let expires_at: Timestamp = nodeform::plan::read(&plan).unwrap().spec.expires_at.unwrap();
    let late = SignedDuration::from_secs(i64::try_from(seed.below(30 * 24 * 3600)).unwrap());
    case.world.snapshot.at = Some(expires_at + late);
    case
}

fn foreign(mut case: Case, seed: &mut Seed) -> Case {
    let other = format!("{:016x}", seed.next());
    match seed.below(2) {
        0 => case.world.snapshot.cluster = Some(other.into()),
        _ => {
            let mut facts = (**case.world.snapshot.azure.as_ref().unwrap()).clone();
            facts.cluster.id = format!("{}-{other}", facts.cluster.id).into();
            case.world.snapshot.azure = Some(facts.into());
        }
    }
    case
}

fn spent(case: Case, seed: &mut Seed) -> Case {
    let phase = [Phase::Done, Phase::Partial, Phase::Failed, Phase::Expired][seed.below(4)];
    recorded(case, phase)
}

/// Its folder was taken off the branch, and came back.
fn withdrawn(case: Case, _: &mut Seed) -> Case {
    recorded(case, Phase::Withdrawn)
}

/// The ledger knows how the plan ended.
fn recorded(mut case: Case, phase: Phase) -> Case {
    let plan = String::from_utf8(case.bytes(PLAN).clone()).unwrap();
    let digest = nodeform::plan::read(&plan).unwrap().digest();
    case.ledger.plans.push(Recorded {
        name: ledger::name(&digest),
        digest,
        parent: None,
        cluster: None,
        summary: PlanSummary::default(),
        expires_at: None,
        folder: Some(format!("{}/{}", case.month, case.folder)),
        needs_approval: false,
        is_automatic: false,
        created: None,
        chunks: 1,
        status: Some(NodePlanStatus { phase: Some(phase), ..NodePlanStatus::default() }),
    });
    case
}

/// The list of removals says more or something else than the plan does.
fn widened(mut case: Case, seed: &mut Seed) -> Case {
    let name = format!("aks-system-{:06}", seed.below(1_000_000));
    let bytes = case.bytes(DESTROYS);
    let text = String::from_utf8(bytes.clone()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = seed.below(lines.len() + 1);
    match seed.below(4) {
        0 if !lines.is_empty() => {
            let again = lines[seed.below(lines.len())].clone();
            lines.push(again);
        }
        1 if !lines.is_empty() => {
            let place = seed.below(lines.len());
            lines[place] = lines[place].replacen("- node/", &format!("- node/{name}-"), 1);
        }
        2 if !lines.is_empty() => {
            let place = seed.below(lines.len());
            lines[place].push_str(" # and more");
        }
        _ => lines.insert(at, format!("- node/{name}  # Standard_D4s_v5, $100/mo, no pods")),
    }
    *case.bytes(DESTROYS) = lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
    case
}

/// Plans of a cluster in which nodes come, and in which they go.
fn cases() -> Vec<Case> {
    let mut stage = Stage::of(WORLD, 7);
    let mut cases = Vec::new();
    let planned = |stage: &mut Stage| {
        let world = stage.observed(Wishes::default());
        let plan = offline::plan(&world).unwrap().plan.plan().clone();
        Case::of(&plan, &world)
    };
    cases.push(planned(&mut stage));
    let ready = stage.ready(Wishes::default()).unwrap();
    stage.apply(&ready, crate::stage::Trouble::default());
    let target = "/apis/apps/v1/namespaces/default/deployments/inflate";
    for replicas in [1, 0] {
        stage.kube("PATCH", target, &json!({"spec": {"replicas": replicas}}));
        stage.pass(60);
        cases.push(planned(&mut stage));
    }
    assert!(cases.iter().any(|case| case.files.len() == 3), "a node goes in one");
    cases
}

type Spoil = fn(Case, &mut Seed) -> Case;

#[test]
fn of_a_thousand_plans_that_are_not_as_reviewed_none_is_approved() {
    let cases = cases();
    for case in &cases {
        assert!(case.looked_at().is_ok(), "{:?}", case.looked_at().err());
    }
    let kinds: [(&str, Spoil, &[&str]); 6] = [
        ("edited", edited, &["`plan.jsonc`", "`PLAN.md`", "`notes.txt`", "the folder is called"]),
        ("expired", expired, &["the plan expired at"]),
        ("foreign", foreign, &["the plan is of cluster"]),
        ("spent", spent, &["spent: "]),
        ("withdrawn", withdrawn, &["spent: Withdrawn"]),
        (
            "widened",
            widened,
            &[
                "of `destroy.txt` is not one of the plan's",
                "of `destroy.txt` is listed twice, or not in the plan's order",
                "of `destroy.txt` differs from the plan's line of its node",
            ],
        ),
    ];
    let mut refused: u64 = 0;
    for (kind, spoil, causes) in kinds {
        for number in 0..OF_EACH {
            let mut seed = Seed(number);
            let case = spoil(cases[seed.below(cases.len())].clone(), &mut seed);
            let because = match case.looked_at() {
                Ok(approved) => panic!("{kind} {number}: plan {} is approved", approved.id()),
                Err(because) => because,
            };
            assert!(causes.iter().any(|cause| because.contains(cause)), "{kind} {number}: {because}");
            refused += 1;
        }
    }
    assert_eq!(refused, 6 * OF_EACH);
}

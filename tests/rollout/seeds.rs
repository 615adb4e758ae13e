//! Worlds in which a random third of all faults act for a while: once they are over, plans and rollouts bring every pod to a
//! node, and nothing is left over.

use std::fmt::Write as _;

use nodeform::model::Wishes;
use serde_json::json;

use crate::stage::{End, Stage, Trouble};

const WORLD: &str = include_str!("../live/world.yaml");

/// What goes wrong, as often as one look and one retry take.
const FAULTS: [&str; 10] = [
    "{kind: ZoneFull, times: 2}",
    "{kind: QuotaExceeded, times: 2}",
    "{kind: Throttled, when: {method: PUT}, times: 3}",
    "{kind: AnswerLost, when: {method: PUT}, times: 3}",
    "{kind: LateSuccess, times: 2}",
    "{kind: NeverJoins, times: 1}",
    "{kind: NicHeld, times: 1}",
    "{kind: ListCutShort, when: {resource: virtualMachines}, times: 4}",
    "{kind: OperationStuck, times: 1}",
    "{kind: AnswerLost, when: {method: DELETE}, times: 3}",
];

/// How many seeds are tried; another number by `NODEFORM_SEEDS`.
const SEEDS: u64 = 10;

/// How many rounds of planning and carrying out it may take until all is as it should be.
const ROUNDS_MAX: usize = 12;

/// The next number of a sequence (xorshift64*).
fn next(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D)
}

fn faults(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text =
        "---\napiVersion: nodeform.dev/v1alpha1\nkind: SimulatedFaults\nspec:\n  faults:\n".to_owned();
    let mut count = 0;
    for fault in FAULTS {
        if next(&mut state).is_multiple_of(3) {
            writeln!(text, "    - {fault}").unwrap();
            count += 1;
        }
    }
    if count == 0 { String::new() } else { text }
}

/// Plans and carries out until nothing is to be done twice in a row.
fn settles(stage: &mut Stage, seed: u64) {
    let mut calm = 0;
    for _ in 0..ROUNDS_MAX {
        match stage.ready(Wishes::default()) {
            None => calm += 1,
            Some(ready) => {
                calm = 0;
                let mut applied = stage.apply(&ready, Trouble::default());
                // Whoever is told that nothing goes on runs it again later.
                for _ in 0..ROUNDS_MAX {
                    if matches!(applied.end, End::Open(_)) {
                        stage.pass(1_900);
                        applied = stage.apply(&ready, Trouble::default());
                    }
                }
                assert!(matches!(applied.end, End::Finished(_)), "seed {seed}: {:#?}", applied.end);
            }
        }
        if calm == 2 {
            return;
        }
        // What Azure refused is asked for again after a while.
        stage.pass(1_900);
    }
    panic!("seed {seed}: {ROUNDS_MAX} rounds do not settle it: {}", stage.left());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a variable says how many seeds are tried")]
fn whatever_went_wrong_for_a_while_every_pod_runs_in_the_end_and_nothing_is_left_over() {
    let seeds = std::env::var("NODEFORM_SEEDS").map_or(SEEDS, |text| text.parse().unwrap());
    for seed in 0..seeds {
        let mut stage = Stage::of(&format!("{WORLD}\n{}", faults(seed)), seed);
        settles(&mut stage, seed);
        let left = stage.left();
        assert_eq!(left["running"], json!(5), "seed {seed}: {left}");
        let names = |list: &str| left[list].as_array().unwrap().len();
        let (vms, nics, claims) = (names("vms"), names("nics"), names("claims"));
        assert_eq!((vms, nics, claims, names("nodes")), (1, 1, 1, 2), "seed {seed}: {left}");
        stage.kube(
            "PATCH",
            "/apis/apps/v1/namespaces/default/deployments/inflate",
            &json!({"spec": {"replicas": 0}}),
        );
        stage.pass(60);
        settles(&mut stage, seed);
        let left = stage.left();
        for list in ["vms", "nics", "disks", "claims"] {
            assert_eq!(left[list], json!([]), "seed {seed}: {left}");
        }
    }
}

//! The controller's mode: that of the only NodeFleet, or `observe` if in doubt.

use serde_json::Value;

use crate::model::Mode;

/// A NodeFleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetRef {
    /// Its name.
    pub name: String,
    /// Its `metadata.generation`.
    pub generation: i64,
}

/// The mode and the NodeFleets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The mode.
    pub mode: Mode,
    /// All NodeFleets; the status of each is updated.
    pub fleets: Vec<FleetRef>,
    /// Why the mode differs from the configured one.
    pub because: Option<String>,
}

/// Returns the mode from all NodeFleets.
#[must_use]
pub fn standing(fleets: &[Value]) -> Standing {
    let name = |fleet: &Value| fleet["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let generation = |fleet: &Value| fleet["metadata"]["generation"].as_i64().unwrap_or(0);
    let found = fleets.iter().map(|fleet| FleetRef { name: name(fleet), generation: generation(fleet) });
    let found: Vec<FleetRef> = found.collect();
    let has_repository = |fleet: &Value| fleet["spec"]["git"]["repository"].is_string();
    let (mode, because) = match fleets {
        [] => (Mode::Observe, Some("there is no NodeFleet".to_owned())),
        [fleet] => of_one(&fleet["spec"]["mode"], has_repository(fleet)),
        several => {
            let names: Vec<String> = several.iter().map(|fleet| format!("`{}`", name(fleet))).collect();
            let because = format!(
                "there are several NodeFleets: {}; nothing is applied, and plans are shown for {}: delete the others",
                names.join(", "),
                names[0]
            );
            (Mode::Observe, Some(because))
        }
    };
    Standing { mode, fleets: found, because }
}

/// Returns the mode of a single NodeFleet, and why it differs from the configured one, if it does.
fn of_one(mode: &Value, has_repository: bool) -> (Mode, Option<String>) {
    match mode.as_str() {
        Some("auto") => (Mode::Auto, None),
        None | Some("observe") => (Mode::Observe, None),
        Some("review") if has_repository => (Mode::Review, None),
        Some("review") => {
            let because = "mode `review` needs `spec.git.repository`, so nodeform only observes";
            (Mode::Observe, Some(because.to_owned()))
        }
        Some(other) => {
            let because = format!(
                "unknown mode `{other}`, so nodeform only observes: set `spec.mode` to `observe`, `auto` or `review`"
            );
            (Mode::Observe, Some(because))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fleet(name: &str, spec: Value) -> Value {
        json!({"metadata": {"name": name, "generation": 3}, "spec": spec})
    }

    #[test]
    fn one_fleet_says_the_mode_and_none_or_two_only_observe() {
        let auto = fleet("prod", json!({"mode": "auto"}));
        let found = standing(std::slice::from_ref(&auto));
        assert_eq!(found.mode, Mode::Auto);
        assert_eq!(found.fleets, [FleetRef { name: "prod".to_owned(), generation: 3 }]);
        let two = standing(&[auto.clone(), fleet("other", json!({"mode": "auto"}))]);
        assert_eq!(two.fleets.len(), 2, "both are told");
        let because = two.because.expect("it is told");
        assert!(because.contains("`prod`, `other`") && because.contains("for `prod`"), "{because}");
        for fleets in [
            vec![],
            vec![auto.clone(), fleet("other", json!({}))],
            vec![fleet("prod", json!({"mode": "review"}))],
        ] {
            let found = standing(&fleets);
            assert_eq!((found.mode, found.because.is_some()), (Mode::Observe, true), "{fleets:?}");
        }
        let git = json!({"mode": "review", "git": {"repository": "https://forge.example/team/nodes"}});
        assert_eq!(standing(&[fleet("prod", git)]).mode, Mode::Review);
        let unknown = standing(&[fleet("prod", json!({"mode": "autto"}))]).because.expect("it is told");
        assert!(unknown.contains("unknown mode `autto`") && unknown.contains("`auto`"), "{unknown}");
        let plain = standing(&[fleet("prod", json!({}))]);
        assert_eq!((plain.mode, plain.because), (Mode::Observe, None));
    }
}

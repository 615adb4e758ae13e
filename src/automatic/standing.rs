//! In which mode the controller is: by the one NodeFleet, and `observe` where that is not sure.

use serde_json::Value;

use crate::model::Mode;

/// The one NodeFleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetRef {
    /// Its name.
    pub name: String,
    /// Its `metadata.generation`.
    pub generation: i64,
}

/// The mode, and of which NodeFleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The mode.
    pub mode: Mode,
    /// The NodeFleet, where there is just one.
    pub fleet: Option<FleetRef>,
    /// Why it is not the mode that somebody may expect.
    pub because: Option<String>,
}

/// Returns the mode, from the NodeFleets that there are.
#[must_use]
pub fn standing(fleets: &[Value]) -> Standing {
    let observe = |fleet, because: Option<String>| Standing { mode: Mode::Observe, fleet, because };
    let (fleet, others) = match fleets {
        [] => return observe(None, Some("there is no NodeFleet".to_owned())),
        [fleet, others @ ..] => (fleet, others),
    };
    let name = |fleet: &Value| fleet["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    if !others.is_empty() {
        let names: Vec<String> = fleets.iter().map(|fleet| format!("`{}`", name(fleet))).collect();
        return observe(None, Some(format!("there are several NodeFleets: {}", names.join(", "))));
    }
    let found =
        FleetRef { name: name(fleet), generation: fleet["metadata"]["generation"].as_i64().unwrap_or(0) };
    match fleet["spec"]["mode"].as_str() {
        Some("auto") => Standing { mode: Mode::Auto, fleet: Some(found), because: None },
        None | Some("observe") => observe(Some(found), None),
        Some("review") => {
            let because =
                "this version does not act on mode `review` in the cluster yet: it observes".to_owned();
            observe(Some(found), Some(because))
        }
        Some(other) => {
            let because = format!(
                "unknown mode `{other}`, so nodeform only observes: set `spec.mode` to `observe` or `auto`"
            );
            observe(Some(found), Some(because))
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
        assert_eq!(found.fleet, Some(FleetRef { name: "prod".to_owned(), generation: 3 }));
        for fleets in [
            vec![],
            vec![auto.clone(), fleet("other", json!({}))],
            vec![fleet("prod", json!({"mode": "review"}))],
        ] {
            let found = standing(&fleets);
            assert_eq!((found.mode, found.because.is_some()), (Mode::Observe, true), "{fleets:?}");
        }
        let unknown = standing(&[fleet("prod", json!({"mode": "autto"}))]).because.expect("it is told");
        assert!(unknown.contains("unknown mode `autto`") && unknown.contains("`auto`"), "{unknown}");
        let plain = standing(&[fleet("prod", json!({}))]);
        assert_eq!((plain.mode, plain.because), (Mode::Observe, None));
    }
}

//! Messages for invalid objects.

use serde_json::{Value, json};

use super::{Policy, WireObject, admission_faults, faults, parse};
use crate::api::Kind;
use crate::model::buffer::ACTIVE_CAPACITY;
use crate::model::{
    BufferPods, ChangeClass, DisruptionReason, ExtraCost, Namespace, PoolName, Prefer, PriceChange,
    ResourceName, Resources, Safety, SpreadHosts, Strategy, Workload,
};

fn pool(change: impl FnOnce(&mut Value)) -> Value {
    let mut pool = json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "general"},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [],
        }}},
    });
    change(&mut pool);
    pool
}

/// Formats the faults as lines: path, message, and the hint after an arrow.
fn lines(kind: Kind, object: &Value) -> Vec<String> {
    let line = |fault: super::Fault| match &fault.hint {
        Some(hint) => format!("{fault} -> {hint}"),
        None => fault.to_string(),
    };
    faults(kind, object).into_iter().map(line).collect()
}

fn only(kind: Kind, object: &Value) -> String {
    let lines = lines(kind, object);
    assert_eq!(lines.len(), 1, "{lines:#?}");
    lines.into_iter().next().unwrap()
}

#[test]
fn all_faults_come_at_once_with_path_and_hint() {
    let object = pool(|pool| {
        pool["spec"]["wieght"] = json!(5);
        pool["spec"]["limits"] = json!({"cpu": 0.5});
        pool["spec"]["disruption"] = json!({"consolidateAfter": "30d", "consolidationPolicy": "whenempty"});
        pool["spec"]["template"]["spec"]["requirements"] =
            json!([{"key": "a", "operator": "Gt", "values": ["x"]}]);
    });
    assert_eq!(
        lines(Kind::NodePool, &object),
        [
            "`spec.disruption.consolidateAfter`: \"30d\" must be a duration of hours, minutes and seconds such as `30m` or `720h`, or `Never` -> days are not known here: write `720h`",
            "`spec.disruption.consolidationPolicy`: \"whenempty\" is not one of `WhenEmpty`, `WhenEmptyOrUnderutilized`, `Balanced` -> did you mean `WhenEmpty`?",
            "`spec.limits.cpu`: must be a whole number or text, not the number 0.5 -> put it in quotes: \"0.5\"",
            "`spec.template.spec.requirements[0].values[0]`: operator `Gt` needs a whole number of 0 or more, not \"x\" -> write digits in quotes, such as \"4\"",
            "`spec.wieght`: is not a known field -> did you mean `weight`?",
        ]
    );
}

#[test]
fn a_valid_pool_has_no_faults_and_needs_no_defaults_written() {
    assert_eq!(lines(Kind::NodePool, &pool(|_| {})), Vec::<String>::new());
}

#[test]
fn numbers_beyond_every_range_are_refused_by_name() {
    for (number, said) in [
        (json!(1e308), "`spec.weight`: 1e+308 must be from 1 to 100"),
        (json!(-1e20), "`spec.weight`: -1e+20 must be from 1 to 100"),
        (json!(1.5), "`spec.weight`: must be a whole number, not the number 1.5"),
        (json!(-3), "`spec.weight`: -3 must be from 1 to 100"),
        (json!(9_223_372_036_854_775_808_u64), "`spec.weight`: 9223372036854775808 must be from 1 to 100"),
    ] {
        assert_eq!(only(Kind::NodePool, &pool(|pool| pool["spec"]["weight"] = number)), said);
    }
    let huge = pool(|pool| pool["spec"]["limits"] = json!({"cpu": 18_446_744_073_709_551_615_u64}));
    assert!(only(Kind::NodePool, &huge).starts_with("`spec.limits.cpu`: 18446744073709551615 must be from"));
}

#[test]
fn one_fault_is_told_once_in_the_words_that_say_more() {
    let pool = pool(|pool| {
        pool["spec"]["limits"] = json!({"cpu": 1e308});
        pool["spec"]["disruption"] =
            json!({"budgets": [{"nodes": "1", "schedule": "soon", "duration": "1h"}]});
    });
    assert_eq!(
        lines(Kind::NodePool, &pool),
        [
            "`spec.disruption.budgets[0].schedule`: \"soon\" is not a cron schedule: it needs five fields, not 1 -> minute, hour, day of month, month, day of week: `0 9 * * 1-5` is 9:00 on working days",
            "`spec.limits.cpu`: 1e+308 is not an amount that can be counted",
        ]
    );
}

#[test]
fn more_nodes_than_a_cluster_may_have_are_no_number_to_ask_for() {
    let asking = |replicas: i64, limit: Value| {
        pool(|pool| {
            pool["spec"]["replicas"] = json!(replicas);
            pool["spec"]["limits"] = json!({"nodes": limit});
        })
    };
    let fault = "`spec.replicas`: 99999999 nodes are more than a cluster of AKS may have: 5,000 -> \
                 ask for fewer, or limit the pool to fewer (`spec.limits.nodes`)";
    assert_eq!(only(Kind::NodePool, &asking(99_999_999, json!("6k"))), fault);
    assert_eq!(lines(Kind::NodePool, &asking(99_999_999, json!("5k"))), [""; 0]);
    assert_eq!(lines(Kind::NodePool, &asking(5_000, json!(9_000))), [""; 0]);
}

#[test]
fn what_only_run_time_refuses_is_kept_apart() {
    let mut object = pool(|pool| {
        pool["spec"]["limits"] = json!({"cpu": "-5"});
        pool["spec"]["disruption"] =
            json!({"budgets": [{"nodes": "0", "schedule": "0 25 * * *", "duration": "1h"}]});
        let template = &mut pool["spec"]["template"]["spec"];
        template["taints"] = json!([{"key": "gpu", "effect": "NoSchedule"}]);
        template["startupTaints"] = json!([{"key": "gpu", "effect": "NoSchedule"}]);
        template["requirements"] = json!([
            {"key": "karpenter.azure.com/sku-familly", "operator": "Exists"},
            {"key": "kubernetes.azure.com/role", "operator": "Exists"},
            {"key": "agentpool", "operator": "In", "values": ["a"]},
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["Spot"]},
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["Spot", "on-demand"]},
            {"key": "team", "operator": "In", "values": ["not a value"]},
        ]);
    });
    object["metadata"]["name"] = json!("General");
    assert_eq!(admission_faults(Kind::NodePool, &object), []);
    let paths: Vec<String> = faults(Kind::NodePool, &object).iter().map(super::Fault::path_text).collect();
    assert_eq!(
        paths,
        [
            "metadata.name",
            "spec.disruption.budgets[0].schedule",
            "spec.limits.cpu",
            "spec.template.spec.requirements[0].key",
            "spec.template.spec.requirements[1].key",
            "spec.template.spec.requirements[2].key",
            "spec.template.spec.requirements[3].values",
            "spec.template.spec.requirements[5].values[0]",
            "spec.template.spec.startupTaints[0]",
        ]
    );
}

#[test]
fn a_number_that_fits_no_32_bits_is_told_before_it_is_read() {
    let class = json!({
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": "default"},
        "spec": {"kubelet": {"containerLogMaxFiles": 2_147_483_648_i64}, "maxPods": 2_147_483_648_i64},
    });
    assert_eq!(
        lines(Kind::AksNodeClass, &class),
        [
            "`spec.kubelet.containerLogMaxFiles`: 2147483648 must be from -2147483648 to 2147483647",
            "`spec.maxPods`: 2147483648 must be from 10 to 250",
        ]
    );
}

#[test]
fn every_label_that_users_may_ask_for_is_accepted() {
    let open = crate::model::label::WELL_KNOWN_AZURE
        .into_iter()
        .chain(crate::model::label::ADMITTED_AZURE)
        .filter(|key| *key != "karpenter.azure.com/sku-hyperv-generation");
    let requirements: Vec<Value> = open.map(|key| json!({"key": key, "operator": "Exists"})).collect();
    let object = pool(|pool| pool["spec"]["template"]["spec"]["requirements"] = json!(requirements));
    assert_eq!(lines(Kind::NodePool, &object), Vec::<String>::new());
}

#[test]
fn an_object_that_is_no_map_is_a_fault_and_no_panic() {
    for object in
        [json!([]), json!("text"), json!(5), Value::Null, json!({"spec": []}), json!({"metadata": 5})]
    {
        for kind in Kind::ALL {
            assert!(!faults(kind, &object).is_empty(), "{kind:?} {object}");
        }
    }
}

#[test]
fn the_words_of_a_fault_stay_short_whatever_was_written() {
    let object = pool(|pool| pool["spec"]["disruption"] = json!({"consolidateAfter": "x".repeat(1_000_000)}));
    assert!(only(Kind::NodePool, &object).len() < 400);
}

fn class(name: &str, spec: &Value) -> Value {
    json!({"metadata": {"name": name}, "apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", "spec": spec})
}

#[test]
fn a_class_that_is_not_there_while_others_are_is_a_fault_with_the_nearest() {
    let named =
        |class: &str| pool(|pool| pool["spec"]["template"]["spec"]["nodeClassRef"]["name"] = json!(class));
    let said = |of_pool: &str, classes: &[&str]| {
        let (pool, classes) = (named(of_pool), classes.iter().map(|name| class(name, &json!({}))));
        let classes: Vec<Value> = classes.collect();
        let of_classes = classes.iter().map(|value| WireObject { kind: Kind::AksNodeClass, value });
        let mut objects: Vec<WireObject<'_>> = of_classes.collect();
        objects.push(WireObject { kind: Kind::NodePool, value: &pool });
        let faults = parse(&objects).err().unwrap_or_default();
        let line = |(_, fault): (usize, super::Fault)| {
            format!("{fault} -> {}", fault.hint.clone().unwrap_or_default())
        };
        faults.into_iter().map(line).collect::<Vec<String>>()
    };
    let at = "`spec.template.spec.nodeClassRef.name`: AKSNodeClass";
    assert_eq!(
        said("defualt", &["default"]),
        [format!("{at} `defualt` is not in the input, and others are -> did you mean `default`?")]
    );
    assert_eq!(
        said("web", &["gpu", "kata"]),
        [format!(
            "{at} `web` is not in the input, and others are -> the input has `gpu`, `kata`: name one of them, or add `web`"
        )]
    );
    // Without other classes, the class may be in the cluster, and AKS creates `default` itself.
    for (name, classes) in [("web", &[][..]), ("default", &["gpu"]), ("gpu", &["gpu"])] {
        assert_eq!(said(name, classes), Vec::<String>::new(), "{name}");
    }
    assert_eq!(said("default", &["defualt"]).len(), 1);
}

#[test]
fn a_pool_that_names_no_class_is_told_what_to_write() {
    let said = |reference: Option<Value>, classes: &[&str]| {
        let pool = pool(|pool| match reference {
            Some(reference) => pool["spec"]["template"]["spec"]["nodeClassRef"] = reference,
            None => drop(pool["spec"]["template"]["spec"].as_object_mut().unwrap().remove("nodeClassRef")),
        });
        let classes: Vec<Value> = classes.iter().map(|name| class(name, &json!({}))).collect();
        let of_classes = classes.iter().map(|value| WireObject { kind: Kind::AksNodeClass, value });
        let objects: Vec<WireObject<'_>> =
            of_classes.chain([WireObject { kind: Kind::NodePool, value: &pool }]).collect();
        let faults = parse(&objects).err().unwrap_or_default();
        faults.into_iter().filter_map(|(_, fault)| fault.hint).collect::<Vec<String>>()
    };
    let whole = "add `nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: ";
    let end = "; `validate --fix` does not choose a class";
    let written = "the one class of the input; `nodeform validate --fix` writes it";
    assert_eq!(said(None, &["gpu"]), [format!("{whole}gpu}}`, {written}")]);
    assert_eq!(said(None, &[]), [format!("{whole}default}}`, the class that AKS makes itself{end}")]);
    assert_eq!(said(None, &["b", "a"]), [format!("{whole}NAME}}`, NAME being one of `a`, `b`{end}")]);
    let nameless = json!({"group": "karpenter.azure.com", "kind": "AKSNodeClass"});
    assert_eq!(said(Some(nameless), &["gpu"]), [format!("add `name: gpu`, {written}")]);
}

#[test]
fn a_field_of_a_class_that_is_near_none_is_of_a_later_version_and_no_fault() {
    let later = |spec: &Value| {
        let class = class("a", spec);
        let paths =
            super::later_fields(Kind::AksNodeClass, &class).into_iter().map(|fault| fault.path_text());
        (lines(Kind::AksNodeClass, &class).len(), paths.collect::<Vec<String>>())
    };
    assert_eq!(later(&json!({"diskEncryptionSet": "x"})), (0, vec!["spec.diskEncryptionSet".to_owned()]));
    assert_eq!(later(&json!({"osDiskSizeGb": 128})), (1, Vec::new()));
    assert_eq!(later(&json!({"kubelet": {"zzz": 1}})), (0, vec!["spec.kubelet.zzz".to_owned()]));
    let pool = pool(|pool| pool["spec"]["zzz"] = json!(1));
    assert_eq!(
        (lines(Kind::NodePool, &pool).len(), super::later_fields(Kind::NodePool, &pool).len()),
        (1, 0)
    );
}

#[test]
fn a_status_that_a_later_version_wrote_stops_no_plan() {
    let fleet = |status: Value| {
        let value = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "f"},
            "spec": {"mode": "auto"}, "status": status});
        (
            lines(Kind::NodeFleet, &value),
            parse(&[WireObject { kind: Kind::NodeFleet, value: &value }]).is_ok(),
        )
    };
    for status in [json!({"zzz": 1}), json!({"mode": "dream"}), json!({"holds": "none"}), json!(7)] {
        assert_eq!(fleet(status.clone()), (Vec::new(), true), "{status}");
    }
    let pool = pool(|pool| pool["status"] = json!({"zzz": 1}));
    assert_eq!(lines(Kind::NodePool, &pool), Vec::<String>::new());
    let known = class("a", &json!({}));
    let strange = {
        let mut class = known.clone();
        class["status"] = json!({"zzz": 1});
        class
    };
    assert_eq!(parsed(Kind::AksNodeClass, &strange), parsed(Kind::AksNodeClass, &known));
}

#[test]
fn kata_needs_azure_linux_and_no_fips() {
    let said = |spec: &Value| lines(Kind::AksNodeClass, &class("a", spec));
    let fine = json!({"imageFamily": "AzureLinux", "workloadRuntime": "KataVmIsolation"});
    assert_eq!(said(&fine), Vec::<String>::new());
    assert_eq!(said(&json!({"workloadRuntime": "OCIContainer"})), Vec::<String>::new());
    assert!(said(&json!({"workloadRuntime": "KataMshvVmIsolation"}))[0].starts_with("`spec.imageFamily`: "));
    let fips = json!({"imageFamily": "AzureLinux", "workloadRuntime": "KataVmIsolation", "fipsMode": "FIPS"});
    assert!(said(&fips)[0].starts_with("`spec.fipsMode`: there is no FIPS image with"));
    let misspelt = said(&json!({"imageFamily": "AzureLinux", "workloadRuntime": "Kata"}));
    assert!(misspelt[0].contains("is not one of `OCIContainer`"), "{misspelt:?}");
    let is_kata = parsed(Kind::AksNodeClass, &class("a", &fine)).classes.values().all(|class| class.is_kata);
    assert!(is_kata);
}

fn parsed(kind: Kind, value: &Value) -> Policy {
    parse(&[WireObject { kind, value }]).unwrap()
}

fn class_hash(spec: &Value) -> String {
    let policy = parsed(Kind::AksNodeClass, &class("default", spec));
    policy.classes.values().next().unwrap().hash.to_string()
}

#[test]
fn the_hash_of_a_class_is_taken_with_its_defaults_as_an_api_server_stores_it() {
    let written = json!({"imageFamily": "Ubuntu", "osDiskSizeGB": 128});
    assert_eq!(class_hash(&json!({})), class_hash(&written));
    assert_ne!(class_hash(&json!({})), class_hash(&json!({"osDiskSizeGB": 129})));
    let mut policy = parsed(Kind::NodePool, &pool(|_| {}));
    policy.assume_missing_classes();
    assert_eq!(policy.classes.values().next().unwrap().hash.to_string(), class_hash(&json!({})));
}

#[test]
fn a_budget_without_nodes_and_a_null_limit_are_read_as_an_api_server_reads_them() {
    let object = pool(|pool| {
        pool["spec"]["limits"] = json!({"cpu": null, "memory": "1Gi"});
        pool["spec"]["disruption"] = json!({"budgets": [{"reasons": ["Empty"]}], "consolidateAfter": null});
    });
    let policy = parsed(Kind::NodePool, &object);
    let pool = policy.pools.values().next().unwrap();
    assert_eq!(pool.disruption.budgets[0].nodes, crate::model::BudgetNodes::Percent(10));
    assert_eq!(pool.limits.iter().count(), 1);
}

#[test]
fn an_overlay_and_a_buffer_become_values() {
    let overlay = json!({"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": "o"}, "spec": {
        "requirements": [
            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["eastus-1"]},
            {"key": "karpenter.sh/nodepool", "operator": "NotIn", "values": ["general"]},
        ],
        "priceAdjustment": "-10%",
        "capacity": {"example.com/device": "2k"},
    }});
    let policy = parsed(Kind::NodeOverlay, &overlay);
    let read = &policy.overlays["o"];
    assert_eq!(read.price, PriceChange::parse_adjustment("-10%"));
    assert_eq!((read.weight, read.capacity.get(&ResourceName::parse("example.com/device"))), (0, 2000));
    assert_eq!(read.requirements.iter().count(), 2);

    let buffer = |version: &str| {
        json!({"apiVersion": version, "kind": "CapacityBuffer", "metadata": {"name": "b"}, "spec": {
            "scalableRef": {"apiGroup": "apps", "kind": "Deployment", "name": "web"}, "percentage": 20, "limits": {"cpu": "500m"},
        }})
    };
    let policy = parsed(Kind::CapacityBuffer, &buffer("autoscaling.x-k8s.io/v1beta1"));
    assert_eq!(policy, parsed(Kind::CapacityBuffer, &buffer("autoscaling.x-k8s.io/v1alpha1")));
    let read = policy.buffers.values().next().unwrap();
    let workload =
        Workload { kind: "Deployment".into(), namespace: Namespace::new("default"), name: "web".into() };
    assert_eq!(read.pods, BufferPods::Workload { group: "apps".into(), workload });
    assert_eq!((read.percent, read.replicas, &*read.strategy), (Some(20), None, ACTIVE_CAPACITY));
    assert_eq!(read.limits, Some(Resources::none().with(ResourceName::Cpu, 500)));
}

#[test]
fn what_no_overlay_and_no_buffer_can_mean_is_refused() {
    let overlay = json!({"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": "o"},
        "spec": {"requirements": [], "price": "9".repeat(20)}});
    let buffer = json!({"apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer", "metadata": {"name": "b"},
        "spec": {"replicas": 1}});
    let all = [(Kind::NodeOverlay, &overlay), (Kind::CapacityBuffer, &buffer)];
    let refused = parse(&all.map(|(kind, value)| WireObject { kind, value })).unwrap_err();
    let paths: Vec<String> = refused.iter().map(|(_, fault)| fault.path_text()).collect();
    assert_eq!(paths, ["spec.price", "spec"]);
}

#[test]
fn fields_of_a_fleet_without_an_effect_are_refused_all_at_once() {
    let fleet = |spec: Value| json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "f"}, "spec": spec});
    let full = fleet(json!({
        "cluster": {"name": "c", "location": "westeurope"},
        "mode": "review",
        "approve": {"create": "review", "delete-pool": "auto", "pools": {"a": {"forget": "auto"}}},
        "suspend": true,
        "strategy": "karpenter",
        "prefer": "availability",
        "preferences": {"maxExtraCostPercent": 5},
        "limits": {"nodes": 5, "costPerMonth": "10.5"},
        "prices": {"costPerNode": "0.01"},
        "allow": [{"pools": ["a"]}],
        "freeze": [{"name": "a"}, {"name": "b", "schedule": "0 9 * * *", "duration": "1h", "timeZone": "Mars/Base"}],
        "safety": {},
        "git": {"repository": "https://example.com/fleet"},
    }));
    let refused = parse(&[WireObject { kind: Kind::NodeFleet, value: &full }]).unwrap_err();
    let paths: Vec<String> = refused.iter().map(|(_, fault)| fault.path_text()).collect();
    assert_eq!(
        paths,
        [
            "spec.allow",
            "spec.freeze[1].timeZone",
            "spec.approve.delete-pool",
            "spec.approve.pools.a.forget",
            "spec.preferences.maxExtraCostPercent",
            "spec.prefer",
        ]
    );
    let honoured = fleet(json!({
        "mode": "observe",
        "suspend": false,
        "strategy": "cheapest",
        "prefer": "price",
        "preferences": {"maxExtraCostPercent": 0},
        "limits": {"nodes": 5},
        "git": {},
        "allow": [],
    }));
    let honoured = parsed(Kind::NodeFleet, &honoured).fleet;
    assert_eq!((honoured.safety, honoured.is_suspended), (Safety::default(), false));
    let careful =
        parsed(Kind::NodeFleet, &fleet(json!({"suspend": true, "safety": {"maxLossNodes": 3}}))).fleet;
    let safety = Safety { max_loss_percent: 20, max_loss_nodes: 3 };
    assert_eq!((careful.safety, careful.is_suspended), (safety, true));
    assert_eq!((honoured.limits.nodes, honoured.strategy), (Some(5), Strategy::Cheapest));
    let own = json!({"approve": {"replace": "hold", "pools": {"a": {"replace": "auto"}}}});
    let own = parsed(Kind::NodeFleet, &fleet(own)).fleet.holds;
    let held = |pool: &str| own.on_removal(&PoolName::new(pool), DisruptionReason::Drifted, None).is_some();
    assert_eq!((held("a"), held("b")), (false, true), "the word for a pool counts before the one for all");
    for spec in [
        json!({"strategy": "karpenter"}),
        json!({"strategy": "karpenter", "preferences": {"maxExtraCostPercent": "unlimited"}}),
    ] {
        assert_eq!(parsed(Kind::NodeFleet, &fleet(spec)).fleet.strategy, Strategy::Karpenter);
    }
}

#[test]
fn what_people_review_follows_from_the_mode_and_its_exceptions() {
    let fleet = |spec: Value| json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "f"}, "spec": spec});
    let git = json!({"repository": "https://example.com/fleet"});
    let of = |spec: Value, pool: &str| {
        let reviewed = parsed(Kind::NodeFleet, &fleet(spec)).fleet.reviewed;
        let pool = PoolName::new(pool);
        let classes = ChangeClass::ALL.into_iter().filter(|class| reviewed.has(*class, &pool));
        classes.map(ChangeClass::as_str).collect::<Vec<&str>>().join(" ")
    };
    let all = "move-pods replace adopt forget delete-pool";
    assert_eq!(of(json!({"mode": "review", "git": git}), "a"), all);
    for spec in [json!({"mode": "auto", "git": git}), json!({"mode": "auto"})] {
        assert_eq!(of(spec, "a"), "delete-pool");
    }
    for spec in [json!({"mode": "observe", "git": git}), json!({})] {
        assert_eq!(of(spec, "a"), "");
    }
    let approve = json!({"create": "review", "replace": "auto", "adopt": "hold", "forget": "hold", "pools": {
        "a": {"replace": "review", "move-pods": "auto"}, "b": {"create": "hold", "move-pods": "hold"}}});
    let with = json!({"mode": "review", "git": git, "approve": approve});
    assert_eq!(of(with.clone(), "a"), "create replace delete-pool");
    assert_eq!(of(with.clone(), "b"), "delete-pool");
    assert_eq!(of(with.clone(), "c"), "create move-pods delete-pool");
    let holds = parsed(Kind::NodeFleet, &fleet(with)).fleet.holds;
    assert!(holds.on_create(&PoolName::new("b")).is_some() && holds.on_create(&PoolName::new("c")).is_none());
    let without = json!({"mode": "auto", "approve": {"replace": "review"}});
    assert_eq!(of(without, "a"), "replace delete-pool", "it is approved in the cluster");
    let never = fleet(json!({"mode": "auto", "approve": {"delete-pool": "auto"}}));
    let refused = parse(&[WireObject { kind: Kind::NodeFleet, value: &never }]).unwrap_err();
    let said: Vec<&str> = refused.iter().map(|(_, fault)| fault.message.as_str()).collect();
    assert_eq!(said, ["this class never happens by itself"]);
}

#[test]
fn what_the_fleet_prefers_is_read() {
    let fleet = |spec: Value| {
        let value = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "f"}, "spec": spec});
        parsed(Kind::NodeFleet, &value).fleet.prefer
    };
    assert_eq!(fleet(json!({})), Prefer::Price);
    assert_eq!(fleet(json!({"prefer": "price", "strategy": "karpenter"})), Prefer::Price);
    assert_eq!(fleet(json!({"prefer": "availability"})), Prefer::Availability);
}

#[test]
fn what_preferences_may_cost_is_read() {
    let fleet = |spec: Value| {
        let value = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "f"}, "spec": spec});
        parsed(Kind::NodeFleet, &value).fleet.extra_cost
    };
    assert_eq!(fleet(json!({})), ExtraCost::Percent(5));
    assert_eq!(fleet(json!({"preferences": {"maxExtraCostPercent": 0}})), ExtraCost::Percent(0));
    assert_eq!(fleet(json!({"preferences": {"maxExtraCostPercent": "unlimited"}})), ExtraCost::Unlimited);
}

#[test]
fn over_how_many_hosts_pods_are_spread_is_read() {
    let value = |spec: Value| json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "f"}, "spec": spec});
    let fleet = |spec: Value| parsed(Kind::NodeFleet, &value(spec)).fleet.spread_hosts;
    assert_eq!(fleet(json!({})), SpreadHosts::AtLeast(3));
    assert_eq!(fleet(json!({"spread": {"minHosts": 5}})), SpreadHosts::AtLeast(5));
    assert_eq!(fleet(json!({"spread": {"minHosts": "each"}, "strategy": "karpenter"})), SpreadHosts::Each);
    let number = value(json!({"spread": {"minHosts": 5}, "strategy": "karpenter"}));
    let refused = parse(&[WireObject { kind: Kind::NodeFleet, value: &number }]).unwrap_err();
    assert!(format!("{refused:?}").contains("minHosts"), "{refused:?}");
    let zero = value(json!({"spread": {"minHosts": 0}}));
    assert!(!lines(Kind::NodeFleet, &zero).is_empty());
}

#[test]
fn what_is_no_key_of_a_label_is_not_said_to_be_too_long() {
    let odd = pool(|pool| {
        pool["spec"]["template"]["spec"]["requirements"] = json!([{"key": "-a/b", "operator": "Exists"}]);
    });
    let said = lines(Kind::NodePool, &odd).concat();
    assert!(said.contains("\"-a/b\" is not a label's key -> a key is at most 63 letters"), "{said}");
}

//! Requirements that no size meets together: blames the smallest set, and lists the available values.

use super::world::{PodWith, World, any_pool, node, on, pod, pool};
use crate::model::{
    CapacityType, InstanceType, LabelKey, Operator, Pool, Requirement, Taint, Toleration, label,
};

/// Returns why a pod is not placed.
fn why(world: World) -> String {
    let report = world.pods([pod("a")]).solve().report;
    report.unplaced.first().map(|unplaced| unplaced.because.clone()).unwrap_or_default()
}

fn asked(pool: Pool, key: &str, operator: Operator, value: &str) -> Pool {
    pool.requires(key, Requirement::new(operator, [value]))
}

fn family(pool: Pool, family: &str) -> Pool {
    asked(pool, label::SKU_FAMILY, Operator::In, family)
}

fn is_of(kind: &InstanceType, family: &str) -> bool {
    kind.requirements.get(label::SKU_FAMILY).is_some_and(|own| own.accepts(family))
}

#[test]
fn a_gap_is_told_with_the_numbers_on_both_sides_of_it() {
    let above = asked(family(pool("default"), "D"), label::SKU_CPU, Operator::Gt, "4");
    let gap = asked(above, label::SKU_CPU, Operator::Lt, "8");
    // Sizes of another family are in the gap, so the family is part of the conflict.
    let world = World::of(vec![gap.clone()]).types(|types| {
        for kind in types.iter_mut().filter(|kind| is_of(kind, "F")) {
            kind.requirements.set(LabelKey::new(label::SKU_CPU), Requirement::one("6"));
        }
    });
    assert_eq!(why(world), "no D size has more than 4 and fewer than 8 vCPU; there are 4 and 8");
    assert_eq!(
        why(World::of(vec![gap])),
        "no size has more than 4 and fewer than 8 vCPU; there are 4 and 8",
        "nothing at all is in it"
    );
}

#[test]
fn of_many_numbers_those_beside_the_gap_are_told() {
    let wanted = asked(family(pool("default"), "D"), label::SKU_CPU, Operator::In, "7");
    let world = World::of(vec![wanted]).types(|types| {
        let sold = ["2", "4", "6", "8", "16", "20", "32", "48", "128"];
        let last = types.len();
        for (number, cpu) in sold.iter().enumerate() {
            let mut more = types[0].clone();
            more.name = format!("Standard_D{cpu}_v9").as_str().into();
            more.requirements.set(LabelKey::new(label::SKU_CPU), Requirement::one(cpu));
            types.insert(last + number, more);
        }
        types.sort_by(|one, other| one.name.cmp(&other.name));
    });
    assert_eq!(why(world), "no size has 7 vCPU; there are 6 and 8");
}

#[test]
fn two_that_conflict_are_blamed_and_not_those_beside_them() {
    let both = asked(family(pool("default"), "N"), label::SKU_CPU, Operator::Gt, "4");
    let more = asked(both, label::SKU_GPU_COUNT, Operator::Gt, "0");
    assert_eq!(why(World::of(vec![more])), "no N size has more than 4 vCPU; there is only 4");
    let arm = asked(family(any_pool("default"), "E"), label::ARCH, Operator::In, "arm64");
    assert_eq!(why(World::of(vec![arm])), "no E size is arm64; there is only amd64");
}

#[test]
fn a_zone_or_the_way_it_is_bought_takes_part() {
    let zone = asked(family(pool("default"), "E"), label::ZONE, Operator::In, "eastus-3");
    let world = World::of(vec![zone]).types(|types| {
        for kind in types.iter_mut().filter(|kind| is_of(kind, "E")) {
            kind.offerings.retain(|way| way.zone.as_str() != "eastus-3");
        }
    });
    assert_eq!(why(world), "no E size is offered in zone `eastus-3`; available: `eastus-1`, `eastus-2`");
    let spot = asked(family(any_pool("default"), "E"), label::CAPACITY_TYPE, Operator::In, "spot");
    let world = World::of(vec![spot]).types(|types| {
        for kind in types.iter_mut().filter(|kind| is_of(kind, "E")) {
            kind.offerings.retain(|way| way.capacity_type != CapacityType::Spot);
        }
    });
    assert_eq!(why(world), "no E size is offered as spot; available: on-demand");
}

#[test]
fn who_asks_for_what_is_told_where_a_pod_takes_part() {
    let large = asked(family(pool("default"), "N"), label::SKU_GPU_COUNT, Operator::Gt, "0");
    let wants = pod("a").selects(label::SKU_CPU, "8");
    let report = World::of(vec![large]).pods([wants]).solve().report;
    assert_eq!(
        report.unplaced[0].because,
        "no N size has 8 vCPU; there is only 4; the pod asks for 8 vCPU, the pool for family N"
    );
}

/// A static pool with two nodes, neither of which has enough capacity left for the pod.
#[test]
fn a_static_pool_says_that_it_does_not_grow_and_what_its_nodes_have() {
    let mut fixed = pool("s");
    fixed.replicas = Some(2);
    let nodes = ["n1", "n2"].map(|name| {
        let mut node = node(name, "Standard_D2s_v5");
        node.pool = Some("s".into());
        node
    });
    let busy = [on("n1", pod("b1").cpu("1500m")), on("n2", pod("b2").cpu("1500m"))];
    let world = World::of(vec![fixed]).nodes(nodes).pods(busy).pods([pod("a").cpu("1")]);
    let unplaced = &world.solve().report.unplaced[0];
    assert_eq!(
        unplaced.because,
        "pool `s` is static (`replicas: 2`), and none of its 2 nodes takes it: `cpu` 1 requested, 400m left"
    );
    assert_eq!(unplaced.nearest, None);
}

#[test]
fn a_pod_that_is_put_out_again_and_again_is_warned_of() {
    let mut tainted = pool("default");
    let taint = Taint::new("t", "x", crate::model::Effect::NoExecute);
    tainted.taints.push(taint);
    let tolerates = |seconds| Toleration {
        key: Some("t".into()),
        value: None,
        effect: Some(crate::model::Effect::NoExecute),
        seconds,
    };
    let warned = |tolerations: Vec<Toleration>| {
        let wants = tolerations.into_iter().fold(pod("a"), |pod, toleration| pod.tolerates(toleration));
        let solution = World::of(vec![tainted.clone()]).pods([wants]).solve();
        assert_eq!(solution.target.new.len(), 1);
        let said = solution.report.warnings.iter().map(|warning| warning.what.clone());
        said.collect::<Vec<_>>()
    };
    let again = "tolerates taint `t=x:NoExecute` of pool `default` for 300 s (`tolerationSeconds`): evicted again \
                 and again";
    assert_eq!(warned(vec![tolerates(Some(300))]), [again]);
    assert!(warned(vec![tolerates(None)]).is_empty());
    assert!(warned(vec![tolerates(Some(300)), tolerates(None)]).is_empty(), "one of them is for good");
}

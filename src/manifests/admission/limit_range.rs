//! LimitRanges: default resources of a namespace's containers, and limits on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::manifests::cursor::{Amounts, Cursor};
use crate::manifests::meta::Meta;
use crate::manifests::pod::requests::Written;
use crate::manifests::tree::Value;
use crate::model::{Namespace, Quantity, ResourceName, Resources};

/// Scope of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Container,
    Pod,
}

/// One item of a LimitRange, with the same fields.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Limit {
    scope: Scope,
    default_limit: Resources,
    default_request: Resources,
    min: Resources,
    max: Resources,
    /// Maximum ratio of limit to request, in thousandths.
    ratio_milli: BTreeMap<ResourceName, i64>,
}

/// The LimitRanges of the input, by namespace and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitRanges(BTreeMap<(Namespace, Arc<str>), Vec<Limit>>);

impl LimitRanges {
    /// Reads a LimitRange.
    pub fn read(&mut self, object: Cursor<'_>) {
        let (Some(meta), Some(spec)) = (Meta::read(object), object.get("spec")) else { return };
        let limits = spec.items("limits").into_iter().filter_map(limit).collect();
        self.0.insert((meta.namespace, meta.name), limits);
    }

    fn of<'a>(&'a self, namespace: &'a Namespace) -> impl Iterator<Item = (&'a Arc<str>, &'a Limit)> {
        let own = self.0.iter().filter(move |((of, _), _)| of == namespace);
        own.flat_map(|((_, name), limits)| limits.iter().map(move |limit| (name, limit)))
    }

    /// Fills in the missing resources of containers.
    pub fn default(&self, namespace: &Namespace, written: &mut Written) {
        for (_, limit) in self.of(namespace).filter(|(_, limit)| limit.scope == Scope::Container) {
            for container in &mut written.containers {
                fill(&mut container.limits, &limit.default_limit);
                fill(&mut container.requests, &limit.default_request);
            }
        }
    }

    /// Returns the reasons why the API server would reject a pod.
    #[must_use]
    pub fn refusals(&self, namespace: &Namespace, written: &Written) -> Vec<String> {
        let mut refusals = Vec::new();
        for (name, limit) in self.of(namespace) {
            let mut judge = |whose: &str, requests: &Resources, limits: &Resources| {
                let why = limit.refusals(requests, limits).into_iter();
                refusals.extend(why.map(|why| format!("{whose} {why} (LimitRange `{name}`)")));
            };
            match limit.scope {
                Scope::Container => written.containers.iter().for_each(|container| {
                    judge(&format!("container `{}`", container.name), &container.requests, &container.limits);
                }),
                Scope::Pod => {
                    let mut limits = written.sum(|one| &one.limits);
                    for (name, amount) in written.pod_limits.iter() {
                        limits.set(name.clone(), amount);
                    }
                    judge("the pod", &written.requests().asked, &limits);
                }
            }
        }
        refusals
    }
}

fn limit(item: Cursor<'_>) -> Option<Limit> {
    let scope = match item.text("type").map(|text| &**text) {
        Some("Container") => Scope::Container,
        Some("Pod") => Scope::Pod,
        // Volume claims have limits as well, but their sizes do not matter for nodes.
        Some(_) => return None,
        None => {
            item.missing("type", "write `Container`, `Pod` or `PersistentVolumeClaim`");
            return None;
        }
    };
    let amounts = |key: &str| item.resources(key, Amounts::Requests);
    let (min, max) = (amounts("min"), amounts("max"));
    let (mut default_limit, mut default_request) = (amounts("default"), amounts("defaultRequest"));
    // Defaults as in the API server: the limit from the maximum; the request from the limit, else from the minimum.
    fill(&mut default_limit, &max);
    fill(&mut default_request, &default_limit);
    fill(&mut default_request, &min);
    let mut ratio_milli = BTreeMap::new();
    for (name, ratio) in item.entries("maxLimitRequestRatio") {
        let quantity = match &ratio.tree.value {
            Value::Integer(number) => Quantity::parse(&number.to_string()),
            Value::Decimal(text) | Value::Text(text) => Quantity::parse(text),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        };
        match quantity {
            Some(quantity) => {
                ratio_milli.insert(ResourceName::parse(name), quantity.milli_down());
            }
            None => ratio.fault("must be a number", Some("write it as `2` or `1.5`")),
        }
    }
    Some(Limit { scope, default_limit, default_request, min, max, ratio_milli })
}

fn fill(amounts: &mut Resources, with: &Resources) {
    for (name, amount) in with.iter() {
        if !amounts.names(name) {
            amounts.set(name.clone(), amount);
        }
    }
}

impl Limit {
    fn refusals(&self, requests: &Resources, limits: &Resources) -> Vec<String> {
        let mut why = Vec::new();
        for (name, least) in self.min.iter() {
            if !requests.names(name) {
                why.push(format!("asks for no {name}, and at least {} is wanted", name.show(least)));
            } else if requests.get(name) < least {
                let (asked, least) = (name.show(requests.get(name)), name.show(least));
                why.push(format!("asks for {asked} {name}, less than {least}"));
            }
        }
        for (name, most) in self.max.iter() {
            let limit = limits.get(name);
            let asked = requests.get(name).max(limit);
            if !limits.names(name) {
                why.push(format!("has no limit of {name}, and at most {} is allowed", name.show(most)));
            } else if asked > most {
                why.push(format!("may take {} {name}, more than {}", name.show(asked), name.show(most)));
            }
        }
        for (name, ratio) in &self.ratio_milli {
            let (request, limit) = (requests.get(name), limits.get(name));
            if request == 0 || i128::from(limit) * 1000 > i128::from(request) * i128::from(*ratio) {
                let ratio = format!("{}.{:03}", ratio / 1000, ratio % 1000);
                let ratio = ratio.trim_end_matches('0').trim_end_matches('.');
                why.push(format!("has a limit of {name} that is more than its request times {ratio}"));
            }
        }
        why
    }
}

//! Sources that could not be read, with the cause and the next step. For status, log and metrics; plans have
//! [`Gap`](crate::snapshot::Gap).
//!
//! Must never represent something that was read and is empty.

use std::fmt;
use std::sync::Arc;

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    /// The source: a Kubernetes resource with its group, as in `kubectl api-resources -o name`, or an Azure resource.
    pub source: Arc<str>,
    /// What happened, including the verb.
    pub what: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Unread {
    /// Returns a kind that could not be listed: `resource` with its group, the API server's message and hint.
    #[must_use]
    pub fn of_kind(resource: &str, is_forbidden: bool, (said, hint): (&str, &str)) -> Self {
        let (name, group) = resource.split_once('.').unwrap_or((resource, ""));
        let rule = format!(
            "let the ClusterRole of this account allow it: `apiGroups: [\"{group}\"], resources: [{name}], verbs: [list]`"
        );
        Self {
            source: resource.into(),
            what: format!("{resource} cannot be listed (`list`): {said}"),
            hint: Some(if is_forbidden { rule } else { hint.to_owned() }),
        }
    }

    /// Returns Azure resources that could not be read, with the reason.
    #[must_use]
    pub fn of_azure(what: &str, why: &str) -> Self {
        // Names of single resources are cut off, so there are only a few sources.
        let kind = what.split('`').next().unwrap_or(what).trim();
        let source = kind.to_ascii_lowercase().replace(' ', "-");
        Self { source: source.into(), what: format!("{what} in Azure cannot be read: {why}"), hint: None }
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.what)?;
        match &self.hint {
            Some(hint) => write!(formatter, "; {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Unread;

    #[test]
    fn what_may_not_be_listed_is_said_with_verb_resource_and_the_rule_that_the_role_lacks() {
        let said = ("`GET /apis/karpenter.sh/v1/nodepools`: the API server answers 403", "ask for a role");
        let unread = Unread::of_kind("nodepools.karpenter.sh", true, said);
        assert_eq!(&*unread.source, "nodepools.karpenter.sh");
        assert_eq!(
            unread.to_string(),
            "nodepools.karpenter.sh cannot be listed (`list`): `GET /apis/karpenter.sh/v1/nodepools`: the API server answers \
             403; let the ClusterRole of this account allow it: `apiGroups: [\"karpenter.sh\"], resources: [nodepools], \
             verbs: [list]`"
        );
        let busy = Unread::of_kind("pods", false, ("no answer", "wait"));
        assert_eq!(busy.to_string(), "pods cannot be listed (`list`): no answer; wait");
        let of_azure = Unread::of_azure("network interfaces", "throttled");
        assert_eq!(
            (&*of_azure.source, of_azure.to_string().as_str()),
            ("network-interfaces", "network interfaces in Azure cannot be read: throttled")
        );
    }
}

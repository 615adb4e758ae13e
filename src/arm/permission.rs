//! The permissions required in the node resource group, and which of them are missing.
//!
//! Must never decide how to react to missing ones.

use super::answer::Permission;

/// The minimal set of Azure actions for applying a plan in the node resource group.
pub const NEEDED: &[&str] = &[
    "Microsoft.Compute/virtualMachines/read",
    "Microsoft.Compute/virtualMachines/write",
    "Microsoft.Compute/virtualMachines/delete",
    "Microsoft.Compute/virtualMachines/extensions/write",
    "Microsoft.Network/networkInterfaces/read",
    "Microsoft.Network/networkInterfaces/write",
    "Microsoft.Network/networkInterfaces/delete",
    "Microsoft.Network/networkInterfaces/join/action",
];

/// Returns the actions that no permission grants.
#[must_use]
pub fn missing<'a>(permissions: &[Permission], actions: &[&'a str]) -> Vec<&'a str> {
    actions
        .iter()
        .copied()
        .filter(|action| !permissions.iter().any(|permission| grants(permission, action)))
        .collect()
}

/// Returns whether a role grants an action: it lists the action and does not exclude it. Roles are additive.
fn grants(permission: &Permission, action: &str) -> bool {
    let listed = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, action));
    listed(&permission.actions) && !listed(&permission.not_actions)
}

/// Matches an action; `*` stands for any text, including slashes. Case-insensitive.
fn matches(pattern: &str, action: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    let action = action.to_ascii_lowercase();
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| action.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(actions: &[&str], not_actions: &[&str]) -> Permission {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Permission { actions: owned(actions), not_actions: owned(not_actions), rest: Default::default() }
    }

    #[test]
    fn roles_add_up_and_each_excepts_for_itself() {
        let vm = role(&["Microsoft.Compute/virtualMachines/*"], &["*/delete"]);
        assert_eq!(
            missing(std::slice::from_ref(&vm), NEEDED),
            [
                "Microsoft.Compute/virtualMachines/delete",
                "Microsoft.Network/networkInterfaces/read",
                "Microsoft.Network/networkInterfaces/write",
                "Microsoft.Network/networkInterfaces/delete",
                "Microsoft.Network/networkInterfaces/join/action",
            ]
        );
        assert!(missing(&[vm, role(&["*"], &[])], NEEDED).is_empty());
    }

    #[test]
    fn a_star_in_the_middle_matches_any_text() {
        assert!(matches("*/networkInterfaces/*/action", "Microsoft.Network/networkInterfaces/join/action"));
        assert!(matches("microsoft.network/*", "Microsoft.Network/a/b"));
        assert!(!matches("*/read", "Microsoft.Network/a/write"));
        assert!(!matches("Microsoft.Network", "Microsoft.Network/a"));
    }
}

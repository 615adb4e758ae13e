//! Quantities: what is read is counted without overflow, the ways of rounding agree, and what is shown can be read.

use nodeform::model::{Quantity, ResourceName};

/// Panics where that does not hold of an input.
pub(crate) fn holds(text: &str) {
    let Some(quantity) = Quantity::parse(text) else { return };
    assert_eq!(quantity.as_str(), text);
    assert_eq!(Quantity::parse(&quantity.to_string()).as_ref(), Some(&quantity));
    for (up, down, parts) in
        [(quantity.units_up(), quantity.units_down(), 1), (quantity.milli_up(), quantity.milli_down(), 1000)]
    {
        assert!(down <= up && i128::from(up) - i128::from(down) <= 1, "{text}: {down} to {up}");
        // Beyond what a 64-bit number holds the nearest one stands for it.
        let exact = quantity.nano().saturating_mul(parts);
        let limit = |value: i64| value == i64::MIN || value == i64::MAX;
        assert!(limit(down) || i128::from(down) * 1_000_000_000 <= exact, "{text}: {down}");
        assert!(limit(up) || i128::from(up) * 1_000_000_000 >= exact, "{text}: {up}");
    }
    for name in ["cpu", "memory", "pods", "nvidia.com/gpu", "hugepages-2Mi"].map(ResourceName::parse) {
        let amount = name.request(&quantity);
        let shown = name.show(amount);
        assert!(Quantity::parse(&shown).is_some(), "{name}: {amount} is shown as {shown}");
        assert!(name.capacity(&quantity) <= amount);
    }
}

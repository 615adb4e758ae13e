//! IP addresses of the nodes' subnet.

use core::net::Ipv4Addr;
use std::collections::BTreeSet;

/// Addresses that Azure reserves: the network and broadcast addresses, the gateway and two for DNS.
pub(crate) const RESERVED: u32 = 5;

/// Returns the first address of a prefix and the number of its addresses. The prefix has at most 29 bits: a longer one
/// has no usable address.
pub(crate) fn range(prefix: &str) -> Option<(u32, u32)> {
    let (address, bits) = prefix.split_once('/')?;
    let address: Ipv4Addr = address.parse().ok()?;
    let bits: u32 = bits.parse().ok().filter(|bits| (8..=29).contains(bits))?;
    let count = 1_u32 << (32 - bits);
    Some((u32::from(address) & !(count - 1), count))
}

/// Returns the lowest free addresses of a prefix, or `None` if there are too few. Azure assigns addresses from the
/// fourth on.
pub(crate) fn free(prefix: &str, taken: &BTreeSet<u32>, in_use: u32, wanted: usize) -> Option<Vec<u32>> {
    let (first, count) = range(prefix)?;
    let from = first.saturating_add(RESERVED - 1).saturating_add(in_use);
    // The last address is the broadcast address.
    let last = first.saturating_add(count - 1);
    let found: Vec<u32> = (from..last).filter(|address| !taken.contains(address)).take(wanted).collect();
    (found.len() == wanted).then_some(found)
}

/// Formats an address.
pub(crate) fn text(address: u32) -> String {
    Ipv4Addr::from(address).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_29_bit_subnet_has_three_addresses_to_give() {
        let free = |taken: &[u32], wanted| free("10.0.0.0/29", &taken.iter().copied().collect(), 0, wanted);
        let all = free(&[], 3).expect("eight less five");
        assert_eq!(
            all.iter().map(|address| text(*address)).collect::<Vec<_>>(),
            ["10.0.0.4", "10.0.0.5", "10.0.0.6"]
        );
        assert_eq!(free(&[], 4), None);
        assert_eq!(free(&all[..2], 1), Some(vec![all[2]]));
        assert_eq!(range("10.0.0.0/30"), None);
        assert_eq!(range("10.0.0.0"), None);
    }
}

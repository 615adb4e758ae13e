//! Manifests: whatever is in a file, reading it ends, says what is wrong in words, and says the same twice.

use nodeform::manifests::Source;
use nodeform::offline;

/// Panics where that does not hold of an input.
pub(crate) fn holds(bytes: &[u8]) {
    let read = || offline::read(vec![Source::new("fuzz.yaml", bytes)]);
    match (read(), read()) {
        (Ok((one, _)), Ok((other, _))) => assert_eq!(one.pods, other.pods),
        (Err(one), Err(other)) => {
            assert_eq!(one, other);
            assert!(!one.is_empty(), "a fault is said");
            assert!(one.iter().all(|fault| !fault.message.trim().is_empty()), "{one:?}");
        }
        (Ok(_), Err(faults)) | (Err(faults), Ok(_)) => panic!("only once: {faults:?}"),
    }
}

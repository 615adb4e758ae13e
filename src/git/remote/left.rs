//! Removes unfinished files that killed programs left in a clone: Git does not.
#![expect(clippy::disallowed_methods, reason = "the clone is a folder of this module's own")]

use std::fs::{self, DirEntry};
use std::path::Path;
use std::time::Duration;

/// Age at which a file is no longer being written: programs are killed long before.
const OLD: Duration = Duration::from_secs(180);

/// Name prefix of such files.
const UNFINISHED: &str = "tmp_";

/// Removes unfinished objects and packs. One that cannot be removed only takes up space.
pub(super) fn sweep(objects: &Path) {
    let folders = entries(objects).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let inside = folders.flat_map(|folder| entries(&folder.path()));
    for entry in inside.chain(entries(objects)).filter(is_left) {
        let _ = fs::remove_file(entry.path());
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

fn is_left(entry: &DirEntry) -> bool {
    let changed = entry.metadata().and_then(|file| file.modified()).ok();
    let age = changed.and_then(|changed| changed.elapsed().ok());
    entry.file_name().to_string_lossy().starts_with(UNFINISHED) && age.is_some_and(|age| age > OLD)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::{Duration, fs, sweep};

    #[test]
    fn what_is_unfinished_and_old_goes_and_all_else_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("pack")).expect("it can be made");
        let files = [
            ("pack/tmp_pack_a", 3600),
            ("tmp_obj_a", 3600),
            ("pack/tmp_pack_b", 10),
            ("pack/pack-a.pack", 3600),
        ];
        for (name, age) in files {
            let file = fs::File::create(folder.path().join(name)).expect("it can be made");
            let changed = SystemTime::now().checked_sub(Duration::from_secs(age)).expect("a time");
            file.set_modified(changed).expect("it can be set");
        }
        sweep(folder.path());
        let left = files.map(|(name, _)| folder.path().join(name).exists());
        assert_eq!(left, [false, false, true, true]);
    }
}

//! Atomic file replacement: writes a temporary file next to the target and renames it, so that readers never see a
//! partial file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the target file of a path, following links, whether it exists or not.
pub(super) fn target(path: &Path) -> std::io::Result<PathBuf> {
    // Linux's limit for following links.
    const LINKS_MAX: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::symlink_metadata(&target) {
            // The target of a system link (`/dev/stdout`) may not have a path.
            Ok(facts)
                if facts.is_symlink() && fs::metadata(&target).map_or(true, |there| there.is_file()) =>
            {
                let next = fs::read_link(&target)?;
                target = target.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
            }
            Ok(_) | Err(_) => return Ok(target),
        }
    }
    Err(std::io::Error::other("too many links lead on from it"))
}

/// Replaces or creates the file returned by [`target`]; permissions are kept.
pub(super) fn whole(target: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let permissions = fs::metadata(target).ok().map(|facts| facts.permissions());
    let mut beside = target.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = write(&beside, target, bytes, permissions);
    if written.is_err() {
        // Removes the partial file; only the first error is reported.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write(
    beside: &Path,
    target: &Path,
    bytes: &[u8],
    permissions: Option<fs::Permissions>,
) -> std::io::Result<()> {
    let mut out = fs::OpenOptions::new().write(true).create_new(true).open(beside)?;
    out.write_all(bytes)?;
    if let Some(permissions) = permissions {
        out.set_permissions(permissions)?;
    }
    out.sync_all()?;
    fs::rename(beside, target)
}

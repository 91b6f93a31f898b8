//! Files that a server keeps in a directory of its own: each exists as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// The mode of a secret file.
pub const OWNER_ONLY: u32 = 0o600;

/// Locks the directory until the file is dropped, and makes it if there is none: of several
/// servers that start at once, one creates a file, and the others wait for it.
pub fn lock_directory(directory: &Path) -> io::Result<File> {
    fs::create_dir_all(directory)?;
    let turn = File::open(directory)?;
    turn.lock()?;
    Ok(turn)
}

/// Writes a file with that mode, or replaces it.
#[cfg_attr(not(unix), expect(unused_variables, reason = "modes are Unix's"))]
pub fn write_atomically(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let new = path.with_added_extension("new");
    // A process that died may have left it.
    remove_if_present(&new)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    let mut file = options.open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)
}

/// Removes a file, if there is one.
pub fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

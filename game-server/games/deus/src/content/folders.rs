//! The operator's folders of content: which there are, and what is in them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use super::{Content, FILES, SHIPPED, SharedContent, is_typeable};

/// The folder in which the operator has folders of content.
const VARIABLE: &str = "AMBIT_CONTENT";

/// Players type the name of a folder.
const NAME_BYTES: usize = 32;

/// All folders of the operator's, by name.
pub(super) static FOLDERS: LazyLock<BTreeMap<String, Result<SharedContent, Vec<String>>>> =
    LazyLock::new(|| {
        #[cfg(test)]
        return [(super::LARGE.to_owned(), Ok(SharedContent::of_many_items()))].into();
        #[cfg(not(test))]
        std::env::var_os(VARIABLE).map_or_else(BTreeMap::new, |root| read_folders(root.as_ref()))
    });

/// The names of the operator's folders.
pub(crate) fn names() -> Vec<String> {
    FOLDERS.keys().cloned().collect()
}

/// What is wrong with the variable `AMBIT_CONTENT`, if it names no folder.
pub fn invalid_variable() -> Option<String> {
    let root = std::env::var_os(VARIABLE)?;
    let error = std::fs::read_dir(&root).err()?;
    let root = root.to_string_lossy();
    Some(format!("{VARIABLE}={root}: {error}; name a folder that has folders of content in it"))
}

fn of_folder(folder: &Path) -> Result<Content, Vec<String>> {
    if !folder.is_dir() {
        return Err(vec![format!("{}: there is no such folder", folder.display())]);
    }
    let mut missing = Vec::new();
    let texts = FILES.map(|file| {
        let text = std::fs::read_to_string(folder.join(file));
        text.unwrap_or_else(|error| {
            missing.push(format!("{file}: {error}"));
            String::new()
        })
    });
    if missing.is_empty() { Content::parse(texts) } else { Err(missing) }
}

/// Folders whose names players can type.
fn read_folders(root: &Path) -> BTreeMap<String, Result<SharedContent, Vec<String>>> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let names = entries.filter(|entry| entry.path().is_dir());
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let names = names.filter(|name| is_typeable(name, NAME_BYTES));
    let read = |name: String| {
        let content = of_folder(&root.join(&name));
        (name, content.map(|content| SharedContent(Arc::new(content))))
    };
    names.filter(|name| name != SHIPPED).map(read).collect()
}

/// Reads a folder of content as a room would: what is in it, or all its mistakes.
pub fn check_content(folder: &Path) -> Result<String, Vec<String>> {
    let content = of_folder(folder)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if !name.is_empty() && !is_typeable(&name, NAME_BYTES) {
        return Err(vec![format!(
            "the folder's name '{name}' must be of `a-z`, `0-9`, `_` and `-`, {NAME_BYTES} bytes \
             at most: else no room can have it"
        )]);
    }
    Ok(format!(
        "{} files, {} classes, {} spells, {} talents, {} kinds of monsters, {} items, \
         {} rows of waves, {} rooms of maps: good",
        FILES.len(),
        content.classes.len(),
        content.spells.len(),
        content.talents.len(),
        content.monsters.len(),
        content.items.len(),
        content.waves.wave.len(),
        content.maps.room.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::SHIPPED_TEXTS;

    #[test]
    fn a_folder_is_read_as_a_whole_and_all_its_mistakes_are_told() {
        let folder = std::env::temp_dir().join(format!("deus-content-{}", std::process::id()));
        let cellar = folder.join("cellar");
        std::fs::create_dir_all(&cellar).expect("a temporary folder");
        assert_eq!(check_content(&cellar).expect_err("nothing is there").len(), FILES.len());
        assert_eq!(check_content(&folder.join("attic")).expect_err("no folder").len(), 1);
        for (file, text) in FILES.iter().zip(SHIPPED_TEXTS) {
            std::fs::write(cellar.join(file), text).expect("a file");
        }
        let said = check_content(&cellar).expect("a good folder");
        assert!(said.starts_with("7 files, 4 classes, ") && said.ends_with(": good"), "{said}");
        let untypeable = folder.join("Cellar of stone");
        std::fs::rename(&cellar, &untypeable).expect("a folder");
        let said = check_content(&untypeable).expect_err("a name that nobody types");
        assert!(said[0].contains("'Cellar of stone' must be of"), "{said:?}");
        std::fs::rename(&untypeable, &cellar).expect("a folder");
        let of_name = read_folders(&folder);
        assert_eq!(of_name.keys().collect::<Vec<_>>(), ["cellar"]);
        for (file, (old, new)) in [
            ("monsters.toml", ("health = 40", "health = 0")),
            ("monsters.toml", ("health = 18", "health = 0")),
            ("waves.toml", ("last = 10", "last = 100")),
        ] {
            let text = std::fs::read_to_string(cellar.join(file)).expect("a file");
            std::fs::write(cellar.join(file), text.replacen(old, new, 1)).expect("a file");
        }
        assert_eq!(check_content(&cellar).expect_err("three mistakes").len(), 3);
        std::fs::remove_dir_all(&folder).expect("the folder");
        let unknown = SharedContent::named("../etc").expect_err("no folder of that name");
        assert_eq!(unknown, "there is no content '../etc'");
    }
}

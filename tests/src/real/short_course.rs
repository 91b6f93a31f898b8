//! Content of the game `deus` with two short waves: a whole course within a minute.

use std::path::Path;

use anyhow::Result;

const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../game-server/games/deus/content");

/// Settings of a file of content, each with its value; a whole line stands for itself alone.
type Settings<'a> = &'a [(&'a str, &'a str)];

/// Writes the content that is shipped into a folder, but for its waves: rats, then rats and a boss.
/// Settings of monsters count for each kind.
pub fn write_short_course(
    folder: &Path,
    waves: Settings<'_>,
    monsters: Settings<'_>,
) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for entry in std::fs::read_dir(SHIPPED)? {
        let entry = entry?;
        std::fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    let change = |file: &str, settings: Settings<'_>| -> Result<String> {
        let text = std::fs::read_to_string(folder.join(file))?;
        Ok(text.lines().map(|line| changed(line, settings)).collect())
    };
    std::fs::write(folder.join("monsters.toml"), change("monsters.toml", monsters)?)?;
    let shipped = change("waves.toml", &[waves, &[("last", "2"), ("gather_s", "1")]].concat())?;
    let course = shipped.split("[[").next().unwrap_or_default();
    let text = format!(
        "{course}[[wave]]\nfrom = 1\nkinds = {{ rat = 1 }}\n\n\
         [[wave]]\nfrom = 2\nkinds = {{ rat = 1 }}\nboss = \"warlord\"\n"
    );
    Ok(std::fs::write(folder.join("waves.toml"), text)?)
}

fn changed(line: &str, settings: Settings<'_>) -> String {
    let key = line.split(" =").next().unwrap_or_default();
    let setting = settings.iter().find(|(name, _)| *name == key || *name == line);
    setting.map_or_else(|| format!("{line}\n"), |(_, value)| format!("{key} = {value}\n"))
}

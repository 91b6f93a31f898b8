//! The committed inputs of the fuzz targets: an archive a target, `tests/fuzz/corpus/TARGET.txt`.
//!
//! Each line has an input's name, a blank, and its bytes in hexadecimal digits; the lines are
//! sorted by name. Text, so that a change of one input is a change of one line. The program
//! `corpus` unpacks an archive to a folder with a file for each input, as fuzzers want it, and
//! packs one.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result, bail};

/// The inputs of a target by name.
pub type Corpus = BTreeMap<String, Vec<u8>>;

/// The folder of the archives.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus")
}

fn archive(target: &str) -> PathBuf {
    folder().join(target).with_extension("txt")
}

/// Reads a target's archive; a target without one has no inputs.
pub fn read(target: &str) -> Result<Corpus> {
    let path = archive(target);
    match fs::read_to_string(&path) {
        Ok(text) => parse(&text).with_context(|| path.display().to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Corpus::new()),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// Writes a target's archive.
pub fn write(target: &str, corpus: &Corpus) -> Result<()> {
    let path = archive(target);
    fs::write(&path, to_text(corpus)).with_context(|| path.display().to_string())
}

/// Writes each input of a target to a file in `folder`.
pub fn unpack(target: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (name, bytes) in read(target)? {
        fs::write(folder.join(&name), bytes).with_context(|| name)?;
    }
    Ok(())
}

/// Makes a target's archive of the files in `folder`.
pub fn pack(target: &str, folder: &Path) -> Result<()> {
    let mut corpus = Corpus::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        corpus.insert(name, fs::read(&path).with_context(|| path.display().to_string())?);
    }
    write(target, &corpus)
}

fn parse(text: &str) -> Result<Corpus> {
    let mut corpus = Corpus::new();
    for (number, line) in (1..).zip(text.lines()) {
        let (name, digits) = line
            .split_once(' ')
            .with_context(|| format!("line {number}: expected a name and bytes"))?;
        let bytes = from_hex(digits)
            .with_context(|| format!("line {number}: expected pairs of hexadecimal digits"))?;
        if corpus.insert(name.to_owned(), bytes).is_some() {
            bail!("line {number}: {name} is there twice");
        }
    }
    Ok(corpus)
}

fn to_text(corpus: &Corpus) -> String {
    let mut text = String::new();
    for (name, bytes) in corpus {
        text.push_str(name);
        text.push(' ');
        for byte in bytes {
            write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        }
        text.push('\n');
    }
    text
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_read_as_it_was_written() {
        let corpus = Corpus::from([
            ("empty".to_owned(), Vec::new()),
            ("found-it".to_owned(), vec![0, 1, 0x7f, 0xff]),
        ]);
        assert_eq!(to_text(&corpus), "empty \nfound-it 00017fff\n");
        assert_eq!(parse(&to_text(&corpus)).unwrap(), corpus);
    }

    #[test]
    fn damage_is_reported_with_its_line() {
        for (text, expected) in [
            ("a 00\nb", "line 2: expected a name"),
            ("a 0", "line 1: expected pairs"),
            ("a 0g", "line 1: expected pairs"),
            ("a \u{e9}\u{e9}", "line 1: expected pairs"),
            ("a 00\na 01", "line 2: a is there twice"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}

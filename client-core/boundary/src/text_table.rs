//! Numbers for the texts in sight, so that the other side decodes each text once.
//!
//! A text goes in, its number comes out; the same text has the same number as long as it is in
//! sight. Numbers ascend and are never reused, so whoever has noted what a number means is never
//! wrong.
//!
//! Bound: what the newest frame shows, and [`MAX_OLD_TEXTS`]. Cost: a search for each text in a
//! frame; memory is allocated for new texts alone.

use std::collections::BTreeMap;
use std::sync::Arc;

/// So many texts are kept that the newest frame may not have shown. Then those are dropped.
const MAX_OLD_TEXTS: usize = 4_096;

/// See the module.
#[derive(Debug, Default)]
pub struct TextTable {
    numbers: BTreeMap<Arc<str>, UsedText>,
    texts: BTreeMap<u32, Arc<str>>,
    last_number: u32,
    frame: u64,
    /// How often old ones were dropped.
    dropped: u32,
}

#[derive(Debug)]
struct UsedText {
    number: u32,
    /// The last frame that has shown it.
    frame: u64,
}

impl TextTable {
    /// Begins a frame.
    pub fn begin_frame(&mut self) {
        if self.numbers.len() > MAX_OLD_TEXTS {
            let newest = self.frame;
            self.numbers.retain(|_, used| used.frame == newest);
            let numbers = &self.numbers;
            self.texts.retain(|_, text| numbers.contains_key(text));
            self.dropped += 1;
        }
        self.frame += 1;
    }

    /// The number of a text that the frame shows.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(used) = self.numbers.get_mut(text) {
            used.frame = self.frame;
            return used.number;
        }
        self.last_number += 1;
        let number = self.last_number;
        let frame = self.frame;
        let text: Arc<str> = text.into();
        self.texts.insert(number, text.clone());
        self.numbers.insert(text, UsedText { number, frame });
        number
    }

    /// The text with this number, if a frame has shown it lately.
    pub fn text(&self, number: u32) -> Option<&str> {
        self.texts.get(&number).map(|text| &**text)
    }

    /// The texts with higher numbers, ascending.
    pub fn after(&self, number: u32) -> impl Iterator<Item = (u32, &str)> {
        self.texts.range(number.saturating_add(1)..).map(|(number, text)| (*number, &**text))
    }

    /// How often old texts were dropped.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_keeps_its_number_while_it_is_in_sight() {
        let mut table = TextTable::default();
        table.begin_frame();
        let ann = table.number("ann");
        let bob = table.number("bob");
        assert_eq!((ann, bob, table.number("ann")), (1, 2, 1));
        assert_eq!(table.after(0).collect::<Vec<_>>(), [(ann, "ann"), (bob, "bob")]);
        assert_eq!(table.after(ann).collect::<Vec<_>>(), [(bob, "bob")]);
        assert_eq!(table.after(bob).count() as u32 + table.dropped(), 0);
        for number in 0..10_000 {
            table.begin_frame();
            assert_eq!(table.number("ann"), ann);
            table.number(&number.to_string());
        }
        assert!(table.numbers.len() <= MAX_OLD_TEXTS + 2);
        assert_eq!(table.numbers.len(), table.texts.len());
        // It was dropped, and has another number now.
        assert!(table.dropped() > 0 && table.after(ann).all(|(_, text)| text != "bob"));
        assert!(table.number("bob") > 10_000);
    }
}

//! The text of a file of types for TypeScript, from what `ts-rs` makes of Rust types. Only tests
//! use it: they compare the text with the file.

use std::fmt::Write as _;

/// The text of a file of types.
pub struct TypeFile {
    text: String,
}

impl TypeFile {
    /// Begins with a comment that says what the types are and which test makes the file.
    pub fn new(about: &str) -> Self {
        TypeFile { text: about.to_owned() }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Appends a type, as it is exported.
    pub fn add(&mut self, exported: &str) {
        // Without the note about the generator and the imports of other files.
        let own = exported
            .lines()
            .skip_while(|line| line.starts_with("//") || line.starts_with("import"))
            .collect::<Vec<_>>();
        let begin = own.iter().position(|line| line.starts_with("export")).unwrap_or_default();
        let declaration = own[begin..].join("\n");
        if declaration.contains("| {") {
            self.add_lines(&own[..begin]);
            self.add_union(&declaration);
        } else {
            self.add_lines(&own);
        }
    }

    fn add_lines(&mut self, lines: &[&str]) {
        let mut is_inside = false;
        for line in lines {
            let line = line.trim();
            let is_comment = line.starts_with('*');
            let indent = match (is_inside, is_comment) {
                (true, true) => "   ",
                (true, false) => "  ",
                (false, true) => " ",
                (false, false) => "",
            };
            is_inside |= line.ends_with('{');
            let field = line.strip_suffix(',').filter(|_| !is_comment);
            let line = field.map_or(line.to_owned(), |field| format!("{field};"));
            match line.strip_suffix(", };") {
                Some(last) => writeln!(self.text, "{indent}{last};\n}};"),
                None => writeln!(self.text, "{}", format!("{indent}{line}").trim_end()),
            }
            .expect("a text takes all");
        }
    }

    /// A variant a line. The comments on fields are those of the Rust type.
    fn add_union(&mut self, declaration: &str) {
        let mut plain = String::new();
        let mut rest = declaration;
        while let Some((before, comment)) = rest.split_once("/**") {
            plain += before;
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        }
        plain += rest;
        let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain = plain.replace(", }", " }").replace(", ", "; ");
        let plain = plain.replace("\"ev\":", "ev:").replace("\"kind\":", "kind:");
        let plain = plain.replacen(" = ", " = | ", 1).replace(" & (", " & ( | ");
        for (index, variant) in plain.split(" | ").enumerate() {
            // `number | null` stays as it is.
            let is_variant = index > 0 && !variant.starts_with("null");
            let separator = match (index, is_variant) {
                (0, _) => "",
                (_, true) => "\n  | ",
                (_, false) => " | ",
            };
            self.text.push_str(separator);
            self.text.push_str(variant);
        }
        self.text.push('\n');
    }
}

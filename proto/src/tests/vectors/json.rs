//! JSON whose objects keep the order of their fields, as the wire has it.
//!
//! What fits into a line of 120 columns stays on one line, so that the files are short and a
//! difference is readable. Whole numbers are below 2^53: every reader of JSON keeps them exactly.

use std::fmt::Write;

const WIDTH: usize = 120;
const STEP: usize = 2;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Flag(bool),
    Whole(i64),
    Real(f64),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(&'static str, Self)>),
}

/// An object: `object! { name: value, ... }`. Values are whatever [`Json`] can be made from.
macro_rules! object {
    ($($name:ident: $value:expr),* $(,)?) => {
        Json::Object(vec![$((stringify!($name), Json::from($value))),*])
    };
}
pub(crate) use object;

macro_rules! whole {
    ($($number:ty)*) => {
        $(impl From<$number> for Json {
            fn from(number: $number) -> Self {
                let number = i64::try_from(number).expect("a number of JSON");
                assert!(number.unsigned_abs() < 1 << 53, "{number} is not exact in JSON");
                Self::Whole(number)
            }
        })*
    };
}

whole!(u8 u16 i16 u32 i32 u64 i64 usize);

impl From<bool> for Json {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<f32> for Json {
    fn from(number: f32) -> Self {
        assert!(number.is_finite(), "{number} is not a number of JSON");
        Self::Real(number.into())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Json {
    fn from(values: Vec<T>) -> Self {
        values.into_iter().collect()
    }
}

impl<T: Into<Self>, const N: usize> From<[T; N]> for Json {
    fn from(values: [T; N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T: Into<Self>> FromIterator<T> for Json {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl Json {
    /// The text of a file: each item of a list on lines of its own.
    pub(crate) fn to_file(items: &[Self]) -> String {
        let mut text = String::from("[");
        for (index, item) in items.iter().enumerate() {
            text.push_str(if index > 0 { ",\n" } else { "\n" });
            text.push_str(&" ".repeat(STEP));
            item.write_broken(STEP, &mut text);
        }
        text.push_str("\n]\n");
        text
    }

    /// Appends this at a column of a line that begins with `indent` spaces.
    fn write(&self, indent: usize, column: usize, text: &mut String) {
        let line = self.on_one_line();
        let is_nested = matches!(self, Self::List(_) | Self::Object(_));
        // A comma may follow.
        if is_nested && column + line.chars().count() >= WIDTH {
            self.write_broken(indent, text);
        } else {
            text.push_str(&line);
        }
    }

    fn write_broken(&self, indent: usize, text: &mut String) {
        let inner = indent + STEP;
        let begin_item = |index: usize, text: &mut String| {
            text.push_str(if index > 0 { ",\n" } else { "\n" });
            text.push_str(&" ".repeat(inner));
        };
        match self {
            Self::List(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    begin_item(index, text);
                    item.write(inner, inner, text);
                }
                end(']', indent, text);
            }
            Self::Object(fields) => {
                text.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    begin_item(index, text);
                    let name = format!("\"{name}\": ");
                    text.push_str(&name);
                    value.write(inner, inner + name.len(), text);
                }
                end('}', indent, text);
            }
            plain => text.push_str(&plain.on_one_line()),
        }
    }

    fn on_one_line(&self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Flag(flag) => flag.to_string(),
            Self::Whole(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Text(text) => quoted(text),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(Self::on_one_line).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Object(fields) => {
                let field =
                    |(name, value): &(&str, Self)| format!("\"{name}\": {}", value.on_one_line());
                let fields: Vec<_> = fields.iter().map(field).collect();
                format!("{{{}}}", fields.join(", "))
            }
        }
    }
}

fn end(bracket: char, indent: usize, text: &mut String) {
    text.push('\n');
    text.push_str(&" ".repeat(indent));
    text.push(bracket);
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\0'..=' ' if letter != ' ' => {
                write!(out, "\\u{:04x}", u32::from(letter)).expect("a String takes everything");
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[test]
fn a_value_is_written_as_json_on_one_line_if_it_fits() {
    let value = object! { text: "a \"b\"\\\n", list: [1, 2], none: None::<bool>, part: -0.25_f32 };
    assert_eq!(
        value.on_one_line(),
        r#"{"text": "a \"b\"\\\u000a", "list": [1, 2], "none": null, "part": -0.25}"#
    );
    let mut text = String::new();
    object! { long: vec!["x".repeat(60); 2], short: [true] }.write(0, 0, &mut text);
    let x = "x".repeat(60);
    let lines = [
        "{".to_owned(),
        "  \"long\": [".to_owned(),
        format!("    \"{x}\","),
        format!("    \"{x}\""),
        "  ],".to_owned(),
        "  \"short\": [true]".to_owned(),
        "}".to_owned(),
    ];
    assert_eq!(text, lines.join("\n"));
}

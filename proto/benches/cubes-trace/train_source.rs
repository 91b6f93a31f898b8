//! The module of Rust that holds a model.

use std::fmt::{Display, Write};

use ambit_proto::pose::fine::training::Model;

const HEAD: &str =
    "//! The trained model. Made by `cargo bench --bench cubes-trace -- --train FILE`; do not edit.

use super::model::Model;

/// What both ends use.
#[rustfmt::skip]
#[allow(clippy::unreadable_literal, reason = \"a table that no one reads\")]
pub(super) const PRIORS: Model = Model {
";

/// The source.
pub(super) fn source(model: &Model) -> String {
    let mut out = String::from(HEAD);
    nested(&mut out, "place", &model.place);
    rows(&mut out, "turn", &model.turn);
    nested(&mut out, "spread", &model.spread);
    nested(&mut out, "shapes", &model.shapes);
    for (name, chances) in [
        ("member", &model.member[..]),
        ("flag", &model.flag),
        ("same_place", &model.same_place),
        ("same_turn", &model.same_turn),
        ("largest", &model.largest),
    ] {
        open(&mut out, name);
        for line in chances.chunks(16) {
            out += "        ";
            list(&mut out, line);
            out += ",\n";
        }
        out += "    ],\n";
    }
    out + "};\n"
}

fn open(out: &mut String, name: &str) {
    writeln!(out, "    {name}: [").expect("a string takes everything");
}

fn rows<T: Display, const N: usize, const M: usize>(
    out: &mut String,
    name: &str,
    table: &[[T; N]; M],
) {
    open(out, name);
    for numbers in table {
        row(out, "        ", numbers);
    }
    *out += "    ],\n";
}

fn nested<T: Display, const N: usize, const M: usize, const K: usize>(
    out: &mut String,
    name: &str,
    tables: &[[[T; N]; M]; K],
) {
    open(out, name);
    for table in tables {
        *out += "        [\n";
        for numbers in table {
            row(out, "            ", numbers);
        }
        *out += "        ],\n";
    }
    *out += "    ],\n";
}

fn row<T: Display>(out: &mut String, indent: &str, numbers: &[T]) {
    *out += indent;
    *out += "[";
    list(out, numbers);
    *out += "],\n";
}

fn list<T: Display>(out: &mut String, numbers: &[T]) {
    for (index, number) in numbers.iter().enumerate() {
        let between = if index == 0 { "" } else { ", " };
        write!(out, "{between}{number}").expect("a string takes everything");
    }
}

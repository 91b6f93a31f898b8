//! The structs of a presentation for TypeScript.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ts_rs::{Config, TS};

use crate::presentation::*;

const FILE: &str = "../client-core/web/ts/presentation.ts";

/// `AMBIT_RENEW_TYPES=1` writes the file.
#[test]
fn the_types_for_typescript_are_those_of_the_structs() {
    let config = Config::default();
    let mut text = concat!(
        "/**
 * What a game tells players about itself. Made from `ambit_proto::presentation` by its test
",
        " * `the_types_for_typescript_are_those_of_the_structs`, with `AMBIT_RENEW_TYPES=1`.
 */
",
    )
    .to_owned();
    add::<Presentation>(&mut text, &config);
    add::<KindPresentation>(&mut text, &config);
    add::<ComponentPresentation>(&mut text, &config);
    add::<EventPresentation>(&mut text, &config);
    add::<CommandPresentation>(&mut text, &config);
    add::<WalkSpec>(&mut text, &config);
    add::<WalkSpeed>(&mut text, &config);
    add::<FieldPresentation>(&mut text, &config);
    add::<ChoicePresentation>(&mut text, &config);
    add::<Cost>(&mut text, &config);
    add::<RefusalPresentation>(&mut text, &config);
    add::<ControlPresentation>(&mut text, &config);
    add::<Direction>(&mut text, &config);
    add::<GateArea>(&mut text, &config);
    add::<Look>(&mut text, &config);
    add::<Shape>(&mut text, &config);
    add::<Material>(&mut text, &config);
    add::<Effect>(&mut text, &config);
    add::<EffectForm>(&mut text, &config);
    add::<ScenerySpec>(&mut text, &config);
    add::<Camera>(&mut text, &config);
    add::<ObstacleLook>(&mut text, &config);
    add::<Ground>(&mut text, &config);
    add::<Figure>(&mut text, &config);
    add::<Variant>(&mut text, &config);
    add::<Sign>(&mut text, &config);
    add::<Element>(&mut text, &config);
    add::<Thing>(&mut text, &config);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os("AMBIT_RENEW_TYPES").is_some() {
        fs::write(&path, &text).expect("the file can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{FILE} is stale; run this test with AMBIT_RENEW_TYPES=1");
}

fn add<T: TS + 'static>(text: &mut String, config: &Config) {
    let exported = T::export_to_string(config).expect("a type that can be exported");
    // Without the note about the generator and the imports of other files.
    let own =
        exported.lines().skip_while(|line| line.starts_with("//") || line.starts_with("import"));
    let mut is_inside = false;
    for line in own {
        let line = line.trim();
        let indent = match (is_inside, line.starts_with('*')) {
            (true, true) => "   ",
            (true, false) => "  ",
            (false, true) => " ",
            (false, false) => "",
        };
        is_inside |= line.ends_with('{');
        let line = line.strip_suffix(',').map_or(line.to_owned(), |field| format!("{field};"));
        match line.strip_suffix(", };") {
            Some(last) => writeln!(text, "{indent}{last};\n}};"),
            None => writeln!(text, "{}", format!("{indent}{line}").trim_end()),
        }
        .expect("a text takes all");
    }
}

//! The structs of a presentation for TypeScript.

use std::fs;
use std::path::Path;

use ts_rs::{Config, TS};

use crate::examples::typescript::TypeFile;
use crate::presentation::*;

const FILE: &str = "../client-core/web/ts/presentation.ts";

/// `AMBIT_RENEW_TYPES=1` writes the file.
#[test]
fn the_types_for_typescript_are_those_of_the_structs() {
    let mut file = TypeFile::new(concat!(
        "/**
 * What a game tells players about itself. Made from `ambit_proto::presentation` by its test
",
        " * `the_types_for_typescript_are_those_of_the_structs`, with `AMBIT_RENEW_TYPES=1`.
 */
",
    ));
    add::<Presentation>(&mut file);
    add::<KindPresentation>(&mut file);
    add::<ComponentPresentation>(&mut file);
    add::<EventPresentation>(&mut file);
    add::<CommandPresentation>(&mut file);
    add::<WalkSpec>(&mut file);
    add::<WalkSpeed>(&mut file);
    add::<FieldPresentation>(&mut file);
    add::<ChoicePresentation>(&mut file);
    add::<Cost>(&mut file);
    add::<Condition>(&mut file);
    add::<TextRole>(&mut file);
    add::<Word>(&mut file);
    add::<Outcome>(&mut file);
    add::<RefusalPresentation>(&mut file);
    add::<ControlPresentation>(&mut file);
    add::<Direction>(&mut file);
    add::<GateArea>(&mut file);
    add::<Look>(&mut file);
    add::<Shape>(&mut file);
    add::<Material>(&mut file);
    add::<Effect>(&mut file);
    add::<EffectForm>(&mut file);
    add::<ScenerySpec>(&mut file);
    add::<Camera>(&mut file);
    add::<ObstacleLook>(&mut file);
    add::<Ground>(&mut file);
    add::<Figure>(&mut file);
    add::<Variant>(&mut file);
    add::<Sign>(&mut file);
    add::<Element>(&mut file);
    add::<Thing>(&mut file);
    add::<Rarity>(&mut file);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os("AMBIT_RENEW_TYPES").is_some() {
        fs::write(&path, file.text()).expect("the file can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == file.text(), "{FILE} is stale; run this test with AMBIT_RENEW_TYPES=1");
}

fn add<T: TS + 'static>(file: &mut TypeFile) {
    let config = Config::new().with_large_int("number");
    file.add(&T::export_to_string(&config).expect("a type that can be exported"));
}

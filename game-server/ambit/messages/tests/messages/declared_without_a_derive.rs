//! What is declared is neither a kind nor an event; an unknown option.
use ambit::prelude::*;

struct Stone;

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Stone), events(Stone))]
struct Stroll;

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kind(Stone))]
struct Run;

fn main() {}

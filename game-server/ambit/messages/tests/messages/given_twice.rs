//! Attributes with an option that is given twice: the last one does not win silently.
use ambit::prelude::*;

#[derive(Kind)]
#[kind(label = "Walker", label = "Runner")]
struct Walker {
    path: Path,
}

#[derive(Kind)]
#[look(glyph = '@')]
#[look(glyph = 'o')]
struct Runner {
    path: Path,
}

#[derive(Kind)]
struct Rider {
    path: Path,
    #[audience(owner)]
    #[audience(team)]
    horse: Flag,
}

#[derive(Kind)]
struct Guest {
    path: Path,
    #[audience(owner, team)]
    horse: Flag,
}

#[derive(Command)]
enum Command {
    #[command(walk(speed = 5.0, speed = 6.0, radius = 0.4))]
    WalkTo { to: Position },
}

#[derive(Command)]
enum Trade {
    Take {
        #[field(label = "What", label = "Which")]
        what: i64,
    },
}

#[derive(Refusal)]
enum Refused {
    #[text("you are too tired")]
    #[text("not now")]
    Tired,
}

#[derive(Clone, Copy, Choice)]
enum Spell {
    #[choice(cooldown_ms = 1, label = "Bolt", cooldown_ms = 2)]
    Bolt,
}

#[derive(Parameters)]
struct Settings {
    /// How many points win.
    #[parameter(default = 5, default = 6, range = 1..=9)]
    goal: u32,
}

#[derive(Serialize, Deserialize)]
enum Timer {}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(timer = Timer, timer = Timer)]
struct Stroll;

#[derive(Event)]
#[effect(hit, size = 1.0, size = 2.0)]
struct Fall {
    walker: ObjectId,
}

/// What may be repeated.
#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker))]
#[declare(kinds(Monster))]
struct Hunt;

#[derive(Kind)]
#[look(by = name)]
#[variant("rat", size = 0.8)]
#[variant("ogre", size = 2.0)]
struct Monster {
    path: Path,
    name: Text<12>,
}

fn main() {}

//! The game `gather`: walk about and pick mushrooms, and rest in between.

use ambit::prelude::*;

const SPEED_M_PER_S: f32 = 5.0;
const REACH_M: f32 = 1.0;
const MUSHROOMS: usize = 400;

#[derive(Kind)]
#[look(glyph = '@', colour = 0x3080ff, size = 0.8, bar = stamina, label = name)]
pub struct Walker {
    path: Path,
    name: Text<24>,
    picked: Number<0, 10_000>,
    #[audience(owner)]
    stamina: Gauge<100>,
}

#[derive(Kind)]
#[look(glyph = '*', colour = 0xc05020, size = 0.4)]
pub struct Mushroom {
    path: Path,
}

#[derive(Event)]
pub struct Picked {
    pub by: Id<Walker>,
    pub at: Position,
}

#[derive(Command)]
pub enum Command {
    /// Walk to a point; it takes strength.
    #[command(newest_only)]
    WalkTo { to: Position },
    /// Stop, and gather strength quickly.
    Rest,
}

#[derive(Refusal)]
pub enum Refused {
    #[text("you are too tired: rest a little")]
    Tired,
}

#[derive(Serialize, Deserialize)]
pub enum Timer {
    Grow,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker, Mushroom), events(Picked), timer = Timer)]
pub struct Gather {
    near: Vec<Id<Mushroom>>,
}

impl Game for Gather {
    const INFO: GameInfo = GameInfo::new("gather", "Pick mushrooms, and rest in between.");
    type Avatar = Walker;
    type Command = Command;
    type Refusal = Refused;

    fn start(&mut self, world: &mut World<Self>) {
        for _ in 0..MUSHROOMS {
            grow(world);
        }
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer) -> Id<Walker> {
        world.spawn(Walker {
            path: Path::at(world.centre()),
            name: newcomer.name.into(),
            picked: 0.into(),
            stamina: Gauge::full(),
        })
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<Self>,
        command: Command,
    ) -> Result<(), Refused> {
        let mut walker = world.avatar(player);
        match command {
            Command::WalkTo { to } => {
                let left = walker.stamina().value() - 20.0;
                if left < 0.0 {
                    return Err(Refused::Tired);
                }
                walker.stamina().set_both(left, 1.0);
                walker.path().walk_to(to, SPEED_M_PER_S);
            }
            Command::Rest => {
                walker.path().stop();
                walker.stamina().set_rate(10.0);
            }
        }
        Ok(())
    }

    fn timer(&mut self, world: &mut World<Self>, Timer::Grow: Timer, _due: GameTime) {
        grow(world);
    }

    fn step(&mut self, world: &mut World<Self>, _dt: Duration) {
        let walkers: Vec<_> = world.players().map(|player| player.avatar()).collect();
        for walker in walkers {
            let Some(here) = world.position(walker) else {
                continue;
            };
            world.find_within(here, REACH_M, &mut self.near);
            for &mushroom in &self.near {
                world.despawn(mushroom);
                world.after(20.secs(), Timer::Grow);
                world.emit(Picked { by: walker, at: here });
                if let Some(mut walker) = world.edit(walker) {
                    walker.picked().add(1);
                }
            }
        }
    }
}

/// A mushroom grows somewhere on the map.
fn grow(world: &mut World<Gather>) {
    let width = world.width();
    let height = world.height();
    let (x, y) = (world.rng().f32() * width, world.rng().f32() * height);
    let path = Path::at(Position::on_ground(x, y));
    world.spawn(Mushroom { path });
}

//! Halves and angles as components, and as fields of commands and events.

use std::f32::consts::{FRAC_PI_2, PI};

use ambit::prelude::*;
use ambit::test::{Line, TestRoom};
use ambit_client_core::client::event::SchemaEvent;

#[derive(Kind)]
struct Gunner {
    path: Path,
    heading: Angle,
    power: Half,
    #[audience(owner)]
    recoil: Half,
}

#[derive(Debug, PartialEq, Event)]
struct Fired {
    by: Id<Gunner>,
    heading: Angle,
    power: Half,
    spread: Option<Half>,
}

#[derive(Command)]
enum Order {
    /// Fires.
    Fire { heading: Angle, power: Option<Half> },
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Gunner), events(Fired))]
struct Range;

impl Game for Range {
    const INFO: GameInfo = GameInfo::new("range", "Fire.");
    type Avatar = Gunner;
    type Command = Order;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Gunner> {
        world.spawn(Gunner {
            path: Path::at(world.centre()),
            heading: FRAC_PI_2.into(),
            power: 0.1.into(),
            recoil: Half::new(-2.5),
        })
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        command: Order,
    ) -> Result<(), NoRefusal> {
        let Order::Fire { heading, power } = command;
        let by = player.avatar();
        let mut gunner = world.avatar(player);
        gunner.heading().set(heading.get());
        gunner.heading().add(PI);
        let power = power.unwrap_or(Half::new(1.0));
        gunner.power().set(power.get());
        gunner.recoil().set(f32::NAN);
        world.emit(Fired { by, heading, power, spread: None });
        Ok(())
    }
}

#[test]
fn halves_and_angles_reach_clients_as_components_commands_and_events() {
    let mut room = TestRoom::<Range>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    room.run(1.secs());
    let own = room.avatar(ann).expect("ann's avatar");
    let own = own.get::<Gunner>().expect("a gunner");
    assert_eq!((own.heading, own.power, own.recoil), (FRAC_PI_2, 0.099_975_586, Some(-2.5)));
    room.command(ann, "fire -90° 65504");
    room.run(1.secs());
    for client in [ann, bob] {
        let fired: Vec<Fired> = room.events(client).iter().filter_map(SchemaEvent::get).collect();
        let [fired] = &fired[..] else { panic!("{fired:?}") };
        assert_eq!((fired.heading.get(), fired.power.get()), (-FRAC_PI_2, 65_504.0));
        assert_eq!(fired.spread, None);
        let seen = room.sees(client);
        let seen = seen.iter().find(|seen| seen.own == (client == ann)).expect("ann");
        let shown = ["heading", "power"].map(|name| seen.decimal(name));
        assert_eq!(shown, [Some(FRAC_PI_2), Some(65_504.0)]);
        let recoil = if client == ann { Some(-2.5) } else { None };
        assert_eq!(seen.decimal("recoil"), recoil, "what is not finite changes nothing");
    }
}

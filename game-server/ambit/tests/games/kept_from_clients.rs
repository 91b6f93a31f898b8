//! Components that no client gets.

use ambit::prelude::*;
use ambit::schema::ComponentAudience;
use ambit::test::{Line, TestClient, TestRoom};
use ambit_client_core::typed_reads::check_kind;

#[derive(Kind)]
#[look(label = name)]
struct Guard {
    path: Path,
    #[audience(server)]
    grudge: Number<0, 99>,
    name: Text<12>,
    #[audience(server)]
    orders: Text<200>,
    is_asleep: Flag,
    #[audience(server)]
    patience: Gauge<100>,
    #[audience(owner)]
    coins: Number<0, 9>,
}

#[derive(Kind)]
#[kind(room_wide)]
struct Watch {
    #[audience(server)]
    is_bribed: Flag,
    hour: Number<0, 23>,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Guard, Watch))]
struct Gatehouse;

impl Game for Gatehouse {
    const INFO: GameInfo = GameInfo::new("gatehouse", "Who goes there?");
    type Avatar = Guard;
    no_commands!();
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        world.spawn(Watch { is_bribed: Flag::off(), hour: 6.into() });
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Guard> {
        world.spawn(Guard {
            path: Path::at(world.centre()),
            grudge: 5.into(),
            name: newcomer.name.into(),
            orders: "watch the gate".into(),
            is_asleep: Flag::off(),
            patience: Gauge::full(),
            coins: 3.into(),
        })
    }
}

fn guards(room: &TestRoom<Gatehouse>) -> Vec<Id<Guard>> {
    room.world().players().map(Player::avatar).collect()
}

/// What happens in the open, with these hidden edits between: every datagram of both players.
fn datagrams(edit: fn(&mut World<Gatehouse>, Id<Guard>, i64)) -> [Vec<(GameTime, Vec<u8>)>; 2] {
    let line = Line::default().delay(Duration::from_millis(20));
    let mut room = TestRoom::<Gatehouse>::new();
    let clients = ["ann", "bob"].map(|name| room.join(name, line));
    room.run(1.secs());
    let guards = guards(&room);
    for step in 0..40 {
        for &guard in &guards {
            room.edit(|world, _| edit(world, guard, step));
        }
        if step % 8 == 0 {
            room.edit(|world, _| {
                let mut guard = world.edit(guards[0]).expect("it stands");
                guard.is_asleep().set(step % 16 == 0);
                guard.coins().set(step / 8);
                guard.path().walk_to(Position::on_ground(20.0 + step as f32, 20.0), 4.0);
                world.edit_state::<Watch>().expect("one").hour().set(step / 8);
            });
        }
        room.run(Duration::from_millis(70));
    }
    let sent = |client: TestClient| {
        room.datagrams(client).iter().map(|(at, bytes)| (*at, bytes.to_vec())).collect()
    };
    clients.map(sent)
}

#[test]
fn a_component_of_the_server_changes_no_byte_for_anyone() {
    let quiet = datagrams(|_, _, _| {});
    let busy = datagrams(|world, guard, step| {
        let mut guard = world.edit(guard).expect("it stands");
        guard.grudge().set(step);
        guard.orders().set(&"look the other way ".repeat(1 + step as usize % 9));
        guard.patience().add(-2.0);
        guard.patience().set_rate(1.0);
        world.edit_state::<Watch>().expect("one").is_bribed().set(step % 2 == 0);
    });
    assert!(quiet[0].len() > 40 && quiet[0] != quiet[1], "{} datagrams", quiet[0].len());
    assert!(quiet == busy);
}

#[test]
fn clients_learn_neither_names_nor_values_of_what_is_the_server_s() {
    let mut room = TestRoom::<Gatehouse>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    room.run(1.secs());
    let own = room.avatar(ann).expect("her guard");
    assert_eq!(
        (own.number("grudge"), own.text("orders"), own.gauge("patience")),
        (None, None, None)
    );
    let GuardView { name, is_asleep, coins, .. } = own.get::<Guard>().expect("a guard");
    assert_eq!((name, is_asleep, coins), ("ann", false, Some(3)));
    let others = room.sees(bob);
    let seen = others.iter().find(|seen| !seen.own).expect("ann's guard");
    assert_eq!(seen.get::<Guard>().map(|guard| (guard.name, guard.coins)), Some(("ann", None)));
    assert_eq!(room.room_wide(bob)[0].get::<Watch>().map(|watch| watch.hour), Some(6));

    let schema = ambit::Typed::<Gatehouse>::declared_schema();
    assert_eq!(schema.check(), Ok(()));
    let shown = schema.for_clients();
    let names = |kind: usize| {
        let components = shown.kinds[kind].components.iter();
        components.map(|component| component.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(names(0), ["path", "name", "is_asleep", "coins"]);
    assert_eq!(names(1), ["hour"]);
    let texts = format!("{shown:?}");
    assert!(!["grudge", "orders", "patience", "bribed"].iter().any(|name| texts.contains(name)));
    assert_eq!(check_kind::<Guard>(&shown), Ok(()));
}

/// The next build: one was of the server and all see it, another the other way round.
mod next {
    use ambit::prelude::*;

    #[derive(Kind)]
    pub(super) struct Guard {
        pub(super) path: Path,
        #[audience(server)]
        pub(super) coins: Number<0, 9>,
        pub(super) name: Text<12>,
        pub(super) grudge: Number<0, 99>,
        #[audience(server)]
        pub(super) orders: Text<20>,
    }

    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Guard))]
    pub(super) struct Gatehouse;

    impl Game for Gatehouse {
        const INFO: GameInfo = GameInfo::new("gatehouse", "Who goes there?");
        type Avatar = Guard;
        no_commands!();
        type Refusal = NoRefusal;

        fn join(&mut self, _: &mut World<Self>, _: Newcomer<'_>) -> Id<Guard> {
            unreachable!("no player comes")
        }
    }
}

#[test]
fn what_is_the_server_s_is_saved_and_found_by_its_name() {
    let mut room = TestRoom::<Gatehouse>::new();
    let ann = room.join("ann", Line::default());
    room.edit(|world, _| {
        let id = world.players().next().expect("ann").avatar();
        world.edit(id).expect("it stands").grudge().set(42);
    });
    room.move_to_another_host();
    room.run(1.secs());
    let guard = room.world().get(guards(&room)[0]).expect("it stands");
    assert_eq!((guard.grudge(), guard.orders()), (42, "watch the gate"));

    let mut room = room.release::<next::Gatehouse>();
    room.run(1.secs());
    assert_eq!(room.errors(ann), Vec::<String>::new());
    let seen = room.avatar(ann).expect("her guard");
    assert_eq!((seen.number("grudge"), seen.number("coins")), (Some(42), None));
    let id = room.world().players().next().expect("ann").avatar();
    let guard = room.world().get(id).expect("it stands");
    assert_eq!((guard.coins(), guard.orders()), (3, "watch the gate"));
    let schema = ambit::Typed::<next::Gatehouse>::declared_schema();
    let audiences = schema.kinds[0].components.iter().map(|component| component.audience);
    let (public, server) = (ComponentAudience::Public, ComponentAudience::Server);
    assert!(audiences.eq([public, public, public, server, server]));
}

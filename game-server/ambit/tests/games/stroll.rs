//! A small game, typed from end to end, in a world and in a room.

use std::ops::{Deref, DerefMut};

use ambit::message::{FieldValue, GameCommand, TypedCommand as _};
use ambit::prelude::*;
use ambit::presentation::{
    ChoicePresentation, Cost, Effect, EffectForm, Element, FieldPresentation, Figure, Look,
    Material, Shape, Sign, Variant, WalkSpec, WalkSpeed,
};
use ambit::schema::{
    Codec, ComponentAudience, ComponentSpec, FieldSpec, FieldType, InterestRadii, RefusalKind,
};
use ambit::test::{Line, TestRoom};
use ambit::{ErrorCode, Pose, Typed};
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::{Game as RoomGame, Refusal as RoomRefusal};
use ambit_room::logic::registry::Registry;
use ambit_room::logic::world::{World as RoomWorld, WorldChange};
use ambit_room::room::{REPLAY_CLIENT, Room, RoomInput};

#[derive(Kind)]
#[look(glyph = '@', shape = arrow, colour = 0x30_80ff, size = 0.8, bar = stamina, label = name)]
#[look(material = metal, figure = mage, by = name)]
#[variant("ann")]
#[variant("bob", figure = knight, size = 1.5, boss)]
#[effect(arrival, colour = 0x80_c0ff, size = 1.5)]
#[interest(inner = 2, outer = 3)]
struct Walker {
    path: Path,
    name: Text<24>,
    #[audience(owner)]
    #[component(label = "Ausdauer in %")]
    stamina: Gauge<100>,
    stones: Number<0, 1000>,
    #[effect(ring)]
    #[component(sign = hide)]
    awake: Flag,
}

#[derive(Kind)]
#[kind(name = "pebble", label = "Pebbles")]
struct Stone {
    pose: YawPose,
}

#[derive(Event)]
#[event(text = "{target} loses {amount}")]
#[effect(beam, colour = 0xff_4020, size = 0.5, from = at, at = target, reach = amount)]
struct Damage {
    amount: i64,
    target: Id<Walker>,
    at: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Choice)]
enum Spell {
    Bolt,
    /// Burns.
    ///
    /// More about it.
    #[choice(label = "Ball of fire", cooldown_ms = 600, reach_cm = 800, alone)]
    #[choice(cost(stamina = 2 * 4), sign = fire, made_of = fire)]
    FireBall,
}

#[derive(Debug, PartialEq, Command)]
enum Command {
    /// Walk to a point.
    ///
    /// More about it.
    #[command(newest_only, key = "click", walk(speed = 1.5, radius = 0.4))]
    WalkTo { to: Position },
    /// Rest.
    #[command(label = "Sit down", sign = ready)]
    Rest,
    Cast {
        #[field(label = "Which spell")]
        spell: Spell,
        at: Option<Position>,
        target: Option<Id<Walker>>,
    },
}

#[derive(Debug, PartialEq, Refusal)]
enum Refused {
    #[text("you are too tired")]
    TooTired,
    #[code(BadPosition)]
    Nowhere,
}

#[derive(Serialize, Deserialize)]
enum Timer {
    WakeUp(Id<Walker>),
    Nothing,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker, Stone), events(Damage), timer = Timer)]
struct Stroll {
    woken: u32,
    #[serde(skip)]
    near: Vec<Id<Stone>>,
}

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    type Command = Command;
    type Refusal = Refused;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Walker> {
        world.spawn(Walker {
            path: Path::at(world.centre()),
            name: newcomer.name.into(),
            stamina: Gauge::full(),
            stones: 0.into(),
            awake: true.into(),
        })
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        command: Command,
    ) -> Result<(), Refused> {
        match command {
            Command::WalkTo { to } => {
                let mut walker = world.avatar(player);
                if walker.stamina().value() < 10.0 {
                    return Err(Refused::TooTired);
                }
                walker.path().walk_to(to, 5.0);
                walker.stamina().add(-10.0);
            }
            Command::Rest => {
                let mut walker = world.avatar(player);
                walker.path().stop();
                walker.awake().set(false);
                world.after(2.secs(), Timer::WakeUp(player.avatar()));
            }
            Command::Cast { at: None, .. } => return Err(Refused::Nowhere),
            // Strikes 2 m west of the point, or nowhere.
            Command::Cast { spell, at: Some(at), .. } => {
                let x = match spell {
                    Spell::Bolt => at.x - 2.0,
                    Spell::FireBall => f32::NAN,
                };
                let target = player.avatar();
                let at = Position::on_ground(x, at.y);
                world.emit(Damage { amount: 5, target, at });
            }
        }
        Ok(())
    }

    fn timer(&mut self, world: &mut World<Self>, timer: Timer, _: GameTime) {
        if let Timer::WakeUp(walker) = timer
            && let Some(mut walker) = world.edit(walker)
        {
            walker.awake().set(true);
            self.woken += 1;
        }
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        let walkers: Vec<_> = world.players().map(Player::avatar).collect();
        for walker in walkers {
            let Some(here) = world.position(walker) else {
                continue;
            };
            world.find_within(here, 1.0, &mut self.near);
            for stone in self.near.drain(..) {
                world.despawn(stone);
                if let Some(mut walker) = world.edit(walker) {
                    walker.stones().add(1);
                }
            }
        }
    }
}

#[test]
fn a_declaration_becomes_a_schema() {
    let schema = Typed::<Stroll>::declared_schema();
    assert_eq!(schema.check(), Ok(()));
    assert_eq!(schema.game, "stroll");
    let walker = &schema.kinds[0];
    assert_eq!((walker.name.as_str(), schema.kinds[1].name.as_str()), ("walker", "pebble"));
    assert_eq!(walker.interest_radii, Some(InterestRadii { inner: 2, outer: 3 }));
    let look = Look {
        glyph: '@',
        shape: Shape::Arrow,
        colour: 0x30_80ff,
        material: Material::Metal,
        size_m: 0.8,
        bar: Some(2),
        label: Some(1),
        figure: Some(Figure::Mage),
        by: Some(1),
    };
    let shown = &schema.presentation;
    let variants = [
        Variant { of: "ann".into(), ..Variant::default() },
        Variant { of: "bob".into(), figure: Some(Figure::Knight), size: 1.5, boss: true },
    ];
    assert_eq!(shown.kinds[0].variants, variants);
    assert_eq!(shown.kinds[0].look, look);
    let component =
        |name: &str, codec, audience| ComponentSpec { name: name.into(), codec, audience };
    let components = [
        component("path", Codec::Path, ComponentAudience::Public),
        component("name", Codec::Text { max_bytes: 24 }, ComponentAudience::Public),
        component("stamina", Codec::Gauge { max: 100.0 }, ComponentAudience::Owner),
        component("stones", Codec::Number { min: 0, max: 1000 }, ComponentAudience::Public),
        component("awake", Codec::Flag, ComponentAudience::Public),
    ];
    assert_eq!(walker.components, components);
    let [.., stamina, stones, awake] = &shown.kinds[0].components[..] else {
        panic!("{:?}", shown.kinds[0].components);
    };
    assert_eq!((stamina.label.as_str(), stones.label.as_str()), ("Ausdauer in %", ""));
    let ring = Effect { form: EffectForm::Ring, ..Effect::default() };
    assert_eq!((awake.effect, stamina.effect), (Some(ring), None));
    assert_eq!((awake.sign, stamina.sign), (Some(Sign::Hide), None));
    let arrival =
        Effect { form: EffectForm::Arrival, colour: 0x80_c0ff, size_m: 1.5, ..Effect::default() };
    assert_eq!(shown.kinds[0].effect, Some(arrival));
    let form = EffectForm::Beam;
    let from = Some(2);
    let at = Some(1);
    let reach = Some(0);
    let beam = Effect { form, colour: 0xff_4020, size_m: 0.5, at, from, reach, due: None };
    assert_eq!(shown.events[0].effect, Some(beam));
    assert_eq!(shown.events[0].text, "{target} loses {amount}");
    let [walk_to, rest, cast] = &schema.commands[..] else {
        panic!("{:?}", schema.commands);
    };
    let [shown_walk, shown_rest, shown_cast] = &shown.commands[..] else {
        panic!("{:?}", shown.commands);
    };
    assert_eq!((walk_to.name.as_str(), shown_walk.help.as_str()), ("walk-to", "Walk to a point."));
    assert_eq!((shown_walk.label.as_str(), shown_rest.label.as_str()), ("", "Sit down"));
    assert_eq!((shown_walk.sign, shown_rest.sign), (None, Some(Sign::Ready)));
    assert_eq!((shown.kinds[0].label.as_str(), shown.kinds[1].label.as_str()), ("", "Pebbles"));
    let walk = WalkSpec { speed: WalkSpeed::Constant(1.5), radius_m: 0.4 };
    assert_eq!((&shown_walk.walk, &shown_rest.walk), (&Some(walk), &None));
    assert_eq!((walk_to.newest_only, shown_walk.key.as_deref()), (true, Some("click")));
    assert_eq!((rest.newest_only, &shown_rest.key, rest.fields.len()), (false, &None, 0));
    let fire_ball = ChoicePresentation {
        label: "Ball of fire".into(),
        help: "Burns.".into(),
        cooldown_ms: 600,
        only_for: None,
        alone: true,
        reach_cm: 800,
        cost: Some(Cost { of: "stamina".into(), amount: 8 }),
        sign: Some(Sign::Fire),
        made_of: Some(Element::Fire),
        ..ChoicePresentation::default()
    };
    let cast_fields = [
        FieldSpec::new("spell", FieldType::choice(["bolt", "fire-ball"])),
        FieldSpec::new("at", FieldType::Position).optional(),
        FieldSpec::new("target", FieldType::Object).optional(),
    ];
    assert_eq!(cast.fields, cast_fields);
    let spell = FieldPresentation {
        label: "Which spell".into(),
        choices: vec![ChoicePresentation::default(), fire_ball],
        listed_in: String::new(),
        marked_in: String::new(),
        sets: String::new(),
    };
    assert_eq!(shown_cast.fields[0], spell);
    assert_eq!(schema.refusals, [RefusalKind { name: "too_tired".into() }]);
    assert_eq!(shown.refusals[0].text, "you are too tired");
}

#[test]
fn objects_are_read_and_edited_by_type() {
    let mut world = world();
    let walker = world.spawn(walker_at(50.0, 60.0));
    assert_eq!(world.position(walker), Some(Position::on_ground(50.0, 60.0)));
    let arrival = {
        let mut walker = world.edit(walker).expect("the walker exists");
        walker.stamina().set_both(40.0, 2.0);
        walker.stones().add(-5);
        walker.stones().add(3);
        walker.name().set("a name that is longer than the component");
        walker.awake().set(false);
        walker.path().walk_to(Position::on_ground(60.0, 60.0), 5.0)
    };
    assert_eq!(arrival, world.now() + 2.secs());
    let read = world.get(walker).expect("the walker exists");
    assert_eq!(read.id(), walker);
    assert_eq!((read.stamina().value(), read.stamina().rate()), (40.0, 2.0));
    assert_eq!(read.stamina().at(world.now() + 10.secs()), 60.0);
    assert_eq!(read.stones(), 3);
    assert_eq!(read.name(), "a name that is longer th");
    assert!(!read.awake().is_on());
    assert_eq!(read.path().at(arrival), Position::on_ground(60.0, 60.0));
    assert!(read.is_moving());

    let stone =
        world.spawn(Stone { pose: YawPose::at(Position::on_ground(52.0, 60.0)).facing(1.0) });
    let mut found = Vec::new();
    world.find_within(Position::on_ground(51.0, 60.0), 5.0, &mut found);
    assert_eq!(found, [stone]);
    let edit = world.edit(stone);
    edit.expect("the stone exists").pose().set(Position::on_ground(1.0, 2.0), 0.0, 3.0);
    assert_eq!(world.position(stone), Some(Position::on_ground(1.0, 2.0)));
}

#[test]
fn the_nearest_object_of_a_kind_is_found() {
    let mut world = world();
    let [_, near, same] = [50.0, 54.0, 58.0].map(|x| world.spawn(walker_at(x, 60.0)));
    let nearest = |x: f32, radius_m: f32| {
        world.nearest_within::<Walker>(Position::on_ground(x, 60.0), radius_m)
    };
    assert_eq!(nearest(55.0, 10.0), Some(near));
    assert_eq!(nearest(57.0, 10.0), Some(same));
    assert_eq!(nearest(56.0, 10.0), Some(near), "of two the oldest");
    assert_eq!(nearest(70.0, 10.0), None);
}

#[test]
fn a_walk_to_where_an_object_goes_anyway_changes_no_way() {
    let mut world = world();
    let walker = world.spawn(walker_at(50.0, 60.0));
    let mut end_of = |x: f32, speed_m_per_s: f32| {
        let way = [Position::on_ground(x, 60.0)];
        let mut object = world.edit(walker).expect("it exists");
        object.path().walk_along_if_new(&way, speed_m_per_s);
        let path = world.get(walker).expect("it exists").path();
        path.points().last().map(|(time, end)| (time, end.position.x))
    };
    let first = end_of(60.0, 4.0);
    assert_eq!(end_of(60.2, 4.0), first, "near the goal");
    let farther = end_of(62.0, 4.0);
    assert_ne!(farther, first);
    assert_ne!(end_of(62.0, 2.0), farther, "later");
}

#[test]
fn a_simulation_sets_the_poses_of_objects_of_any_kind() {
    let mut world = world();
    let pose = YawPose::at(Position::on_ground(52.0, 60.0));
    let stones = [pose, YawPose::default()].map(|pose| world.spawn(Stone { pose }));
    let walker = world.spawn(walker_at(50.0, 60.0));
    let [there, stone] = stones.map(|stone| world.get(stone).expect("it exists").pose().pose());
    let off_the_grid = Pose { at: [i32::MAX; 3], ..there };
    for object in stones.map(Id::object).into_iter().chain([walker.object()]) {
        world.replace_pose(object, there);
        world.replace_pose(object, off_the_grid);
    }
    assert_ne!(there, stone);
    for stone in stones {
        assert_eq!(world.position(stone), Some(Position::on_ground(52.0, 60.0)));
        assert!(world.despawn(stone));
        world.replace_pose(stone, there);
    }
    assert_eq!(world.position(walker), Some(Position::on_ground(50.0, 60.0)));
}

#[test]
fn an_id_finds_nothing_when_its_object_is_gone_or_of_another_kind() {
    let mut world = world();
    let walker = world.spawn(walker_at(50.0, 60.0));
    assert_eq!(world.cast::<Walker>(walker.object()), Some(walker));
    assert_eq!(world.cast::<Stone>(walker.object()), None);
    assert!(world.despawn(walker));
    assert!(!world.despawn(walker));
    assert!(world.get(walker).is_none());
    assert!(world.edit(walker).is_none());
    assert_eq!(world.position(walker), None);
    // None of these panics.
    world.ask_who_sees(walker);
    world.ask_what_is_seen_by(walker);
    world.set_team(walker, Some(1));
    world.emit(Damage { amount: 1, target: walker, at: Position::default() });
}

#[test]
fn numbers_that_are_not_finite_change_nothing() {
    let mut world = world();
    let nowhere = Position::on_ground(f32::NAN, 1.0);
    let id = world.spawn(walker_at(50.0, 60.0));
    let now = world.now();
    let mut walker = world.edit(id).expect("the walker exists");
    walker.path().teleport(nowhere);
    assert_eq!(walker.path().walk_to(nowhere, 5.0), now);
    walker.path().walk_to(Position::on_ground(1.0, 1.0), 0.0);
    walker.path().walk_to(Position::on_ground(1.0, 1.0), f32::NAN);
    walker.path().replace_from(GameTime::ZERO, []);
    walker.path().replace_from(now, [(now, nowhere)]);
    walker.stamina().add(f32::INFINITY);
    walker.stamina().set_rate(f32::NAN);
    assert_eq!(walker.position(), Position::on_ground(50.0, 60.0));
    assert!(!walker.is_moving());
    assert_eq!((walker.stamina().value(), walker.stamina().rate()), (100.0, 0.0));
    world.spawn(Stone { pose: YawPose::at(nowhere).facing(f32::NAN).moving(f32::INFINITY) });
    world.spawn(Walker {
        path: Path::at(nowhere),
        stamina: Gauge::of(f32::NAN).changing(f32::NAN),
        ..walker_at(0.0, 0.0)
    });
}

#[test]
fn an_event_with_a_position_that_cannot_be_sent_ends_no_room() {
    let mut room = TestRoom::<Stroll>::new();
    let ann = room.join("ann", Line::default());
    for words in ["cast bolt 1 50", "cast fire-ball 1 50", "cast bolt 70 50"] {
        room.command(ann, words);
        room.run(1.secs());
    }
    // The bolt strikes 2 m west of its point, the fire ball nowhere.
    let at = |x| FieldValue::Position(Position::on_ground(x, 50.0));
    let struck: Vec<_> = room.events(ann).iter().map(|it| &it.fields[2].value).collect();
    assert_eq!(struck, [&at(0.0), &at(68.0)]);
}

#[test]
fn a_room_of_the_test_kit_goes_on_at_another_host() {
    let mut room = TestRoom::<Stroll>::new();
    let ann = room.join("ann", Line::default().delay(30.millis()));
    let bob = room.join("bob", Line::default());
    room.command(ann, "walk-to 120 100");
    room.command(bob, "rest");
    room.run(1.secs());
    room.move_to_another_host();
    room.run(9.secs());
    let there = Position::on_ground(120.0, 100.0);
    for client in [ann, bob] {
        let walkers = room.sees(client);
        assert_eq!(walkers.len(), 2);
        assert!(walkers.iter().any(|walker| walker.position == there));
        assert!(walkers.iter().all(|walker| walker.flag("awake") == Some(true)));
    }
    // The clients play on.
    room.command(bob, "walk-to 90 100");
    room.run(5.secs());
    let bob = room.avatar(bob).expect("bob is in the game");
    assert_eq!(bob.position, Position::on_ground(90.0, 100.0));
}

#[test]
#[should_panic(expected = "\"try_again\" has the name of a general code")]
fn a_refusal_with_the_name_of_a_general_code_is_not_offered() {
    #[derive(Refusal)]
    enum Answer {
        #[text("not now")]
        TryAgain,
    }
    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Walker))]
    struct Busy;
    impl Game for Busy {
        const INFO: GameInfo = GameInfo::new("busy", "Never has time.");
        type Avatar = Walker;
        type Command = Command;
        type Refusal = Answer;
        fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
            world.spawn(walker_at(50.0, 60.0))
        }
        fn command(
            &mut self,
            _: &mut World<Self>,
            _: Player<'_, Self>,
            _: Command,
        ) -> Result<(), Answer> {
            Err(Answer::TryAgain)
        }
    }
    let _ = Games::new().with::<Busy>();
}

#[test]
#[should_panic(expected = "the name of the game \"two words\" must consist of")]
fn a_game_whose_name_nobody_can_type_is_not_offered() {
    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Walker))]
    struct Unnamed;
    impl Game for Unnamed {
        const INFO: GameInfo = GameInfo::new("two words", "Has no name.");
        type Avatar = Walker;
        no_commands!();
        type Refusal = NoRefusal;
        fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
            world.spawn(walker_at(50.0, 60.0))
        }
    }
    let _ = Games::new().with::<Unnamed>();
}

#[test]
#[should_panic(expected = "cannot be read from what it saves")]
fn a_game_that_cannot_be_read_from_what_it_saves_is_not_offered() {
    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Walker))]
    struct Forgetful {
        #[serde(skip_serializing)]
        record: u32,
    }
    impl Game for Forgetful {
        const INFO: GameInfo = GameInfo::new("forgetful", "Saves less than it reads.");
        type Avatar = Walker;
        no_commands!();
        type Refusal = NoRefusal;
        fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
            let _ = self.record;
            world.spawn(walker_at(50.0, 60.0))
        }
    }
    let _ = Games::new().with::<Forgetful>();
}

#[test]
fn a_game_s_version_tells_what_it_saves_apart() {
    /// A game with these fields, offered.
    macro_rules! version_of {
        ($version:expr, { $($fields:tt)* }) => {{
            #[derive(Default, Serialize, Deserialize, Declare)]
            #[declare(kinds(Walker))]
            struct Counting { $($fields)* }
            impl Game for Counting {
                const INFO: GameInfo = $version;
                type Avatar = Walker;
                no_commands!();
                type Refusal = NoRefusal;
                fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
                    world.spawn(walker_at(50.0, 60.0))
                }
            }
            let registry = Registry::from(Games::new().with::<Counting>());
            registry.info("counting").expect("it is offered").version
        }};
    }
    let first = version_of!(GameInfo::new("counting", "Counts."), { _count: u32 });
    assert!(first.starts_with(env!("CARGO_PKG_VERSION")), "{first}");
    assert_eq!(version_of!(GameInfo::new("counting", "Counts."), { _count: u32 }), first);
    let longer = version_of!(GameInfo::new("counting", "Counts."), {
        _count: u32,
        #[serde(default)]
        _names: Vec<String>,
    });
    assert_ne!(longer, first, "it cannot read what the first one has saved");
    let next = version_of!(GameInfo::new("counting", "Counts.").version("7"), { _count: u32 });
    assert!(next.starts_with('7'), "{next}");
}

#[test]
fn an_event_takes_effect_when_the_game_says() {
    let mut room = RoomWorld::new(&RoomConfig::default(), Typed::<Stroll>::declared_schema());
    let world = World::<Stroll>::of_room_mut(&mut room);
    let target = world.spawn(walker_at(50.0, 60.0));
    let damage = |amount| Damage { amount, target, at: Position::on_ground(1.0, 2.0) };
    let later = world.now() + 3.secs();
    world.emit(damage(1));
    world.emit(damage(2)).at(later);
    let now = world.now();
    let mut changes = Vec::new();
    room.drain_changes(&mut changes);
    let events: Vec<_> = changes
        .into_iter()
        .filter_map(|change| match change {
            WorldChange::Event { effect, .. } => Some((change.object()?, effect)),
            _ => None,
        })
        .collect();
    assert_eq!(events, [(target.object(), now), (target.object(), later)]);
}

#[test]
fn an_avatar_exists_until_its_player_has_left() {
    let mut room = room();
    let avatar = join(&mut room);
    let (world, _) = room.arrange();
    let world = World::<Stroll>::of_room_mut(world);
    assert!(!world.despawn(avatar));
    let player = world.player(ANN).expect("the player is in the room");
    assert_eq!((player.id(), player.name(), player.avatar()), (ANN, "ann", avatar));
    assert_eq!(world.players().len(), 1);
    assert_eq!(world.player_of(avatar).map(Player::id), Some(ANN));
    tick(&mut room, 100, vec![RoomInput::Remove { player: ANN, why: Left::Quit }]);
    let world = World::<Stroll>::of_room(room.world());
    assert!(!world.contains(avatar));
    assert!(world.player(ANN).is_none());
}

#[test]
fn a_restored_room_has_its_timers_players_and_fields() {
    let mut room = room();
    let avatar = join(&mut room);
    let (world, _) = room.arrange();
    let world = World::<Stroll>::of_room_mut(world);
    world.after(500.millis(), Timer::WakeUp(avatar));
    world.after(500.millis(), Timer::Nothing);
    world.edit(avatar).expect("an avatar exists").awake().set(false);
    tick(&mut room, 200, Vec::new());
    let saved = room.save().expect("the game can be saved");
    let mut restored = Room::restore(RoomConfig::default(), new_game(), &saved)
        .expect("the snapshot was just written");
    for room in [&mut room, &mut restored] {
        tick(room, 500, Vec::new());
        assert!(!is_awake(room, avatar), "the timer is not due yet");
        tick(room, 600, Vec::new());
        assert!(is_awake(room, avatar));
        let world = World::<Stroll>::of_room(room.world());
        assert_eq!(world.player(ANN).map(Player::avatar), Some(avatar));
    }
    assert_eq!(room.game().save(), restored.game().save());
}

#[test]
fn commands_reach_the_game_by_type() {
    let mut scene = Scene::new();
    let to = Position::on_ground(60.0, 60.0);
    assert_eq!(scene.send(Command::WalkTo { to }), Ok(()));
    assert_eq!(scene.send(Command::Rest), Ok(()));
    let avatar = scene.avatar;
    for at in [Some(to), None] {
        let spell = Spell::FireBall;
        let target = Some(avatar);
        let command = Command::Cast { spell, at, target };
        let answer = scene.send(command);
        let expected = at.ok_or(RoomRefusal::Code(ErrorCode::BadPosition));
        assert_eq!(answer, expected.map(|_| ()), "a general code");
    }
    let world = World::<Stroll>::of_room_mut(&mut scene.world);
    let mut walker = world.edit(avatar).expect("an avatar exists");
    assert_eq!(walker.stamina().value(), 90.0);
    walker.stamina().set(5.0);
    let tired = Err(RoomRefusal::Game(0));
    assert_eq!(scene.send(Command::WalkTo { to }), tired);
}

#[test]
fn an_object_of_another_kind_is_answered_as_no_such_object() {
    let mut scene = Scene::new();
    let world = World::<Stroll>::of_room_mut(&mut scene.world);
    let pose = YawPose::default();
    let stone = world.spawn(Stone { pose });
    let command = GameCommand {
        kind: 2,
        fields: vec![FieldValue::Choice(0), FieldValue::None, FieldValue::Object(stone.object())],
    };
    let answer = scene.game.command(&mut scene.world, ANN, &command);
    assert_eq!(answer, Err(RoomRefusal::Code(ErrorCode::NoSuchObject)));
    let unknown = GameCommand { kind: 9, fields: Vec::new() };
    let answer = scene.game.command(&mut scene.world, ANN, &unknown);
    assert_eq!(answer, Err(RoomRefusal::Code(ErrorCode::UnknownCommand)));
}

#[test]
fn games_are_registered_by_type() {
    let registry = Registry::from(Games::new().with::<Stroll>());
    let info = registry.info("stroll").expect("it is registered");
    assert!(info.version.starts_with(env!("CARGO_PKG_VERSION")), "{}", info.version);
    assert_eq!(*info, GameInfo { version: info.version, ..Stroll::INFO });
}

const ANN: PlayerId = PlayerId(1);

fn world() -> TestWorld {
    let schema = Typed::<Stroll>::declared_schema();
    TestWorld(RoomWorld::new(&RoomConfig::default(), schema))
}

/// A game with one player, without a room.
struct Scene {
    game: Typed<Stroll>,
    world: RoomWorld,
    avatar: Id<Walker>,
}

impl Scene {
    fn new() -> Self {
        let mut game = Typed::<Stroll>::default();
        let mut world = RoomWorld::new(&RoomConfig::default(), game.schema());
        let avatar = game.join(&mut world, ANN, "ann");
        world.add_player(ANN, avatar, "ann");
        let player = World::<Stroll>::of_room(&world).player(ANN);
        let avatar = player.expect("the player has joined").avatar();
        Self { game, world, avatar }
    }

    fn send(&mut self, command: Command) -> Result<(), RoomRefusal> {
        let command = command.into_command();
        self.game.command(&mut self.world, ANN, &command)
    }
}

/// A world of the game without a room.
struct TestWorld(RoomWorld);

impl Deref for TestWorld {
    type Target = World<Stroll>;

    fn deref(&self) -> &World<Stroll> {
        World::of_room(&self.0)
    }
}

impl DerefMut for TestWorld {
    fn deref_mut(&mut self) -> &mut World<Stroll> {
        World::of_room_mut(&mut self.0)
    }
}

fn walker_at(x: f32, y: f32) -> Walker {
    Walker {
        path: Path::at(Position::on_ground(x, y)),
        name: "walker".into(),
        stamina: Gauge::full(),
        stones: 0.into(),
        awake: Flag::on(),
    }
}

fn new_game() -> Box<dyn RoomGame> {
    Box::<Typed<Stroll>>::default()
}

fn room() -> Room {
    Room::new(RoomConfig::default(), new_game())
}

/// Joins at the room's first tick, and returns the avatar.
fn join(room: &mut Room) -> Id<Walker> {
    let join = RoomInput::Join {
        coding: ambit_proto::pose::PoseCoding::Auto,
        client: REPLAY_CLIENT,
        player: ANN,
        account: None,
        name: "ann".into(),
    };
    tick(room, 50, vec![join]);
    let world = World::<Stroll>::of_room(room.world());
    world.player(ANN).expect("the player has joined").avatar()
}

fn tick(room: &mut Room, at_ms: u64, mut inputs: Vec<RoomInput>) {
    room.tick(GameTime::from_millis(at_ms), &mut inputs, &mut Vec::new());
}

fn is_awake(room: &Room, walker: Id<Walker>) -> bool {
    let world = World::<Stroll>::of_room(room.world());
    world.get(walker).expect("the walker exists").awake().is_on()
}

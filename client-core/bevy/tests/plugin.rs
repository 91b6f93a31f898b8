//! The plugin against a real server: `AMBIT_WORLD_SERVER` names the program `world-server`.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use ambit_bevy::{
    AmbitAppExt, AmbitClient, AmbitObject, AmbitPlugin, Happened, KindComponent, Own,
    SessionMessage,
};
use ambit_client::{RoomListing, SendError};
use ambit_shooter_kinds::{Fired, Match, MatchView, Ship, ShipControl, ShipView};
use anyhow::{Context, Result, bail};
use bevy_app::{App, Update};
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::{
    Added, Changed, Component, Has, Message, MessageReader, Query, RemovedComponents, Res, ResMut,
    Resource, With, Without, World,
};
use bevy_transform::components::Transform;

/// Between two frames.
const FRAME: Duration = Duration::from_millis(5);
/// At most as many until something has happened.
const FRAMES: usize = 4_000;

#[derive(Component, Debug, PartialEq)]
struct Hull {
    name: String,
}

impl KindComponent for Hull {
    type Kind = Ship;

    fn read(ship: ShipView<'_>) -> Self {
        Hull { name: ship.name.to_owned() }
    }
}

#[derive(Component, Debug, PartialEq)]
struct Round(i64);

impl KindComponent for Round {
    type Kind = Match;

    fn read(it: MatchView<'_>) -> Self {
        Round(it.round)
    }
}

#[derive(Message)]
struct Rooms(Vec<RoomListing>);

/// What was in the frames.
#[derive(Resource, Default)]
struct Seen {
    shots: usize,
    came: usize,
    went: usize,
}

#[test]
fn objects_are_entities_that_change_when_they_do() -> Result<()> {
    let server = Server::start("kinds")?;
    let mut app = server.app();
    app.add_ambit_kind::<Hull>().add_ambit_kind::<Round>().add_ambit_event::<Fired>();
    app.add_message::<Rooms>().init_resource::<Seen>().add_systems(Update, look);
    enter(&mut app, "shooter")?;
    until(&mut app, "ships", |world| {
        world.query::<(&Hull, &Transform, &AmbitObject)>().iter(world).count() > 1
    })?;
    until(&mut app, "the match, which is nowhere", |world| {
        let mut rounds = world.query_filtered::<&Round, Without<Transform>>();
        rounds.iter(world).eq([&Round(1)])
    })?;
    let mut own = app.world_mut().query_filtered::<(&Hull, &Transform, &AmbitObject), With<Own>>();
    let (hull, _, &AmbitObject { id, .. }) = own.single(app.world())?;
    assert_eq!(hull.name, "ann");
    let entity = client(&mut app).entity(id).context("the entity of the own ship")?;
    assert_eq!(app.world().get::<AmbitObject>(entity).map(|object| object.id), Some(id));

    client(&mut app).ask(|lobby| async move { Rooms(lobby.rooms().await.unwrap_or_default()) })?;
    until(&mut app, "the list of rooms", |world| {
        let lists = world.resource::<Messages<Rooms>>();
        let mut rooms = lists.iter_current_update_messages().flat_map(|Rooms(rooms)| rooms);
        rooms.any(|room| room.name == "shooter")
    })?;

    let began = *app.world().get::<Transform>(entity).context("its place")?;
    game(&mut app, |game| game.hold([ShipControl::Fire]))?;
    until(&mut app, "its shots", |world| world.resource::<Seen>().shots > 1)?;
    until(&mut app, "its flight", |world| {
        let now = world.get::<Transform>(entity).map(|now| now.translation);
        now.is_none_or(|now| now.distance(began.translation) > 1.0)
    })?;
    let room = client(&mut app).client().and_then(ambit_client::Client::room);
    let room = room.context("a room")?;
    client(&mut app).ask(|_| async move { Left(room.leave().await.is_ok()) })?;
    app.add_message::<Left>();
    until(&mut app, "an empty world", |world| {
        world.query::<&AmbitObject>().iter(world).next().is_none()
    })?;
    let seen = app.world().resource::<Seen>();
    assert_eq!(seen.came, seen.went);
    let refused = game(&mut app, |game| game.hold([ShipControl::Fire]));
    assert_eq!(refused, Err(SendError::NotPlaying));
    Ok(())
}

/// Frames in which the avatar's transform was changed, and in which any was.
#[derive(Resource, Default)]
struct Changes {
    own: usize,
    all: usize,
}

#[test]
fn what_stands_is_left_alone() -> Result<()> {
    let server = Server::start("rest")?;
    let mut app = server.app();
    enter(&mut app, "field")?;
    let mut own = app.world_mut().query_filtered::<(), (With<Own>, With<Transform>)>();
    until(&mut app, "the avatar", |world| own.single(world).is_ok())?;
    app.init_resource::<Changes>().add_systems(Update, count_changes);
    until(&mut app, "others that walk", |world| world.resource::<Changes>().all > 100)?;
    // When the system runs first, all is new to it.
    assert_eq!(app.world().resource::<Changes>().own, 1);
    game(&mut app, |game| game.send("move", [10.0, 10.0]))?;
    until(&mut app, "its walk", |world| world.resource::<Changes>().own > 10)
}

fn count_changes(changed: Query<Has<Own>, Changed<Transform>>, mut changes: ResMut<Changes>) {
    changes.own += changed.iter().filter(|is_own| *is_own).count();
    changes.all += changed.iter().count();
}

#[derive(Message)]
struct Left(#[expect(dead_code, reason = "that it has come is enough")] bool);

#[test]
fn what_cannot_be_reached_is_a_message() -> Result<()> {
    let mut app = App::new();
    app.add_plugins(AmbitPlugin::default());
    let scratch = Scratch::new("nowhere");
    let nowhere = ambit_client::connect("127.0.0.1:9").known_hosts(scratch.0.join("known_hosts"));
    client(&mut app).connect(nowhere.configure(|config| config.reconnect_for = Duration::ZERO));
    until(&mut app, "the failure", |world| {
        has(world, |it| matches!(it, SessionMessage::NotConnected(_)))
    })?;
    assert!(client(&mut app).ask(|_| async { Left(true) }).is_err());
    Ok(())
}

fn look(
    client: Res<AmbitClient>,
    came: Query<(), Added<AmbitObject>>,
    mut went: RemovedComponents<AmbitObject>,
    mut fired: MessageReader<Happened<Fired>>,
    mut seen: ResMut<Seen>,
) {
    seen.came += came.iter().count();
    seen.went += went.read().count();
    for Happened { event, effect } in fired.read() {
        let shown = client.frame().and_then(ambit_client::Frame::time);
        assert!(shown.is_some_and(|shown| *effect <= shown), "{effect:?} at {shown:?}");
        let ship = client.find(event.ship);
        seen.shots += usize::from(ship.is_some());
    }
}

fn client(app: &mut App) -> &AmbitClient {
    app.world().resource::<AmbitClient>()
}

fn game<R>(app: &mut App, call: impl FnOnce(&ambit_client::Game) -> R) -> R {
    call(client(app).game().expect("a game"))
}

fn has(world: &World, is_it: impl Fn(&SessionMessage) -> bool) -> bool {
    let messages = world.resource::<Messages<SessionMessage>>();
    messages.iter_current_update_messages().any(is_it)
}

/// Waits for the lobby, creates a room of a game and starts it.
fn enter(app: &mut App, name: &'static str) -> Result<()> {
    until(app, "the lobby", |world| has(world, |it| *it == SessionMessage::Connected))?;
    client(app).play(|lobby| async move { lobby.create_room(name, name).await?.start().await })?;
    until(app, "the game", |world| has(world, |it| matches!(it, SessionMessage::Playing(_))))
}

/// Runs the app until something has happened.
fn until(app: &mut App, what: &str, mut is_done: impl FnMut(&mut World) -> bool) -> Result<()> {
    for _ in 0..FRAMES {
        app.update();
        if is_done(app.world_mut()) {
            return Ok(());
        }
        thread::sleep(FRAME);
    }
    bail!("{what}: not within {FRAMES} frames")
}

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("ambit-bevy-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        Scratch(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server on a free port.
struct Server {
    process: Child,
    address: String,
    scratch: Scratch,
}

impl Server {
    fn start(name: &str) -> Result<Self> {
        let program = env::var_os("AMBIT_WORLD_SERVER");
        let program = program.context("AMBIT_WORLD_SERVER names the program world-server")?;
        let scratch = Scratch::new(name);
        let mut command = Command::new(program);
        command.args(["--listen", "127.0.0.1:0", "--http", "off", "--data-dir"]);
        command.arg(scratch.0.join("data")).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let lines = BufReader::new(process.stdout.take().context("a pipe")?).lines();
        for line in lines {
            if let Some(rest) = line?.strip_prefix("ready") {
                let word = rest.split(' ').find_map(|word| word.strip_prefix("world="));
                let address = word.context("an address")?.to_owned();
                return Ok(Server { process, address, scratch });
            }
        }
        bail!("the server has ended")
    }

    fn app(&self) -> App {
        let connect = ambit_client::connect(&self.address).name("ann");
        let connect = connect.known_hosts(self.scratch.0.join("known_hosts"));
        let mut app = App::new();
        app.add_plugins(AmbitPlugin::connect(connect));
        app
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

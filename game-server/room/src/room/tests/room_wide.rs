//! Rows and the state of the room: who gets which columns, and what another host knows.

use std::time::Duration;

use ambit_proto::schema::{Codec, Component, ComponentSpec, ObjectKind, Schema};
use ambit_proto::space::Position;
use serde::{Deserialize, Serialize};

use super::super::*;
use super::simulation::{PathQuality, RoomSimulation};
use crate::logic::game::Left;

const BAD_PATH: PathQuality = PathQuality { loss: 20, late: 10, duplicate: 5 };
const AVATAR: u8 = 0;
const SCORE: u8 = 1;
/// A score's components.
const POINTS: u8 = 0;
const SECRET: u8 = 1;
const PING: u8 = 2;

/// Every player has a row. The points of all change, and the secret of player 0 if that is wanted.
/// A public ping would show how busy a client's line is, so it is asked for.
#[derive(Default, Serialize, Deserialize)]
struct Scores {
    secret_changes: bool,
    shows_pings: bool,
    ticks: u32,
}

impl Game for Scores {
    fn schema(&self) -> Schema {
        let number = Codec::Number { min: 0, max: 10_000 };
        let kind = |name: &str, components| ObjectKind {
            name: name.into(),
            components,
            ..ObjectKind::default()
        };
        Schema {
            game: "scores".into(),
            kinds: vec![
                kind("avatar", vec![ComponentSpec::public("path", Codec::Path)]),
                kind(
                    "score",
                    vec![
                        ComponentSpec::public("points", number.clone()),
                        ComponentSpec::owner("secret", number.clone()),
                        ComponentSpec::public("ping", number),
                    ],
                ),
            ],
            ..Schema::default()
        }
    }

    fn start(&mut self, _: &mut World) {}

    fn join(&mut self, world: &mut World, player: PlayerId, _: &str) -> ObjectId {
        let row = world.spawn(SCORE, vec![Component::Number(0); 3]);
        world.set_owner(row, player);
        // The players do not see each other.
        let at = Position::on_ground(5.0 + 90.0 * (player.0 % 20) as f32, 5.0);
        world.spawn(AVATAR, vec![Component::at_rest(world.now(), at)])
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, _: Left) {
        let avatar = world.player(player).map(|player| player.avatar);
        world.despawn(avatar.expect("the player is in the room"));
    }

    fn step(&mut self, world: &mut World, _: Duration) {
        self.ticks += 1;
        let players: Vec<_> =
            world.players().map(|(id, player)| (id, player.ping_ms.unwrap_or(0))).collect();
        for (player, ping_ms) in players {
            let row = world.room_wide(SCORE, Some(player)).expect("each player has a row");
            if self.shows_pings && world.number(row, PING) != i64::from(ping_ms) {
                world.set_number(row, PING, ping_ms.into());
            }
            if (u64::from(self.ticks) + player.0).is_multiple_of(7) {
                let points = world.number(row, POINTS);
                world.set_number(row, POINTS, points + 1);
            }
            if self.secret_changes && player == PlayerId(0) && self.ticks.is_multiple_of(3) {
                world.set_number(row, SECRET, self.ticks.into());
            }
        }
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(saved::of(self))
    }

    fn restore(&mut self, _: &mut World, saved: &[u8]) -> Result<(), BadState> {
        *self = saved::all(saved)?;
        Ok(())
    }
}

#[test]
fn a_hidden_column_changes_no_byte_of_another_client() {
    let run = |secret_changes| {
        let mut simulation = simulation(Scores { secret_changes, ..Scores::default() });
        simulation.records_sent = true;
        simulation.join(6);
        simulation.ticks(200);
        simulation
    };
    let quiet = run(false);
    let busy = run(true);
    let sent = |simulation: &RoomSimulation, own: bool| -> Vec<_> {
        let sent = simulation.sent.iter().filter(|(_, client, _)| (client.0 == 0) == own);
        sent.cloned().collect()
    };
    assert_eq!(sent(&quiet, false), sent(&busy, false));
    assert_ne!(sent(&quiet, true), sent(&busy, true), "the owner sees the secret change");
}

#[test]
fn every_client_has_all_rows_and_only_its_own_hidden_column() {
    let mut simulation = simulation(Scores { secret_changes: true, ..Scores::default() });
    simulation.join(6);
    simulation.ticks(200);
    for client in (0..6).map(ClientId) {
        let received = &simulation.test_clients[&client].received_components;
        for player in (0..6).map(PlayerId) {
            let row = row(&simulation.room, player);
            let is_own = u64::from(client.0) == player.0;
            let has = [POINTS, SECRET].map(|index| received.contains(&(row, index)));
            assert_eq!(has, [true, is_own], "{client}, row of {player:?}");
            let avatar = simulation.avatar(player.0 as u32);
            assert_eq!(received.contains(&(avatar, 0)), is_own, "avatars are far apart");
        }
    }
    simulation.inputs.push(RoomInput::Remove { player: PlayerId(3), why: Left::Quit });
    simulation.ticks(40);
    assert_eq!(simulation.room.world().room_wide(SCORE, Some(PlayerId(3))), None);
    let viewers = simulation.room.network().viewers();
    assert_eq!(viewers.map(|viewer| viewer.slots.objects().count()).collect::<Vec<_>>(), [6; 5]);
}

#[test]
fn another_host_goes_on_with_all_rows_and_measured_pings_bit_for_bit() {
    let game = Scores { secret_changes: true, shows_pings: true, ticks: 0 };
    let mut simulation = simulation(game);
    simulation.join(4);
    simulation.ticks(50);
    let snapshot = simulation.room.save().expect("it can be saved");
    let mut journal = Vec::new();
    for _ in 0..70 {
        simulation.tick();
        journal.push((simulation.now, simulation.room.journal().to_vec()));
    }
    let config = simulation.room.config().clone();
    let game = Box::new(Scores::default());
    let mut next = Room::restore(config, game, &snapshot).expect("it was saved by this build");
    for (at, inputs) in &journal {
        next.replay(*at, inputs);
    }
    for player in (0..4).map(PlayerId) {
        let components = |room: &Room| room.world().components(row(room, player)).to_vec();
        assert_eq!(components(&next), components(&simulation.room));
    }
    let pings =
        |room: &Room| room.world().players().map(|(_, player)| player.ping_ms).collect::<Vec<_>>();
    assert_eq!(pings(&next), pings(&simulation.room));
    assert!(pings(&next).iter().all(|ping| ping.is_some_and(|ms| ms > 0)), "{:?}", pings(&next));
}

fn row(room: &Room, player: PlayerId) -> ObjectId {
    room.world().room_wide(SCORE, Some(player)).expect("each player has a row")
}

fn simulation(game: Scores) -> RoomSimulation {
    let config = RoomConfig { width: 2_000.0, ..RoomConfig::default() };
    RoomSimulation::new(config, Box::new(game), BAD_PATH, 5)
}

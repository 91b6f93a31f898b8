//! Profiles that go through gates, and those of rooms that are closed.

use ambit_proto::ids::AccountId;
use ambit_proto::standing::Standing;
use serde::{Deserialize, Serialize};

use super::super::profiles::{CarriedProfile, HeldProfile};
use super::*;
use crate::logic::gate::Gate;
use crate::logic::player_values::{PlayerValues, UnreadableProfile};
use crate::logic::store::{AskedOfStore, ProfileClaim, ProfileSave, StoreAnswer, StoreRequest};

const ACCOUNT: AccountId = AccountId([7; 16]);

/// A profile is a number of coins.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Coins(BTreeMap<PlayerId, (u8, bool)>);

impl PlayerValues for Coins {
    fn has_profiles(&self) -> bool {
        true
    }

    fn open(&mut self, player: PlayerId, profile: Option<&[u8]>) -> Result<(), UnreadableProfile> {
        self.0.insert(player, (profile.map_or(0, |bytes| bytes[0]), false));
        Ok(())
    }

    fn close(&mut self, player: PlayerId) {
        self.0.remove(&player);
    }

    fn has_changed(&self, player: PlayerId) -> bool {
        self.0.get(&player).is_some_and(|(_, has_changed)| *has_changed)
    }

    fn take_profile(&mut self, player: PlayerId) -> Option<Vec<u8>> {
        let (coins, has_changed) = self.0.get_mut(&player)?;
        *has_changed = false;
        Some(vec![*coins])
    }

    fn save(&self) -> Vec<u8> {
        saved::of(self)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), BadState> {
        *self = saved::all(saved)?;
        Ok(())
    }
}

/// Who is here earns a coin a tick.
struct Mint;

impl Game for Mint {
    fn schema(&self) -> Schema {
        let components = vec![ComponentSpec::public("path", Codec::Path)];
        let kinds = vec![ObjectKind { name: "coiner".into(), components, ..ObjectKind::default() }];
        Schema { game: "mint".into(), kinds, ..Schema::default() }
    }

    fn player_values(&self) -> Box<dyn PlayerValues> {
        Box::new(Coins::default())
    }

    fn start(&mut self, _: &mut World) {}

    fn join(&mut self, world: &mut World, _: PlayerId, _: &str) -> ObjectId {
        body(world)
    }

    fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

    fn gates(&self, world: &World) -> Vec<Gate> {
        let (low, high) = (Position::on_ground(0.0, 0.0), Position::on_ground(99.0, 99.0));
        vec![Gate { low, high, map: 1, at: world.middle() }]
    }

    fn carry(&self, _: &World, _: PlayerId) -> Option<Vec<u8>> {
        Some(vec![42])
    }

    fn arrive(
        &mut self,
        world: &mut World,
        player: PlayerId,
        name: &str,
        _: Position,
        carried: &[u8],
    ) -> ObjectId {
        assert_eq!(carried, [42]);
        self.join(world, player, name)
    }

    fn step(&mut self, world: &mut World, _: Duration) {
        let values: &mut dyn std::any::Any = world.player_values_mut();
        let coins = values.downcast_mut::<Coins>().expect("its own");
        for (coins, has_changed) in coins.0.values_mut() {
            (*coins, *has_changed) = (*coins + 1, true);
        }
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }
}

#[test]
fn a_profile_goes_along_through_a_gate_and_is_written_before() {
    let (mut from, mut to) = (Mint::room(), Mint::room());
    from.join();
    let claimed = from.requests();
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].request, StoreRequest::ClaimProfile(ACCOUNT));
    from.answer(&claimed[0], StoreAnswer::Claimed(ProfileClaim(5), Some(vec![100])));
    assert_eq!(from.coins(), Some(101));
    from.inputs.push(RoomInput::ReleaseForTransfer { player: ANN, transfer: TransferId(1) });
    let outputs = from.tick();
    let carried = outputs.iter().find_map(|output| match output {
        RoomOutput::Departed { carried, .. } => carried.clone(),
        _ => None,
    });
    let written = saves(&outputs);
    let save = ProfileSave {
        account: ACCOUNT,
        claim: ProfileClaim(5),
        version: 1,
        value: Some(vec![101]),
        is_last: false,
    };
    assert_eq!(written, std::slice::from_ref(&save));
    to.inputs.push(RoomInput::AdmitTransfer(TransferArrival {
        player: ANN,
        transfer: TransferId(1),
        name: "ann".to_owned(),
        account: Some(ACCOUNT),
        standing: Standing::default(),
        at: Position::on_ground(50.0, 50.0),
        carried: carried.expect("the player departs"),
    }));
    to.tick();
    assert_eq!(to.coins(), Some(102), "without a question to the store");
    to.inputs.push(RoomInput::Remove { player: ANN, why: Left::Quit });
    let last = ProfileSave { version: 2, value: Some(vec![102]), is_last: true, ..save };
    assert_eq!(saves(&to.tick()), [last]);
}

#[test]
fn a_profile_from_another_map_is_written_before_it_is_given_back() {
    let mut scene = Mint::room();
    let (claim, version, is_unwritten) = (ProfileClaim(5), 3, false);
    let held = HeldProfile { account: ACCOUNT, claim, version, is_unwritten };
    let carried = CarriedProfile { held: Some(held), value: vec![14] };
    scene.room.open_carried(ANN, carried);
    // The player leaves at once, and the write of the other map may come later than this one.
    scene.room.close_profile(ANN, Left::Quit);
    let given_back = ProfileSave {
        account: ACCOUNT,
        claim: ProfileClaim(5),
        version: 4,
        value: Some(vec![14]),
        is_last: true,
    };
    assert_eq!(saves(&scene.tick()), [given_back]);
}

#[test]
fn a_closed_room_asks_once_more_for_what_is_not_written() {
    let mut scene = Mint::room();
    scene.join();
    let claimed = scene.requests();
    scene.answer(&claimed[0], StoreAnswer::Claimed(ProfileClaim(5), None));
    (0..210).for_each(|_| drop(scene.tick()));
    // The write of the interval is open.
    let asked = scene.room.last_requests();
    let versions: Vec<_> = asked
        .iter()
        .flat_map(|asked| match &asked.request {
            StoreRequest::SaveProfiles(saves) => saves.clone(),
            _ => Vec::new(),
        })
        .map(|save| (save.version, save.value.expect("it has changed")[0], save.is_last))
        .collect();
    let coins = scene.coins().expect("the player is here");
    assert_eq!(versions.len(), 2);
    assert_eq!((versions[0].0, versions[0].2), (1, false));
    assert_eq!(versions[1], (2, coins, true));
}

/// A player whom the answer to the first write of the profile puts out, and what the room says.
fn put_out_by(answer: StoreAnswer, reason: ErrorCode) -> (MintScene, Vec<RoomOutput>) {
    let mut scene = Mint::room();
    scene.join();
    let claimed = scene.requests();
    scene.answer(&claimed[0], StoreAnswer::Claimed(ProfileClaim(5), None));
    let asked: Vec<_> = (0..210).flat_map(|_| scene.requests()).collect();
    let open = asked.first().expect("the write of the interval").clone();
    let outputs = scene.answer(&open, answer);
    assert!(outputs.contains(&RoomOutput::PlayerOut { player: ANN, reason }));
    assert_eq!(scene.coins(), None);
    (scene, outputs)
}

#[test]
fn who_has_lost_the_profile_is_out_and_writes_nothing_more() {
    let (mut scene, _) = put_out_by(StoreAnswer::Saved(vec![ACCOUNT]), ErrorCode::TakenOver);
    let later: Vec<_> = (0..210).flat_map(|_| saves(&scene.tick())).collect();
    assert_eq!(later, []);
}

#[test]
fn who_has_changed_is_out_when_the_store_refuses_a_write() {
    let (mut scene, outputs) = put_out_by(StoreAnswer::Refused, ErrorCode::TryAgain);
    // The profile goes back as it is stored.
    let later: Vec<_> = saves(&outputs).into_iter().chain(saves(&scene.tick())).collect();
    let [last] = &later[..] else { panic!("{later:?}") };
    assert_eq!((last.account, last.value.as_ref(), last.is_last), (ACCOUNT, None, true));
}

#[test]
fn who_has_come_back_stays_though_a_late_write_of_the_stay_before_is_lost() {
    let mut scene = Mint::room();
    scene.join();
    let claimed = scene.requests();
    scene.answer(&claimed[0], StoreAnswer::Claimed(ProfileClaim(5), None));
    // The player goes on to another map, and the write of that is open.
    scene.inputs.push(RoomInput::ReleaseForTransfer { player: ANN, transfer: TransferId(1) });
    let open = scene.requests();
    assert_eq!(open.len(), 1);
    // The other map has given the profile back; the player comes again, with a new claim.
    scene.inputs.push(RoomInput::Remove { player: ANN, why: Left::Quit });
    scene.join();
    let claimed = scene.requests();
    scene.answer(&claimed[0], StoreAnswer::Claimed(ProfileClaim(6), None));
    let outputs = scene.answer(&open[0], StoreAnswer::Saved(vec![ACCOUNT]));
    let is_out = |output: &RoomOutput| matches!(output, RoomOutput::PlayerOut { .. });
    assert!(!outputs.iter().any(is_out));
    assert!(scene.coins().is_some());
}

#[test]
fn a_player_who_leaves_before_the_answer_gives_the_profile_back_unchanged() {
    let mut scene = Mint::room();
    scene.join();
    let claimed = scene.requests();
    scene.inputs.push(RoomInput::Remove { player: ANN, why: Left::Quit });
    scene.tick();
    let outputs = scene.answer(&claimed[0], StoreAnswer::Claimed(ProfileClaim(5), Some(vec![9])));
    let given_back = ProfileSave {
        account: ACCOUNT,
        claim: ProfileClaim(5),
        version: 1,
        value: None,
        is_last: true,
    };
    assert_eq!(saves(&outputs), [given_back]);
    assert_eq!(scene.coins(), None);
}

#[test]
fn a_second_session_of_an_account_is_out_while_the_first_one_plays() {
    let mut scene = Mint::room();
    scene.play();
    scene.join_as(BOB);
    let reason = ErrorCode::AlreadyInRoom;
    assert_eq!(put_out(&scene.tick()), [(BOB, reason)]);
    assert!(scene.coins().is_some());
}

#[test]
fn a_second_session_of_an_account_takes_over_from_one_that_is_away() {
    let mut scene = Mint::room();
    scene.play();
    scene.inputs.push(RoomInput::Disconnect { client: REPLAY_CLIENT, player: ANN });
    scene.join_as(BOB);
    let outputs = scene.tick();
    assert_eq!(put_out(&outputs), [(ANN, ErrorCode::TakenOver)]);
    let [last] = &saves(&outputs)[..] else { panic!("{outputs:?}") };
    assert!(last.is_last && last.value.is_some(), "what the first session had is written");
    let write = asked(&outputs).next().expect("the write").clone();
    let outputs = scene.answer(&write, StoreAnswer::Saved(Vec::new()));
    let claim = asked(&outputs).next().expect("a claim").clone();
    let stored = last.value.clone();
    let outputs = scene.answer(&claim, StoreAnswer::Claimed(ProfileClaim(6), stored));
    assert_eq!(put_out(&outputs), []);
    assert!(scene.room.seats.contains_key(&BOB));
}

fn put_out(outputs: &[RoomOutput]) -> Vec<(PlayerId, ErrorCode)> {
    let out = outputs.iter().filter_map(|output| match output {
        RoomOutput::PlayerOut { player, reason } => Some((*player, *reason)),
        _ => None,
    });
    out.collect()
}

/// A room of [`Mint`] without a store.
struct MintScene {
    room: Room,
    now: GameTime,
    inputs: Vec<RoomInput>,
}

impl Mint {
    fn room() -> MintScene {
        let room = Room::new(RoomConfig::default(), Box::new(Self));
        MintScene { room, now: GameTime::ZERO, inputs: Vec::new() }
    }
}

impl MintScene {
    fn join(&mut self) {
        self.join_as(ANN);
    }

    /// The first session joins, and its profile is there.
    fn play(&mut self) {
        self.join();
        let claimed = self.requests();
        self.answer(&claimed[0], StoreAnswer::Claimed(ProfileClaim(5), None));
    }

    fn join_as(&mut self, player: PlayerId) {
        self.inputs.push(RoomInput::Join {
            client: REPLAY_CLIENT,
            player,
            name: format!("player {}", player.0),
            account: Some(ACCOUNT),
            coding: PoseCoding::Auto,
        });
    }

    fn tick(&mut self) -> Vec<RoomOutput> {
        let mut outputs = Vec::new();
        self.now += TICK;
        self.room.tick(self.now, &mut self.inputs, &mut outputs);
        outputs
    }

    /// What the next tick asks.
    fn requests(&mut self) -> Vec<AskedOfStore> {
        asked(&self.tick()).cloned().collect()
    }

    fn answer(&mut self, asked: &AskedOfStore, answer: StoreAnswer) -> Vec<RoomOutput> {
        self.inputs.push(RoomInput::Stored { number: asked.number, answer });
        self.tick()
    }

    fn coins(&self) -> Option<u8> {
        let values: &dyn std::any::Any = self.room.world.player_values();
        Some(values.downcast_ref::<Coins>()?.0.get(&ANN)?.0)
    }
}

fn asked(outputs: &[RoomOutput]) -> impl Iterator<Item = &AskedOfStore> {
    outputs.iter().filter_map(|output| match output {
        RoomOutput::Store(asked) => Some(asked),
        _ => None,
    })
}

fn saves(outputs: &[RoomOutput]) -> Vec<ProfileSave> {
    asked(outputs)
        .flat_map(|asked| match &asked.request {
            StoreRequest::SaveProfiles(saves) => saves.clone(),
            _ => Vec::new(),
        })
        .collect()
}

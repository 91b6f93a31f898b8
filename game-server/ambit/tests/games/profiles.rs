//! What a game keeps of each player: profiles of accounts, and seats.

use ambit::prelude::*;
use ambit::test::{Line, TestClient, TestRoom};

const ANN: AccountId = AccountId([1; 16]);
const BOB: AccountId = AccountId([2; 16]);

#[derive(Kind)]
struct Merchant {
    path: Path,
    coins: Number<0, 1_000>,
}

#[derive(Command)]
enum Trade {
    Earn,
    /// To the other player.
    Give,
    End,
}

#[derive(Default, Serialize, Deserialize)]
struct Savings {
    coins: i64,
    #[serde(default)]
    title: String,
}

#[derive(Default, Serialize, Deserialize)]
struct Seat {
    earned: u32,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Merchant), profile = Savings, seat = Seat)]
struct Market {
    is_over: bool,
}

impl Market {
    fn show(world: &mut World<Self>, player: PlayerId) {
        let coins = world.profile(player).map_or(0, |savings| savings.coins);
        let avatar = world.player(player).map(Player::avatar);
        if let Some(mut merchant) = avatar.and_then(|avatar| world.edit(avatar)) {
            merchant.coins().set(coins);
        }
    }
}

impl Game for Market {
    const INFO: GameInfo = GameInfo::new("market", "Earn coins.");
    type Avatar = Merchant;
    type Command = Trade;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer) -> Id<Merchant> {
        let savings = world.profile(newcomer).expect("it is loaded before");
        let coins = savings.coins.into();
        assert_eq!(world.seat(newcomer).map(|seat| seat.earned), Some(0), "a new seat");
        world.spawn(Merchant { path: Path::at(world.centre()), coins })
    }

    fn leave(&mut self, world: &mut World<Self>, player: Player<Self>, _: Left) {
        let savings = world.edit_profile(player).expect("until the end of the leave");
        "away".clone_into(&mut savings.title);
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<Self>,
        command: Trade,
    ) -> Result<(), NoRefusal> {
        let others = world.players().map(Player::id).filter(|id| *id != player.id());
        let other = others.min();
        match command {
            Trade::Earn => {
                world.edit_profile(player).expect("here").coins += 1;
                world.edit_seat(player).expect("here").earned += 1;
            }
            Trade::Give => {
                let other = other.expect("two are here");
                world.edit_profile(player).expect("here").coins -= 1;
                world.edit_profile(other).expect("here").coins += 1;
                Self::show(world, other);
            }
            Trade::End => self.is_over = true,
        }
        Self::show(world, player.id());
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.is_over
    }
}

#[test]
fn a_profile_is_there_before_the_join_and_written_after_the_leave() {
    let mut room = TestRoom::<Market>::new();
    // Of an older version, which had no title.
    room.store_profile(ANN, &serde_json::json!({ "coins": 7, "old": 1 }));
    let ann = join(&mut room, "ann", ANN);
    assert_eq!(coins(&room, ann), Some(7));
    room.command(ann, "earn");
    room.run(1.secs());
    assert_eq!(coins(&room, ann), Some(8));
    room.leave(ann);
    room.run(1.secs());
    assert_eq!(room.stored_profile(ANN), Some(r#"{"coins":8,"title":"away"}"#));
    let again = join(&mut room, "ann", ANN);
    assert_eq!(coins(&room, again), Some(8));
}

#[test]
fn what_changes_is_written_after_some_seconds_and_what_does_not_is_not() {
    let mut room = TestRoom::<Market>::new();
    let ann = join(&mut room, "ann", ANN);
    join(&mut room, "bob", BOB);
    room.command(ann, "earn");
    room.run(12.secs());
    assert_eq!(room.stored_profile(ANN), Some(r#"{"coins":1,"title":""}"#));
    assert_eq!(room.stored_profile(BOB), None);
}

#[test]
fn what_one_player_gives_another_is_written_of_both_at_once() {
    let mut room = TestRoom::<Market>::new();
    let ann = join(&mut room, "ann", ANN);
    let bob = join(&mut room, "bob", BOB);
    room.command(ann, "earn");
    room.command(ann, "give");
    room.run(1.secs());
    assert_eq!((coins(&room, ann), coins(&room, bob)), (Some(0), Some(1)));
    // Long before the next interval: the leave of one writes what the other has of it.
    room.leave(ann);
    room.run(1.secs());
    assert_eq!(room.stored_profile(ANN), Some(r#"{"coins":0,"title":"away"}"#));
    assert_eq!(room.stored_profile(BOB), Some(r#"{"coins":1,"title":""}"#));
}

#[test]
fn players_wait_for_the_store_and_nothing_is_lost_while_it_is_away() {
    let mut room = TestRoom::<Market>::new();
    let ann = join(&mut room, "ann", ANN);
    room.command(ann, "earn");
    room.set_store_away(true);
    room.run(30.secs());
    room.leave(ann);
    let bob = join(&mut room, "bob", BOB);
    assert_eq!(coins(&room, bob), None, "the profile of bob is not known");
    let again = join(&mut room, "ann", ANN);
    assert_eq!(coins(&room, again), None, "that of ann is not written");
    let guest = room.join("eve", Line::default());
    assert_eq!(coins(&room, guest), Some(0), "nothing is stored of a guest");
    room.set_store_away(false);
    room.run(3.secs());
    assert_eq!((coins(&room, bob), coins(&room, again)), (Some(0), Some(1)));
}

#[test]
fn a_room_that_goes_on_elsewhere_has_profiles_seats_and_who_waits() {
    let mut room = TestRoom::<Market>::new();
    let ann = join(&mut room, "ann", ANN);
    room.command(ann, "earn");
    room.run(1.secs());
    room.set_store_away(true);
    let bob = join(&mut room, "bob", BOB);
    room.move_to_another_host();
    room.run(1.secs());
    let earned = room.world().seat(room.player(ann)).map(|seat| seat.earned);
    assert_eq!((coins(&room, ann), earned), (Some(1), Some(1)));
    room.set_store_away(false);
    room.run(3.secs());
    assert_eq!(coins(&room, bob), Some(0));
    room.leave(ann);
    room.run(1.secs());
    assert_eq!(room.stored_profile(ANN), Some(r#"{"coins":1,"title":"away"}"#));
}

#[test]
fn an_account_is_in_a_room_once_and_its_other_session_is_put_out() {
    let mut room = TestRoom::<Market>::new();
    let first = join(&mut room, "ann", ANN);
    let second = join(&mut room, "anna", ANN);
    room.command(first, "earn");
    room.run(5.secs());
    assert_eq!((coins(&room, first), coins(&room, second)), (Some(1), None));
    room.leave(first);
    room.run(2.secs());
    assert_eq!(coins(&room, second), None, "it is out, and does not wait");
    let third = join(&mut room, "anna", ANN);
    room.run(2.secs());
    assert_eq!(coins(&room, third), Some(1));
    room.disconnect(third);
    let last = join(&mut room, "ann", ANN);
    room.run(3.secs());
    assert_eq!(coins(&room, last), Some(1), "it takes over from one whose line is broken");
}

#[test]
fn a_profile_that_cannot_be_read_stays_as_it_is_and_its_player_is_out() {
    let mut room = TestRoom::<Market>::new();
    room.store_profile(ANN, &serde_json::json!({ "coins": "many" }));
    let ann = join(&mut room, "ann", ANN);
    room.run(12.secs());
    assert_eq!(coins(&room, ann), None);
    assert_eq!(room.stored_profile(ANN), Some(r#"{"coins":"many"}"#));
    // The right build finds it free.
    room.store_profile(ANN, &Savings { coins: 3, title: String::new() });
    let ann = join(&mut room, "ann", ANN);
    assert_eq!(coins(&room, ann), Some(3));
}

#[test]
fn a_game_ends_once_its_profiles_are_written() {
    let mut room = TestRoom::<Market>::new();
    let ann = join(&mut room, "ann", ANN);
    room.command(ann, "earn");
    room.run(1.secs());
    room.set_store_away(true);
    room.command(ann, "end");
    room.run(20.secs());
    assert!(!room.is_finished());
    room.set_store_away(false);
    room.run(3.secs());
    assert!(room.is_finished());
    assert_eq!(room.stored_profile(ANN), Some(r#"{"coins":1,"title":""}"#));
}

fn join(room: &mut TestRoom<Market>, name: &str, account: AccountId) -> TestClient {
    room.join_with_account(name, account, Line::default())
}

/// As the client sees the own avatar; `None` without one.
fn coins(room: &TestRoom<Market>, client: TestClient) -> Option<i64> {
    room.avatar(client)?.number("coins")
}

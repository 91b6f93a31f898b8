//! A game knows the accounts of its players: at the join, later, at the leave, and after a restore.

use ambit::prelude::*;
use ambit::test::{Line, TestRoom};

#[derive(Kind)]
struct Villager {
    path: Path,
    account: Text<32>,
}

#[derive(Command)]
enum Command {
    /// Shows the account again.
    Show,
}

/// Each villager has what came with the account.
#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Villager))]
struct Village {
    left: Vec<Option<AccountId>>,
}

impl Game for Village {
    const INFO: GameInfo = GameInfo::new("village", "Come back tomorrow.");
    type Avatar = Villager;
    type Command = Command;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Villager> {
        let path = Path::at(world.centre());
        world.spawn(Villager { path, account: shown(newcomer.account).into() })
    }

    fn leave(&mut self, world: &mut World<Self>, player: Player<'_, Self>, _: Left) {
        self.left.push(world.account(player));
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        Command::Show: Command,
    ) -> Result<(), NoRefusal> {
        let account = format!("still {}", &shown(world.account(player))[..4]);
        world.avatar(player).account().set(&account);
        Ok(())
    }
}

fn shown(account: Option<AccountId>) -> String {
    account.map_or("none".to_owned(), |account| account.to_string())
}

#[test]
fn a_game_knows_the_accounts_of_its_players() {
    let mut room = TestRoom::<Village>::new();
    let account = AccountId([0xa5; 16]);
    let ann = room.join_with_account("ann", account, Line::default());
    let bob = room.join("bob", Line::default());
    let seen = |room: &TestRoom<Village>, client| {
        room.avatar(client).and_then(|seen| seen.text("account").map(str::to_owned))
    };
    assert_eq!(seen(&room, ann).as_deref(), Some("a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"));
    assert_eq!(seen(&room, bob).as_deref(), Some("none"));
    room.command(ann, "show");
    room.run(1.secs());
    assert_eq!(seen(&room, ann).as_deref(), Some("still a5a5"));
    room.move_to_another_host();
    for client in [ann, bob] {
        room.leave(client);
        room.run(1.secs());
    }
    let left = room.edit(|_, game| game.left.clone());
    assert_eq!(left, [Some(account), None]);
}

/// Who may is named so.
#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Villager))]
struct Council;

impl Game for Council {
    const INFO: GameInfo = GameInfo::new("council", "Who has a say.");
    type Avatar = Villager;
    type Command = Command;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Villager> {
        assert_eq!(newcomer.standing, world.standing(newcomer.id));
        let path = Path::at(world.centre());
        world.spawn(Villager { path, account: say(newcomer.standing).into() })
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        Command::Show: Command,
    ) -> Result<(), NoRefusal> {
        let say = format!("still {}", say(world.standing(player)));
        world.avatar(player).account().set(&say);
        Ok(())
    }
}

fn say(standing: Standing) -> String {
    let role = standing.role.map_or("none", OperatorRole::name);
    format!("{} {role}", standing.is_maker)
}

/// Says what the player wishes.
#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Villager))]
struct Guild;

impl Game for Guild {
    const INFO: GameInfo = GameInfo::new("guild", "All are what they wish.");
    type Avatar = Villager;
    type Command = Command;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Villager> {
        let wishes: Vec<_> =
            newcomer.wishes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let path = Path::at(world.centre());
        world.spawn(Villager { path, account: wishes.join(" ").as_str().into() })
    }

    fn command(
        &mut self,
        _: &mut World<Self>,
        _: Player<'_, Self>,
        Command::Show: Command,
    ) -> Result<(), NoRefusal> {
        Ok(())
    }
}

#[test]
fn a_game_reads_at_the_join_what_a_player_wishes() {
    let mut room = TestRoom::<Guild>::new();
    let wishes = [("team", "red"), ("class", "mage")];
    let ann = room.join_with_wishes("ann", &wishes, Line::default());
    let bob = room.join("bob", Line::default());
    let seen = |room: &TestRoom<Guild>, client| {
        room.avatar(client).and_then(|seen| seen.text("account").map(str::to_owned))
    };
    assert_eq!(seen(&room, ann).as_deref(), Some("class=mage team=red"));
    assert_eq!(seen(&room, bob).as_deref(), Some(""));
    room.move_to_another_host();
    assert_eq!(seen(&room, ann).as_deref(), Some("class=mage team=red"));
}

#[test]
fn a_game_knows_the_maker_of_its_room_and_roles_also_at_the_next_host() {
    let mut room = TestRoom::<Council>::new();
    let account = AccountId([7; 16]);
    let standing = Standing { is_maker: true, ..Standing::default() };
    let ann = room.join_as("ann", None, standing, Line::default());
    let role = Some(OperatorRole::Moderate);
    let standing = Standing { role, ..Standing::default() };
    let bob = room.join_as("bob", account, standing, Line::default());
    let eve = room.join("eve", Line::default());
    let expected = [(ann, "true none"), (bob, "false moderate"), (eve, "false none")];
    for (client, said) in expected {
        assert_eq!(
            room.avatar(client).and_then(|seen| seen.text("account").map(str::to_owned)).as_deref(),
            Some(said)
        );
    }
    room.move_to_another_host();
    for (client, said) in expected {
        room.command(client, "show");
        room.run(1.secs());
        let seen = room.avatar(client).and_then(|seen| seen.text("account").map(str::to_owned));
        assert_eq!(seen, Some(format!("still {said}")));
    }
}

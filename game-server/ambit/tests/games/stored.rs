//! What a game stores beyond its room: wallets of accounts, and a table of winners.

use ambit::prelude::*;
use ambit::test::{Line, TestRoom};

const ANN: AccountId = AccountId([1; 16]);

#[derive(Kind)]
struct Merchant {
    path: Path,
    coins: Number<0, 1_000>,
    /// Whether the wallet is known.
    is_known: Flag,
}

#[derive(Command)]
enum Trade {
    Earn,
    Win { points: i64 },
    Leave,
}

/// What is stored of a merchant.
#[derive(Default, Serialize, Deserialize)]
struct Wallet {
    coins: i64,
    #[serde(default)]
    title: String,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Merchant))]
struct Market;

impl Game for Market {
    const INFO: GameInfo = GameInfo::new("market", "Earn coins.");
    type Avatar = Merchant;
    type Command = Trade;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer) -> Id<Merchant> {
        if let Some(account) = newcomer.account {
            world.load(StoreKey::of_account(account, "wallet")).expect("there is room");
        }
        let path = Path::at(world.centre());
        world.spawn(Merchant { path, coins: 0.into(), is_known: false.into() })
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<Self>,
        command: Trade,
    ) -> Result<(), NoRefusal> {
        match command {
            Trade::Earn => {
                world.avatar(player).coins().add(1);
                let coins = world.get(player.avatar()).map_or(0, |it| it.coins());
                if let Some(account) = world.account(player) {
                    let wallet = Wallet { coins, ..Wallet::default() };
                    let key = StoreKey::of_account(account, "wallet");
                    world.store(key, &wallet).expect("there is room");
                }
            }
            Trade::Win { points } => {
                world.add_result("winners", player, points).expect("there is room");
            }
            Trade::Leave => {
                if let Some(account) = world.account(player) {
                    let key = StoreKey::of_account(account, "wallet");
                    world.forget(key).expect("there is room");
                }
            }
        }
        Ok(())
    }

    fn stored(&mut self, world: &mut World<Self>, reply: StoreReply) {
        let Ok(Some(wallet)) = reply.value::<Wallet>() else { return };
        let owner = reply.key().and_then(|key| key.account);
        let players: Vec<_> =
            world.players().map(|player| (player.id(), player.avatar())).collect();
        for (player, avatar) in players {
            if world.account(player) == owner
                && let Some(mut merchant) = world.edit(avatar)
            {
                merchant.coins().add(wallet.coins);
                merchant.is_known().set(true);
            }
        }
    }
}

#[test]
fn a_value_is_loaded_as_it_was_stored_in_another_room() {
    let mut room = TestRoom::<Market>::new();
    // Of an older version, which had no title.
    room.store(StoreKey::of_account(ANN, "wallet"), &serde_json::json!({ "coins": 7, "old": 1 }));
    let ann = room.join_with_account("ann", ANN, Line::default());
    room.run(1.secs());
    room.command(ann, "earn");
    room.run(1.secs());
    let stored = room.stored(&StoreKey::of_account(ANN, "wallet"));
    assert_eq!(stored, Some(r#"{"coins":8,"title":""}"#));
    assert_eq!(room.stored(&StoreKey::of_game("wallet")), None);
    room.command(ann, "leave");
    room.run(1.secs());
    assert_eq!(room.stored(&StoreKey::of_account(ANN, "wallet")), None);
}

#[test]
fn a_result_is_added_once_whatever_dies() {
    let mut room = TestRoom::<Market>::new();
    let ann = room.join_with_account("ann", ANN, Line::default());
    let bob = room.join("bob", Line::default());
    room.run(1.secs());
    room.set_store_away(true);
    room.command(ann, "win 30");
    room.command(bob, "win 20");
    room.run(3.secs());
    assert_eq!(room.results().len(), 0);
    assert!(room.world().store_delay() >= 2.secs());
    // Its answers are lost with the host: the next one asks again.
    room.set_store_away(false);
    room.run(50.millis());
    room.move_to_another_host();
    room.run(3.secs());
    room.move_to_another_host();
    room.run(3.secs());
    let scores: Vec<_> =
        room.results().iter().map(|row| (&*row.player, row.account, row.score)).collect();
    assert_eq!(scores, [("ann", Some(ANN), 30), ("bob", None, 20)]);
    assert_eq!(room.world().store_delay(), Duration::ZERO);
}

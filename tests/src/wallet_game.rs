//! A test game that stores beyond its room: coins by account, and a table of winners. A coin is
//! confirmed once the store has it. Gold is in profiles, and players give it to each other.

use std::collections::BTreeMap;

use ambit::prelude::*;
use ambit::stored::StoreNumber;

#[derive(Kind)]
#[look(label = name)]
pub struct Holder {
    path: Path,
    name: Text<24>,
    /// Coins that the store has, with those of earlier rooms.
    #[audience(owner)]
    coins: Number<0, 1_000_000>,
    /// Results that the store has.
    #[audience(owner)]
    results: Number<0, 1_000_000>,
    /// Whether it is known what the store has.
    is_known: Flag,
    /// As in the profile.
    gold: Number<0, 1_000_000>,
}

#[derive(Command)]
pub enum WalletCommand {
    /// Earn a coin.
    Earn,
    /// Add a result.
    Win { points: i64 },
    /// Find a piece of gold.
    Dig,
    /// Give a piece of gold to another player.
    Give,
}

#[derive(Default, Serialize, Deserialize)]
pub struct Hoard {
    gold: i64,
}

/// What the game stores of an account.
#[derive(Default, Serialize, Deserialize)]
struct Wallet {
    coins: i64,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Holder), profile = Hoard)]
pub struct WalletGame {
    /// Coins of players, those included that the store does not have yet.
    wallets: BTreeMap<PlayerId, i64>,
    /// Whose result a request is.
    asked: BTreeMap<StoreNumber, PlayerId>,
}

impl WalletGame {
    fn change_gold(world: &mut World<Self>, player: PlayerId, by: i64) {
        let Some(hoard) = world.edit_profile(player) else { return };
        hoard.gold += by;
        let gold = hoard.gold;
        let avatar = world.player(player).map(Player::avatar);
        if let Some(mut holder) = avatar.and_then(|avatar| world.edit(avatar)) {
            holder.gold().set(gold);
        }
    }
}

impl Game for WalletGame {
    const INFO: GameInfo = GameInfo::new("wallet", "Earn coins that last.");
    type Avatar = Holder;
    type Command = WalletCommand;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer) -> Id<Holder> {
        if let Some(account) = newcomer.account {
            // Without an answer the wallet stays empty, and what is earned is not stored.
            let _ = world.load(StoreKey::of_account(account, "wallet"));
        }
        let gold = world.profile(newcomer).map_or(0, |hoard| hoard.gold);
        let path = Path::at(world.centre());
        let name = newcomer.name.into();
        world.spawn(Holder {
            path,
            name,
            coins: 0.into(),
            results: 0.into(),
            is_known: false.into(),
            gold: gold.into(),
        })
    }

    fn leave(&mut self, world: &mut World<Self>, player: Player<Self>, _: Left) {
        self.wallets.remove(&player.id());
        world.despawn(player.avatar());
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<Self>,
        command: WalletCommand,
    ) -> Result<(), NoRefusal> {
        match command {
            WalletCommand::Earn => {
                if let Some(coins) = self.wallets.get_mut(&player.id())
                    && let Some(account) = world.account(player)
                {
                    let wallet = Wallet { coins: *coins + 1 };
                    if world.store(StoreKey::of_account(account, "wallet"), &wallet).is_ok() {
                        *coins += 1;
                    }
                }
            }
            WalletCommand::Dig => Self::change_gold(world, player.id(), 1),
            WalletCommand::Give => {
                let other = world.players().map(Player::id).find(|id| *id != player.id());
                let has_some = world.profile(player).is_some_and(|hoard| hoard.gold > 0);
                if let Some(other) = other.filter(|_| has_some) {
                    Self::change_gold(world, player.id(), -1);
                    Self::change_gold(world, other, 1);
                }
            }
            WalletCommand::Win { points } => {
                if let Ok(number) = world.add_result("winners", player, points) {
                    self.asked.insert(number, player.id());
                }
            }
        }
        Ok(())
    }

    fn stored(&mut self, world: &mut World<Self>, reply: StoreReply) {
        if let Some(player) = self.asked.remove(&reply.number()) {
            let avatar = world.player(player).map(Player::avatar);
            if let Some(mut holder) = avatar.and_then(|avatar| world.edit(avatar)) {
                holder.results().add(1);
            }
            return;
        }
        let Some(account) = reply.key().and_then(|key| key.account) else { return };
        let owners: Vec<_> = world
            .players()
            .filter(|player| world.account(*player) == Some(account))
            .map(|player| (player.id(), player.avatar()))
            .collect();
        for (player, avatar) in owners {
            let is_new = !self.wallets.contains_key(&player);
            if is_new {
                let loaded = reply.value::<Wallet>().ok().flatten().unwrap_or_default();
                self.wallets.insert(player, loaded.coins);
            }
            let Some(mut holder) = world.edit(avatar) else { continue };
            if is_new {
                holder.coins().set(self.wallets[&player]);
                holder.is_known().set(true);
            } else {
                holder.coins().add(1);
            }
        }
    }
}

//! Results and values that a game stores: each once, and each that was confirmed.

use std::collections::BTreeMap;

use ambit::Games;
use ambit_client_core::client::request::LobbyRequest;
use ambit_proto::ids::RoomId;
use ambit_tests::short_or_long;
use ambit_tests::wallet_game::WalletGame;

use super::crowd::Crowd;

/// Bots, in short and in long.
const BOTS: (usize, usize) = (24, 200);
const SECONDS: (u64, u64) = (90, 240);
const SEEDS: (u64, u64) = (2, 5);

/// The results of a bot.
#[derive(Default)]
struct Wins {
    /// Of each command under way, by its number.
    under_way: BTreeMap<u32, i64>,
    sent: i64,
    /// Confirmed in the newest step.
    fresh: Vec<i64>,
    /// Confirmed before the newest step: no death takes them back.
    confirmed: Vec<i64>,
}

#[test]
fn each_confirmed_result_is_stored_once_whatever_dies() {
    let bots = short_or_long(BOTS.0, BOTS.1);
    for seed in 1..=short_or_long(SEEDS.0, SEEDS.1) {
        let registry = Games::new().with::<WalletGame>().into();
        let mut crowd =
            Crowd::new(seed, &registry, &["den game=wallet capacity=250"], bots, |_| {});
        let mut wins: Vec<Wins> = (0..bots).map(|_| Wins::default()).collect();
        for _ in 0..short_or_long(SECONDS.0, SECONDS.1) {
            for (bot, wins) in wins.iter_mut().enumerate() {
                wins.confirmed.append(&mut wins.fresh);
                play(&mut crowd, bot, wins);
            }
            let servers = crowd.deaths.servers;
            crowd.step();
            let is_new = crowd.deaths.servers > servers;
            for (bot, wins) in wins.iter_mut().enumerate() {
                let user = crowd.system.user_mut(bot);
                user.events.clear();
                let numbers = std::mem::take(&mut user.confirmed);
                let known = numbers.iter().filter_map(|number| wins.under_way.remove(number));
                wins.fresh.extend(known);
                // The last moments before the death of a server may be lost.
                if is_new {
                    wins.fresh.clear();
                }
            }
        }
        crowd.settle();
        let (mut confirmed, mut stored) = (0, 0);
        for (bot, wins) in wins.iter().enumerate() {
            let exported = crowd.system.store().exported(bot as u64 + 1);
            let rows = exported["results"].as_array().expect("a list");
            let mut scores: Vec<i64> =
                rows.iter().filter_map(|row| row["score"].as_i64()).collect();
            scores.sort_unstable();
            assert!(scores.windows(2).all(|pair| pair[0] < pair[1]), "seed {seed}: {scores:?}");
            let lost: Vec<_> = wins.confirmed.iter().filter(|it| !scores.contains(it)).collect();
            assert!(lost.is_empty(), "seed {seed}, bot {bot}: {lost:?} of {scores:?}");
            assert!(scores.last().is_none_or(|score| *score <= wins.sent), "{scores:?}");
            (confirmed, stored) = (confirmed + wins.confirmed.len(), stored + scores.len());
        }
        let deaths = crowd.deaths;
        println!("seed {seed}: {bots} bots, {confirmed} confirmed, {stored} stored, {deaths:?}");
        assert!(confirmed > 4 * bots, "seed {seed}: {confirmed}");
        assert!(deaths.hosts > 2 && deaths.servers > 1 && deaths.stores > 1, "{deaths:?}");
    }
}

/// What a bot does in a second.
fn play(crowd: &mut Crowd, bot: usize, wins: &mut Wins) {
    let client = &crowd.system.user(bot).client;
    if client.room().is_none() {
        wins.under_way.clear();
        if let Some(room) = crowd.system.lobby().rooms().first().map(|room| RoomId(room.id)) {
            crowd.ask(bot, LobbyRequest::JoinRoom { room, password: String::new() });
        }
        return;
    }
    if crowd.rng.u8(..30) == 0 {
        return crowd.ask(bot, LobbyRequest::LeaveRoom);
    }
    if crowd.rng.u8(..3) == 0 {
        wins.sent += 1;
        if let Some(number) = crowd.say(bot, &format!("win {}", wins.sent)) {
            wins.under_way.insert(number, wins.sent);
        }
    }
}

//! Stores in files and in memory: what lasts, what is refused, copies.

use std::fs;
use std::path::PathBuf;

use ambit_proto::ids::AccountId;
use ambit_proto::standing::OperatorRole;

use super::*;
use crate::games::{GameResult, RoomRequest, ValueKey};
use crate::migrations;
use crate::profiles::{ClaimOutcome, SaveOutcome, StoredProfile};
use crate::server_ban::{BanNote, BanScope, BanTarget, BanTerm, ServerBan};
use crate::tables::{NameOwner, PasswordAccount};
use crate::top_lists::Period;

const ANN: AccountId = AccountId([1; 16]);
const BOB: AccountId = AccountId([2; 16]);

#[tokio::test]
async fn what_was_stored_is_there_at_the_next_start_for_its_owner_only() {
    let file = Scratch::new("stored");
    for _ in 0..2 {
        let store = Store::open(&file.place()).unwrap();
        let added = store.run(|tables| tables.add_password(&ann(), 7)).await;
        assert!(added.is_ok());
        let found = store.run(|tables| tables.find_password("ANN#12345")).await.unwrap();
        assert_eq!(found, Some(ann()));
        assert_eq!(store.run(|tables| tables.find_password("ann#12346")).await, Ok(None));
        let again = PasswordAccount { account: BOB, ..ann() };
        assert_eq!(store.run(move |tables| tables.add_password(&again, 8)).await, Ok(false));
    }
    #[cfg(unix)]
    for entry in fs::read_dir(file.0.parent().unwrap()).unwrap() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
    }
}

#[tokio::test]
async fn a_job_that_fails_changes_nothing_and_no_other_job() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    // All in one transaction: the thread waits for the first job.
    let (begun, begin) = std::sync::mpsc::sync_channel::<()>(1);
    let first = store.run(move |tables| {
        let _ = begin.recv();
        tables.reserve("ann", ANN, 1)
    });
    let fails = store.run(|tables| -> Result<(), StoreError> {
        tables.reserve("bob", BOB, 1)?;
        Err(StoreError::Damaged("a test".to_owned()))
    });
    let last = store.run(|tables| tables.reserve("cat", ANN, 1));
    let go = async { begun.send(()).unwrap() };
    let (first, failed, last, ()) = tokio::join!(first, fails, last, go);
    assert_eq!((first, last), (Ok(None), Ok(None)));
    assert_eq!(failed, Err(StoreError::Damaged("a test".to_owned())));
    let names = store.names().await.unwrap();
    assert_eq!(names.reserved, [("ann".to_owned(), ANN), ("cat".to_owned(), ANN)].into());
    let StoreStats { done, failed, is_failing, .. } = store.stats();
    assert_eq!((done, failed, is_failing), (3, 1, false));
}

#[tokio::test]
async fn names_and_bans_have_a_number_that_each_change_raises() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    let number = async || store.names().await.unwrap().number;
    let first = number().await;
    assert_eq!(store.run(|tables| tables.reserve("ann", ANN, 1)).await, Ok(None));
    let reserved = number().await;
    assert!(reserved > first);
    // Again, and by another account.
    assert_eq!(store.run(|tables| tables.reserve("ann", ANN, 2)).await, Ok(None));
    let taken = store.run(|tables| tables.reserve("ann", BOB, 3)).await;
    assert_eq!(taken, Ok(Some(NameOwner(ANN))));
    assert_eq!(number().await, reserved);
    let entry = ban(BanTarget::Account(BOB), BanScope::Play, Some(99));
    let banned = entry.clone();
    store.run(move |tables| tables.ban(&banned, 4)).await.unwrap();
    let names = store.names().await.unwrap();
    assert_eq!(names.bans, [entry]);
    assert!(names.number > reserved);
    let unban = async |scope| {
        store.run(move |tables| tables.unban(&BanTarget::Account(BOB), scope)).await.unwrap()
    };
    assert!(!unban(BanScope::Chat).await);
    assert!(unban(BanScope::Play).await);
    assert!(!unban(BanScope::Play).await);
    assert_eq!(store.run(|tables| tables.release("ann")).await, Ok(true));
    assert_eq!(number().await, names.number + 2);
}

#[tokio::test]
async fn bans_of_all_kinds_are_kept_apart_until_they_have_ended() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    let network = BanTarget::parse_network("2001:db8::1").unwrap();
    let bans = [
        ban(BanTarget::Account(ANN), BanScope::Play, Some(20)),
        ban(BanTarget::Account(ANN), BanScope::Chat, None),
        ban(BanTarget::Name("ann".to_owned()), BanScope::Play, None),
        ban(network, BanScope::Play, Some(30)),
    ];
    let made_at = |made_at, ban| {
        let (made_by, player) = ("max".to_owned(), "ann".to_owned());
        ServerBan { note: BanNote { made_at, made_by, player }, ..ban }
    };
    let bans = bans.map(|ban| made_at(10, ban));
    for ban in bans.clone() {
        store.run(move |tables| tables.ban(&ban, 10)).await.unwrap();
    }
    assert_eq!(store.names().await.unwrap().bans, bans);
    let exported = store.run(|tables| tables.export(ANN)).await.unwrap();
    assert_eq!(
        (&exported["ban"]["ends_at"], exported["mute"]["reason"].as_str()),
        (&20.into(), Some("cheats"))
    );
    // A ban is changed, and those that have ended go.
    let longer = made_at(20, ban(bans[3].target.clone(), BanScope::Play, Some(90)));
    let changed = longer.clone();
    store.run(move |tables| tables.ban(&changed, 20)).await.unwrap();
    let left = store.names().await.unwrap().bans;
    assert_eq!(left, [bans[1].clone(), bans[2].clone(), longer]);
}

#[tokio::test]
async fn bans_of_accounts_of_an_earlier_version_go_on() {
    let file = Scratch::new("earlier-bans");
    drop(Store::open(&file.place()).unwrap());
    // The tables as they were.
    let mut database = crate::sqlite::Sqlite::open(&file.0).unwrap();
    for sql in [
        "DROP TABLE server_bans",
        "CREATE TABLE bans (account BLOB PRIMARY KEY, reason TEXT NOT NULL, ends_at BIGINT, \
         made_at BIGINT NOT NULL)",
        "INSERT INTO bans VALUES (x'01010101010101010101010101010101', 'cheats', 99, 4)",
        "UPDATE version SET number = 6",
    ] {
        database.execute(sql, &[]).unwrap();
    }
    drop(database);
    let store = Store::open(&file.place()).unwrap();
    let expected = ban(BanTarget::Account(ANN), BanScope::Play, Some(99));
    assert_eq!(store.names().await.unwrap().bans, [expected]);
}

fn ban(target: BanTarget, scope: BanScope, ends_at: Option<i64>) -> ServerBan {
    let term = BanTerm { reason: "cheats".to_owned(), ends_at };
    ServerBan { target, scope, term, note: BanNote { made_at: 4, ..BanNote::default() } }
}

#[tokio::test]
async fn roles_are_given_replaced_and_taken_and_go_with_their_account() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    let role = async |account, role| {
        store.run(move |tables| tables.set_role(account, role, 3)).await.unwrap();
        store.names().await.unwrap()
    };
    let first = store.names().await.unwrap();
    assert_eq!(first.roles, [].into());
    let look = role(ANN, Some(OperatorRole::Look)).await;
    assert!(look.number > first.number, "servers read it");
    let both = role(BOB, Some(OperatorRole::Operate)).await;
    assert_eq!(both.roles.len(), 2);
    let more = role(ANN, Some(OperatorRole::Moderate)).await;
    assert_eq!(more.roles.get(&ANN), Some(&OperatorRole::Moderate));
    let exported = store.run(|tables| tables.export(ANN)).await.unwrap();
    assert_eq!(exported["role"], "moderate");
    assert_eq!(role(BOB, None).await.roles, [(ANN, OperatorRole::Moderate)].into());
    store.run(|tables| tables.erase(ANN)).await.unwrap();
    assert_eq!(store.names().await.unwrap().roles, [].into());
}

#[tokio::test]
async fn an_account_can_be_read_and_erased_but_its_ban_stays() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    store.run(|tables| tables.add_password(&ann(), 5)).await.unwrap();
    store.run(|tables| tables.reserve("ann", ANN, 6)).await.unwrap();
    store.run(|tables| tables.reserve("bob", BOB, 7)).await.unwrap();
    let entry = ban(BanTarget::Account(ANN), BanScope::Play, None);
    store.run(move |tables| tables.ban(&entry, 8)).await.unwrap();
    store
        .run(|tables| {
            tables.save_value(&request(1), &key(Some(ANN)), b"{\"coins\":3}", 9)?;
            tables.save_value(&request(2), &key(None), b"of all", 9)?;
            tables.add_result(&request(3), &result("ann", Some(ANN), 3))
        })
        .await
        .unwrap();
    let exported = store.run(|tables| tables.export(ANN)).await.unwrap();
    assert_eq!(
        exported,
        serde_json::json!({
            "account": "01".repeat(16),
            "password": { "login": "Ann#12345", "made_at": 5 },
            "reserved_names": [{ "name": "ann", "made_at": 6 }],
            "ban": { "reason": "cheats", "ends_at": null, "made_at": 8 },
            "mute": null,
            "role": null,
            "values": [{
                "game": "hamlet", "name": "profile", "value": { "coins": 3 }, "stored_at": 9,
            }],
            "profiles": [],
            "results": [{
                "game": "hamlet", "board": "rich", "player": "ann", "score": 3, "added_at": 9,
            }],
        })
    );
    assert_eq!(store.run(|tables| tables.erase(ANN)).await, Ok(4));
    let (own, common, boards) = store
        .run(|tables| {
            let own = tables.load_value(&key(Some(ANN)))?;
            Ok((own, tables.load_value(&key(None))?, tables.boards("hamlet")?))
        })
        .await
        .unwrap();
    assert_eq!((own, common.as_deref()), (None, Some(&b"of all"[..])));
    assert_eq!(boards, [""; 0]);
    let sql = "SELECT account, player, score FROM results";
    let results = store.run(|tables| tables.database.query(sql, &[])).await.unwrap();
    assert_eq!(results.len(), 1, "without the name and the account");
    assert_eq!((results[0].bytes(0), results[0].text(1)), (Ok(&[][..]), Ok("")));
    let names = store.names().await.unwrap();
    assert_eq!(names.reserved, [("bob".to_owned(), BOB)].into());
    assert_eq!(names.bans.len(), 1);
    assert_eq!(store.run(|tables| tables.find_password("ann#12345")).await, Ok(None));
}

#[tokio::test]
async fn a_profile_is_one_rooms_until_it_gives_it_back() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    let first = claim(&store, &request(1)).await.expect("it is free");
    assert_eq!(claim(&store, &request(1)).await, Some(first.clone()), "the answer was lost");
    let other = RoomRequest { room: 8, ..request(1) };
    assert_eq!(claim(&store, &other).await, None);
    assert_eq!(save(&store, first.0, 1, Some("one"), false).await, []);
    assert_eq!(save(&store, first.0, 2, Some("two"), false).await, []);
    // Written by the map that the player has left, and late.
    assert_eq!(save(&store, first.0, 1, Some("one"), false).await, []);
    assert_eq!(save(&store, first.0, 3, None, true).await, []);
    // Its answer was lost.
    assert_eq!(save(&store, first.0, 3, None, true).await, []);
    let second = claim(&store, &other).await.expect("it is given back");
    assert_eq!(second.1.as_deref(), Some("two"));
    assert!(second.0 > first.0);
    assert_eq!(save(&store, first.0, 4, Some("late"), false).await, [ANN]);
    assert_eq!(claim(&store, &other).await, Some(second));
}

#[tokio::test]
async fn a_room_that_has_gone_back_writes_nothing_over_what_it_has_written() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    let (of_ann, _) = claim(&store, &request(1)).await.expect("it is free");
    let save = async |number: (u32, u64), profiles: &[StoredProfile]| {
        let (request, profiles) = (RoomRequest { number, ..request(1) }, profiles.to_vec());
        store.run(move |tables| tables.save_profiles(&request, "hamlet", &profiles, NOW)).await
    };
    let of_bob = store
        .run(|tables| tables.claim_profile(&request(2), "hamlet", BOB, NOW))
        .await
        .map(|claimed| if let ClaimOutcome::Claimed { claim, .. } = claimed { claim } else { 0 })
        .unwrap();
    let profile = |(account, claim), version, value: &str| StoredProfile {
        account,
        claim,
        version,
        value: Some(value.as_bytes().to_vec()),
        is_last: false,
    };
    let (ann, bob) = ((ANN, of_ann), (BOB, of_bob));
    let taken = Ok(SaveOutcome::Saved(vec![]));
    assert_eq!(save((1, 3), &[profile(ann, 1, "gave 5")]).await, taken);
    // Its host has died, and the next one asks again, and goes on.
    assert_eq!(save((1, 3), &[profile(ann, 1, "gave 5")]).await, taken);
    assert_eq!(save((2, 4), &[profile(ann, 2, "gave 6")]).await, taken);
    // The next one has an older state, in which ann has them still, and gives bob one.
    let asked = [profile(ann, 2, "gave 1"), profile(bob, 1, "got 1")];
    assert_eq!(save((3, 4), &asked).await, Ok(SaveOutcome::GoneBack));
    // Both are free, and as they were.
    let other = RoomRequest { room: 8, ..request(1) };
    let next = claim(&store, &other).await.expect("it is free");
    assert_eq!(next.1.as_deref(), Some("gave 6"));
    assert_eq!(save((3, 5), &[profile(bob, 2, "got 2")]).await, Ok(SaveOutcome::Saved(vec![BOB])));
    // Another room with a late write of this claim is no such room.
    let late = RoomRequest { room: 9, number: (7, 1), ..request(1) };
    let again = store
        .run(move |tables| {
            let asked = [profile((ANN, next.0), 1, "new")];
            let written = tables.save_profiles(
                &RoomRequest { room: 8, ..request(3) },
                "hamlet",
                &asked,
                NOW,
            )?;
            Ok((written, tables.save_profiles(&late, "hamlet", &asked, NOW)?))
        })
        .await;
    assert_eq!(again, Ok((SaveOutcome::Saved(vec![]), SaveOutcome::Saved(vec![]))));
}

#[tokio::test]
async fn a_profile_is_free_once_its_room_or_its_server_is_gone() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    let (second, _) = claim(&store, &request(1)).await.expect("it is free");
    // Another map may have it, and write it still.
    let again = RoomRequest { number: (2, 1), ..request(1) };
    assert_eq!(claim(&store, &again).await, None, "it is of the same room, and not this one");
    // Another server, which shares the store with the first one.
    let elsewhere = RoomRequest { lineage: [9; 16], ..request(1) };
    store.run(|tables| tables.note_lineage(request(1).lineage, NOW - 59)).await.unwrap();
    assert_eq!(claim(&store, &elsewhere).await, None);
    store.run(|tables| tables.note_lineage(request(1).lineage, NOW - 60)).await.unwrap();
    let (third, _) = claim(&store, &elsewhere).await.expect("that server is gone");
    assert!(third > second);
    // The lobby says that the room is gone.
    let next = RoomRequest { room: 9, ..elsewhere };
    assert_eq!(claim(&store, &next).await, None);
    store.run(move |tables| tables.free_profile("hamlet", ANN, second)).await.unwrap();
    assert_eq!(claim(&store, &next).await, None, "that was an older claim");
    store.run(move |tables| tables.free_profile("hamlet", ANN, third)).await.unwrap();
    assert!(claim(&store, &next).await.is_some());
}

#[tokio::test]
async fn a_profile_that_was_erased_is_new_and_its_room_writes_nothing_more() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    let (first, _) = claim(&store, &request(1)).await.expect("it is free");
    save(&store, first, 1, Some(r#"{"coins":3}"#), false).await;
    let exported = store.run(|tables| tables.export(ANN)).await.unwrap();
    let profile =
        serde_json::json!({ "game": "hamlet", "value": { "coins": 3 }, "stored_at": NOW });
    assert_eq!(exported["profiles"], serde_json::json!([profile]));
    assert_eq!(store.run(|tables| tables.erase(ANN)).await, Ok(1));
    assert_eq!(save(&store, first, 2, Some("again"), false).await, [ANN]);
    let later = store.run(|tables| tables.claim_profile(&request(2), "hamlet", ANN, NOW + 1)).await;
    let Ok(ClaimOutcome::Claimed { claim, value: None }) = later else { panic!("{later:?}") };
    assert!(claim > first);
}

/// The file of a process that writes until it is killed.
const KILLED: &str = "AMBIT_TEST_KILLED_STORE";

#[test]
fn a_kill_while_a_thousand_profiles_are_written_loses_nothing_confirmed() {
    if let Ok(path) = std::env::var(KILLED) {
        let place = StorePlace::File(path.into());
        let runtime = tokio::runtime::Runtime::new().unwrap();
        return runtime.block_on(write_until_killed(&place));
    }
    let file = Scratch::new("killed");
    let mut confirmed = [0_u64; 10];
    for kill_after in [7, 40, 23] {
        let mut writer = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["a_kill_while_a_thousand", "--nocapture"])
            .env(KILLED, &file.0)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = std::io::BufReader::new(writer.stdout.take().unwrap());
        let done = std::io::BufRead::lines(lines).filter_map(|line| {
            let line = line.unwrap();
            let (batch, version) = line.strip_prefix("written ")?.split_once(' ')?;
            Some((batch.parse::<usize>().unwrap(), version.parse::<u64>().unwrap()))
        });
        for (batch, version) in done.take(kill_after) {
            confirmed[batch] = version;
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let mut database = open_database(&file.place()).unwrap();
        for (batch, confirmed) in confirmed.iter_mut().enumerate() {
            let sql = "SELECT DISTINCT value FROM profiles WHERE game = $1";
            let values = database.query(sql, &[batch.to_string().as_str().into()]).unwrap();
            assert_eq!(values.len(), 1, "the profiles of a batch are of one moment");
            let value = std::str::from_utf8(values[0].bytes(0).unwrap()).unwrap();
            let stored = value.parse().unwrap_or(0);
            assert!(stored >= *confirmed, "{stored} is stored, and {confirmed} was confirmed");
            *confirmed = stored;
        }
    }
}

/// Ten batches of a hundred profiles, again and again; says what is confirmed.
async fn write_until_killed(place: &StorePlace) {
    let store = Store::open(place).unwrap();
    let account = |number: u64| AccountId(u128::from(number).to_be_bytes());
    let mut claims = vec![Vec::new(); 10];
    let mut first = 0;
    for (batch, claims) in claims.iter_mut().enumerate() {
        for number in 0..100 {
            let game = batch.to_string();
            let claimed = store.run(move |tables| {
                tables.claim_profile(&request(number), &game, account(number), NOW)
            });
            let ClaimOutcome::Claimed { claim, value } = claimed.await.unwrap() else { panic!() };
            let known = value.map(|value| String::from_utf8(value).unwrap().parse().unwrap());
            first = first.max(known.unwrap_or(0));
            claims.push(claim);
        }
    }
    for version in first + 1.. {
        for (batch, claims) in claims.iter().enumerate() {
            let profiles: Vec<_> = (0..)
                .zip(claims)
                .map(|(number, &claim)| StoredProfile {
                    account: account(number),
                    claim,
                    version,
                    value: Some(version.to_string().into_bytes()),
                    is_last: false,
                })
                .collect();
            let game = batch.to_string();
            let saved = store
                .run(move |tables| tables.save_profiles(&request(version), &game, &profiles, NOW));
            assert_eq!(saved.await, Ok(SaveOutcome::Saved(vec![])));
            println!("written {batch} {version}");
        }
    }
}

#[tokio::test]
async fn a_full_disk_refuses_what_is_new_and_loses_nothing() {
    let file = Scratch::new("full");
    let store = Store::open(&file.place()).unwrap();
    let (own, _) = claim(&store, &request(1)).await.expect("it is free");
    let large = "x".repeat(100_000);
    assert_eq!(save(&store, own, 1, Some("small"), false).await, []);
    let pages = store.run(|tables| tables.database.query("PRAGMA page_count", &[])).await.unwrap();
    let pages = pages[0].integer(0).unwrap();
    limit_pages(&store, pages).await;
    let value = Some(large.clone().into_bytes());
    let (account, claimed) = (ANN, own);
    let profile = StoredProfile { account, claim: claimed, version: 2, value, is_last: false };
    let again = profile.clone();
    let refused =
        store.run(move |tables| tables.save_profiles(&request(2), "hamlet", &[profile], NOW)).await;
    let Err(StoreError::Unavailable(words)) = refused else { panic!("{refused:?}") };
    assert!(words.contains("disk is full"), "{words}");
    assert!(store.stats().is_failing);
    let stored = claim(&store, &request(1)).await.expect("its own");
    assert_eq!(stored.1.as_deref(), Some("small"), "it can be read");
    limit_pages(&store, 1_000_000).await;
    let saved =
        store.run(move |tables| tables.save_profiles(&request(2), "hamlet", &[again], NOW)).await;
    assert_eq!(saved, Ok(SaveOutcome::Saved(vec![])));
    drop(store);
    let store = Store::open(&file.place()).unwrap();
    assert_eq!(claim(&store, &request(1)).await.expect("its own").1, Some(large));
}

#[tokio::test]
async fn a_disk_that_is_read_only_says_so_and_can_be_read() {
    let file = Scratch::new("read-only");
    let store = Store::open(&file.place()).unwrap();
    store.run(|tables| tables.reserve("ann", ANN, 1)).await.unwrap();
    let set = async |pragma: &'static str| {
        store.run(move |tables| tables.database.query(pragma, &[])).await.unwrap();
    };
    set("PRAGMA query_only = ON").await;
    let refused = store.run(|tables| tables.reserve("bob", BOB, 1)).await;
    let Err(StoreError::Unavailable(words)) = refused else { panic!("{refused:?}") };
    assert!(words.contains("readonly"), "{words}");
    let reserved = store.names().await.unwrap().reserved;
    assert_eq!(reserved, [("ann".to_owned(), ANN)].into());
    set("PRAGMA query_only = OFF").await;
    assert_eq!(store.run(|tables| tables.reserve("bob", BOB, 1)).await, Ok(None));
}

async fn limit_pages(store: &Store, pages: i64) {
    let pragma = format!("PRAGMA max_page_count = {pages}");
    store.run(move |tables| tables.database.query(&pragma, &[])).await.unwrap();
}

/// The time of these tests.
const NOW: i64 = 1_000;

/// `None` while another room has it.
async fn claim(store: &Store, request: &RoomRequest) -> Option<(u64, Option<String>)> {
    let request = request.clone();
    match store.run(move |tables| tables.claim_profile(&request, "hamlet", ANN, NOW)).await {
        Ok(ClaimOutcome::Claimed { claim, value }) => {
            Some((claim, value.map(|value| String::from_utf8(value).unwrap())))
        }
        Ok(ClaimOutcome::Held { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Returns whose profiles are other rooms'.
async fn save(
    store: &Store,
    claim: u64,
    version: u64,
    value: Option<&str>,
    is_last: bool,
) -> Vec<AccountId> {
    let value = value.map(|value| value.as_bytes().to_vec());
    let profile = StoredProfile { account: ANN, claim, version, value, is_last };
    let saved = store
        .run(move |tables| tables.save_profiles(&request(9), "hamlet", &[profile], NOW))
        .await
        .unwrap();
    let SaveOutcome::Saved(lost) = saved else { panic!("a room that has not gone back") };
    lost
}

#[tokio::test]
async fn a_request_of_a_room_is_carried_out_once_and_in_its_order() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    let save = async |number, value: &'static [u8]| {
        store
            .run(move |tables| tables.save_value(&request(number), &key(Some(ANN)), value, 1))
            .await
    };
    let load = async || store.run(|tables| tables.load_value(&key(Some(ANN)))).await.unwrap();
    save(1, b"one").await.unwrap();
    save(2, b"two").await.unwrap();
    // The answers were lost with a host: both come again.
    save(1, b"one").await.unwrap();
    assert_eq!(load().await.as_deref(), Some(&b"two"[..]));
    save(2, b"two").await.unwrap();
    save(3, b"").await.unwrap();
    assert_eq!(load().await, None);
    // A request had no place in the queue, and comes after the next one.
    save(5, b"five").await.unwrap();
    save(4, b"four").await.unwrap();
    assert_eq!(load().await.as_deref(), Some(&b"five"[..]));
    // Another room does as it likes.
    let other = RoomRequest { room: 6, ..request(1) };
    store.run(move |tables| tables.save_value(&other, &key(Some(ANN)), b"other", 1)).await.unwrap();
    assert_eq!(load().await.as_deref(), Some(&b"other"[..]));
    // The same count of another incarnation, or of another lineage, is another request.
    let others = [
        RoomRequest { number: (2, 1), ..request(1) },
        RoomRequest { lineage: [8; 16], ..request(1) },
    ];
    for (score, other) in (1..).zip([request(1), others[0].clone(), others[1].clone()]) {
        for _ in 0..3 {
            let (other, row) = (other.clone(), result("ann", Some(ANN), score));
            store.run(move |tables| tables.add_result(&other, &row)).await.unwrap();
        }
    }
    let results = store.run(|tables| tables.export(ANN)).await.unwrap()["results"].clone();
    let scores: Vec<_> = results.as_array().unwrap().iter().map(|row| &row["score"]).collect();
    assert_eq!(scores, [1, 2, 3]);
}

#[tokio::test]
async fn a_top_list_has_each_account_once_with_its_best_result() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    // Monday the 30th of November 2026, and the Sunday before it.
    let (monday, sunday) = (20_787 * 86_400, 20_786 * 86_400);
    let rows = [
        ("ann", Some(ANN), 30, sunday),
        ("anna", Some(ANN), 20, monday),
        ("bob", Some(BOB), 25, monday + 1),
        ("guest", None, 25, monday),
        ("guest", None, 7, monday),
    ];
    for (number, (player, account, score, added_at)) in (1..).zip(rows) {
        let row = GameResult { added_at, ..result(player, account, score) };
        store.run(move |tables| tables.add_result(&request(number), &row)).await.unwrap();
    }
    let list = async |period, count| {
        let rows = store
            .run(move |tables| tables.top_list(("hamlet", "rich"), period, monday + 9, count))
            .await
            .unwrap();
        rows.into_iter().map(|row| (row.place, row.player, row.score)).collect::<Vec<_>>()
    };
    let row = |place, player: &str, score| (place, player.to_owned(), score);
    let of_week = [row(1, "guest", 25), row(1, "bob", 25), row(3, "anna", 20), row(4, "guest", 7)];
    assert_eq!(list(Period::Week, 9).await, of_week);
    assert_eq!(list(Period::Day, 9).await, of_week);
    let of_all = [row(1, "ann", 30), row(2, "guest", 25), row(2, "bob", 25), row(4, "guest", 7)];
    assert_eq!(list(Period::All, 9).await, of_all);
    assert_eq!(list(Period::Month, 2).await, of_all[..2]);
    assert_eq!(store.run(|tables| tables.boards("hamlet")).await, Ok(vec!["rich".to_owned()]));
    assert_eq!(store.run(|tables| tables.boards("field")).await, Ok(vec![]));
    store.run(|tables| tables.erase(ANN)).await.unwrap();
    assert_eq!(list(Period::All, 1).await, [row(1, "guest", 25)]);
}

#[tokio::test]
async fn a_top_list_keeps_the_first_thousand_and_this_day() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    let kept = async |period: i64| {
        let sql = "SELECT COUNT(*) FROM top_lists WHERE period = $1";
        let rows = store.run(move |tables| tables.database.query(sql, &[period.into()])).await;
        rows.unwrap()[0].integer(0).unwrap()
    };
    for number in 1..=1_280 {
        let added_at = if number <= 64 { 0 } else { 86_400 };
        let row = GameResult { added_at, ..result("guest", None, number as i64) };
        store.run(move |tables| tables.add_result(&request(number), &row)).await.unwrap();
    }
    assert_eq!((kept(0).await, kept(1).await), (1_001, 1_001));
    let last = store.run(|tables| tables.top_list(("hamlet", "rich"), Period::Day, 86_400, 9_999));
    assert_eq!(last.await.unwrap().last().map(|row| row.score), Some(280));
}

#[tokio::test]
async fn what_cannot_come_again_is_forgotten() {
    let store = Store::open(&StorePlace::Memory).unwrap();
    for number in 1..=10 {
        let oldest = (1, number.max(4) - 3);
        let asked = RoomRequest { oldest, ..request(number) };
        store.run(move |tables| tables.save_value(&asked, &key(None), b"x", 1)).await.unwrap();
    }
    let count = async || {
        store
            .run(|tables| {
                let rows = tables.database.query("SELECT COUNT(*) FROM carried_out", &[])?;
                rows[0].integer(0)
            })
            .await
    };
    assert_eq!(count().await, Ok(4), "numbers 7 to 10");
    store.run(|tables| tables.forget_room([7; 16], 5)).await.unwrap();
    assert_eq!(count().await, Ok(0));
}

#[tokio::test]
async fn a_backup_made_while_the_store_runs_is_restored_into_an_empty_one_alone() {
    let [from, copy, to] = ["from", "copy", "to"].map(Scratch::new);
    let store = Store::open(&from.place()).unwrap();
    store.run(|tables| tables.add_password(&ann(), 5)).await.unwrap();
    store.run(|tables| tables.reserve("ann", ANN, 6)).await.unwrap();
    let written = Store::back_up(&from.place(), &copy.0).unwrap();
    store.run(|tables| tables.reserve("late", ANN, 7)).await.unwrap();
    let again = Store::back_up(&from.place(), &copy.0).unwrap_err();
    assert!(again.to_string().contains("exists already"), "{again}");
    assert_eq!(Store::restore(&to.place(), &copy.0), Ok(written));
    let restored = Store::open(&to.place()).unwrap();
    let names = restored.names().await.unwrap();
    assert_eq!(names.reserved, [("ann".to_owned(), ANN)].into());
    let found = restored.run(|tables| tables.find_password("ann#12345")).await.unwrap();
    assert_eq!(found, Some(ann()));
    let filled = Store::restore(&to.place(), &copy.0);
    assert_eq!(filled, Err(RestoreError::NotEmpty(2)));
    let absent = Store::restore(&StorePlace::Memory, &file_that_is_absent()).unwrap_err();
    assert!(absent.to_string().contains("is no file"), "{absent}");
}

#[tokio::test]
async fn a_damaged_file_a_newer_one_and_a_directory_are_refused_in_words() {
    let damaged = Scratch::new("damaged");
    fs::write(&damaged.0, "this is no database, but a text that is long enough").unwrap();
    let error = Store::open(&damaged.place()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
    assert!(error.to_string().contains("world-server restore"), "{error}");

    let newer = Scratch::new("newer");
    let mut database = open_database(&newer.place()).unwrap();
    database.execute("UPDATE version SET number = 99", &[]).unwrap();
    drop(database);
    let known = migrations::newest();
    assert_eq!(Store::open(&newer.place()).unwrap_err(), StoreError::Newer { found: 99, known });

    let directory = Scratch::new("directory");
    let place = StorePlace::File(directory.0.parent().unwrap().to_owned());
    let error = Store::open(&place).unwrap_err();
    assert!(error.to_string().contains("it is no file"), "{error}");
}

#[test]
fn pages_that_are_torn_are_found_at_the_start() {
    let file = Scratch::new("torn");
    let mut database = open_database(&file.place()).unwrap();
    for number in 0..200 {
        let mut tables = StoreTables::new(&mut *database);
        tables.reserve(&format!("a name with number {number}"), ANN, number).unwrap();
    }
    drop(database);
    let mut bytes = fs::read(&file.0).unwrap();
    assert!(bytes.len() > 3 * 4_096, "{} bytes", bytes.len());
    let end = bytes.len();
    bytes[8_192..end].fill(0xa5);
    fs::write(&file.0, bytes).unwrap();
    let error = Store::open(&file.place()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
}

fn ann() -> PasswordAccount {
    let hash = "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA".to_owned();
    PasswordAccount { account: ANN, login: "Ann#12345".to_owned(), hash }
}

/// Of one room.
fn request(number: u64) -> RoomRequest {
    RoomRequest { lineage: [7; 16], room: 5, number: (1, number), oldest: (1, 1) }
}

fn key(account: Option<AccountId>) -> ValueKey {
    ValueKey { game: "hamlet".to_owned(), account, name: "profile".to_owned() }
}

fn result(player: &str, account: Option<AccountId>, score: i64) -> GameResult {
    let (game, board) = ("hamlet".to_owned(), "rich".to_owned());
    GameResult { game, board, account, player: player.to_owned(), score, added_at: 9 }
}

fn file_that_is_absent() -> PathBuf {
    std::env::temp_dir().join("ambit-store-absent.db")
}

/// A file in a directory of its own, which is deleted with this.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let directory = format!("ambit-store-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(directory);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        Self(directory.join("ambit.db"))
    }

    fn place(&self) -> StorePlace {
        StorePlace::File(self.0.clone())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.parent().expect("it is in a directory"));
    }
}

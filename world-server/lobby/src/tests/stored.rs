//! What rooms ask of the store: passed on once, answered to the host that runs the room.

use ambit_host_protocol::generated::{
    ProfileSave, ProfileSaves, StoreKey, StoreRequest, Stored, host_to_world, store_request::What,
    world_to_host,
};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::world_to_client::Body;
use ambit_proto::ids::AccountId;
use ambit_store::{RoomRequest, ValueKey};

use super::harness::{Client, LobbyHarness, seconds};
use crate::{StoreJob, StoreOutcome};

#[test]
fn a_request_is_passed_on_once_and_answered_to_the_host() {
    let mut harness = LobbyHarness::new();
    let (host, room) = running(&mut harness);
    ask(&mut harness, host, room, 1);
    ask(&mut harness, host, room, 1);
    ask(&mut harness, host, room, 2);
    let jobs = std::mem::take(&mut harness.store_jobs);
    let numbers: Vec<_> = jobs.iter().map(|(request, _)| request.number).collect();
    assert_eq!(numbers, [(1, 1), (1, 2)]);
    let key = ValueKey { game: "field".to_owned(), account: None, name: "purse".to_owned() };
    assert_eq!(jobs[0].1, StoreJob::Load(key));
    let (first, second) = (&jobs[0].0, &jobs[1].0);
    assert_eq!((first.lineage, first.room), (second.lineage, room));
    done(&mut harness, first, StoreOutcome::Done(Some(vec![5])));
    let answers = stored(&mut harness);
    assert_eq!(answers.len(), 1);
    assert_eq!((answers[0].count, &answers[0].value), (1, &Some(vec![5])));
    // The answer was lost: it is asked again.
    ask(&mut harness, host, room, 1);
    assert_eq!(harness.store_jobs.len(), 1);
}

#[test]
fn a_request_that_the_store_refuses_does_not_come_again() {
    let mut harness = LobbyHarness::new();
    let (host, room) = running(&mut harness);
    ask(&mut harness, host, room, 1);
    let (request, _) = harness.store_jobs.remove(0);
    done(&mut harness, &request, StoreOutcome::Refused);
    let answers = stored(&mut harness);
    assert_eq!(answers.iter().map(|stored| stored.refused).collect::<Vec<_>>(), [true]);
}

#[test]
fn only_the_host_that_runs_the_room_asks_and_is_answered() {
    let mut harness = LobbyHarness::new();
    let (host, room) = running(&mut harness);
    let other = harness.host(2, 10);
    ask(&mut harness, other, room, 1);
    ask(&mut harness, host, room + 7, 1);
    assert_eq!(harness.store_jobs, []);
    ask(&mut harness, host, room, 1);
    let (request, _) = harness.store_jobs.remove(0);
    harness.lose_host(host, "gone");
    stored(&mut harness);
    done(&mut harness, &request, StoreOutcome::Done(None));
    assert_eq!(stored(&mut harness), []);
}

#[test]
fn a_room_has_64_jobs_at_a_time_and_the_others_come_again() {
    let mut harness = LobbyHarness::new();
    let (host, room) = running(&mut harness);
    (1..=100).for_each(|count| ask(&mut harness, host, room, count));
    assert_eq!(harness.store_jobs.len(), 64);
    let (request, _) = harness.store_jobs[0].clone();
    done(&mut harness, &request, StoreOutcome::Done(None));
    ask(&mut harness, host, room, 65);
    assert_eq!(harness.store_jobs.len(), 65);
}

#[test]
fn players_are_told_once_that_the_store_is_away() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let host = harness.host(1, 10);
    let room = harness.running_room_of(host, &[&ann]);
    let told = |harness: &mut LobbyHarness| {
        let events = harness.events_on(ann.conn).into_iter();
        events
            .filter(
                |body| matches!(body, Body::Error(error) if error.code() == ErrorCode::TryAgain),
            )
            .count()
    };
    for _ in 0..3 {
        ask(&mut harness, host, room, 1);
        let (request, _) = harness.store_jobs.remove(0);
        done(&mut harness, &request, StoreOutcome::Unavailable);
    }
    assert_eq!(told(&mut harness), 1);
    ask(&mut harness, host, room, 1);
    let (request, _) = harness.store_jobs.remove(0);
    done(&mut harness, &request, StoreOutcome::Done(None));
    ask(&mut harness, host, room, 2);
    let (request, _) = harness.store_jobs.remove(0);
    done(&mut harness, &request, StoreOutcome::Unavailable);
    assert_eq!(told(&mut harness), 1, "it is away again");
}

#[test]
fn rooms_of_the_next_server_are_of_the_same_lineage() {
    let lineage = |harness: &mut LobbyHarness| {
        let (host, room) = running(harness);
        ask(harness, host, room, 1);
        harness.store_jobs.remove(0).0.lineage
    };
    let mut first = LobbyHarness::recorded();
    let of_first = lineage(&mut first);
    let mut next = first.start_successor(seconds(5));
    assert_eq!(lineage(&mut next), of_first);
    let mut other = LobbyHarness::new();
    other.connect();
    let (host, room) = running(&mut other);
    assert!(other.forgotten_jobs.is_empty());
    ask(&mut other, host, room, 1);
    other.lose_host(host, "gone");
    other.advance(seconds(60));
    assert_eq!(other.forgotten_jobs, [room]);
}

#[test]
fn a_profile_is_taken_from_a_room_that_no_session_of_its_account_is_in() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_with_account("ann", ANN);
    let host = harness.host(1, 10);
    let room = harness.running_room_of(host, &[&ann]);
    let mut claims = Vec::new();
    for _ in 0..22 {
        claims.push(claim_in_vain(&mut harness, host, room));
    }
    assert_eq!(stored(&mut harness), [], "the room asks again");
    let told = harness.events_on(ann.conn).into_iter();
    let told = told.filter(|body| matches!(body, Body::Error(it) if it.message.contains("in use")));
    assert_eq!(told.count(), 1);
    assert_eq!(claims[..20], [None; 20]);
    assert_eq!(claims[20..], [Some(5); 2]);
}

#[test]
fn a_profile_stays_with_a_player_who_has_gone_on_to_another_world() {
    let mut harness = LobbyHarness::new();
    let (ann, bob) = (harness.connect_with_account("ann", ANN), harness.connect_as("bob"));
    let host = harness.host(1, 10);
    let left = harness.running_room_of(host, &[&bob, &ann]);
    harness.ask(ann.conn, super::harness::leave());
    let _ = harness.running_room_of(host, &[&ann]);
    // The room that the player has left asks still.
    let claims: Vec<_> = (0..30).map(|_| claim_in_vain(&mut harness, host, left)).collect();
    assert_eq!(claims, [None; 30]);
}

#[test]
fn a_profile_stays_while_a_room_of_the_game_has_no_host() {
    let mut harness = LobbyHarness::new();
    let (ann, bob) = (harness.connect_with_account("ann", ANN), harness.connect_as("bob"));
    let host = harness.host(1, 1);
    let room = harness.running_room_of(host, &[&ann]);
    let other = harness.host(2, 1);
    let waits = harness.running_room_of(other, &[&bob]);
    harness.save_checkpoint(other, waits);
    harness.lose_host(other, "gone");
    // It may have what it has to write.
    let claims: Vec<_> = (0..30).map(|_| claim_in_vain(&mut harness, host, room)).collect();
    assert_eq!(claims, [None; 30]);
    let next = harness.host(3, 1);
    harness.opened(next, waits, None);
    // It writes that now, if the store works.
    let claims: Vec<_> = (0..15).map(|_| claim_in_vain(&mut harness, host, room)).collect();
    assert_eq!(claims, [None; 15]);
    ask_for(&mut harness, host, room, What::Claim(ANN.0.to_vec()));
    let (request, _) = harness.store_jobs.remove(0);
    done(&mut harness, &request, StoreOutcome::Unavailable);
    let claims: Vec<_> = (0..21).map(|_| claim_in_vain(&mut harness, host, room)).collect();
    assert_eq!(claims[..20], [None; 20]);
    assert_eq!(claims[20], Some(5));
}

/// The claim of a profile that another room has. Returns what the store is told to take it from.
fn claim_in_vain(harness: &mut LobbyHarness, host: crate::HostId, room: u64) -> Option<u64> {
    ask_for(harness, host, room, What::Claim(ANN.0.to_vec()));
    let (request, job) = harness.store_jobs.remove(0);
    let StoreJob::ClaimProfile { account: ANN, instead_of, .. } = job else { panic!("{job:?}") };
    done(harness, &request, StoreOutcome::Held { account: ANN, claim: 5 });
    instead_of
}

/// Two sessions of one account in rooms of one game: the second room waits for the profile.
fn two_sessions(harness: &mut LobbyHarness) -> ([Client; 2], crate::HostId, [u64; 2]) {
    let sessions = ["ann", "anna"].map(|name| harness.connect_with_account(name, ANN));
    let host = harness.host(1, 10);
    let rooms = sessions.each_ref().map(|session| harness.running_room_of(host, &[session]));
    harness.discard_events();
    (sessions, host, rooms)
}

#[test]
fn a_second_session_is_put_out_while_the_first_one_plays() {
    let mut harness = LobbyHarness::new();
    let ([ann, anna], host, [_, second]) = two_sessions(&mut harness);
    assert_eq!(claim_in_vain(&mut harness, host, second), None);
    let (code, message) = harness.leave_reason(&anna);
    assert_eq!(code, ErrorCode::AlreadyInRoom);
    assert!(message.contains("another session"), "{message}");
    assert_eq!(harness.events(&ann), [], "the first one plays on");
}

#[test]
fn a_session_that_is_away_leaves_the_game_for_another_one() {
    let mut harness = LobbyHarness::new();
    let ([ann, anna], host, [first, second]) = two_sessions(&mut harness);
    harness.disconnect(&ann);
    harness.take_orders();
    assert_eq!(claim_in_vain(&mut harness, host, second), None);
    let orders = harness.take_orders().into_iter().map(|(_, order)| order);
    let closed = orders.filter(
        |order| matches!(order, world_to_host::Body::CloseRoom(close) if close.room == first),
    );
    assert_eq!(closed.count(), 1, "its room is empty");
    assert_eq!(harness.events(&anna), []);
    let ann = harness.resume(&ann);
    let number = harness.send(ann.conn, super::harness::leave());
    let answers = harness.answers_to(ann.conn, number);
    let is_out = |body: &Body| matches!(body, Body::Error(it) if it.code() == ErrorCode::NotInRoom);
    assert!(answers.iter().any(is_out), "{answers:?}");
}

#[test]
fn what_the_host_of_a_closed_room_has_left_is_passed_on() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_with_account("ann", ANN);
    let host = harness.host(1, 10);
    let room = harness.running_room_of(host, &[&ann]);
    let profile = ProfileSave {
        account: ANN.0.to_vec(),
        claim: 5,
        version: 1,
        value: Some(vec![1]),
        is_last: true,
    };
    let saves = || What::Profiles(ProfileSaves { profiles: vec![profile.clone()] });
    ask_for(&mut harness, host, room + 1, saves());
    assert_eq!(harness.store_jobs, [], "no room of this host");
    let other = harness.host(2, 10);
    harness.lobby.drain(harness.now);
    harness.handle_outputs();
    ask_for(&mut harness, other, room, saves());
    assert_eq!(harness.store_jobs, [], "it was not at this host");
    ask_for(&mut harness, host, room, saves());
    let (request, job) = harness.store_jobs.remove(0);
    assert_eq!(request.room, room);
    let StoreJob::SaveProfiles { game, profiles } = job else { panic!("{job:?}") };
    assert_eq!((game.as_str(), profiles[0].value.as_deref()), ("field", Some(&[1][..])));
}

const ANN: AccountId = AccountId([1; 16]);

fn running(harness: &mut LobbyHarness) -> (crate::HostId, u64) {
    let player = harness.connect_as("player");
    let host = harness.host(1, 10);
    let room = harness.running_room_of(host, &[&player]);
    (host, room)
}

fn ask(harness: &mut LobbyHarness, host: crate::HostId, room: u64, count: u64) {
    let key = StoreKey { account: Vec::new(), name: "purse".to_owned() };
    let asked = request(room, count, What::Load(key));
    harness.send_from_host(host, host_to_world::Body::Store(asked));
}

fn ask_for(harness: &mut LobbyHarness, host: crate::HostId, room: u64, what: What) {
    harness.send_from_host(host, host_to_world::Body::Store(request(room, 1, what)));
}

fn request(room: u64, count: u64, what: What) -> StoreRequest {
    StoreRequest {
        room,
        incarnation: 1,
        count,
        oldest_incarnation: 1,
        oldest_count: 1,
        what: Some(what),
    }
}

fn done(harness: &mut LobbyHarness, request: &RoomRequest, outcome: StoreOutcome) {
    harness.lobby.handle_stored(harness.now, request, outcome);
    harness.handle_outputs();
}

/// The answers to hosts since the last call.
fn stored(harness: &mut LobbyHarness) -> Vec<Stored> {
    let orders = harness.take_orders().into_iter();
    orders
        .filter_map(|(_, order)| match order {
            world_to_host::Body::Stored(stored) => Some(stored),
            _ => None,
        })
        .collect()
}

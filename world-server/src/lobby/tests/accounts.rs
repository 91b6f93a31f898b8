//! Accounts: a session with one opens after a proof, and keeps it.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};
use ambit_proto::ids::AccountId;
use ambit_transport::account_proof::DeviceAccount;
use ambit_transport::quic::Fingerprint;

use super::harness::{Client, LobbyHarness, hello, list_all_players, seconds, verify_ticket};
use crate::lobby::ConnId;

/// The lobby's server.
const HERE: Fingerprint = Fingerprint([1; 32]);
/// Another one.
const ELSEWHERE: Fingerprint = Fingerprint([2; 32]);

#[test]
fn a_session_with_an_account_opens_after_the_proof() {
    let mut harness = lobby();
    let account = account(1);
    let conn = harness.connect();
    let nonce = challenge(&mut harness, conn, &account);
    let welcome = prove(&mut harness, conn, &account, &nonce, HERE);
    assert_eq!((welcome.name.as_str(), welcome.resumed), ("ann", false));
    assert_eq!(AccountId::from_bytes(&welcome.account), Some(account.id()));
    let without = harness.connect();
    assert!(harness.welcome(without, "bob", &[]).account.is_empty());
}

#[test]
fn the_ticket_of_a_player_names_the_account() {
    let mut harness = lobby();
    let account = account(1);
    let ann = sign_in(&mut harness, &account);
    let bob = harness.connect_as("bob");
    let host = harness.host(1, 10);
    harness.running_room_of(host, &[&ann, &bob]);
    let named = |harness: &mut LobbyHarness, client: &Client| {
        let ticket = harness.request_new_ticket(client);
        verify_ticket(&ticket, harness.now).expect("a good ticket").account
    };
    assert_eq!(named(&mut harness, &ann), Some(account.id()));
    assert_eq!(named(&mut harness, &bob), None);
}

#[test]
fn a_proof_for_another_question_server_or_account_opens_nothing() {
    let mut harness = lobby();
    let (ann, eve) = (account(1), account(2));
    let other = harness.connect();
    let older = challenge(&mut harness, other, &ann);
    for attempt in 0..5 {
        let conn = harness.connect();
        let nonce = challenge(&mut harness, conn, &ann);
        let (signature, server) = match attempt {
            0 => (eve.prove(&nonce, HERE), HERE),
            1 => (ann.prove(&older, HERE), HERE),
            2 => (ann.prove(&nonce, ELSEWHERE), ELSEWHERE),
            3 => (ann.prove(&nonce, ELSEWHERE), HERE),
            _ => (Vec::new(), HERE),
        };
        let proof = world::ProveAccount { signature, server: server.0.to_vec() };
        let (code, message) = harness.expect_refusal(conn, ask::Body::ProveAccount(proof));
        assert_eq!(code, ErrorCode::BadAccount, "{message}");
        assert_eq!(harness.close_code(conn), Some(ErrorCode::BadAccount));
    }
    let bob = harness.connect_as("bob");
    let Body::PlayerList(players) = harness.ask(bob.conn, list_all_players()) else {
        panic!("a list")
    };
    assert_eq!(players.players.len(), 1, "only bob is in");
}

#[test]
fn a_key_of_another_length_is_refused() {
    let mut harness = lobby();
    let conn = harness.connect();
    let ask::Body::Hello(hello) = hello("ann", &[]) else { panic!("a hello") };
    let asked = world::Hello { account_key: vec![1; 31], ..hello };
    assert_eq!(harness.refusal_code(conn, ask::Body::Hello(asked)), ErrorCode::BadAccount);
}

#[test]
fn a_proof_comes_only_after_a_question_and_answers_it_once() {
    let mut harness = lobby();
    let account = account(1);
    let conn = harness.connect();
    let early = proof(&account, &[0; 16], HERE);
    assert_eq!(harness.refusal_code(conn, early), ErrorCode::OutOfState);
    let nonce = challenge(&mut harness, conn, &account);
    assert_eq!(harness.refusal_code(conn, list_all_players()), ErrorCode::OutOfState);
    prove(&mut harness, conn, &account, &nonce, HERE);
    let again = proof(&account, &nonce, HERE);
    assert_eq!(harness.refusal_code(conn, again), ErrorCode::OutOfState);
}

#[test]
fn who_asks_for_an_account_and_says_no_more_is_closed() {
    let mut harness = lobby();
    let conn = harness.connect();
    challenge(&mut harness, conn, &account(1));
    harness.advance(seconds(6));
    assert_eq!(harness.close_code(conn), Some(ErrorCode::Idle));
}

#[test]
fn a_resumed_session_keeps_its_account_also_at_the_next_server() {
    let mut harness = LobbyHarness::recorded();
    harness.lobby.set_certificates(vec![HERE]);
    let account = account(1);
    let ann = sign_in(&mut harness, &account);
    harness.disconnect(&ann);
    let of = |harness: &mut LobbyHarness, token: &[u8]| {
        let conn = harness.connect();
        let welcome = harness.welcome(conn, "ann", token);
        assert!(welcome.resumed);
        (AccountId::from_bytes(&welcome.account), welcome.resume_token)
    };
    let (kept, token) = of(&mut harness, &ann.token);
    assert_eq!(kept, Some(account.id()));
    let mut successor = harness.start_successor(seconds(5));
    assert_eq!(of(&mut successor, &token).0, Some(account.id()));
}

#[test]
fn a_server_of_the_cluster_is_known_by_its_certificates() {
    let mut harness = LobbyHarness::new();
    let server = world::Server {
        certificate_sha256: HERE.0.to_vec(),
        web_certificates_sha256: vec![ELSEWHERE.0.to_vec()],
        ..world::Server::default()
    };
    let servers = world::Servers { servers: vec![server], ..world::Servers::default() };
    harness.lobby.set_servers(servers);
    for (seed, server) in [(1, HERE), (2, ELSEWHERE)] {
        let conn = harness.connect();
        let nonce = challenge(&mut harness, conn, &account(seed));
        prove(&mut harness, conn, &account(seed), &nonce, server);
    }
}

fn lobby() -> LobbyHarness {
    let mut harness = LobbyHarness::new();
    harness.lobby.set_certificates(vec![HERE]);
    harness
}

fn account(seed: u8) -> DeviceAccount {
    DeviceAccount::from_seed(&[seed; 32])
}

/// Says hello with an account; returns the question.
fn challenge(harness: &mut LobbyHarness, conn: ConnId, account: &DeviceAccount) -> Vec<u8> {
    let ask::Body::Hello(hello) = hello("ann", &[]) else { panic!("a hello") };
    let asked = world::Hello { account_key: account.public_key().to_vec(), ..hello };
    match harness.ask(conn, ask::Body::Hello(asked)) {
        Body::Challenge(challenge) => challenge.nonce,
        other => panic!("expected a challenge: {other:?}"),
    }
}

fn proof(account: &DeviceAccount, nonce: &[u8], server: Fingerprint) -> ask::Body {
    let signature = account.prove(nonce, server);
    ask::Body::ProveAccount(world::ProveAccount { signature, server: server.0.to_vec() })
}

fn prove(
    harness: &mut LobbyHarness,
    conn: ConnId,
    account: &DeviceAccount,
    nonce: &[u8],
    server: Fingerprint,
) -> world::Welcome {
    match harness.ask(conn, proof(account, nonce, server)) {
        Body::Welcome(welcome) => welcome,
        other => panic!("expected a welcome: {other:?}"),
    }
}

fn sign_in(harness: &mut LobbyHarness, account: &DeviceAccount) -> Client {
    let conn = harness.connect();
    let nonce = challenge(harness, conn, account);
    let welcome = prove(harness, conn, account, &nonce, HERE);
    Client { conn, id: welcome.player, name: welcome.name, token: welcome.resume_token }
}

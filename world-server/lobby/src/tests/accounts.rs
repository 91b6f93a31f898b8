//! Accounts: a session with one opens after a proof, and keeps it.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};
use ambit_proto::ids::AccountId;
use ambit_transport::account_proof::{CheckedServer, DeviceAccount};
use ambit_transport::quic::Fingerprint;

use super::harness::{Client, LobbyHarness, hello, list_all_players, seconds, verify_ticket};
use crate::{ConnId, ServerMarks};

/// The certificate of the lobby's server.
const HERE: [u8; 32] = [1; 32];
/// Another one of it, for browsers.
const NEXT: [u8; 32] = [2; 32];
/// That of another server.
const ELSEWHERE: [u8; 32] = [3; 32];
/// A name in the server's certificate.
const NAME: &str = "play.example.com";

#[test]
fn a_session_with_an_account_opens_after_the_proof() {
    let mut harness = lobby();
    let account = account(1);
    let conn = harness.connect();
    let nonce = challenge(&mut harness, conn, &account);
    let welcome = prove(&mut harness, conn, &account, &nonce, &here());
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
    let by = |all: &[[u8; 32]]| CheckedServer::Certificates(all.to_vec());
    let elsewhere = by(&[ELSEWHERE]);
    let impostor = named("evil.example.com");
    let attempts: [(&DeviceAccount, bool, CheckedServer, CheckedServer); 13] = [
        // The key, whether it answers the present question; signed for, said to be for.
        (&eve, true, here(), here()),
        (&ann, false, here(), here()),
        (&ann, true, elsewhere.clone(), elsewhere.clone()),
        (&ann, true, elsewhere, here()),
        (&ann, true, by(&[HERE, ELSEWHERE]), by(&[HERE, ELSEWHERE])),
        (&ann, true, by(&[HERE, ELSEWHERE]), here()),
        (&eve, true, named(NAME), named(NAME)),
        (&ann, false, named(NAME), named(NAME)),
        (&ann, true, impostor.clone(), impostor.clone()),
        (&ann, true, impostor, named(NAME)),
        (&ann, true, named("example.com"), named("example.com")),
        (&ann, true, here(), named(NAME)),
        (&ann, true, named(NAME), here()),
    ];
    for (account, is_present, signed, said) in attempts {
        let conn = harness.connect();
        let nonce = challenge(&mut harness, conn, &ann);
        let question = if is_present { &nonce } else { &older };
        let proof = said.proof(account.prove(question, &signed));
        let (code, message) = harness.expect_refusal(conn, ask::Body::ProveAccount(proof));
        assert_eq!(code, ErrorCode::BadAccount, "{message}");
        assert_eq!(harness.close_code(conn), Some(ErrorCode::BadAccount));
    }
    for nothing in [world::ProveAccount::default(), here().proof(Vec::new())] {
        let conn = harness.connect();
        challenge(&mut harness, conn, &ann);
        let nothing = ask::Body::ProveAccount(nothing);
        assert_eq!(harness.refusal_code(conn, nothing), ErrorCode::BadAccount);
    }
    let bob = harness.connect_as("bob");
    let Body::PlayerList(players) = harness.ask(bob.conn, list_all_players()) else {
        panic!("a list")
    };
    assert_eq!(players.players.len(), 1, "only bob is in");
}

#[test]
fn a_browser_names_all_certificates_of_the_server_or_its_host() {
    let mut harness = lobby();
    let account = account(1);
    let both = CheckedServer::Certificates(vec![HERE, NEXT]);
    for server in [both, named(NAME), named(&NAME.to_uppercase())] {
        let conn = harness.connect();
        let nonce = challenge(&mut harness, conn, &account);
        let welcome = prove(&mut harness, conn, &account, &nonce, &server);
        assert_eq!(AccountId::from_bytes(&welcome.account), Some(account.id()));
    }
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
    let early = proof(&account, &[0; 16], &here());
    assert_eq!(harness.refusal_code(conn, early), ErrorCode::OutOfState);
    let nonce = challenge(&mut harness, conn, &account);
    assert_eq!(harness.refusal_code(conn, list_all_players()), ErrorCode::OutOfState);
    prove(&mut harness, conn, &account, &nonce, &here());
    let again = proof(&account, &nonce, &here());
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
    harness.lobby.set_marks(marks());
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
        certificate_sha256: HERE.to_vec(),
        web_certificates_sha256: vec![NEXT.to_vec()],
        ..world::Server::default()
    };
    let servers = world::Servers { servers: vec![server], ..world::Servers::default() };
    harness.lobby.set_servers(servers);
    for (seed, sha256) in [(1, HERE), (2, NEXT)] {
        let server = CheckedServer::by_certificate(sha256);
        let conn = harness.connect();
        let nonce = challenge(&mut harness, conn, &account(seed));
        prove(&mut harness, conn, &account(seed), &nonce, &server);
    }
}

fn lobby() -> LobbyHarness {
    let mut harness = LobbyHarness::new();
    harness.lobby.set_marks(marks());
    harness
}

fn marks() -> ServerMarks {
    let certificates = vec![Fingerprint(HERE), Fingerprint(NEXT)];
    ServerMarks { certificates, names: vec![NAME.to_owned()] }
}

fn here() -> CheckedServer {
    CheckedServer::by_certificate(HERE)
}

fn named(name: &str) -> CheckedServer {
    CheckedServer::Name(name.to_owned())
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

fn proof(account: &DeviceAccount, nonce: &[u8], server: &CheckedServer) -> ask::Body {
    ask::Body::ProveAccount(server.proof(account.prove(nonce, server)))
}

fn prove(
    harness: &mut LobbyHarness,
    conn: ConnId,
    account: &DeviceAccount,
    nonce: &[u8],
    server: &CheckedServer,
) -> world::Welcome {
    match harness.ask(conn, proof(account, nonce, server)) {
        Body::Welcome(welcome) => welcome,
        other => panic!("expected a welcome: {other:?}"),
    }
}

fn sign_in(harness: &mut LobbyHarness, account: &DeviceAccount) -> Client {
    let conn = harness.connect();
    let nonce = challenge(harness, conn, account);
    let welcome = prove(harness, conn, account, &nonce, &here());
    Client { conn, id: welcome.player, name: welcome.name, token: welcome.resume_token }
}

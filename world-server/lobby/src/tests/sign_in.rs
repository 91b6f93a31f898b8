//! Passwords, tokens, bans and reserved names: what the lobby asks of the store, and what comes of
//! the answers.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};
use ambit_proto::ids::AccountId;
use ambit_proto::standing::{OperatorRole, Standing};
use ambit_store::{BanNote, BanScope, BanTarget, BanTerm, Names, ServerBan};

use super::harness::{
    Client, EPOCH_UNIX_S, LobbyHarness, hello, list_all_players, room, seconds, set_name, start,
    ticket_in, verify_ticket,
};
use crate::{AccountJob, AccountOutcome, AccountWays, ConnId, JobSource, LobbyConfig, Secret};

const ANN: AccountId = AccountId([1; 16]);
const BOB: AccountId = AccountId([2; 16]);

#[test]
fn a_session_opens_when_the_password_is_right() {
    let mut harness = lobby();
    let conn = harness.connect();
    let (number, source, job) = sign_in(&mut harness, conn, "ann#12345");
    let password = Secret("correct horse".to_owned());
    assert_eq!(job, AccountJob::CheckPassword { login: "ann#12345".to_owned(), password });
    // Only once, and nothing else before the answer.
    assert_eq!(harness.refusal_code(conn, list_all_players()), ErrorCode::OutOfState);
    let again = harness.refusal_code(conn, with_password("ann#12345", false));
    assert_eq!(again, ErrorCode::OutOfState);
    answer(&mut harness, source, signed_in(ANN));
    let welcome = welcome(&mut harness, conn, number);
    assert_eq!((welcome.name.as_str(), welcome.login.as_str()), ("ann", "ann#12345"));
    assert_eq!(AccountId::from_bytes(&welcome.account), Some(ANN));
}

#[test]
fn a_wrong_password_closes_and_twenty_of_an_address_bring_pauses() {
    let mut harness = lobby();
    let from = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
    for attempt in 0..20 {
        let conn = harness.connect_from(from);
        let (number, source, _) = sign_in(&mut harness, conn, "ann#12345");
        answer(&mut harness, source, AccountOutcome::Refused("wrong".to_owned()));
        assert_eq!(error(&mut harness, conn, number), ErrorCode::BadAccount, "{attempt}");
        assert_eq!(harness.close_code(conn), Some(ErrorCode::BadAccount));
    }
    let refusal = |harness: &mut LobbyHarness, from| {
        let conn = harness.connect_from(from);
        let number = harness.send(conn, with_password("ann#12345", false));
        let answers = harness.answers_to(conn, number);
        match &answers[..] {
            [] => None,
            [Body::Error(error)] => Some(error.code()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refusal(&mut harness, from), Some(ErrorCode::RateLimited));
    let elsewhere = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 8));
    assert_eq!(refusal(&mut harness, elsewhere), None, "it is checked");
    harness.advance(seconds(2));
    assert_eq!(refusal(&mut harness, from), None, "the pause is over");
}

#[test]
fn guesses_for_a_login_from_many_addresses_wait_whether_it_exists_or_not() {
    let mut harness = lobby();
    let from = |number: u8| IpAddr::V4(Ipv4Addr::new(192, 0, 2, number));
    let home = from(250);
    let at_home = |harness: &mut LobbyHarness| {
        let conn = harness.connect_from(home);
        let (number, source, _) = sign_in(harness, conn, "ann#12345");
        answer(harness, source, signed_in(ANN));
        welcome(harness, conn, number);
    };
    at_home(&mut harness);
    for login in ["ann#12345", "nobody#1"] {
        for number in 0..50 {
            let conn = harness.connect_from(from(number));
            let (number, source, _) = sign_in(&mut harness, conn, login);
            answer(&mut harness, source, AccountOutcome::Refused("wrong".to_owned()));
            assert_eq!(error(&mut harness, conn, number), ErrorCode::BadAccount);
        }
    }
    let refusals = ["ann#12345", "ANN#12345", "nobody#1"].map(|login| {
        let conn = harness.connect_from(from(100));
        let refusal = harness.expect_refusal(conn, with_password(login, false));
        assert_eq!(harness.close_code(conn), None, "it may try again");
        refusal
    });
    let message = "too many attempts with this login; try again in 2 s".to_owned();
    for refusal in refusals {
        assert_eq!(refusal, (ErrorCode::RateLimited, message.clone()));
    }
    // Another login, and the place from which the account has signed in before.
    let conn = harness.connect_from(from(100));
    sign_in(&mut harness, conn, "bob#12345");
    at_home(&mut harness);
    // The right password is heard again after the pause, also elsewhere.
    harness.advance(seconds(2));
    let conn = harness.connect_from(from(101));
    let (number, source, _) = sign_in(&mut harness, conn, "ann#12345");
    answer(&mut harness, source, signed_in(ANN));
    welcome(&mut harness, conn, number);
}

#[test]
fn an_address_makes_twenty_accounts_and_then_one_after_each_pause() {
    let mut harness = lobby();
    let from = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
    let mut made = 0;
    for number in 0..10_000_u32 {
        let conn = harness.connect_from(from);
        let request = harness.send(conn, with_password(&format!("ann {number}"), true));
        if let Some((source, job)) = harness.account_jobs.pop() {
            assert!(matches!(job, AccountJob::Register { .. }), "{job:?}");
            answer(&mut harness, source, signed_in(AccountId([number as u8; 16])));
            welcome(&mut harness, conn, request);
            made += 1;
        } else {
            assert_eq!(error(&mut harness, conn, request), ErrorCode::RateLimited);
        }
        let client = Client { conn, id: 0, name: String::new(), token: Vec::new() };
        harness.quit(&client);
    }
    assert_eq!(made, 20);
}

#[test]
fn one_address_has_eight_jobs_at_a_time() {
    let mut harness = lobby();
    let from = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
    let mut sources = Vec::new();
    for _ in 0..8 {
        let conn = harness.connect_from(from);
        sources.push(sign_in(&mut harness, conn, "ann#12345").1);
    }
    let conn = harness.connect_from(from);
    let refused = harness.refusal_code(conn, with_password("ann#12345", false));
    assert_eq!(refused, ErrorCode::TryAgain);
    assert_eq!(harness.close_code(conn), None, "it may try again");
    // A client that has left frees its place only with the answer.
    let client = Client { conn: sources[0].conn, id: 0, name: String::new(), token: Vec::new() };
    harness.disconnect(&client);
    let refused = harness.refusal_code(conn, with_password("ann#12345", false));
    assert_eq!(refused, ErrorCode::TryAgain);
    answer(&mut harness, sources[0], AccountOutcome::Unavailable);
    sign_in(&mut harness, conn, "ann#12345");
}

#[test]
fn a_store_that_does_not_work_is_a_reason_to_try_again() {
    let mut harness = lobby();
    let conn = harness.connect();
    let (number, source, _) = sign_in(&mut harness, conn, "ann#12345");
    answer(&mut harness, source, AccountOutcome::Unavailable);
    assert_eq!(error(&mut harness, conn, number), ErrorCode::TryAgain);
    let (number, source, _) = sign_in(&mut harness, conn, "ann#12345");
    answer(&mut harness, source, signed_in(ANN));
    welcome(&mut harness, conn, number);
}

#[test]
fn a_sign_in_that_is_never_answered_ends_with_its_time() {
    let mut harness = lobby();
    let conn = harness.connect();
    let (_, source, _) = sign_in(&mut harness, conn, "ann#12345");
    harness.advance(seconds(10));
    assert_eq!(harness.close_code(conn), None);
    harness.advance(seconds(6));
    assert_eq!(harness.close_code(conn), Some(ErrorCode::Idle));
    answer(&mut harness, source, signed_in(ANN));
}

#[test]
fn only_the_ways_that_the_operator_allows_are_open() {
    let ways = AccountWays { guest: false, device: false, password: false, token: true };
    let mut harness = LobbyHarness::with(LobbyConfig { ways, ..LobbyConfig::default() });
    let ask::Body::Hello(plain) = hello("ann", &[]) else { panic!("a hello") };
    let with_key = world::Hello { account_key: vec![1; 32], ..plain.clone() };
    let closed = [hello("ann", &[]), ask::Body::Hello(with_key), with_password("ann#1", false)];
    for hello in closed {
        let conn = harness.connect();
        let (code, message) = harness.expect_refusal(conn, hello);
        assert_eq!(code, ErrorCode::BadAccount);
        assert!(message.ends_with("it takes: token"), "{message}");
        assert_eq!(harness.close_code(conn), Some(ErrorCode::BadAccount));
    }
    let conn = harness.connect();
    let token = world::Hello { account_token: "a.b.c".to_owned(), ..plain.clone() };
    let number = harness.send(conn, ask::Body::Hello(token.clone()));
    let (source, job) = harness.account_jobs.pop().expect("a job");
    assert_eq!(job, AccountJob::CheckToken { token: Secret("a.b.c".to_owned()) });
    answer(&mut harness, source, AccountOutcome::SignedIn { account: ANN, login: None });
    assert_eq!(welcome(&mut harness, conn, number).login, "");
    let conn = harness.connect();
    let both = world::Hello { account_key: vec![1; 32], ..token };
    assert_eq!(harness.refusal_code(conn, ask::Body::Hello(both)), ErrorCode::BadAccount);
}

#[test]
fn a_banned_account_is_put_out_and_comes_in_again_after_the_end() {
    let mut harness = lobby();
    let ann = open(&mut harness, ANN);
    let bob = open(&mut harness, BOB);
    let end = EPOCH_UNIX_S as i64 + 7_201;
    let term = BanTerm { reason: "it cheats".to_owned(), ends_at: Some(end) };
    let target = BanTarget::Account(ANN);
    let note = BanNote::default();
    set_names(&mut harness, [], [ServerBan { target, scope: BanScope::Play, term, note }]);
    assert_eq!(harness.close_code(ann.conn), Some(ErrorCode::Banned));
    assert_eq!(harness.close_code(bob.conn), None);
    let conn = harness.connect();
    let welcome_again = harness.welcome(conn, "ann", &ann.token);
    assert!(!welcome_again.resumed, "the session has ended");
    let conn = harness.connect();
    let (number, source, _) = sign_in(&mut harness, conn, "ann#12345");
    answer(&mut harness, source, signed_in(ANN));
    let Body::Error(refusal) = one_answer(&mut harness, conn, number) else { panic!("an error") };
    assert_eq!(refusal.code(), ErrorCode::Banned);
    assert_eq!(refusal.message, "this account may not play here for 2 hours: it cheats");
    assert_eq!(harness.close_code(conn), Some(ErrorCode::Banned));
    harness.advance(seconds(7_200));
    open(&mut harness, ANN);
}

#[test]
fn a_reserved_name_is_for_its_account_and_so_is_what_looks_like_it() {
    let mut harness = lobby();
    set_names(&mut harness, [("Ann", ANN)], []);
    let guest = harness.connect_as("ANN");
    assert_eq!(guest.name, "ANN-2");
    assert_eq!(harness.refusal_code(guest.conn, set_name("ann")), ErrorCode::NameTaken);
    assert_eq!(harness.refusal_code(guest.conn, set_name("аnn")), ErrorCode::NameTaken);
    assert_eq!(open(&mut harness, BOB).name, "ann-3");
    let ann = open(&mut harness, ANN);
    assert_eq!(ann.name, "ann");
    harness.quit(&ann);
    assert_eq!(harness.refusal_code(guest.conn, set_name("ann")), ErrorCode::NameTaken);
    set_names(&mut harness, [], []);
    assert!(matches!(harness.ask(guest.conn, set_name("ann")), Body::Renamed(_)));
}

#[test]
fn a_player_reads_and_deletes_its_own_account_in_no_room() {
    let mut harness = lobby();
    let guest = harness.connect_as("guest");
    let read = || ask::Body::ReadAccount(world::ReadAccount {});
    let erase = || ask::Body::EraseAccount(world::EraseAccount {});
    assert_eq!(harness.refusal_code(guest.conn, read()), ErrorCode::OutOfState);
    assert_eq!(harness.close_code(guest.conn), None);
    let ann = open(&mut harness, ANN);
    let number = harness.send(ann.conn, read());
    let (source, job) = harness.account_jobs.pop().expect("a job");
    assert_eq!(job, AccountJob::Read { account: ANN });
    answer(&mut harness, source, AccountOutcome::Data("{}".to_owned()));
    let data = one_answer(&mut harness, ann.conn, number);
    assert_eq!(data, Body::AccountData(world::AccountData { json: "{}".to_owned() }));
    harness.create(&ann, room("den"));
    assert_eq!(harness.refusal_code(ann.conn, erase()), ErrorCode::AlreadyInRoom);
    harness.ask(ann.conn, super::harness::leave());
    let second = open(&mut harness, ANN);
    harness.create(&second, room("other"));
    assert_eq!(harness.refusal_code(ann.conn, erase()), ErrorCode::AlreadyInRoom);
    harness.ask(second.conn, super::harness::leave());
    let number = harness.send(ann.conn, erase());
    let (source, job) = harness.account_jobs.pop().expect("a job");
    assert_eq!(job, AccountJob::Erase { account: ANN });
    answer(&mut harness, source, AccountOutcome::Done);
    assert_eq!(one_answer(&mut harness, ann.conn, number), Body::Done(world::Done {}));
    assert_eq!(harness.close_code(ann.conn), Some(ErrorCode::BadAccount));
    assert_eq!(harness.close_code(second.conn), Some(ErrorCode::BadAccount));
    let conn = harness.connect();
    assert!(!harness.welcome(conn, "ann", &ann.token).resumed, "its session has ended");
}

#[test]
fn a_password_is_changed_with_the_one_before() {
    let mut harness = lobby();
    let ann = open(&mut harness, ANN);
    let set = |password: &str, new_password: &str| {
        ask::Body::SetPassword(world::SetPassword {
            password: password.to_owned(),
            new_password: new_password.to_owned(),
        })
    };
    assert_eq!(harness.refusal_code(ann.conn, set("old", "too few")), ErrorCode::BadText);
    for (outcome, is_right) in
        [(AccountOutcome::Refused("wrong".to_owned()), false), (AccountOutcome::Done, true)]
    {
        let number = harness.send(ann.conn, set("correct horse", "battery staple"));
        let (source, job) = harness.account_jobs.pop().expect("a job");
        let [password, new_password] =
            ["correct horse", "battery staple"].map(|text| Secret(text.to_owned()));
        assert_eq!(job, AccountJob::SetPassword { account: ANN, password, new_password });
        answer(&mut harness, source, outcome);
        let answer = one_answer(&mut harness, ann.conn, number);
        assert_eq!(matches!(answer, Body::Done(_)), is_right);
        assert_eq!(harness.close_code(ann.conn), None);
    }
}

#[test]
fn a_player_who_was_put_out_of_a_room_is_known_by_its_account() {
    let mut harness = lobby();
    let ann = open(&mut harness, ANN);
    let bob = open(&mut harness, BOB);
    let den = harness.create(&ann, room("den"));
    harness.ask(bob.conn, super::harness::join(den.id));
    harness.ask(ann.conn, super::harness::kick(bob.id));
    harness.quit(&bob);
    let again = open(&mut harness, BOB);
    harness.ask(again.conn, set_name("quite another"));
    let refused = harness.refusal_code(again.conn, super::harness::join(den.id));
    assert_eq!(refused, ErrorCode::Kicked);
}

fn lobby() -> LobbyHarness {
    let ways = AccountWays { guest: true, device: true, password: true, token: true };
    LobbyHarness::with(LobbyConfig { ways, ..LobbyConfig::default() })
}

fn with_password(login: &str, is_new: bool) -> ask::Body {
    let ask::Body::Hello(hello) = hello("ann", &[]) else { panic!("a hello") };
    let (login, password) = (login.to_owned(), "correct horse".to_owned());
    let password = Some(world::PasswordSignIn { login, password, is_new });
    ask::Body::Hello(world::Hello { password, ..hello })
}

/// Sends a hello with a password; returns its number and what is to be done.
fn sign_in(harness: &mut LobbyHarness, conn: ConnId, login: &str) -> (u64, JobSource, AccountJob) {
    let number = harness.send(conn, with_password(login, false));
    let (source, job) = harness.account_jobs.pop().expect("a job");
    (number, source, job)
}

fn signed_in(account: AccountId) -> AccountOutcome {
    AccountOutcome::SignedIn { account, login: Some("ann#12345".to_owned()) }
}

fn answer(harness: &mut LobbyHarness, source: JobSource, outcome: AccountOutcome) {
    harness.lobby.handle_account(harness.now, source, outcome);
    harness.handle_outputs();
}

#[test]
fn a_ticket_says_who_has_made_the_room_and_whom_the_operator_trusts() {
    let mut harness = lobby();
    let account = AccountId([9; 16]);
    let bob = open(&mut harness, account);
    let ann = harness.connect_as("ann");
    let trust = |harness: &mut LobbyHarness, role| {
        let roles = BTreeMap::from_iter(role);
        harness.lobby.set_names(harness.now, Names { number: 1, roles, ..Names::default() });
        harness.handle_outputs();
    };
    trust(&mut harness, Some((account, OperatorRole::Moderate)));
    let host = harness.host(1, 8);
    let id = harness.create(&ann, room("den")).id;
    harness.send(ann.conn, start());
    harness.opened(host, id, None);
    harness.join(&bob, id);
    let standing = |harness: &mut LobbyHarness, client: &Client| {
        let request = ask::Body::RequestTicket(world::RequestTicket {});
        let ticket = ticket_in(harness.ask(client.conn, request)).expect("a ticket");
        verify_ticket(&ticket, harness.now).expect("a valid ticket").standing
    };
    let maker = Standing { is_maker: true, ..Standing::default() };
    let role = Some(OperatorRole::Moderate);
    let moderator = Standing { role, ..Standing::default() };
    assert_eq!(standing(&mut harness, &ann), maker);
    assert_eq!(standing(&mut harness, &bob), moderator);
    trust(&mut harness, None);
    assert_eq!(standing(&mut harness, &bob), Standing::default());
}

fn one_answer(harness: &mut LobbyHarness, conn: ConnId, number: u64) -> Body {
    let mut answers = harness.answers_to(conn, number);
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

fn welcome(harness: &mut LobbyHarness, conn: ConnId, number: u64) -> world::Welcome {
    match one_answer(harness, conn, number) {
        Body::Welcome(welcome) => welcome,
        other => panic!("expected a welcome: {other:?}"),
    }
}

fn error(harness: &mut LobbyHarness, conn: ConnId, number: u64) -> ErrorCode {
    match one_answer(harness, conn, number) {
        Body::Error(error) => error.code(),
        other => panic!("expected an error: {other:?}"),
    }
}

/// A session with this account.
fn open(harness: &mut LobbyHarness, account: AccountId) -> Client {
    let conn = harness.connect();
    let (number, source, _) = sign_in(harness, conn, "ann#12345");
    answer(harness, source, signed_in(account));
    let welcome = welcome(harness, conn, number);
    Client { conn, id: welcome.player, name: welcome.name, token: welcome.resume_token }
}

fn set_names<const R: usize, const B: usize>(
    harness: &mut LobbyHarness,
    reserved: [(&str, AccountId); R],
    bans: [ServerBan; B],
) {
    let reserved = reserved.map(|(name, account)| (name.to_owned(), account));
    let bans = bans.into();
    let names = Names { number: 1, reserved: reserved.into(), bans, roles: BTreeMap::new() };
    harness.lobby.set_names(harness.now, names);
    harness.handle_outputs();
}

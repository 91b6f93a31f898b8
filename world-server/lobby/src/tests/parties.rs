//! Parties: who is in one, and where its leader takes it.

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};
use ambit_proto::ids::PartyId;

use super::harness::{
    Client, LobbyHarness, create, join, leave, room, seconds, start, verify_ticket,
};

#[test]
fn who_accepts_an_invitation_is_in_the_party_and_all_are_told() {
    let mut harness = LobbyHarness::new();
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|name| harness.connect_as(name));
    let done = Body::Done(world::Done {});
    assert_eq!(harness.ask(ann.conn, invite("BOB")), done);
    assert_eq!(harness.events(&ann), [], "alone as before");
    let invitation = invitation(&mut harness, &bob);
    assert_eq!((invitation.from, &invitation.from_name[..]), (ann.id, "ann"));
    assert_eq!(harness.refusal_code(eve.conn, accept(invitation.party)), ErrorCode::NotInvited);
    assert_eq!(harness.ask(bob.conn, accept(invitation.party)), done);
    for client in [&ann, &bob] {
        assert_eq!(members(&mut harness, client), Some((ann.id, vec![ann.id, bob.id])));
    }
    assert_eq!(harness.ask(bob.conn, accept(invitation.party)), done, "once more");
    assert_eq!(harness.refusal_code(bob.conn, invite("eve")), ErrorCode::NotHost);
    assert_eq!(harness.refusal_code(ann.conn, invite("ann")), ErrorCode::NoSuchPlayer);
    assert_eq!(harness.refusal_code(ann.conn, invite("zoe")), ErrorCode::NoSuchPlayer);

    // The party's chat.
    assert_eq!(harness.ask(bob.conn, say("hi")), done);
    assert!(matches!(&harness.events(&ann)[..], [Body::Chat(chat)] if chat.text == "hi"));
    assert_eq!(harness.events(&eve), []);
    assert_eq!(harness.refusal_code(eve.conn, say("hi")), ErrorCode::NotInParty);
}

#[test]
fn a_party_goes_where_its_leader_goes() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let all = party(&mut harness, &["ann", "bob", "cid"]);
    let [ann, bob, cid] = &all[..] else { unreachable!() };
    // cid is elsewhere at first.
    let den = harness.create(cid, room("den")).id;
    let made = harness.create(ann, room("fort"));
    assert_eq!(joined(&mut harness, bob), Some((made.id, vec![ann.id, bob.id])));
    assert_eq!(joined(&mut harness, cid).map(|(room, _)| room), Some(den), "its own");
    harness.send(ann.conn, start());
    harness.opened(host, made.id, None);
    for client in [ann, bob] {
        let ticket = harness.ticket(client);
        let standing = verify_ticket(&ticket, harness.now).expect("a valid ticket").standing;
        assert_eq!(standing.party, Some(PartyId(1)), "the game knows it");
    }
    // Who follows the leader into a room that runs has a ticket at once.
    harness.ask(ann.conn, leave());
    harness.ask(cid.conn, leave());
    assert_eq!(harness.listed(bob).len(), 1, "bob stays");
    harness.events(cid);
    harness.join(ann, made.id);
    assert_eq!(harness.ticket(cid).room, made.id);
}

#[test]
fn a_room_without_seats_for_all_refuses_the_leader() {
    let mut harness = LobbyHarness::new();
    harness.host(1, 8);
    let all = party(&mut harness, &["ann", "bob", "cid"]);
    let eve = harness.connect_as("eve");
    let small = world::CreateRoom { capacity: 3, ..room("small") };
    let small_id = harness.create(&eve, small.clone()).id;
    let code = harness.refusal_code(all[0].conn, join(small_id));
    assert_eq!(code, ErrorCode::RoomFull);
    let pair = world::CreateRoom { capacity: 2, ..small };
    assert_eq!(harness.refusal_code(all[0].conn, create(pair)), ErrorCode::RoomFull);
    // A quick join passes it over.
    let quick = world::QuickJoin { game: "field".into(), ..world::QuickJoin::default() };
    let Body::RoomJoined(found) = harness.ask(all[0].conn, ask::Body::QuickJoin(quick)) else {
        panic!("expected a seat")
    };
    assert_ne!(found.room.expect("a room").id, small_id);
    assert_eq!(harness.listed(&eve).iter().map(|room| room.players).max(), Some(3));
    // Alone, a member may go where there is one seat.
    harness.ask(all[1].conn, leave());
    harness.join(&all[1], small_id);
}

#[test]
fn who_was_put_out_of_a_room_is_not_brought_back_by_a_party() {
    let mut harness = LobbyHarness::new();
    let all = party(&mut harness, &["ann", "bob"]);
    let eve = harness.connect_as("eve");
    let den = harness.create(&eve, room("den")).id;
    harness.join(&all[1], den);
    harness.ask(eve.conn, ask::Body::Kick(world::Kick { player: all[1].id }));
    harness.join(&all[0], den);
    let roster = harness.join(&all[0], den).players;
    assert_eq!(roster.len(), 2, "{roster:?}");
}

#[test]
fn the_next_member_leads_when_the_leader_goes_and_two_less_one_are_none() {
    let mut harness = LobbyHarness::new();
    let all = party(&mut harness, &["ann", "bob", "cid"]);
    let [ann, bob, cid] = &all[..] else { unreachable!() };
    let out = |player: u64| ask::Body::LeaveParty(world::LeaveParty { player });
    assert_eq!(harness.refusal_code(bob.conn, out(cid.id)), ErrorCode::NotHost);
    harness.quit(ann);
    assert_eq!(members(&mut harness, cid), Some((bob.id, vec![bob.id, cid.id])));
    harness.events(bob);
    assert_eq!(harness.ask(bob.conn, out(cid.id)), Body::Done(world::Done {}));
    for client in [bob, cid] {
        assert_eq!(members(&mut harness, client), None);
        assert_eq!(harness.refusal_code(client.conn, out(0)), ErrorCode::NotInParty);
    }
}

#[test]
fn a_party_survives_its_server_and_the_breaks_of_its_members() {
    let mut harness = LobbyHarness::recorded();
    let all = party(&mut harness, &["ann", "bob", "cid"]);
    harness.ask(all[0].conn, ask::Body::LeaveParty(world::LeaveParty::default()));
    let mut next = harness.start_successor(seconds(5));
    let bob = next.resume(&all[1]);
    let shown = members(&mut next, &bob);
    assert_eq!(shown, Some((bob.id, vec![bob.id, all[2].id])));
    let cid = next.resume(&all[2]);
    next.events(&bob);
    next.disconnect(&cid);
    let changed = next.events(&bob).into_iter().find_map(|event| match event {
        Body::PartyChange(change) => Some(change),
        _ => None,
    });
    assert!(!changed.expect("a change").players[1].connected);
    // A new party has another number.
    let eve = next.connect_as("eve");
    next.ask(eve.conn, invite("bob"));
    assert_eq!(invitation(&mut next, &bob).party, 2);
    next.advance(Duration::from_mins(1));
    assert_eq!(members(&mut next, &bob), None, "cid did not come back");
}

#[test]
fn invitations_are_as_rare_as_chat() {
    let mut harness = LobbyHarness::new();
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    let answers: Vec<_> = (0..30).map(|_| harness.ask(ann.conn, invite("bob"))).collect();
    let refused = answers.iter().filter(|answer| matches!(answer, Body::Error(_))).count();
    assert_eq!(refused, 10, "20 at once");
    assert_eq!(harness.events(&bob).len(), 20);
}

fn invite(player: &str) -> ask::Body {
    ask::Body::Invite(world::Invite { player: player.into() })
}

fn accept(party: u64) -> ask::Body {
    ask::Body::JoinParty(world::JoinParty { party })
}

fn say(text: &str) -> ask::Body {
    let mut say = world::Say { text: text.into(), ..world::Say::default() };
    say.set_channel(world::Channel::Party);
    ask::Body::Say(say)
}

/// Clients of these names in one party; the first one leads.
fn party(harness: &mut LobbyHarness, names: &[&str]) -> Vec<Client> {
    let clients: Vec<Client> = names.iter().map(|name| harness.connect_as(name)).collect();
    for (client, name) in clients.iter().zip(names).skip(1) {
        harness.ask(clients[0].conn, invite(name));
        let invitation = invitation(harness, client);
        harness.ask(client.conn, accept(invitation.party));
    }
    for client in &clients {
        harness.events(client);
    }
    clients
}

fn invitation(harness: &mut LobbyHarness, client: &Client) -> world::Invitation {
    let mut events = harness.events(client).into_iter();
    let invitation = events.find_map(|event| match event {
        Body::Invitation(invitation) => Some(invitation),
        _ => None,
    });
    invitation.expect("an invitation")
}

/// The leader and the members, as the client was told last; `None` of no party.
fn members(harness: &mut LobbyHarness, client: &Client) -> Option<(u64, Vec<u64>)> {
    let events = harness.events(client).into_iter().rev();
    let change = events.into_iter().find_map(|event| match event {
        Body::PartyChange(change) => Some(change),
        _ => None,
    });
    let change = change.expect("a change of the party");
    let members = change.players.iter().map(|player| player.id).collect();
    (change.party != 0).then_some((change.leader, members))
}

/// The room in which the client was told to be last, with its members.
fn joined(harness: &mut LobbyHarness, client: &Client) -> Option<(u64, Vec<u64>)> {
    let events = harness.events(client).into_iter().rev();
    events.into_iter().find_map(|event| match event {
        Body::RoomJoined(joined) => {
            let members = joined.players.iter().map(|player| player.id).collect();
            Some((joined.room.expect("a room").id, members))
        }
        _ => None,
    })
}

import assert from "node:assert/strict";
import { test } from "node:test";
import type { GameListing, RoomListing } from "../src/ambit/ambit.js";
import { addresseeOf, addresseesOf } from "../src/lobby/addressees.js";
import { LobbyModel } from "../src/lobby/lobby_model.js";

const WELCOME = {
  player: 1,
  name: "ann",
  room: null,
  grace_ms: 0,
  account: null,
  login: null,
  games: [],
};
const PLAYER = { id: 1, name: "ann", ready: false, host: true, connected: true };

test("rooms come, change and go; those that have not begun are first", () => {
  const model = new LobbyModel();
  model.setRooms([room(1, true), room(2, false)]);
  model.handle({ ev: "room_changed", room: room(3, true) }, undefined);
  assert.deepEqual(model.sortedRooms().map(({ id }) => id), [2, 3, 1]);
  model.handle({ ev: "room_gone", room: 2 }, undefined);
  model.handle({ ev: "room_changed", room: { ...room(1, true), players: 7 } }, undefined);
  assert.deepEqual(model.sortedRooms().map(({ players }) => players), [1, 7]);
});

test("a room offers what its server would allow", () => {
  const model = new LobbyModel();
  const games = [game("field", true), game("duel", false)];
  const action = (changed: Partial<RoomListing>) =>
    model.actionOf({ ...room(1, true), ...changed }, games);
  assert.equal(action({}), "join");
  assert.equal(action({ players: 4 }), "full");
  assert.equal(action({ game: "duel" }), "playing");
  assert.equal(action({ game: "duel", running: false }), "join");
  // The server may know more games than it has told of.
  assert.equal(action({ game: "other" }), "join");
});

test("an invitation stays until it is accepted, and a party until the player is out of it", () => {
  const model = new LobbyModel();
  const party = { id: 4, leader: 2, members: [{ ...PLAYER, id: 2 }, PLAYER] };
  model.handle({ ev: "invited", party: 4, player: 2, name: "bob" }, undefined);
  assert.deepEqual(model.invitation, { party: 4, name: "bob" });
  model.handle({ ev: "party", party: { ...party, id: 3 } }, undefined);
  assert.equal(model.invitation?.party, 4, "that of another party is open");
  model.handle({ ev: "party", party }, undefined);
  assert.equal(model.invitation, undefined);
  assert.equal(model.party?.members.length, 2);
  const present = { isInRoom: false, isInParty: true };
  const values = addresseesOf([], present, "lobby").map(({ value }) => value);
  assert.deepEqual(values, ["lobby", "party"]);
  assert.deepEqual(addresseeOf("party"), { channel: "party" });
  model.handle({ ev: "party", party: null }, undefined);
  assert.equal(model.party, undefined);
});

test("a room that has removed the player offers nothing, as long as it exists", () => {
  const model = new LobbyModel();
  const games = [quick("field")];
  const action = () => model.actionOf(room(1, true), games);
  model.setRooms([room(1, true)]);
  model.handle({ ev: "left", room: 1, reason: "left", message: "" }, undefined);
  assert.equal(action(), "join", "who has left by itself may come back");
  model.handle({ ev: "left", room: 1, reason: "kicked", message: "" }, undefined);
  assert.equal(action(), "removed");
  assert.deepEqual(model.wayIn(games), { to: "game", game: "field" });
  model.handle({ ev: "welcome", ...WELCOME, resumed: true }, undefined);
  model.setRooms([room(1, true)]);
  assert.equal(action(), "removed");
  assert.deepEqual(model.barred, [1]);
  model.handle({ ev: "room_gone", room: 1 }, undefined);
  assert.deepEqual(model.barred, []);
  model.bar(1);
  model.handle({ ev: "welcome", ...WELCOME, resumed: false }, undefined);
  assert.equal(action(), "join");
});

test("a party plays again in a room that one of them has made anew", () => {
  const model = new LobbyModel();
  const games = [quick("field")];
  const ended = { ...room(3, true), name: "den" };
  const made = (changed: Partial<RoomListing>) => {
    model.setRooms([{ ...ended, id: 5, running: false, ...changed }]);
    return model.madeAgain(ended, games)?.id;
  };
  assert.equal(made({}), 5);
  assert.equal(made({ running: true }), 5);
  const others = [{ id: 2 }, { name: "pit" }, { game: "cubes" }, { password: true }, { players: 4 }];
  for (const other of others) assert.equal(made(other), undefined);
});

test("there is one way into a world, whatever there is", () => {
  const model = new LobbyModel();
  const field = [quick("field")];
  const other = [game("chess", true)];
  const way = (games: GameListing[], ...rooms: RoomListing[]) => {
    model.setRooms(rooms);
    const found = model.wayIn(games);
    if (found.to === "game") return found.game;
    return found.to === "room" ? found.room.id : found.to;
  };
  assert.equal(way(field), "field");
  assert.equal(way([...other, ...field, quick("pit")]), "field", "the first that is begun alone");
  assert.equal(way(other), "create");
  assert.equal(way([]), "create");
  const full = { ...room(5, true), players: 4 };
  const locked = { ...room(6, true), password: true };
  const many = { ...room(2, true), players: 3 };
  assert.equal(way(field, room(1, true), many, full, locked), 2);
  assert.equal(way(field, full, locked, room(7, false)), "field");
  assert.equal(way(other, full, locked, room(7, false)), 7);
  assert.equal(way(other, full, locked), "create");
});

test("where the only player is away, nobody plays", () => {
  const model = new LobbyModel();
  const field = [quick("field")];
  const away = { ...PLAYER, id: 7, connected: false };
  model.setRooms([{ ...room(2, true), players: 1, host: 7 }]);
  const way = () => model.wayIn(field).to;
  assert.equal(way(), "room");
  model.everybody = [away];
  assert.equal(way(), "game");
  assert.equal(model.runningRoomOf("field", field), undefined);
  model.setRooms([{ ...room(2, true), players: 2, host: 7 }]);
  assert.equal(way(), "room");
});

test("a game is played at once where it runs already", () => {
  const model = new LobbyModel();
  const games = [game("field", true), game("cubes", true), game("duel", false)];
  const many = { ...room(2, true), players: 3 };
  const locked = { ...room(3, true), password: true };
  model.setRooms([room(1, true), many, locked, { ...room(4, false), players: 3 }]);
  assert.equal(model.runningRoomOf("field", games)?.id, 2);
  assert.equal(model.runningRoomOf("cubes", games), undefined);
  model.setRooms([{ ...room(5, true), game: "duel" }]);
  assert.equal(model.runningRoomOf("duel", games), undefined);
});

test("a room that the player is in is known before the list of rooms", () => {
  const model = new LobbyModel();
  model.handle({ ev: "created", ...room(4, true), room: 4, parameters: { budget: "512" } }, 4);
  assert.equal(model.rooms.get(4)?.parameters.budget, "512");
});

test("only members of the own room count, and a new name is shown everywhere", () => {
  const model = new LobbyModel();
  model.everybody = [{ ...PLAYER }];
  model.handle({ ev: "players", room: 8, players: [] }, 5);
  model.handle({ ev: "players", room: 5, players: [{ ...PLAYER }] }, 5);
  model.handle({ ev: "renamed", player: 1, name: "bea" }, 5);
  assert.equal(model.members[0]?.name, "bea");
  assert.equal(model.everybody[0]?.name, "bea");
  model.handle({ ev: "left", room: 5, reason: "kicked", message: "" }, undefined);
  assert.equal(model.members.length, 0);
});

test("a whisper names its receiver, if that one is known", () => {
  const model = new LobbyModel();
  model.everybody = [{ ...PLAYER, id: 4, name: "bob" }];
  const line = { ev: "chat", channel: "whisper", from: "ann", from_id: 1, text: "psst" } as const;
  model.handle({ ...line, to_id: 4 }, undefined);
  model.handle({ ...line, to_id: 9 }, undefined);
  assert.deepEqual(model.chat.map(({ to }) => to), ["bob", ""]);
});

test("who was chosen for a whisper and is gone stays chosen, and cannot be written to", () => {
  const ann = { ...PLAYER };
  const bob = { ...PLAYER, id: 2, name: "bob" };
  const values = (chosen: string, ...others: (typeof PLAYER)[]) =>
    addresseesOf(others, { isInRoom: true, isInParty: false }, chosen).map(({ value, isGone }) => (isGone ? `-${value}` : value));
  const chosen = "player:bob";
  assert.deepEqual(values(chosen, ann, bob), ["room", "lobby", "player:ann", "player:bob"]);
  assert.deepEqual(values(chosen, ann), ["room", "lobby", "player:ann", "-player:bob"]);
  assert.deepEqual(values("", ann), ["room", "lobby", "player:ann"]);
  assert.deepEqual(addresseeOf(chosen), { channel: "whisper", to: "bob" });
  assert.deepEqual(addresseeOf("room"), { channel: "room" });
});

test("the chat is bounded, and the newest lines stay", () => {
  const model = new LobbyModel();
  for (let number = 0; number < 500; number += 1) {
    const line = { channel: "lobby", from: "ann", from_id: 1, to_id: null } as const;
    model.handle({ ev: "chat", ...line, text: `${number}` }, undefined);
  }
  assert.equal(model.chat.length, 200);
  assert.equal(model.chat.at(-1)?.text, "499");
});

test("what was said in a room stays there", () => {
  const model = new LobbyModel();
  const say = (channel: "lobby" | "room", text: string) =>
    model.addChat({ channel, from: "ann", to: "", text });
  const said = () => model.chat.map(({ text }) => text);
  model.enterRoom(1);
  say("lobby", "to all");
  say("room", "in the first");
  // Back on the line in the same room.
  model.enterRoom(1);
  assert.deepEqual(said(), ["to all", "in the first"]);
  model.enterRoom(2);
  assert.deepEqual(said(), ["to all"]);
  say("room", "in the second");
  model.leaveRoom();
  assert.deepEqual(said(), ["to all"]);
  model.enterRoom(2);
  say("room", "in the second again");
  model.handle({ ev: "left", room: 2, reason: "left", message: "" }, undefined);
  assert.deepEqual(said(), ["to all"]);
});

function room(id: number, running: boolean): RoomListing {
  const common = { name: `${id}`, game: "field", players: 1, capacity: 4, password: false };
  return { id, running, host: 1, parameters: {}, ...common };
}

function game(name: string, join_running: boolean): GameListing {
  return { name, description: "", min_players: 1, join_running };
}

/** One that declares how a player begins it alone. */
function quick(name: string): GameListing {
  return { ...game(name, true), quick_start: { size: "60x60" } };
}

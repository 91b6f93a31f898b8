/**
 * Events: what happens in the lobby, and what happens in a game; `ev` is the kind. Times are room
 * time in milliseconds, positions metres. And requests, and the values of commands.
 * Made from `ambit_client_core::client` and `ambit_client_core::argument` by the test
 * `the_events_for_typescript_are_those_of_the_enums`, with `AMBIT_RENEW_TYPES=1`.
 */

/**
 * Something that happens in the lobby, or the answer to a request.
 */
export type LobbyEvent =
  | { ev: "connecting"; attempt: number }
  | { ev: "welcome" } & Welcome
  | { ev: "interrupted"; reason: string; retry_in_ms: number }
  | { ev: "rooms"; rooms: Array<RoomListing> }
  | { ev: "room_changed"; room: RoomListing }
  | { ev: "room_gone"; room: number }
  | { ev: "created"; room: number } & RoomListing
  | { ev: "joined"; room: number; members: Array<PlayerListing> } & RoomListing
  | { ev: "left"; room: number; reason: string; message: string }
  | { ev: "done" }
  | { ev: "players"; room: number | null; players: Array<PlayerListing> }
  | { ev: "game" } & GameDescription
  | { ev: "account_data"; json: string }
  | { ev: "renamed"; player: number; name: string }
  | { ev: "invited"; party: number; player: number; name: string }
  | { ev: "party"; party: PartyListing | null }
  | { ev: "chat" } & ChatMessage
  | NoticeEvent
  | { ev: "error"; code: string; message: string }
  | { ev: "missed"; count: number }
  | { ev: "closed"; code: string; message: string };

/**
 * Something that happens in a game.
 *
 * A program that only draws needs none of these: each [`Frame`](crate::frame::Frame) is complete.
 * Events are for what has a moment: sounds, messages, refusals, the end. Objects have ids, which
 * are those in frames; `t` is room time.
 */
export type GameEvent =
  | { ev: "started" } & GameStarted
  | { ev: "enter" } & ObjectEntered & ObjectState
  | { ev: "update" } & ObjectUpdated & ObjectState
  | { ev: "leave"; id: number; t: number }
  | { ev: "event" } & SchemaEvent & { [field: string]: unknown }
  | { ev: "confirmed"; t: number; command: number; effect: number }
  | { ev: "refused"; command: number; code: string; message: string; what: string }
  | NoticeEvent
  | { ev: "map"; t: number; obstacles: number; bytes: number }
  | { ev: "map_progress"; t: number; received: number; total: number }
  | { ev: "interrupted"; reason: string; retry_in_ms: number }
  | { ev: "silent"; silent_ms: number }
  | { ev: "heard" }
  | { ev: "error"; code: string; message: string }
  | { ev: "missed"; count: number }
  | { ev: "ended"; code: string; message: string };

/**
 * What a player should know and is no error.
 */
export type NoticeEvent = {
  /**
   * The kind of all of them.
   */
  ev: "notice";
  /**
   * Of those about a game.
   */
  t?: number;
  /**
   * `chat_missed`; of a game `physics_missing`, `room_late`, `room_overloaded`, `room_in_time`.
   */
  code: string;
  /**
   * In words.
   */
  message: string;
  /**
   * Of `chat_missed`.
   */
  count?: number;
  /**
   * Of `physics_missing`.
   */
  game?: string;
};

/**
 * The lobby accepted the client.
 */
export type Welcome = {
  /**
   * The player's number in the lobby.
   */
  player: number;
  /**
   * The name in use.
   */
  name: string;
  /**
   * Whether this continues an earlier session. Otherwise that one, with its seat, had expired.
   */
  resumed: boolean;
  /**
   * The room of a resumed session; `Joined` follows.
   */
  room: number | null;
  /**
   * How long the server keeps the session of a broken connection.
   */
  grace_ms: number;
  /**
   * The player's account, if the session has one.
   */
  account: string | null;
  /**
   * Of an account with a password, in the session that has signed in: what the player signs in
   * with.
   */
  login: string | null;
  /**
   * The games that the server can run.
   */
  games: Array<GameListing>;
};

/**
 * A game that the server can run.
 */
export type GameListing = {
  /**
   * The name that `create` expects.
   */
  name: string;
  /**
   * One sentence for users.
   */
  description: string;
  /**
   * Players needed for a start.
   */
  min_players: number;
  /**
   * Whether a running room may be joined.
   */
  join_running: boolean;
  /**
   * The parameters of a room in which a player begins at once, without others; none if the game
   * declares no such room.
   */
  quick_start?: { [key in string]: string };
};

/**
 * With what a room of a game can be created, within the limits of the server.
 */
export type GameDescription = {
  /**
   * The game's name.
   */
  game: string;
  /**
   * The parameters of every room, and then the game's own.
   */
  parameters: Array<ParameterListing>;
  /**
   * The seats of a room that is created without a number of them.
   */
  default_capacity: number;
  /**
   * The most seats.
   */
  max_capacity: number;
};

/**
 * A parameter of a room.
 */
export type ParameterListing =
  | { key: string; label: string; default: string; about: string } & (
  | { kind: "whole"; min: number; max: number }
  | { kind: "decimal"; min: number; max: number }
  | { kind: "size"; min: number; max: number }
  | { kind: "word"; words: Array<string> }
  | { kind: "unknown" });

/**
 * The values that a parameter may have; both ends of a range are allowed.
 */
export type AllowedValues =
  | { kind: "whole"; min: number; max: number }
  | { kind: "decimal"; min: number; max: number }
  | { kind: "size"; min: number; max: number }
  | { kind: "word"; words: Array<string> }
  | { kind: "unknown" };

/**
 * A room of the lobby.
 */
export type RoomListing = {
  /**
   * Unique, unlike the name.
   */
  id: number;
  /**
   * Its name; not unique.
   */
  name: string;
  /**
   * The game that it plays.
   */
  game: string;
  /**
   * Taken seats.
   */
  players: number;
  /**
   * All seats.
   */
  capacity: number;
  /**
   * Whether its game has started.
   */
  running: boolean;
  /**
   * Whether a password is needed to join.
   */
  password: boolean;
  /**
   * The player who may start the game and kick players.
   */
  host: number;
  /**
   * The parameters that the room was created with.
   */
  parameters: { [key in string]: string };
};

/**
 * A player in the lobby or in a room.
 */
export type PlayerListing = {
  /**
   * Stays the same if the player takes another name.
   */
  id: number;
  /**
   * Its name, unique among the players present.
   */
  name: string;
  /**
   * Whether the player is ready.
   */
  ready: boolean;
  /**
   * Whether the player is the host of the room.
   */
  host: boolean;
  /**
   * Whether the player is connected (false during the grace period).
   */
  connected: boolean;
};

/**
 * Players who join rooms together.
 */
export type PartyListing = {
  /**
   * The same as long as it exists.
   */
  id: number;
  /**
   * Whom the others follow into rooms.
   */
  leader: number;
  /**
   * All of them. `ready` and `host` mean nothing here.
   */
  members: Array<PlayerListing>;
};

/**
 * A chat message, as its receivers get it.
 */
export type ChatMessage = {
  /**
   * Where it was sent.
   */
  channel: ChatChannel;
  /**
   * The sender, perhaps the client's own player.
   */
  from_id: number;
  /**
   * The sender's name when the message was sent.
   */
  from: string;
  /**
   * The receiver of a whisper.
   */
  to_id: number | null;
  /**
   * 1 to 500 characters.
   */
  text: string;
};

/**
 * Where a chat message was sent.
 */
export type ChatChannel = "lobby" | "room" | "whisper" | "party";

/**
 * The player is in the game.
 */
export type GameStarted = {
  /**
   * The room's number in the lobby.
   */
  room: number;
  /**
   * The address of the game host, from the ticket: `"127.0.0.1:7777"`; an unspecified IP address
   * stands for the lobby server's.
   */
  address: string;
  /**
   * Whether the player was in this game before and the connection had broken.
   */
  again: boolean;
  /**
   * Index of the map within the world, from 0. A different number than before means that the
   * player went through a gate.
   */
  map: number;
  /**
   * The estimated room time.
   */
  t: number;
  /**
   * The local lag: a command sent at `t` takes effect at `t + delay`.
   */
  delay: number;
  /**
   * How often the room simulates and sends, in ticks a second.
   */
  tick: number;
  /**
   * The game's name, as in [`GameListing`].
   */
  game: string;
  /**
   * The objects, events, commands and refusals of the game. In JSON its commands: name, form,
   * one line of help, and the suggested key.
   */
  commands: Array<unknown>;
  /**
   * Extent on x, in metres.
   */
  width: number;
  /**
   * Extent on y, in metres.
   */
  height: number;
  /**
   * Edge of a cell, in metres.
   */
  cell: number;
  /**
   * Radius of the inner zone, in cells.
   */
  inner: number;
  /**
   * Radius of the outer zone, in cells.
   */
  outer: number;
};

/**
 * An object came into sight.
 */
export type ObjectEntered = {
  /**
   * The object.
   */
  id: number;
  /**
   * Name of the object's kind.
   */
  kind: string;
  /**
   * Whether it is the player's own avatar or, if it is room-wide, the player's own.
   */
  own: boolean;
  /**
   * Room time at which this event was emitted.
   */
  t: number;
};

/**
 * Something about an object has changed.
 */
export type ObjectUpdated = {
  /**
   * The object.
   */
  id: number;
  /**
   * Room time at which this event was emitted: on arrival, mostly before the update takes
   * effect.
   */
  t: number;
};

/**
 * What an event says of an object beside its own keys; without a place if it is room-wide, or if
 * the place is not what has changed.
 */
export type ObjectState = {
  /**
   * In metres.
   */
  x?: number;
  /**
   * In metres.
   */
  y?: number;
  /**
   * In metres.
   */
  z?: number;
  /**
   * The text of the component `name`.
   */
  name?: string;
  /**
   * Those that are known, or have changed.
   */
  components: ComponentValues;
};

/**
 * Components by their names.
 */
export type ComponentValues = Record<string, unknown>;

/**
 * An event of the game. It is emitted on arrival, mostly before it takes effect, so that a view
 * can prepare. The objects that it names are in sight; if one of them is about to come into sight,
 * the event waits for it, at most until its effect time.
 */
export type SchemaEvent = {
  /**
   * The event's name in the game's schema.
   */
  name: string;
  /**
   * Room time at which this event was emitted.
   */
  t: number;
  /**
   * Room time at which it takes effect.
   */
  effect: number;
  /**
   * Whether it arrived after its effect time.
   */
  late: boolean;
};

/**
 * A value for a field of a command: a number (of an angle the radians), the id of an object, yes
 * or no, a text, the name of a choice, a position (`[x, y]`, `[x, y, z]`, `{ x, y }`), or none for
 * an optional field. A text may be any value as a player writes it: `#7`, `90°`, `1.5 20`. An
 * object with the names of the fields has the values of them all.
 */
export type Value =
  | boolean
  | number
  | string
  | readonly number[]
  | { [key in string]: Value } | null;

/**
 * A request to the lobby; the answer is an event with the request's number.
 *
 * Other languages write it as JSON: `"leave_room"`, `{"set_ready": true}`,
 * `{"join_room": {"room": 7}}`.
 */
export type LobbyRequest =
  | { "list_rooms": { subscribe: boolean } }
  | { "create_room": NewRoom }
  | { "join_room": { room: number; password?: string } }
  | { "quick_join": { game: string; parameters?: NewRoom["parameters"] } }
  | "leave_room"
  | "start_room"
  | { "set_ready": boolean }
  | { "set_wishes": NonNullable<NewRoom["parameters"]> }
  | { "invite": string }
  | { "join_party": number }
  | { "leave_party": { player?: number } }
  | { "list_players": { everybody: boolean } }
  | { "describe_game": { game: string } }
  | "read_account"
  | "erase_account"
  | { "set_password": { password: string; new_password: string } }
  | { "set_name": string }
  | { "say": { to: ChatAudience; text: string } }
  | { "kick": number };

/**
 * The settings of a new room.
 */
export type NewRoom = {
  /**
   * 1 to 32 characters.
   */
  name: string;
  /**
   * One of the games listed in `Welcome`.
   */
  game: string;
  /**
   * Seats; 0 for the server's default.
   */
  capacity?: number;
  /**
   * The game's and the room's own settings. In JSON, numbers and flags may stand for their text.
   */
  parameters?: Record<string, string | number | boolean>;
  /**
   * Empty for none.
   */
  password?: string;
  /**
   * Makes the request idempotent: a repeated request with the same key creates no second room.
   * The caller chooses it at random. In JSON a list of 16 numbers.
   */
  key?: Array<number>;
};

/**
 * The recipients of a chat message. In JSON: `"lobby"`, `"room"`, `"party"`,
 * `{"player_named": "ann"}`.
 */
export type ChatAudience =
  | "lobby"
  | "room"
  | "party"
  | { "player": number }
  | { "player_named": string };

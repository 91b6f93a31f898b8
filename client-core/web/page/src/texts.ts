/** All texts of the page. A translation is another object of this shape. */

import type { ProblemKind } from "./core/problems.js";

const NAME_LIMIT = "A name has 1 to 24 visible characters.";

const problems: Record<ProblemKind, string> = {
  no_web_transport:
    "This browser cannot play: it has no WebTransport. Use a current Chrome, Edge, Chromium or " +
    "Firefox. Safari has it since version 26.4; whether the game works there was not tried.",
  insecure_page:
    "A browser lets one play only on pages from https:// (or on the server's own machine). This " +
    "page came over http://.",
  no_webgl:
    "The game cannot be drawn: this browser has no WebGL. Turn on hardware acceleration in its " +
    "settings, or use another one.",
  no_server: "The server does not answer. It may be down or starting; try again in a moment.",
  could_not_connect:
    "The server is there, but the game cannot connect to it. Either this network blocks UDP, or " +
    "the server's certificate has expired or is another one than it says. Try another network; " +
    "if that does not help, tell whoever runs the server.",
  server_gone: "The connection to the server is lost.",
  game_gone: "The connection to the game is lost.",
  kicked: "The room's host has removed you.",
  draining: "The server is being shut down for maintenance. The page tries every 5 s to connect again.",
  taken_over: "This session goes on in another tab or window.",
  room_closed: "The room is closed.",
  idle: "You were away for too long; the server has ended the session.",
  seat_lost: "You were away for too long, and your seat was given away.",
  host_died: "The game has crashed, and could not be restored.",
  outdated_page: "This page and the server do not fit together. Load the page again.",
  full: "There is no free seat.",
  wrong_password: "The password is wrong.",
  bad_name: NAME_LIMIT,
  try_later: "The server is busy. Try again in a moment.",
  client_failed: "The page has failed. Load it again.",
  other: "",
};

/** Keys whose names would be no words. */
const KEY_NAMES = new Map([
  [" ", "Space"],
  ["space", "Space"],
  ["arrowdown", "↓"],
  ["arrowleft", "←"],
  ["arrowright", "→"],
  ["arrowup", "↑"],
]);

/** Such as 1st, 2nd, 3rd, 11th. */
function ordinal(place: number): string {
  const isTeen = Math.floor(place / 10) % 10 === 1;
  return `${place}${(!isTeen && ["", "st", "nd", "rd"][place % 10]) || "th"}`;
}

export const texts = {
  title: "Ambit",
  tagline: "Worlds to play in together. No sign\u2011up, no download.",
  problems,
  connecting: "Connecting…",
  reconnecting: "Connection lost. Connecting again…",
  loading: "Loading…",
  retry: "Connect again",
  back_into: (room: string) => `Back into ${room}?`,
  dismiss: "Dismiss",
  exact_words: "Details",
  cancel: "Cancel",
  ok: "OK",
  send: "Send",

  name: "Your name",
  rename: "Rename",
  account: "Your account",
  /** On the button; the beginning of the id. */
  account_of: (id: string) => `Account ${id}`,
  no_account: "No account",
  account_is:
    "By your account, games know you again tomorrow. It needs no password: it is a secret that " +
    "this browser makes and keeps. Games see no more of it than its id:",
  account_none: "You play without an account: games will not know you again.",
  account_save: "Save a copy",
  account_secret:
    "With the file you have the same account in another browser, in the console, and if this " +
    "browser loses it. Who has the file can play as you: keep it to yourself.",
  account_paste: "Use another account",
  account_replaces:
    "Paste the text of a copy. It takes the place of the account above, which is lost unless you " +
    "have saved a copy.",
  account_use: "Use it",
  account_wanted: "Play with an account",
  account_change: "After a change you leave the room, and connect again.",
  account_id: "Games see no more of you than this id:",
  sign_in: "Sign in",
  sign_in_with: {
    password: "Sign in with a password",
    token: "Sign in with a token",
    both: "Sign in with a password or a token",
  },
  sign_in_not: "Go on without signing in",
  sign_in_wrong: "The login or the password is wrong.",
  token_wrong: "The server does not accept this token. Get a new one from where you got it.",
  password_wrong: "The password is wrong.",
  sign_out: "Sign out",
  signed_in: "You are signed in as",
  signed_in_token: "You are signed in with a token of the operator's service.",
  login: "Login",
  login_is: "Your account is made",
  login_keep:
    "Write this login down: you sign in with it and your password. The number behind your name " +
    "tells you from others of the same name.",
  new_account: "Make a new account",
  new_account_make: "Make the account",
  new_account_hint:
    "The server adds a number to the name. The password has 8 to 128 characters; a lost one cannot " +
    "be sent to you.",
  token: "Token",
  token_hint: "The operator's own service gives you one, on its page or in its app.",
  token_use: "Sign in with the token",
  password_new: "New password",
  password_change: "Change the password",
  password_changed: "The new password counts from now on.",
  password_length: "A password has 8 to 128 characters.",
  account_data: "What the server stores about you",
  account_data_save: "Save it as a file",
  account_erase: "Delete the account…",
  account_erase_title: "Delete the account?",
  account_erase_confirm: (name: string) =>
    `The server deletes all that it stores about you: nothing brings it back. To confirm it, type ` +
    `your name: ${name}`,
  account_erase_other: "That is not your name; nothing is deleted.",
  rooms: "Rooms",
  score: "Score",
  all_of_score: "All",
  less_of_score: "Less",
  no_rooms: "There are no rooms yet.",
  no_connection: "Not connected.",
  play_now: "Play now",
  jump_in: "Others play already",
  play_game: (game: string) => `Play ${game}`,
  play_game_hint: "The game begins at once, in a room of your own. Others can join you.",
  welcome: "Nobody plays yet",
  play_alone: "Begin by yourself",
  own_room: (name: string) => `${name}'s room`,
  create_room: "Create a room",
  create_unconnected: "A room needs a connection to the server. There is none at the moment.",
  to_host: "Games",
  host_game: (game: string) => `Host ${game}`,
  no_games: "This server offers no games.",
  name_limit: NAME_LIMIT,
  create_hint: "There is no room that you can join now. Make one for yourself and others.",
  waits: "This room waits for players",
  join: "Join",
  /** By what can be done with a room; `removed` is said by a text, and not on a button. */
  room_actions: { join: "Join", full: "Full", playing: "Already playing" },
  removed: "You were removed from this room.",
  join_room: (name: string) => `Join ${name}`,
  running: "Running",
  waiting: "Waiting",
  locked: "Password",
  maps: (count: string) => `${count} maps`,
  seats: (players: number, capacity: number) => `${players} of ${capacity} players`,
  plays: (room: string, game: string, seats: string) => `${room} · ${game} · ${seats}`,
  no_such_room: "The room of this link is closed.",
  password_of: (name: string) => `Password of ${name}`,
  password: "Password",
  password_hint: "Leave it empty, and everybody may join.",
  room_name: "Name of the room",
  game: "Game",
  capacity: "Seats",
  game_settings: "Settings of the game",
  more: "Technical settings",
  create: "Create",
  not_whole: "A whole number, please.",
  not_a_number: "A number, please.",
  not_a_size: "Width and height in metres, such as 200x100.",
  out_of_range: (min: number, max: number) => `From ${min} to ${max}.`,

  members: "Players in this room",
  everybody: "Players in the lobby",
  host: "host",
  ready: "ready",
  away: "connection lost",
  you: "you",
  be_ready: "I am ready",
  be_not_ready: "I am not ready",
  start: "Start",
  play: "Play",
  leave: "Leave the room",
  game_over: "The game is over",
  game_won: "Victory!",
  game_lost: "Defeat",
  won_by: (name: string) => `${name} has won`,
  /** Such as "Wave 2". */
  fact: ([name, value]: readonly [string, string]) => `${name} ${value}`,
  /** What is announced, and above it what it belongs to: "Wave 2: Fight". */
  led: (lead: string, text: string) => `${lead}: ${text}`,
  place: "Place",
  your_place: "Your place",
  place_of: (place: number, of: number) => `${place} of ${of}`,
  play_again: "Play again",
  to_the_lobby: "To the lobby",
  top_lists: "Top lists",
  top_lists_of: (game: string) => `Top lists of ${game}`,
  top_list: "List",
  period: "Period",
  periods: { day: "Today", week: "This week", month: "This month", all: "All time" },
  player: "Player",
  when: "When",
  deleted_player: "Deleted account",
  top_list_empty: {
    day: "No results today yet. Yours can be the first.",
    week: "No results this week yet. Yours can be the first.",
    month: "No results this month yet. Yours can be the first.",
    all: "No results yet. Yours can be the first.",
  },
  top_list_failed: "The server cannot show this list at the moment. Try again later.",
  back: "Back to the game",
  kick: "Remove",
  kick_player: (name: string) => `Remove ${name}`,

  party_asks: (name: string) => `${name} asks you to play together.`,
  party_join: "Play together",
  party_decline: "No, thanks",
  party_hint: "Where the leader goes, all of you go.",
  party_leave: "Leave the party",
  party_leader: "leads",
  party_ask: (name: string) => `Ask ${name} to play together`,
  party_remove: (name: string) => `Remove ${name} from the party`,

  chat: "Chat",
  no_chat: "Nobody has said anything yet. Say hello!",
  to_whom: "To",
  to_lobby: "Everybody",
  to_room: "Room",
  to_party: "Your party",
  to_player: (name: string) => `Whisper to ${name}`,
  to_gone_player: (name: string) => `${name} (not here any more)`,
  addressee_gone: "This player is not here any more under that name. Choose somebody else.",
  whispered_to: (name: string) => `whispers to ${name}`,
  message: "Message",
  said: (from: string, where: string, text: string) => `${from} (${where}): ${text}`,
  channel: { lobby: "all", room: "room", whisper: "whispers", party: "party" },

  game_picture: "The game. Click the ground, or use the keys that Help lists.",
  small_map: "Map",
  party: "Your party",
  out: "You have fallen",
  is_back: "You are back",
  felled: (name: string) => (name ? `${name} felled` : "Felled"),
  back_in: (seconds: number) => `You come back in ${seconds} s`,
  watching: (name: string) => `You watch ${name}`,
  out_until: "You are out until this game is over. The chat is still yours.",
  watch_others: "Click or tap a name of your party to watch somebody else.",
  log: "What happened",
  log_short: "Log",
  own_values: "Your values",
  /** Such as "2nd of 8 · 12 kills". */
  own_place: (place: number, of: number, points: string, column: string) =>
    `${ordinal(place)} of ${of} · ${points} ${column.toLowerCase()}`,
  own_points: (column: string, points: string) => `${column}: ${points}`,
  commands: "Commands",
  controls: "Controls",
  pointer: "Pointer",
  help: "Help",
  play_click: "Click or tap the ground: go there.",
  play_letters: "Click or tap the ground, or W A S D: go.",
  play_tap: "Tap the ground to go there; hold your finger to go on.",
  touch_steer: "Steer with the buttons at the left; those at the right act.",
  touch_directions: "Hold a finger on the ground to go there, or steer with the cross at the left.",
  touch_commands: "Tap a button, then the place or whom it is for.",
  play_keys: (keys: string) => `${keys}.`,
  play_commands: (keys: string) => `Point, and press ${keys}.`,
  play_slots: "Point, and press a digit of the bar below.",
  key_does: (key: string, does: string) => `${key} ${does.toLowerCase()}`,
  step_hear: "M: hear the game.",
  step_hear_touch: "Hear the game.",
  step_sound_on: "Sound on",
  step_look: "Wheel, + and -: closer and farther.",
  step_look_touch: "Two fingers: closer and farther.",
  no_hints: "No hints",
  gamepad: (name: string) => `Gamepad: ${name}`,
  pad_part: (part: string, does: string) => `${part} – ${does}`,
  sound: "Sound",
  sound_on: "Sound is off. Click, or press M, to hear the game.",
  sound_off: "Sound is on. Click, or press M, for silence.",
  lobby: "Chat and players",
  lobby_short: "Lobby",
  leave_short: "Leave",
  lobby_unread: (count: number) => `Chat and players, ${count} new`,
  overlay: "Network",
  overlay_title: "Network (F2)",
  to_the_room: "To the room",
  key: (key: string) => KEY_NAMES.get(key) ?? key.toUpperCase(),
  /** The label of a command, such as "Choose". */
  choose: (label: string) => `${label}\u2026`,
  choose_later: "Choose later",
  done: (label: string) => `${label} ✓`,
  /** Such as "Need: Iron ring". */
  chosen: (label: string, choice: string) => `${label}: ${choice}`,
  /** How many players in the room have chosen the same. */
  chosen_by_none: "Nobody yet",
  chosen_by_one: "1 player",
  chosen_by: (players: number) => `${players} players`,
  nothing: "Nothing",
  /** Of a choice that hangs on others, and of what is marked without a name for that. */
  yours: "Yours",
  available: "Available",
  needs: (names: string) => `Needs ${names}`,
  not_now: "Not now",
  /** How rare a thing is. */
  rarity: {
    common: "Common",
    uncommon: "Uncommon",
    rare: "Rare",
    epic: "Epic",
    legendary: "Legendary",
  },
  /** What there is to pay with: a label, such as "Gold". */
  you_have: (amount: number, name: string) => `${name}: ${amount}`,
  choose_place: (name: string) => `${name}: choose a place. Arrow keys and Space work, too.`,
  choose_object: (name: string) =>
    `${name}: choose an object. Left and right arrow select, Space confirms.`,
  tap_place: (name: string) => `${name}: tap a place`,
  tap_object: (name: string) => `${name}: tap whom it is for`,
  times: (text: string, times: number) => `${text} ×${times}`,
  tap_again: ", or the button again",
  again_without: "Press the button again to do it without.",
  refused: (label: string, message: string) => `${label}: ${message}`,
  nobody_in_sight: "Nobody is in sight. Turn and move on: others are somewhere else.",
  how_far: (name: string, metres: number) => `${name} ${metres} m`.trim(),
  gate_to: (map: number) => `To map ${map + 1}`,
  resumed: "The game goes on.",
  invite: "Invite others",
  invite_how: "Scan the code with a phone, or send the link. Who opens it gets in here.",
  code_of: (link: string) => `QR code of ${link}`,
  own_certificate:
    "A server at home has its own certificate, of which the browser warns once.",
  no_https:
    "Other devices cannot play here yet: browsers want a page from https:// for that. Whoever runs " +
    "the server starts it with:",
  https_flags: "--listen 0.0.0.0:7777 --https 0.0.0.0:7443 --advertise ADDRESS",
  open_instead: "Open instead: ",
  close: "Close",
  line: {
    good: (_: number, rttMs: number | null) =>
      rttMs === null ? "Good line" : `${Math.round(rttMs)} ms`,
    weak: (_: number, rttMs: number | null) =>
      rttMs === null ? "Weak line" : `Weak line, ${Math.round(rttMs)} ms`,
    silent: (seconds: number) => `Nothing heard for ${seconds} s`,
    broken: (seconds: number) => `Connecting again for ${seconds} s`,
  },
  line_title: {
    good: "Good line: so long takes a round trip to the server",
    weak: "Weak line: slow, or much is lost",
    silent: "The server is not heard",
    broken: "The connection broke",
  },
  interrupted: "The game's connection broke. Connecting again…",
  help_click: [
    "Click or tap the ground: go there. Hold: go on to wherever you point.",
    "Arrow keys move the aim, Space goes there.",
  ],
  help_letters: "W A S D: hold to go up, left, down or right on the screen.",
  help_steer: [
    "Hold the mouse button or a finger on the ground: go there.",
  ],
  help_view: [
    "Wheel, two fingers, + and -: closer and farther.",
    "Right mouse button, two fingers, or the keys for comma and full stop: turn the view.",
    "Enter: write to the room. M: sound. F2: network. Escape: cancel, or close a panel.",
    "The squares on the map show how far you see. What you do takes effect a moment later, for all " +
      "players at the same time.",
  ],

  help_view_touch: ["Two fingers: closer and farther, and turn the view."],

  network: "Network",
  stats: {
    rtt: "Round trip",
    jitter: "Jitter",
    loss: "Loss, received",
    down: "Received",
    up: "Sent",
    datagrams: "Datagrams",
    budget: "Budget",
    late: "Came too late",
    buffer: "Jitter buffer",
    behind: "Others shown behind",
    objects: "Objects",
    commands: "Commands",
    frames: "Frames",
  },
  unknown: "unknown",
  ms: (value: number) => `${Math.round(value)} ms`,
  fine_ms: (value: number) => `${value.toFixed(1)} ms`,
  percent: (value: number) => `${value.toFixed(1)} %`,
  kbit: (value: number) => {
    const kbit = (value * 8) / 1_000;
    return `${kbit.toFixed(kbit < 10 ? 1 : 0)} kbit/s`;
  },
  a_second: (value: number) => `${value.toFixed(0)} /s`,
  commands_of: (confirmed: number, refused: number) => `${confirmed} done, ${refused} refused`,
  pending: "Pending commands",
  none: "none",
  countdown: (label: string, ms: number, state: string) =>
    `${label}: ${Math.max(0, Math.round(ms))} ms, ${state}`,
  command_states: { sent: "sent", confirmed: "confirmed", refused: "refused" },
  bad_line: "Make the line bad",
  delay: "Delay, each way",
  line_jitter: "Jitter",
  line_throttle: "Stops for",
  line_loss: "Loss",
  ages: "Colour objects by age",
  legend:
    "How old the newest data about what moves is: green 0.1 s, yellow 0.5 s, red 1 s. Grey: at " +
    "rest. Blue squares: objects come into sight in the inner one, and out of it beyond the outer.",
};

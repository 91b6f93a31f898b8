// What events say, as sentences. `$player`, `$room` and `$host` are links, other `$` are texts.

/** An event's name, and its sentence; one of a name that is not here shows all of its fields. */
export const sentences = {
  player_came: "$player has come in",
  player_back: "$player is back on another connection",
  player_away: "$player has lost the connection",
  player_left: "$player has left ($why)",
  player_renamed: "$before is now $player",
  room_made: "$room was made ($game)",
  room_started: "$room runs on $host ($game)",
  room_resumed: "$room goes on, on $host",
  room_ended: "$room has ended ($why)",
  room_joined: "$player has joined $room",
  room_left: "$player has left $room ($why)",
  room_kicked: "$player was put out of $room by its host",
  refused: "Refused: $message ($code, $times times)",
  client_fault: "A client was put off for a fault ($code, $address)",
  host_ready: "$host is ready for rooms ($label)",
  host_lost: "$host is gone, with rooms: $rooms ($reason)",
  host_on_time: "$host is on time again",
  host_overrun: "$host runs late; rooms that send less: $rooms",
  operator: "$by: $request $body",
  operator_refused: "A request of an operator was refused: $request ($why, $address)",
  chat: "$player says ($channel): $text",
};

/** Codes that mean nothing worth reading. */
export const plainCodes = ["error_unspecified", "", null, undefined];

/** What operators have asked for; `{}` is whom or what it is about. */
export const requests = {
  "post /players/{}/kick": "has put out player {}",
  "post /players/{}/mute": "has muted player {}",
  "delete /players/{}/mute": "has ended the mute of player {}",
  "post /players/{}/ban": "has banned player {}",
  "post /messages": "has sent a message",
  "post /bans": "has made a ban",
  "delete /bans/{}": "has ended the ban of {}",
  "post /rooms/{}/lock": "has locked room {}",
  "delete /rooms/{}/lock": "has unlocked room {}",
  "post /rooms/{}/close": "has closed room {}",
  "post /hosts/{}/drain": "drains host {}",
  "delete /hosts/{}/drain": "uses host {} again",
  "post /drain": "has planned the server's shutdown",
  "post /reload": "has had the files read again",
  "delete /drain": "has called the shutdown off",
};

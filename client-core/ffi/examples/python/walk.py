"""Joins a game, walks about and prints what is seen:

    python3 examples/python/walk.py 127.0.0.1:7777 field 10

Without a room number it creates a room of the game and starts it; with one it joins that room.
AMBIT_PRINT=json prints a line of JSON each second; AMBIT_IMPAIR=loss=5 makes the line bad.
"""

import json
import os
import sys
import time

from ambit_client import SCHEMA, AmbitError, Client

WAYS = [(6, 0), (0, 6), (-6, 0), (0, -6)]


def walk(client, frame, step):
    """Walks to a place near, another one with each call; flies on in a game of ships."""
    schema = client.describe(SCHEMA)
    if any(control["name"] == "accelerate" for control in schema["controls"]):
        client.hold("accelerate", *["turn-left"][:step % 2])
    if frame.avatar is None or all(it["name"] != "move" for it in schema["commands"]):
        return
    x, y = WAYS[step % 4]
    # The map may end there: the next leads back.
    client.send("move", [frame.avatar.x + x, frame.avatar.y + y])


def show(frame, room, came, went):
    print(f"{frame.time_us / 1e6:.1f} s in room {room}: {len(frame.objects)} in sight, "
          f"{came} came, {went} went", flush=True)
    for it in frame.objects:
        own = " (own)" if it.is_own else ""
        print(f"  #{it.id} kind {it.kind_index} at {it.x:.2f} {it.y:.2f}{own}", flush=True)


def show_json(frame, room):
    own = frame.avatar and [frame.avatar.id, round(frame.avatar.x, 3), round(frame.avatar.y, 3)]
    objects = [[it.id, it.kind_index, round(it.x, 3), round(it.y, 3)] for it in frame.objects]
    line = {"time_us": frame.time_us, "room": room, "objects": objects, "own": own}
    print(json.dumps(line), flush=True)


def handle_events(client, game, room):
    """Handles what has happened; false when it is over."""
    for event in client.events():
        # It comes again after a break, perhaps in the room as before.
        if event.name == "welcome" and client.player().room:
            continue
        if event.name == "welcome" and room is None:
            client.request({"create_room": {"name": "from Python", "game": game}})
        elif event.name == "welcome":
            client.request({"join_room": {"room": room}})
        elif event.name == "created":
            client.request("start_room")
        elif event.name in ("error", "closed"):
            print(json.dumps(event), file=sys.stderr)
            if event.name == "closed":
                return False
    return True


def main():
    if len(sys.argv) < 4:
        print(f"usage: {sys.argv[0]} HOST:PORT GAME SECONDS [ROOM]", file=sys.stderr)
        return 2
    server, game, seconds = sys.argv[1:4]
    room = int(sys.argv[4]) if len(sys.argv) > 4 else None
    as_json = os.environ.get("AMBIT_PRINT") == "json"
    came = went = 0
    settings = {"impair": os.environ["AMBIT_IMPAIR"]} if "AMBIT_IMPAIR" in os.environ else {}
    with Client(server, **settings) as client:
        for number in range(60 * int(seconds)):
            if not handle_events(client, game, room):
                return 1
            frame = client.frame()
            came += len(frame.came)
            went += len(frame.went)
            if number % 60 == 0 and frame.time_us is not None:
                in_room = client.player().room
                show_json(frame, in_room) if as_json else show(frame, in_room, came, went)
                came = went = 0
                walk(client, frame, number // 60)
            time.sleep(1 / 60)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AmbitError as error:
        sys.exit(str(error))

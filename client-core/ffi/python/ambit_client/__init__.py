"""The Ambit client for Python: tools, tests and bots.

    from ambit_client import Client

    with Client("127.0.0.1:7777", name="ann") as client:
        room = client.ask({"create_room": {"name": "a", "game": "field"}})["room"]
        client.request("start_room")
        while True:
            for event in client.events():
                print(event.name, event)
            frame = client.frame()
            if frame.avatar:
                client.send("move", [frame.avatar.x + 5, frame.avatar.y])

A client is for one thread at a time. It has a thread of its own in the library, so it goes on while
Python does something else. What `frame` and `events` return are copies, and stay.
"""

import ctypes
import json
import math
import os
import struct
import sys
import time
import weakref
from collections import deque, namedtuple
from pathlib import Path

VERSION = 1  # Of the interface.
NONE = 0xFFFF_FFFF
SCHEMA, RULES, COUNTERS = 1, 2, 3
_CONTROL = 6  # For ambit_find.
_OK, _NOTHING, _CLOSED, _REFUSED = 0, 1, 27, 29
_OBJECT = struct.Struct("=14f4I")  # AmbitObject.
_VALUE = struct.Struct("=3d")  # AmbitValue.


class AmbitError(Exception):
    """A call that did nothing. `code` is stable; `status` is the AmbitStatus."""

    def __init__(self, status, code, message):
        super().__init__(f"{message} ({code})")
        self.status, self.code, self.message = status, code, message


def _structure(name, fields):
    return type(name, (ctypes.Structure,), {"_fields_": [(key, kind) for kind, keys in fields
                                                         for key in keys.split()]})


_u32, _u64, _i64 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
_f32, _f64, _p, _s = ctypes.c_float, ctypes.c_double, ctypes.c_void_p, ctypes.c_char_p
_Text = _structure("AmbitText", [(_p, "text"), (_u64, "length")])
_Options = _structure("AmbitOptions", [
    (_u32, "size interface_version flags reserved"), (_Text, "server settings"),
    (_p, "certificate"), (_Text, "known_hosts"), (_p, "resume_token"),
    (_u64, "resume_token_length")])
_Frame = _structure("AmbitFrame", [
    (_u32, "size in_sight"), (_i64, "time_us"), (_p, "objects values came went"),
    (_u32, "object_count value_count came_count went_count avatar reserved")])
_Event = _structure("AmbitEvent", [(_u32, "size of"), (_u64, "request"), (_Text, "name json")])
_Player = _structure("AmbitPlayer", [
    (_u32, "size state"), (_u64, "player room"), (_Text, "name"), (_p, "resume_token"),
    (_u64, "resume_token_length")])
_Statistics = _structure("AmbitStatistics", [
    (_u32, "size reserved"), (_i64, "room_time_us"),
    (_f64, "round_trip_ms jitter_ms shown_behind_ms silence_ms loss late_share"),
    (_u64, "datagrams_down datagrams_up bytes_down bytes_up commands confirmed refused")])
_Error = _structure("AmbitError", [(_u32, "size status"), (_Text, "code message")])
_Object = _structure("AmbitObject", [
    (_f32 * 3, "position"), (_f32 * 4, "rotation"), (_f32 * 3, "velocity angular_velocity"),
    (_f32, "age_ms"), (_u32, "id kind flags first_value")])
_Value = _structure("AmbitValue", [(_f64, "value rate max")])


def _load():
    """The library: beside this package, as AMBIT_CLIENT_LIBRARY says, or that of the system."""
    file = {"win32": "ambit_client.dll", "darwin": "libambit_client.dylib"}.get(
        sys.platform, "libambit_client.so")
    beside = Path(__file__).with_name(file)
    name = str(beside) if beside.exists() else os.environ.get("AMBIT_CLIENT_LIBRARY", file)
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"{error}. The library is looked for beside the package, at the path in "
                          f"AMBIT_CLIENT_LIBRARY, and in the system") from error
    version = library.ambit_interface_version()
    if version != VERSION:
        raise ImportError(f"{name} has version {version} of the interface; expected {VERSION}")
    library.ambit_layout.restype = _u32
    structures = [_Options, _Frame, _Event, _Player, _Statistics, _Error, _Object, _Value]
    for number, kind in enumerate(structures):
        places = [getattr(kind, key).offset for key, _ in kind._fields_] + [ctypes.sizeof(kind)]
        # The library may have made a structure longer, unless it stands in arrays.
        places += [NONE] if kind in (_Object, _Value) else []
        if places != [library.ambit_layout(number, field) for field in range(len(places))]:
            raise ImportError(f"{kind.__name__} of {name} has another layout than expected")
    return library


_library = _load()
for _name, _arguments in {
        "start": [_p, _p], "close": [_u64, _u32], "request": [_u64, _s, _u64, _p],
        "next_event": [_u64, _p], "send": [_u64, _s, _u64, _s, _u64, _p], "hold": [_u64, _u32],
        "set_axis": [_u64, _u32, _f32], "frame": [_u64, _u64, _p], "text": [_u64, _u32, _p],
        "find": [_u64, _u32, _u32, _s, _u64, _p], "describe": [_u64, _u32, _p],
        "map": [_u64, _p, _p], "player": [_u64, _p], "statistics": [_u64, _p],
        "last_error": [_p]}.items():
    getattr(_library, f"ambit_{_name}").argtypes = _arguments


def _bytes(text, length=None):
    if isinstance(text, _Text):
        text, length = text.text, text.length
    return ctypes.string_at(text, length) if length else b""


def _call(name, *arguments):
    """Whether there was something. Errors are raised."""
    status = getattr(_library, f"ambit_{name}")(*arguments)
    if status > _NOTHING:
        error = _sized(_Error)
        _library.ambit_last_error(ctypes.byref(error))
        raise AmbitError(status, _bytes(error.code).decode(), _bytes(error.message).decode())
    return status == _OK


def _sized(kind):
    return kind(size=ctypes.sizeof(kind))


def _end(handle, process):
    # The thread of the library does not exist in a fork, which must not wait for it.
    if os.getpid() == process:
        _library.ambit_close(handle, 0)


def _known(number):
    return None if math.isnan(number) else number


Gauge = namedtuple("Gauge", "value rate max")
Player = namedtuple("Player", "player room name is_connected is_playing is_closed resume_token")
# `objects` are those in sight, `room_wide` the others, `came` and `went` are ids; `time_us` is None
# without a game, `avatar` without an own one.
Frame = namedtuple("Frame", "time_us objects room_wide came went avatar")


class Event(dict):
    """What happened, as its JSON says. `of` is "lobby" or "game", `request` what it answers."""

    def __init__(self, of, request, name, json_text):
        super().__init__(json.loads(json_text))
        self.of, self.request, self.name = of, request, name


class Object:
    """An object of a frame; `object["health"]` is the value of a component, or None."""

    __slots__ = ("id", "kind", "kind_index", "is_own", "moves", "position", "rotation", "velocity",
                 "angular_velocity", "age_ms", "values")

    def __init__(self, row, kind, values):
        self.position, self.rotation, self.velocity = row[:3], row[3:7], row[7:10]
        self.angular_velocity, self.age_ms = row[10:13], _known(row[13])
        self.id, self.kind_index = row[14], row[15]
        self.is_own, self.moves = bool(row[16] & 1), bool(row[16] & 2)
        self.kind, self.values = kind, values

    x = property(lambda self: self.position[0])
    y = property(lambda self: self.position[1])

    def __getitem__(self, name):
        return self.values[name]

    def __repr__(self):
        return f"<{self.kind} #{self.id} at {self.x:.2f} {self.y:.2f} {self.values}>"


class Client:
    """A client, which connects at once and reconnects by itself. `settings` are those of
    AmbitOptions: `name`, `render`, `predict`... Close it, or use `with`."""

    def __init__(self, server, *, certificate=None, known_hosts="", resume_token=b"",
                 has_object_events=False, **settings):
        texts = [text.encode() for text in (server, json.dumps(settings), known_hosts)]
        certificate, resume_token = certificate and bytes(certificate), bytes(resume_token)
        if certificate is not None and len(certificate) != 32:
            raise ValueError("a certificate is pinned by the 32 bytes of its SHA-256")
        options = _sized(_Options)
        options.interface_version = VERSION
        options.flags = has_object_events << 1
        buffers = [ctypes.create_string_buffer(part) for part in (*texts, resume_token)]
        for key, buffer, text in zip(("server", "settings", "known_hosts"), buffers, texts):
            setattr(options, key, _Text(ctypes.addressof(buffer), len(text)))
        options.certificate = ctypes.cast(_s(certificate), _p)
        options.resume_token = ctypes.addressof(buffers[3])
        options.resume_token_length = len(resume_token)
        handle = _u64()
        _call("start", ctypes.byref(options), ctypes.byref(handle))
        self._handle = handle.value
        self._waiting = deque()
        self._room, self._kinds = None, []
        self._end = weakref.finalize(self, _end, self._handle, os.getpid())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self, wait_ms=1000):
        """Leaves, and waits at most this long until the server knows. Once is enough."""
        if self._end.alive:
            # Another thread may be calling it: then it goes on.
            _call("close", self._handle, wait_ms)
            self._end.detach()

    def request(self, request):
        """Sends a request, such as {"join_room": {"room": 7}}; returns the answer's number."""
        return self._number(_u64, "request", *_with_length(json.dumps(request)))

    def ask(self, request, timeout=10):
        """Sends a request and waits for its answer; an answer that is an error is raised."""
        number = self.request(request)
        event = self._wait(lambda event: event.request == number, timeout)
        if event.name == "error":
            raise AmbitError(_REFUSED, event["code"], event["message"])
        return event

    def wait(self, *names, timeout=10):
        """Waits for an event of one of these names; the others stay for `events`."""
        return self._wait(lambda event: event.name in names, timeout)

    def events(self):
        """Yields what has happened, without waiting."""
        while (event := self._next_event()) is not None:
            yield event

    def send(self, command, *values):
        """Gives a command: send("move", [120, 90]). Returns its number. Objects are values, too."""
        values = json.dumps(values, default=lambda value: value.id)
        return self._number(_u32, "send", *_with_length(command), *_with_length(values))

    def hold(self, *controls):
        """Holds these controls, by name or index, and releases all others."""
        _call("hold", self._handle, sum({1 << self._control(control) for control in controls}))

    def set_axis(self, control, value):
        """Moves an axis, by name or index: -1 to 1, or radians."""
        _call("set_axis", self._handle, self._control(control), value)

    def frame(self):
        """What is in sight now."""
        raw = _sized(_Frame)
        _call("frame", self._handle, 0, ctypes.byref(raw))
        if raw.time_us < 0:
            return Frame(None, [], [], _ids(raw.came, 0), _ids(raw.went, raw.went_count), None)
        self._read_schema(0 < raw.object_count == raw.came_count)
        rows = _OBJECT.iter_unpack(_bytes(raw.objects, raw.object_count * _OBJECT.size))
        values = list(_VALUE.iter_unpack(_bytes(raw.values, raw.value_count * _VALUE.size)))
        objects = [self._object(row, values) for row in rows]
        avatar = None if raw.avatar == NONE else objects[raw.avatar]
        return Frame(raw.time_us, objects[:raw.in_sight], objects[raw.in_sight:],
                     _ids(raw.came, raw.came_count), _ids(raw.went, raw.went_count), avatar)

    def describe(self, what):
        """SCHEMA is what the game declares, RULES how its room runs, COUNTERS all counters. None
        without a game."""
        text = _Text()
        is_known = _call("describe", self._handle, what, ctypes.byref(text))
        return json.loads(_bytes(text)) if is_known else None

    def map(self):
        """The obstacles, once they have come: x, y, z, halves, turn, 1 if round, look or -1."""
        numbers, count = _p(), _u64()
        _call("map", self._handle, ctypes.byref(numbers), ctypes.byref(count))
        return list(struct.iter_unpack("=9f", _bytes(numbers.value, count.value * 4)))

    def player(self):
        """Who the player is."""
        raw = _sized(_Player)
        _call("player", self._handle, ctypes.byref(raw))
        flags = [bool(raw.state & flag) for flag in (1, 2, 4)]
        token = _bytes(raw.resume_token, raw.resume_token_length)
        return Player(raw.player, raw.room, _bytes(raw.name).decode(), *flags, token)

    def statistics(self):
        """Counters, and the line as it is now: a dict. What is not known is None."""
        raw = _sized(_Statistics)
        _call("statistics", self._handle, ctypes.byref(raw))
        return {key: _known(getattr(raw, key)) for key, _ in raw._fields_[2:]}

    def _number(self, kind, name, *arguments):
        number = kind()
        _call(name, self._handle, *arguments, ctypes.byref(number))
        return number.value

    def _next_event(self):
        if self._waiting:
            return self._waiting.popleft()
        raw = _sized(_Event)
        if not _call("next_event", self._handle, ctypes.byref(raw)):
            return None
        of = "game" if raw.of == 2 else "lobby"
        return Event(of, raw.request, _bytes(raw.name).decode(), _bytes(raw.json))

    def _wait(self, is_wanted, timeout):
        others, end = [], time.monotonic() + timeout
        try:
            while True:
                event = self._next_event()
                if event is not None:
                    if is_wanted(event):
                        return event
                    others.append(event)
                    if event.name == "closed":
                        raise AmbitError(_CLOSED, event["code"], event["message"])
                elif time.monotonic() > end:
                    raise TimeoutError(f"no such event within {timeout} s")
                else:
                    time.sleep(0.005)
        finally:
            self._waiting.extendleft(reversed(others))

    def _control(self, control):
        if isinstance(control, int):
            return control
        index = _u32()
        if not _call("find", self._handle, _CONTROL, 0, *_with_length(control),
                     ctypes.byref(index)):
            raise KeyError(f"the game has no control '{control}'")
        return index.value

    def _read_schema(self, all_came):
        # A room that goes on may do so with another build of its game: then all objects are new.
        room = self.player().room
        if (all_came or room != self._room) and (schema := self.describe(SCHEMA)):
            self._room, self._kinds = room, schema["kinds"]

    def _object(self, row, values):
        kind = self._kinds[row[15]]
        at = zip(kind["components"], values[row[17]:row[17] + len(kind["components"])])
        known = {component["name"]: self._value(component["type"], value) for component, value in at
                 if component["type"] not in ("path", "pose")}
        return Object(row, kind["name"], known)

    def _value(self, kind, row):
        value = row[0]
        if math.isnan(value):
            return None
        if kind == "gauge":
            return Gauge(*row)
        if kind in ("flag", "number"):
            return bool(value) if kind == "flag" else int(value)
        if kind in ("text", "counts", "list", "bytes"):
            text = _Text()
            _call("text", self._handle, int(value), ctypes.byref(text))
            if kind == "bytes":
                return bytes.fromhex(_bytes(text).decode())
            return _bytes(text).decode() if kind == "text" else json.loads(_bytes(text))
        return value


def _with_length(text):
    data = text.encode()
    return data, len(data)


def _ids(address, count):
    return list(struct.unpack(f"={count}I", _bytes(address, count * 4)))

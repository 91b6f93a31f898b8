"""What the package does without a server; an assertion fails if that is wrong.

    PYTHONPATH=python AMBIT_CLIENT_LIBRARY=PATH python3 python/tests/checks.py
"""

import contextlib
import gc
import os
import subprocess
import sys
from pathlib import Path

import ambit_client
from ambit_client import SCHEMA, AmbitError, Client

# Nothing listens there.
NOWHERE = "127.0.0.1:9"


def code_of(call):
    try:
        call()
    except AmbitError as error:
        assert error.status > 1 and str(error).endswith(f"({error.code})"), error
        return error.code
    return None


def check_client():
    with Client(NOWHERE, name='an"n\\', certificate=bytes(32), reconnect_for_ms=100) as client:
        frame = client.frame()
        assert frame == (None, [], [], [], [], None), frame
        assert client.describe(SCHEMA) is None and client.map() == []
        assert code_of(lambda: client.send("move", [1, 2])) == "not_playing"
        assert code_of(lambda: client.request({"no such": 1})) == "bad_option"
        assert client.request({"say": {"to": "lobby", "text": 'a"\\\n\0é'}}) > 0
        assert client.statistics()["round_trip_ms"] is None
        assert client.player().name == 'an"n\\' and not client.player().is_playing
        # The event before stays for `events`.
        assert client.wait("closed", timeout=30)["ev"] == "closed"
        assert next(client.events()).name == "connecting"
        client.close(0)
        client.close()
        assert code_of(client.frame) == "no_client"


def check_start():
    assert code_of(lambda: Client("")) == "bad_option"
    assert code_of(lambda: Client(NOWHERE, render="never")) == "bad_option"
    try:
        Client(NOWHERE, certificate=b"short")
    except ValueError:
        return
    raise AssertionError("a certificate of five bytes")


def check_ends():
    for wait_ms in [0] * 100:
        Client(NOWHERE).close(wait_ms)
    # Without `close` the client ends with its object.
    for _ in range(20):
        Client(NOWHERE)
    gc.collect()
    names = []
    for task in Path("/proc/self/task").glob("*/comm"):
        # Threads that look up names end by themselves, some time later.
        with contextlib.suppress(OSError):
            names.append(task.read_text().strip())
    assert "ambit-client" not in names, names


def check_library():
    path = os.environ | {"AMBIT_CLIENT_LIBRARY": "/nowhere/libambit_client.so"}
    load = [sys.executable, "-c", "import ambit_client"]
    failed = subprocess.run(load, env=path, capture_output=True, text=True)
    assert "ImportError" in failed.stderr and "AMBIT_CLIENT_LIBRARY" in failed.stderr, failed


if __name__ == "__main__":
    check_client()
    check_start()
    check_ends()
    if not ambit_client._library._name.startswith(os.path.dirname(ambit_client.__file__)):
        check_library()

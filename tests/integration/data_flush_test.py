"""weft serve --data: what flush_all has taken never comes back, whoever was at work on it.

Clients read and change items, which come from disk, but store none: once flush_all is answered,
nothing may be there, in memory or on disk. WEFT_TEST_LONG=1 runs more rounds.
"""

import os
import pathlib
import tempfile
import threading

import harness
from harness import Server, check, check_equal

ROUNDS = 40 if os.environ.get("WEFT_TEST_LONG") else 6
KEYS = 240
CLIENTS = 6
REQUESTS = [
    b"incr %s 1\r\n",
    b"touch %s 1000\r\n",
    b"gat 1000 %s\r\n",
    b"append %s 0 0 1\r\n1\r\n",
    b"md %s I T1000\r\n",
    b"get %s\r\n",
]


def _key(i):
    return b"k%d" % i


def _value(i):
    """Numbers for all but each fourth, which is large: it takes long to bring."""
    return b"1" * (900_000 if i % 4 == 3 else 5)


class Changer(threading.Thread):
    """Asks for keys and changes them, until it is told to stop; it never makes one."""

    def __init__(self, server, number):
        super().__init__()
        self.client = server.connect()
        self.number = number
        self.stop = threading.Event()
        self.error = None

    def run(self):
        try:
            for i in range(self.number, 1 << 30, CLIENTS):
                if self.stop.is_set():
                    return
                # mn ends what may have several lines, or a value.
                request = REQUESTS[i // CLIENTS % len(REQUESTS)] % _key(i % KEYS)
                self.client.send(request + b"mn\r\n")
                self.client.read_until(b"MN\r\n")
        except Exception as error:
            self.error = error
        finally:
            self.client.close()


def _there(client):
    return [i for i in range(KEYS) if client.get(_key(i)) is not None]


def test_what_a_flush_has_taken_never_comes_back():
    flags = ["--sync-ms", "1000", "-I", "2m"]
    with tempfile.TemporaryDirectory(prefix="weft-data-") as folder:
        data = ["--data", pathlib.Path(folder), *flags]
        for round_number in range(ROUNDS):
            with Server(memory_mb=400, flags=data) as server, server.connect() as client:
                for i in range(KEYS):
                    check_equal(client.set(_key(i), _value(i)), b"STORED\r\n")
            # Again: memory is empty, all is on disk.
            with Server(memory_mb=400, threads=3, flags=data) as server, server.connect() as client:
                changers = [Changer(server, number) for number in range(CLIENTS)]
                for changer in changers:
                    changer.start()
                for _ in range(round_number % 6):  # no two rounds alike
                    client.get(_key(KEYS // 2))
                check_equal(client.command(b"flush_all\r\n"), b"OK\r\n")
                during = _there(client)
                for changer in changers:
                    changer.stop.set()
                for changer in changers:
                    changer.join()
                    check(changer.error is None, f"{changer.error!r}")
                check_equal((during, _there(client)), ([], []), f"back in round {round_number}")
            with Server(memory_mb=400, flags=data) as server, server.connect() as client:
                check_equal(_there(client), [], f"back from disk in round {round_number}")


if __name__ == "__main__":
    harness.main(globals())

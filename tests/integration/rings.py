"""Servers on 127.0.0.2 to 127.0.0.5, the proxy nutcracker in front of them, and ketama.

Ketama is the ring on which libmemcached ("weighted") and nutcracker place keys. A server has 160
points if all weigh the same, four from each MD5 of a label. The label is HOST:PORT-N, or HOST-N if
the port is 11211. nutcracker is Debian's package; a test that needs it skips without it.
"""

import bisect
import contextlib
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

import harness
from harness import Client, Server, Skip, check, eventually

HOSTS = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")
LONG = bool(os.environ.get("WEFT_TEST_LONG"))


class Ketama:
    """Which of some (host, port) a key belongs to."""

    DIGESTS = 40

    def __init__(self, addresses):
        self.points = []
        for address in addresses:
            host, port = address
            name = host if port == 11211 else f"{host}:{port}"
            for i in range(self.DIGESTS):
                digest = hashlib.md5(f"{name}-{i}".encode()).digest()
                self.points += [(int.from_bytes(digest[at:at + 4], "little"), address)
                                for at in range(0, 16, 4)]
        self.points.sort()
        self.values = [point for point, _ in self.points]

    def owner(self, key):
        value = int.from_bytes(hashlib.md5(key).digest()[:4], "little")
        return self.points[bisect.bisect_left(self.values, value) % len(self.points)][1]


class RingServer(Server):
    """A server on an address of its own."""

    def __init__(self, host, port, **more):
        self.host = host
        self.fixed_port = port
        super().__init__(**more)

    def _command_line(self, flags, memory_mb, threads, net):
        line = super()._command_line(flags, memory_mb, threads, net)
        line[line.index("-l") + 1] = self.host
        line[line.index("-p") + 1] = str(self.fixed_port)
        return line

    @property
    def address(self):
        return self.host, self.fixed_port


def _is_free(host, port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


@contextlib.contextmanager
def four_servers(port=None, flags=()):
    """A server on each of HOSTS, on `port` or one that is free; as a dict by address."""
    with contextlib.ExitStack() as stack:
        servers = {}
        for host in HOSTS:
            chosen = port or harness.free_port()
            if port and not _is_free(host, port):
                raise Skip(f"{host}:{port} is in use")
            server = stack.enter_context(RingServer(host, chosen, threads=1, flags=flags))
            servers[server.address] = server
        yield servers


class Nutcracker:
    """The proxy in front of `addresses`, with one pool. `more`: other lines of that pool."""

    def __init__(self, addresses, more=()):
        program = shutil.which("nutcracker", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if not program:
            raise Skip("nutcracker is not installed")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nutcracker-"))
        self.address = "127.0.0.1", harness.free_port()
        lines = ["pool:", f"  listen: 127.0.0.1:{self.address[1]}", "  hash: md5",
                 "  distribution: ketama", *(f"  {line}" for line in more), "  servers:",
                 *(f"   - {host}:{port}:1" for host, port in addresses)]
        config = self.folder / "nutcracker.yml"
        config.write_text("\n".join(lines) + "\n")
        self.process = subprocess.Popen(
            [program, "-c", str(config), "-o", str(self.folder / "log"), "-a", "127.0.0.1",
             "-s", str(harness.free_port()), "-p", str(self.folder / "pid")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        check(eventually(self._answers), f"nutcracker: {self.log()}")

    def _answers(self):
        try:
            with self.connect() as client:
                return client.get(b"is-it-there") is None
        except OSError:
            return self.process.poll() is not None

    def log(self):
        path = self.folder / "log"
        return path.read_text(errors="replace")[-2000:] if path.exists() else "no log"

    def connect(self, timeout=60.0):
        return Client(self.address, timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def value_of(key):
    """The value that tests store for a key: it names the key."""
    return b"value of " + key


def set_all(client, keys):
    """Stores value_of each key, many in one piece."""
    for at in range(0, len(keys), 100):
        piece = keys[at:at + 100]
        client.send(b"".join(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value_of(key)), value_of(key))
                             for key in piece))
        replies = client.read_exactly(len(b"STORED\r\n") * len(piece))
        check(replies == b"STORED\r\n" * len(piece), f"set: {replies[:80]!r}")


def get_all(client, keys, at_once=100):
    """{key: value} of the keys that are there, by one get for each, many in one piece."""
    found = {}
    for at in range(0, len(keys), at_once):
        piece = keys[at:at + at_once]
        client.send(b"".join(b"get %s\r\n" % key for key in piece))
        for key in piece:
            head = client.line()
            if head == b"END\r\n":
                continue
            words = head.split()
            check(words[:1] == [b"VALUE"] and words[1] == key, f"asked for {key}: {head!r}")
            found[key] = client.read_exactly(int(words[3]))
            end = client.read_exactly(7)
            check(end == b"\r\nEND\r\n", f"behind {key}: {end!r}")
    return found

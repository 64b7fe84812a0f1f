"""Starts a server under test, and talks to it in raw bytes.

A Server is weft or memcached: both take memcached's flags, so a test names only the flags. It gets
a free loopback port (or a Unix socket), is asked for its version until it answers, writes its log
to a file, and is ended by its own process id. A Client is one connection, with no opinion about
the protocol.

Environment
  WEFT_BINARY   the server under test; default build/release/src/server/weft, and memcached itself
                where a test is to be proved against the reference
  WEFT_NET      value for weft's --net flag (epoll, io_uring); default: the server's own choice
"""

import collections
import contextlib
import functools
import os
import pathlib
import signal
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFAULT_SUBJECT = ROOT / "build" / "release" / "src" / "server" / "weft"
REFERENCE = pathlib.Path(os.environ.get("MEMCACHED_BINARY", "/usr/bin/memcached"))


class Skip(Exception):
    """Raised by a test that cannot run here; its text is the reason."""


def subject_binary():
    """The server under test."""
    return pathlib.Path(os.environ.get("WEFT_BINARY", DEFAULT_SUBJECT))


def is_weft(binary):
    return pathlib.Path(binary).name.startswith("weft")


@functools.lru_cache(None)
def nets(binary=None):
    """The ways of waiting for sockets to try: weft's back ends that run here, or the only one."""
    binary = pathlib.Path(binary or subject_binary())
    if not binary.exists():
        raise Skip(f"no server at {binary}")
    if not is_weft(binary):
        return [None]
    if "WEFT_NET" in os.environ:
        return [os.environ["WEFT_NET"]]
    usable = []
    for net in ("epoll", "io_uring"):
        try:
            with Server(binary, net=net):
                usable.append(net)
        except RuntimeError:  # an old kernel, or io_uring is forbidden
            print(f"note: --net={net} does not start here", flush=True)
    return usable


def has_nvidia_driver():
    return os.path.exists("/proc/driver/nvidia/version")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _with_plain_signals(then):
    """What a server does first: SIGINT ends it, also where the tests run behind a shell's `&`."""

    def prepare():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if then:
            then()

    return prepare


class Server:
    """One running server. Use as a context manager, or call stop() yourself. It may take `patience`
    seconds until it answers: on a busy machine, one that measures its devices first takes many."""

    def __init__(
        self,
        binary=None,
        flags=(),
        memory_mb=64,
        threads=2,
        unix_path=None,
        net=None,
        preexec=None,
        patience=20.0,
    ):
        self.binary = pathlib.Path(binary or subject_binary())
        self.memory_mb = memory_mb
        self.unix_path = str(unix_path) if unix_path else None
        if not self.binary.exists():
            raise Skip(f"no server at {self.binary}")
        self._log = tempfile.NamedTemporaryFile("w+b", prefix="server-", suffix=".log")
        for attempt in range(3):  # another process may take the port between probe and bind
            self.port = None if self.unix_path else free_port()
            self.process = subprocess.Popen(
                self._command_line(flags, memory_mb, threads, net),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                preexec_fn=_with_plain_signals(preexec),
            )
            if self._wait_until_it_answers(patience):
                return
            self.stop()
            if attempt == 2:
                raise RuntimeError(f"{self.binary} did not answer; its log:\n{self.log()}")

    def _command_line(self, flags, memory_mb, threads, net):
        line = [str(self.binary)]
        if is_weft(self.binary):
            line.append("serve")
            net = net or os.environ.get("WEFT_NET")
            if net:
                line.append(f"--net={net}")
            line += shlex.split(os.environ.get("WEFT_FLAGS", ""))  # any test under any plan
        elif os.geteuid() == 0:
            line += ["-u", "root"]  # memcached refuses to run as root unless told to
        if self.unix_path:
            line += ["-s", self.unix_path]
        else:
            line += ["-l", "127.0.0.1", "-p", str(self.port)]
        return line + ["-m", str(memory_mb), "-t", str(threads), *map(str, flags)]

    def _wait_until_it_answers(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                return False
            try:
                with self.connect(timeout=1.0) as client:
                    if client.command(b"version\r\n").startswith(b"VERSION "):
                        return True
            except OSError:
                pass
            time.sleep(0.01)
        return False

    @property
    def address(self):
        return self.unix_path or ("127.0.0.1", self.port)

    @property
    def pid(self):
        return self.process.pid

    def connect(self, timeout=20.0, receive_buffer=None):
        return Client(self.address, timeout, receive_buffer)

    def stats(self, which=b""):
        """One stats report as a dict of str to str."""
        with self.connect() as client:
            client.send(b"stats " + which + b"\r\n" if which else b"stats\r\n")
            text = client.read_until(b"END\r\n").decode()
        lines = [line.split(" ", 2) for line in text.split("\r\n") if line.startswith("STAT ")]
        return {line[1]: line[2] if len(line) > 2 else "" for line in lines}

    def rss_kb(self):
        """Memory the process holds now."""
        with open(f"/proc/{self.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        raise RuntimeError("no VmRSS")

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, seconds=10.0):
        """Ends the process and returns its exit status."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()

    def alive(self):
        return self.process.poll() is None

    def log(self, bytes_max=4000):
        with open(self._log.name, "rb") as log:
            return log.read()[-bytes_max:].decode(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self._log.close()


class Client:
    """One connection: bytes out, bytes in. Reads give socket.timeout rather than wait for ever."""

    def __init__(self, address, timeout=20.0, receive_buffer=None):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(address)
            if family == socket.AF_INET:
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            self.socket.close()
            raise
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data)

    def fill(self):
        """Reads once; False at the end of the stream."""
        data = self.socket.recv(1 << 18)
        self.buffer += data
        return bool(data)

    def read_until(self, mark):
        """Everything up to and including `mark`, or up to the end of the stream."""
        scanned = 0
        while (at := self.buffer.find(mark, scanned)) < 0:
            scanned = max(0, len(self.buffer) - len(mark))
            if not self.fill():
                taken, self.buffer = self.buffer, b""
                return taken
        end = at + len(mark)
        taken, self.buffer = self.buffer[:end], self.buffer[end:]
        return taken

    def read_exactly(self, count):
        parts = [self.buffer]
        have = len(self.buffer)
        while have < count:
            data = self.socket.recv(min(1 << 20, count - have))
            if not data:
                raise ConnectionError(f"stream ended {count - have} bytes early")
            parts.append(data)
            have += len(data)
        whole = b"".join(parts)
        self.buffer = whole[count:]
        return whole[:count]

    def read_to_end(self):
        while self.fill():
            pass
        taken, self.buffer = self.buffer, b""
        return taken

    def line(self):
        return self.read_until(b"\r\n")

    def command(self, request):
        """Sends one request whose reply is one line."""
        self.send(request)
        return self.line()

    def set(self, key, value, flags=0, ttl_s=0):
        return self.command(b"set %s %d %d %d\r\n%s\r\n" % (key, flags, ttl_s, len(value), value))

    def get(self, key):
        """The value, or None on a miss."""
        self.send(b"get %s\r\n" % key)
        head = self.line()
        if head == b"END\r\n":
            return None
        if not head.startswith(b"VALUE "):
            raise ValueError(f"unexpected reply {head!r}")
        parts = head.split()
        if parts[1] != key:
            raise ValueError(f"asked for {key!r}, got {head!r}")
        value = self.read_exactly(int(parts[3]))
        if self.read_exactly(7) != b"\r\nEND\r\n":
            raise ValueError(f"value of {key!r} is not followed by END")
        return value

    def finish_sending(self):
        # Not the method of a sealed socket, which could not read any more.
        socket.socket.shutdown(self.socket, socket.SHUT_WR)

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def client_library(name):
    """The Python client library `name`, from .venv or the system."""
    for folder in sorted(ROOT.glob(".venv/lib/python3*/site-packages")):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
    try:
        return __import__(name, fromlist=["*"])
    except ImportError as error:
        raise Skip(f"{error}; pip install -r tests/integration/requirements.txt") from None


def run_test(name, test):
    """Runs one function `test_*`; returns "PASS", "FAIL" or "SKIP", and what to print of it."""
    began = time.monotonic()
    try:
        note = test()
    except Skip as reason:
        return "SKIP", f"SKIP {name}: {reason}"
    except Exception:  # a test that breaks in any way has failed; the others still run
        spent = time.monotonic() - began
        return "FAIL", f"FAIL {name} ({spent:.1f} s)\n{traceback.format_exc()}"
    spent = time.monotonic() - began
    return "PASS", f"PASS {name} ({spent:.1f} s)" + (f": {note}" if note else "")


def collect(module_globals):
    """The test functions of a module, in the order they were written."""
    return [
        (name, value)
        for name, value in module_globals.items()
        if name.startswith("test_") and callable(value)
    ]


@contextlib.contextmanager
def environment(**values):
    """These variables, for what is started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def main(module_globals):
    """Entry point of each *_test.py: names (parts) of tests as arguments."""
    wanted = [arg for arg in sys.argv[1:] if arg[0] != "-"]
    counts = collections.Counter()
    for name, test in collect(module_globals):
        if not wanted or any(part in name for part in wanted):
            outcome, text = run_test(name, test)
            counts[outcome] += 1
            print(text, flush=True)
    print(summary(counts))
    sys.exit(1 if counts["FAIL"] else 0)


def summary(counts):
    return "%d passed, %d failed, %d skipped" % tuple(counts[x] for x in ("PASS", "FAIL", "SKIP"))


def eventually(condition, seconds=20):
    """Waits until `condition()` is true; whether it was in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def check(condition, message="check failed"):
    if not condition:
        raise AssertionError(message)


def check_equal(got, expected, what=""):
    if got != expected:
        raise AssertionError(f"{what}: got {str(got)[:300]!r}, expected {str(expected)[:300]!r}")

"""weft top: screens, lines and JSON, of Weft and of memcached, in a terminal of its own."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time

import harness
from harness import Server, check, check_equal
from tls_kit import Certificates

PATIENCE_S = 30
LEFT = b"\x1b[?25h\x1b[?1049l"  # the cursor and the screen from before


def weft():
    binary = harness.DEFAULT_SUBJECT
    if not binary.exists():
        raise harness.Skip(f"no program at {binary}")
    return str(binary)


def top(*words):
    """How a run of `weft top` that ends by itself ended."""
    return subprocess.run([weft(), "top", *map(str, words)], capture_output=True, text=True,
                          timeout=60, check=False)


def name_of(server):
    return server.unix_path or f"127.0.0.1:{server.port}"


class Guarded(Server):
    """A server that asks for a token: it answers no `version`, so a connection is its sign."""

    def __init__(self, path, binary=None):
        super().__init__(binary or harness.DEFAULT_SUBJECT, flags=["-Y", str(path)])

    def _wait_until_it_answers(self, seconds):
        def connects():
            try:
                self.connect(timeout=1.0).close()
                return True
            except OSError:
                return False

        return harness.eventually(connects, seconds)


class TlsServer(Guarded):
    """A server that speaks TLS alone."""

    def __init__(self, flags):
        Server.__init__(self, flags=flags)


class Wicked:
    """A server that answers so many times as it should, and then by what `chunks` yields: bytes,
    and seconds until the next ones."""

    def __init__(self, chunks, reports=0):
        self.chunks, self.reports = chunks, reports
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.name = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.over = threading.Event()
        self.dripping = threading.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(PATIENCE_S)

    def _serve(self):
        while not self.over.is_set():
            try:
                client = self.listener.accept()[0]
                with client:
                    self._answer(client)
            except OSError:
                continue

    def _answer(self, client):
        for _ in range(self.reports):
            client.recv(100)
            client.sendall(b"STAT pid 1\r\nSTAT uptime 1\r\nEND\r\n")
            client.recv(100)  # `stats pipeline`
            client.sendall(b"ERROR\r\n")
        self.reports = 0
        client.recv(100)
        for chunk, pause_s in self.chunks():
            client.sendall(chunk)
            self.dripping.set()
            if self.over.wait(pause_s):
                return


def drip():
    yield b"STAT n ", 0
    while True:
        yield b"1", 0.3


def flood():
    for i in range(1 << 40):
        yield b"".join(b"STAT n%d_%d 1\r\n" % (i, j) for j in range(1000)), 0


class Window:
    """`weft top` in a terminal of so many rows and columns, and what that shows."""

    def __init__(self, address, rows=40, columns=100):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns, tell=False)
        self.before = termios.tcgetattr(self.slave)
        self.output = b""
        self.process = subprocess.Popen(
            [weft(), "top", address], stdin=self.slave, stdout=self.slave, stderr=self.slave,
            preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL)
                                for number in (signal.SIGINT, signal.SIGQUIT)])

    def resize(self, rows, columns, tell=True):
        self.rows, self.columns = rows, columns
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def read(self, seconds=0.2):
        if select.select([self.master], [], [], seconds)[0]:
            self.output += os.read(self.master, 1 << 16)

    def screen(self):
        """The lines of the last whole drawing."""
        whole = self.output.rsplit(b"\x1b[H", 2)
        if len(whole) < 3:
            return []
        return [re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line).rstrip()
                for line in whole[1].decode().split("\r\n")]

    def wait_for(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self.read()
            if condition(self.screen()):
                return self.screen()
        raise AssertionError(f"it shows {self.screen()}, and wrote {self.output[-300:]!r}")

    def wait_for_text(self, text):
        return self.wait_for(lambda lines: any(text in line for line in lines))

    def end(self):
        """Its status, once the terminal is checked to be as before."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
        status = self.process.wait(PATIENCE_S)
        self.read()
        check(self.output.endswith(LEFT), self.output[-100:])
        check_equal(termios.tcgetattr(self.slave), self.before, "settings of the terminal")
        os.close(self.master)
        os.close(self.slave)
        return status


def test_once_prints_what_happened_in_an_interval():
    with Server() as server:
        done = top(name_of(server), "--once")
        check_equal((done.returncode, done.stderr), (0, ""))
        for text in ("weft 0.1.0", "2 threads", "hit -", "plan        [RV PP MM", "of 64 MiB"):
            check(text in done.stdout, f"{text} is missing:\n{done.stdout}")
        check("\x1b" not in done.stdout, "there is no terminal")


def test_json_has_the_numbers_of_stats():
    with Server() as server:
        with server.connect() as client:
            client.set(b"a", b"1")
        done = top(name_of(server), "--once", "--json")
        got = json.loads(done.stdout)
        check_equal((got["server"], got["items"], got["limit_bytes"]), ("weft", 1, 64 << 20))
        check(got["seconds"] > 0.5, got)
        check("PP" in got["tasks"], got)
        # Its own questions are requests, too, and are about no key.
        check(got["latency"]["other"]["requests"] >= 1, got)


def test_it_watches_memcached():
    if not harness.REFERENCE.exists():
        raise harness.Skip("memcached is not installed")
    with Server(harness.REFERENCE) as server:
        done = top(name_of(server), "--once")
        check_equal((done.returncode, done.stderr), (0, ""))
        check("memcached 1.6" in done.stdout and "plan" not in done.stdout, done.stdout)
        got = json.loads(top(name_of(server), "--once", "--json").stdout)
        check("latency" not in got and got["server"] == "memcached", got)


def test_it_takes_the_path_of_a_unix_socket():
    with tempfile.TemporaryDirectory() as folder:
        with Server(unix_path=f"{folder}/socket") as server:
            check_equal(top(name_of(server), "--once").returncode, 0)


def test_who_cannot_be_asked_is_named_in_a_line():
    free = harness.free_port()
    for words, text in (((f"127.0.0.1:{free}",), "Connection refused"),
                        (("/no/such/socket",), "No such file"),
                        (("no.such.invalid",), "no.such.invalid"),
                        (("127.0.0.1:x",), "x")):
        done = top(*words, "--once")
        check_equal((done.returncode, done.stdout), (2, ""), words)
        check_equal(done.stderr.count("\n"), 1, done.stderr)
        check(done.stderr.startswith("weft top: ") and text in done.stderr, done.stderr)
    for words, text in ((("--cacert", "x"), "need --tls"), (("--insecure",), "need --tls"),
                        (("--tls", "--key", "x"), "--key needs --cert"),
                        (("--tls", "--cacert", "/no/such"), "/no/such"),
                        (("--tls", "--cert", "/no/such"), "/no/such")):
        with Server() as server:
            done = top(name_of(server), "--once", *words)
            check_equal((done.returncode, done.stdout), (2, ""), words)
            check(done.stderr.startswith("weft top: ") and text in done.stderr, done.stderr)


def test_it_logs_in_where_the_server_asks_for_it():
    with tempfile.TemporaryDirectory() as folder:
        right, wrong, none = (pathlib.Path(folder, name) for name in ("right", "wrong", "none"))
        right.write_text("user:pass:word\nother:secret\n")
        wrong.write_text("user:password\n")
        none.write_text("nobody\n")
        servers = [harness.DEFAULT_SUBJECT]
        if harness.REFERENCE.exists():
            servers.append(harness.REFERENCE)
        for binary in servers:
            with Guarded(right, binary) as server:
                done = top(name_of(server), "--once", "-Y", right)
                check_equal((done.returncode, done.stderr), (0, ""))
                check("up " in done.stdout, done.stdout)
                for words, text in (((), "--auth-file"), (("-Y", wrong), "refuses the login"),
                                    (("-Y", none), "user:password"),
                                    (("-Y", "/no/such"), "/no/such")):
                    done = top(name_of(server), "--once", *words)
                    check_equal((done.returncode, done.stdout), (2, ""), words)
                    check(text in done.stderr and "word" not in done.stderr.replace("password", ""),
                          done.stderr)
        with Server() as server:  # one that asks for no login is told none
            check_equal(top(name_of(server), "--once", "-Y", right).returncode, 0)
            with server.connect() as client:
                client.socket.sendall(b"get weft-top\r\n")
                check_equal(client.socket.recv(100), b"END\r\n")


def test_it_speaks_tls():
    with Certificates() as certificates, tempfile.TemporaryDirectory() as folder:
        identity = pathlib.Path(folder, "client.pem")
        identity.write_bytes(certificates.of_client.private_key_and_cert_chain_pem.bytes())
        authority = ("--tls", "--cacert", certificates.path / "ca.pem")
        with TlsServer(certificates.flags()) as server:
            name = name_of(server)
            for words in (authority, ("--tls", "--insecure")):
                done = top(name, "--once", *words)
                check_equal((done.returncode, done.stderr), (0, ""), words)
            got = json.loads(top(name, "--once", "--json", *authority).stdout)
            check_equal(got["server"], "weft")
            for words, text in (((), "closed"),
                                (("--tls",), "TLS: "),
                                (("--tls", "--cacert", identity), "TLS: ")):
                done = top(name, "--once", *words)
                check_equal((done.returncode, done.stdout), (2, ""), words)
                check(text in done.stderr, done.stderr)
            # Names count: the certificate is for localhost and 127.0.0.1.
            done = top(f"127.0.0.2:{server.port}", "--once", *authority)
            check("mismatch" in done.stderr or "refused" in done.stderr, done.stderr)
        with TlsServer(certificates.flags(",ssl_verify_mode=2")) as server:
            done = top(name_of(server), "--once", *authority, "--cert", identity)
            check_equal((done.returncode, done.stderr), (0, ""))
            for words in (authority, ("--tls", "--insecure")):
                done = top(name_of(server), "--once", *words)
                check_equal((done.returncode, done.stdout), (2, ""), words)
                check("certificate required" in done.stderr, done.stderr)
        with Server() as server:  # plain text answers no handshake
            done = top(name_of(server), "--once", *authority)
            check_equal((done.returncode, done.stdout), (2, ""))


def test_without_a_terminal_it_prints_lines():
    with Server() as server:
        process = subprocess.Popen([weft(), "top", name_of(server)], stdout=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True)
        for _ in range(2):
            line = process.stdout.readline()
            check(line.startswith(name_of(server)) and "conns 1 of 1024" in line, line)
        process.terminate()
        process.wait(PATIENCE_S)
        process.stdout.close()


def test_a_window_shows_it_and_q_ends_it():
    with Server() as server:
        window = Window(name_of(server))
        lines = window.wait_for_text("requests")
        check(name_of(server) in lines[0], lines)
        check("q: quit" in lines, lines)
        os.write(window.master, b"q")
        check_equal(window.end(), 0)


def test_a_narrow_window_shows_all_of_it():
    with Server() as server:
        window = Window(name_of(server))
        wide = window.wait_for_text("requests")
        window.resize(60, 36)
        narrow = window.wait_for(lambda lines: len(lines) > len(wide) + 3)
        check(all(len(line) <= 36 for line in narrow), narrow)
        text = " ".join("".join(narrow).split())
        for word in ("IN.delete", "rejected", "evicted", "1024", "quit"):
            check(word in text, f"{word} is missing in {narrow}")
        window.resize(5, 36)
        window.wait_for(lambda lines: len(lines) == 5 and re.fullmatch(r"\+\d+ lines", lines[4]))
        window.process.send_signal(signal.SIGINT)
        check_equal(window.end(), 0)


def test_signals_leave_the_terminal_as_it_was():
    with Server() as server:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            window = Window(name_of(server))
            window.wait_for_text("server")
            window.process.send_signal(number)
            check_equal(window.end(), -number, "how it ended")


def test_it_waits_for_a_server_that_went_away():
    server = Server()
    window = Window(name_of(server))
    window.wait_for_text("requests")
    server.stop()
    lines = window.wait_for_text("TROUBLE")
    check(any("trying again" in line for line in lines), lines)
    again = subprocess.Popen(
        [weft(), "serve", "-l", "127.0.0.1", "-p", str(server.port), "-t", "1"],
        stderr=subprocess.DEVNULL)
    try:
        window.wait_for(lambda lines: any("requests" in line for line in lines)
                        and not any("TROUBLE" in line for line in lines))
    finally:
        again.terminate()
        again.wait(PATIENCE_S)
    os.write(window.master, b"q")
    check_equal(window.end(), 0)


def test_an_answer_without_an_end_is_given_up():
    for chunks, why in ((drip, "does not answer"), (flood, "has no end")):
        with Wicked(chunks) as server:
            done = top(server.name, "--once")
            check_equal((done.returncode, done.stdout), (2, ""), chunks)
            check(why in done.stderr, done.stderr)


def test_who_waits_for_an_answer_can_be_ended():
    for how in ("q", signal.SIGTERM, signal.SIGINT):
        with Wicked(drip, reports=1) as server:
            window = Window(server.name)
            window.wait_for_text("q: quit")
            check(server.dripping.wait(PATIENCE_S), "it asks again")
            if how == "q":
                os.write(window.master, b"q")
            else:
                window.process.send_signal(how)
            check_equal(window.end(), -how if how == signal.SIGTERM else 0, how)


if __name__ == "__main__":
    harness.main(globals())

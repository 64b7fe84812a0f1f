"""Who may enter: every kind of listener, with each gate, before and after a log-in.

What is generated: listener x protocol x gate x command before the log-in. Each answer is one of a
few, nothing that is sent is carried out, and of the counters only those about logging in move.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import binary_stream as bs
import harness
from harness import Server, check, check_equal, client_library
from tls_kit import Certificates, TlsClient

PASSWORDS = "alice:secret\nbob:pa:ss\n"
TOKEN = b"set any 0 0 12\r\nalice secret\r\n"
PLAIN = b"\0alice\0secret"

TEXT_COMMANDS = [
    b"get canary", b"gets canary", b"gat 5 canary", b"gats 5 canary", b"mg canary v", b"me canary",
    b"mn", b"ms canary 1\r\n1", b"md canary", b"ma count", b"set canary 0 0 1\r\n1",
    b"add new 0 0 1\r\n1", b"replace canary 0 0 1\r\n1", b"append canary 0 0 1\r\n1",
    b"prepend canary 0 0 1\r\n1", b"cas canary 0 0 1 5\r\n1", b"delete canary",
    b"delete canary noreply", b"incr count 1", b"decr count 1", b"touch canary 1", b"flush_all",
    b"flush_all noreply", b"verbosity 1", b"version", b"stats", b"stats settings", b"stats reset",
    b"stats conns", b"stats items", b"stats detail on", b"stats cachedump 1 5",
    b"cache_memlimit 80", b"lru_crawler metadump all", b"lru_crawler mgdump hash",
    b"lru mode flat", b"slabs automove 1", b"watch fetchers", b"refresh_certs",
    b"shutdown", b"shutdown graceful", b"quit", b"nonsense", b"", b"set canary 0 0",
    b"SET any 0 0 12\r\nalice secret", b"add any 0 0 12\r\nalice secret",
]
TEXT_ANSWERS = {b"CLIENT_ERROR unauthenticated\r\n",
                b"CLIENT_ERROR bad authentication token format\r\n",
                b"CLIENT_ERROR bad command line termination\r\n"}

# Packets that would do something, of each opcode.
BINARY_EXTRAS = {
    **dict.fromkeys((bs.SET, bs.SETQ, bs.ADD, bs.ADDQ, bs.REPLACE, bs.REPLACEQ), b"\0" * 8),
    **dict.fromkeys((bs.INCREMENT, bs.INCREMENTQ, bs.DECREMENT, bs.DECREMENTQ), b"\0" * 20),
    **dict.fromkeys((bs.TOUCH, bs.GAT, bs.GATQ, bs.GATK, bs.GATKQ), b"\0\0\0\1"),
}
NO_KEY = {bs.QUIT, bs.QUITQ, bs.FLUSH, bs.FLUSHQ, bs.NOOP, bs.VERSION, bs.SASL_LIST}


class _Files:
    """A folder with passwords in it."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="weft-auth-")
        self.path = pathlib.Path(self.folder.name) / "passwords"
        self.path.write_text(PASSWORDS)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()


class GatedServer(Server):
    """A server that says nothing before a log-in: it is there when it takes connections."""

    def _wait_until_it_answers(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.connect(timeout=1.0).close()
                return True
            except OSError:
                time.sleep(0.01)
        return False


def _enter(client, gate):
    if gate == "token":
        check_equal(client.command(TOKEN), b"STORED\r\n")
    elif gate == "sasl":
        client.send(bs.packet(bs.SASL_AUTH, b"PLAIN", value=PLAIN))
        reply, _ = bs.take_reply(client.read_exactly(24 + len("Authenticated")))
        check_equal((reply.status, reply.value), (0, b"Authenticated"))
    return client


def _counters(client, gate):
    """General statistics of a client that has entered, but for those that every client moves."""
    moves = ("auth_", "connection", "uptime", "time", "rusage", "bytes_", "pid", "curr_conn",
             "read_buf", "response_obj", "conn_", "ssl_", "time_since")
    if gate == "token":
        client.send(b"stats\r\n")
        lines = client.read_until(b"END\r\n").split(b"\r\n")
        pairs = [line.split(b" ")[1:3] for line in lines if line.startswith(b"STAT ")]
    else:
        client.send(bs.packet(bs.STAT))
        received, pairs = b"", []
        while True:
            received += client.socket.recv(1 << 16)
            replies, received = bs.take_replies(received)
            pairs += [[r.key, r.value] for r in replies]
            if pairs and pairs[-1] == [b"", b""]:
                break
    return {name: value for name, value in pairs if not any(m in name.decode() for m in moves)}


def _said(server, request):
    """All that a new connection is told for one request, and whether it ended."""
    with server.connect() as client:
        client.send(request)
        client.finish_sending()  # the server ends it once everything is answered
        try:
            return client.read_to_end()
        except ConnectionResetError:
            return client.buffer


def _text_cell(server):
    for command in TEXT_COMMANDS:
        request = command + b"\r\n"
        for repeated in (request, request * 3):
            said = _said(server, repeated)
            for line in said.splitlines(keepends=True):
                check(line in TEXT_ANSWERS, f"{command}: {said!r}")
    # A wrong token in front lets nothing through that lies behind it.
    said = _said(server, b"set a 0 0 11\r\nalice wrong\r\nset canary 0 0 1\r\n9\r\nflush_all\r\n")
    check(said.startswith(b"CLIENT_ERROR authentication failure\r\n"), said)
    check(b"STORED" not in said and b"OK" not in said, said)
    return len(TEXT_COMMANDS) * 2 + 1


def _binary_cell(server):
    for opcode in range(256):
        key = b"" if opcode in NO_KEY or opcode == bs.STAT else b"canary"
        if opcode in (bs.SASL_AUTH, bs.SASL_STEP):
            continue
        value = b"9" if opcode in (bs.SET, bs.SETQ, bs.APPEND, bs.APPENDQ, bs.PREPEND) else b""
        request = bs.packet(opcode, key, BINARY_EXTRAS.get(opcode, b""), value, opaque=5)
        said, rest = bs.take_replies(_said(server, request + request))
        check_equal(rest, b"", f"opcode {opcode:x}")
        statuses = [reply.status for reply in said]
        served = opcode in (bs.VERSION, bs.SASL_LIST)
        check_equal(statuses, [0, 0] if served else [0x20], f"opcode {opcode:x}")
    for message in (b"", b"alice secret", b"\0alice\0wrong", b"alice\0secret", b"\0\0",
                    b"\0alice\0secret\0", b"\0ALICE\0secret"):
        said, _ = bs.take_replies(_said(
            server, bs.packet(bs.SASL_AUTH, b"PLAIN", value=message) + bs.packet(bs.FLUSH)))
        check_equal([r.status for r in said], [0x20, 0x20], f"PLAIN {message}")
    for mechanism, status in ((b"CRAM-MD5", 0x20), (b"M" * 33, 4), (b"plain", 0x20)):
        said, _ = bs.take_replies(
            _said(server, bs.packet(bs.SASL_AUTH, mechanism, value=PLAIN)))
        check_equal([r.status for r in said], [status], f"mechanism {mechanism}")
    return 256 + 10


def _listeners(gate, folder):
    """(name, flags) of each kind of listener that may have this gate."""
    protocols = ("", "proto[negotiating]:") + (
        ("proto[ascii]:",) if gate == "token" else ("proto[binary]:",))
    for protocol in protocols:
        yield f"tcp {protocol}", lambda port, p=protocol: [
            "-l", f"{p}127.0.0.1:{port},{p}tag[second]:127.0.0.2:{port}"]
    for prefix in ("btls:", "mtls:"):
        yield prefix, lambda port, p=prefix: [
            "-l", f"{p}127.0.0.1:{port},{p}127.0.0.2:{port}"]
    yield "unix", lambda port: ["-s", f"{folder}/socket"]


def test_nothing_passes_a_gate_before_a_log_in():
    count = 0
    with _Files() as files, Certificates() as certificates:
        for gate, flags in (("token", ["-Y", files.path]), ("sasl", ["-S", "-Y", files.path])):
            for name, listens in _listeners(gate, files.folder.name):
                if "tls:" in name:
                    flags = [*flags, *certificates.flags()]
                for net in harness.nets():
                    count += _test_cell(gate, flags, name, listens, net, files, certificates)
    return f"{count} requests"


def _test_cell(gate, flags, name, listens, net, files, certificates):
    port = harness.free_port()
    unix = f"{files.folder.name}/socket" if name == "unix" else None
    where = [*flags, "-A", *listens(port)] if unix is None else [*flags, "-A"]
    count = 0
    with GatedServer(flags=where, unix_path=unix, net=net) as server:
        hosts = [unix] if unix else [("127.0.0.1", port), ("127.0.0.2", port)]
        for host in hosts:
            server.unix_path = unix
            certified = certificates.context(certificates.of_client)
            reached = _Reached(server, host, certified if "tls:" in name else None)
            with _enter(reached.connect(), gate) as inside:
                if gate == "token":
                    check_equal(inside.set(b"canary", b"5"), b"STORED\r\n")
                else:
                    inside.send(bs.packet(bs.SET, b"canary", b"\0" * 8, b"5"))
                    inside.read_exactly(24)
                before = _counters(inside, gate)
                count += _text_cell(reached) if gate == "token" else _binary_cell(reached)
                other = b"version\r\n" if gate == "sasl" else bs.packet(bs.VERSION)
                check_equal(_said(reached, other), b"", f"{name}: the other protocol")
                if name.startswith("mtls:"):
                    count += _uncertified_cell(server, host, certificates)
                check_equal(_counters(inside, gate), before, f"{gate}, {name}, {net}: counters")
                check(server.alive(), "a shutdown passed the gate")
    return count


def _uncertified_cell(server, host, certificates):
    """Whoever has no certificate of the authority is not even asked for a password."""
    uncertified = (certificates.context(), certificates.context(certificates.of_stranger), None)
    for context in uncertified:
        for request in (TOKEN, bs.packet(bs.SASL_AUTH, b"PLAIN", value=PLAIN), b"version\r\n"):
            try:
                said = _said(_Reached(server, host, context), request)
            except OSError:  # TLS's alert
                said = b""
            check(said == b"" or said[:1] == b"\x15", f"{request!r} was answered: {said!r}")
    return 9


class _Reached:
    """A server by one of its addresses; `context`: by TLS."""

    def __init__(self, server, address, context):
        self.server = server
        self.address = address
        self.context = context

    def connect(self):
        if self.context is None:
            return harness.Client(self.address)
        return TlsClient(self.address, self.context)


def test_starts_that_would_leave_a_door_open_are_refused():
    with _Files() as files:
        broken = pathlib.Path(files.folder.name) / "broken"
        broken.write_text("no colon\n")
        for flags, words in (
            (["-Y", files.path, "-B", "binary"], "BINARY protocol"),
            (["-Y", files.path, "-B", "auto"], "BINARY protocol"),
            (["-Y", files.path, "-l", "proto[binary]:127.0.0.1"], "BINARY protocol"),
            (["-Y", files.path, "-U", "11211"], "UDP"),
            (["-S", "-Y", files.path, "-B", "ascii"], "ASCII protocol"),
            (["-S", "-Y", files.path, "-B", "auto"], "ASCII protocol"),
            (["-S", "-Y", files.path, "-l", "proto[ascii]:127.0.0.1"], "ASCII protocol"),
            (["-S", "-Y", files.path, "-U", "1"], "UDP"),
            (["-S"], "MEMCACHED_SASL_PWDB"),
            (["-Y", broken], "line 1"),
            (["-Y", "/nowhere/at/all"], "/nowhere/at/all"),
        ):
            done = subprocess.run(
                [harness.subject_binary(), "serve", "-p", str(harness.free_port()), *flags],
                capture_output=True, text=True, timeout=20)
            check(done.returncode != 0 and words in done.stderr, f"{flags}: {done}")
            check("secret" not in done.stderr and "no colon" not in done.stderr, done.stderr)


def test_passwords_are_read_again():
    with _Files() as files, GatedServer(flags=["-Y", files.path, "-v"]) as server:
        old = _enter(server.connect(), "token")
        files.path.write_text("carol:new\n")
        server.signal(signal.SIGHUP)
        check(harness.eventually(lambda: _may_enter(server, b"carol new")), "the new password")
        check(not _may_enter(server, b"alice secret"), "the old password still holds")
        check_equal(old.command(b"version\r\n"), b"VERSION 1.6.18\r\n", "who is in stays in")
        files.path.write_text("broken\n")
        server.signal(signal.SIGHUP)
        check(harness.eventually(lambda: "stay as they were" in server.log()), server.log())
        check(_may_enter(server, b"carol new"), "a bad file took the old one away")
        for secret in ("secret", "carol", "broken"):
            check(secret not in server.log(), f"{secret} is in the log")
        with _enter_as(server, b"carol new") as client:
            client.send(b"stats\r\nstats settings\r\n")
            said = client.read_until(b"END\r\n") + client.read_until(b"END\r\n")
            check(b"carol" not in said and b"auth_enabled_ascii /" in said, said)


def _enter_as(server, token):
    client = server.connect()
    check_equal(client.command(b"set t 0 0 %d\r\n%s\r\n" % (len(token), token)), b"STORED\r\n")
    return client


def _may_enter(server, token):
    with server.connect() as client:
        return client.command(b"set t 0 0 %d\r\n%s\r\n" % (len(token), token)) == b"STORED\r\n"


def test_clients_log_in():
    with _Files() as files:
        with GatedServer(flags=["-Y", files.path]) as server:
            base = client_library("pymemcache.client.base")
            client = base.Client(server.address, default_noreply=False)
            check(client.set("login", b"alice secret"))
            check(client.set("k", b"v"))
            check_equal(client.get("k"), b"v")
        pwdb = pathlib.Path(files.folder.name) / "pwdb"
        pwdb.write_text("dave:word:more:fields\n")
        with harness.environment(MEMCACHED_SASL_PWDB=str(pwdb)):
            with GatedServer(flags=["-S"]) as server:
                _check_sasl_clients(server)


def _check_sasl_clients(server):
    bmemcached = client_library("bmemcached")
    client = bmemcached.Client((f"127.0.0.1:{server.port}",), "dave", "word")
    check(client.set("k", "v"))
    check_equal(client.get("k"), "v")
    client.disconnect_all()
    stranger = bmemcached.Client((f"127.0.0.1:{server.port}",), "dave", "wrong")
    try:
        check(not stranger.get("k"), "a stranger reads")
    except bmemcached.exceptions.MemcachedException:
        pass
    _check_php(server)


_PHP = """
foreach (['word', 'wrong'] as $password) {
  $m = new Memcached();
  $m->setOption(Memcached::OPT_BINARY_PROTOCOL, true);
  $m->addServer('127.0.0.1', (int)$argv[1]);
  $m->setSaslAuthData('dave', $password);
  echo var_export($m->set('php', 'x'), true), var_export($m->get('php'), true), ' ';
}
"""


def _check_php(server):
    """libmemcached's own SASL, where PHP and its extension are installed."""
    if not shutil.which("php"):
        return
    if subprocess.run(["php", "-r", "(new Memcached())->setSaslAuthData('a', 'b');"],
                      capture_output=True).returncode:
        return
    done = subprocess.run(["php", "-r", _PHP, "--", str(server.port)], capture_output=True,
                          text=True, timeout=60)
    check_equal(done.stdout.split(), ["true'x'", "falsefalse"], done.stderr)


if __name__ == "__main__":
    harness.main(globals())

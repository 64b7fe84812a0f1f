"""TLS: who gets in, what is said otherwise, reloads, and clients that speak it."""

import os
import pathlib
import random
import shutil
import signal
import socket
import ssl
import subprocess
import threading

import binary_stream as bs
import differential
import harness
from command_stream import CommandStream
from harness import Server, Skip, check, check_equal, client_library
from replies import Comparison
from tls_kit import Certificates, TlsClient, TlsServer


def _three_doors(port):
    return ["-l", f"notls:127.0.0.1:{port},btls:127.0.0.2:{port},mtls:127.0.0.3:{port}"]


def _asked(address, context):
    """What `version` is answered, or nothing where nobody gets in."""
    try:
        with TlsClient(address, context) as client:
            return client.command(b"version\r\n")
    except OSError:  # ssl.SSLError is one, too
        return b""


def test_doors_ask_for_what_they_say():
    count = 0
    with Certificates() as files:
        clients = {"nobody": None, "known": files.of_client, "stranger": files.of_stranger}
        for net in harness.nets():
            for verify in range(4):
                port = harness.free_port()
                flags = [*_three_doors(port), "-l", f"127.0.0.4:{port}"]
                with TlsServer(files, flags, files.context(files.of_client),
                               f",ssl_verify_mode={verify}", net=net):
                    for name, who in clients.items():
                        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                            context = files.context(who, version)
                            enters = [b"VERSION" in _asked((f"127.0.0.{i}", port), context)
                                      for i in (2, 3, 4)]
                            by_flags = {0: True, 1: name != "stranger", 2: name == "known",
                                        3: name == "known"}[verify]
                            check_equal(enters, [True, name == "known", by_flags],
                                        f"{net} verify {verify} {name} {version.name}")
                            count += 3
                    check_equal(_asked(("127.0.0.1", port), context), b"", "TLS at a plain door")
                    with harness.Client(("127.0.0.1", port)) as plain:
                        check(plain.command(b"version\r\n").startswith(b"VERSION"))
    return f"{count} clients"


def test_versions_below_the_least_are_refused():
    with Certificates() as files:
        for least, enters in ((2, [True, True]), (3, [False, True])):
            with TlsServer(files, extra=f",ssl_min_version={least}") as server:
                check_equal([b"VERSION" in _asked(server.address, files.context(None, version))
                             for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)],
                            enters)
                with server.connect() as client:
                    client.send(b"stats settings\r\n")
                    said = client.read_until(b"END\r\n")
                check(b"STAT ssl_min_version tlsv1.%d\r\n" % least in said, said)


def test_random_commands_are_answered_as_without_tls():
    seed = int(os.environ.get("WEFT_SEED", "1"))
    with Certificates() as files:
        for net in harness.nets():
            with TlsServer(files, net=net) as sealed, Server(net=net) as plain:
                stream = CommandStream(seed, "tls")
                comparison = Comparison()
                with sealed.connect() as one, plain.connect() as other:
                    for i in range(100):
                        mark = b"O@%d@" % i
                        requests = differential.render(stream.batch(30), comparison)
                        for client, request in zip((other, one), requests):
                            client.send(request + b"md !end " + mark + b"\r\n")
                        replies = [client.read_until(b"NF " + mark + b"\r\n")
                                   for client in (other, one)]
                        check_equal(comparison.compare(*replies), None,
                                    f"{net}, seed {seed}, batch {i}")
    return f"seed {seed}"


def test_values_of_all_sizes_in_records_of_any_size():
    with Certificates() as files:
        for net in harness.nets():
            with TlsServer(files, memory_mb=256, net=net) as server, server.connect() as client:
                for size in (0, 1, 100, 4095, 16383, 16384, 16385, 70000, 1_000_000):
                    value = random.Random(size).randbytes(size)
                    check_equal(client.set(b"k", value), b"STORED\r\n")
                    check_equal(client.get(b"k"), value, f"{net}: {size} bytes")
                for byte in b"set k 0 0 5\r\n12345\r\nget k\r\n":  # each a record of its own
                    client.send(bytes([byte]))
                check_equal(client.read_until(b"END\r\n"),
                            b"STORED\r\nVALUE k 0 5\r\n12345\r\nEND\r\n")
                client.send(b"set big 0 0 1000000\r\n" + b"v" * 1_000_000 + b"\r\n"
                            + b"get big\r\n" * 20)
                check_equal(client.line(), b"STORED\r\n")
                for _ in range(20):  # its socket is full long before
                    check_equal(len(client.read_until(b"END\r\n")), 1_000_000 + 28)
                # The binary protocol, too, by its first byte.
                with server.connect() as binary:
                    binary.send(bs.packet(bs.SET, b"\xff\0 ", b"\0" * 8, b"odd")
                                + bs.packet(bs.GET, b"\xff\0 "))
                    received = b""
                    while len(bs.take_replies(received)[0]) < 2:
                        received += binary.socket.recv(4096)
                    check_equal(bs.take_replies(received)[0][1].value, b"odd")


def test_plain_text_is_turned_away_and_the_log_says_why():
    with Certificates() as files:
        for net in harness.nets():
            port = harness.free_port()
            with TlsServer(files, ["-v", *_three_doors(port)], net=net) as server:
                with harness.Client(("127.0.0.2", port)) as plain:
                    plain.send(b"set a 0 0 1\r\n1\r\n")
                    check(not plain.read_to_end().startswith(b"S"), "plain text got in")
                check_equal(_asked(("127.0.0.1", port), files.context()), b"")
                check(harness.eventually(lambda: "TLS: error:" in server.log()), server.log())
                check("speaks TLS" in server.log(), server.log())
                check_equal(server.stats()["cmd_set"], "0")
                with harness.Client(("127.0.0.1", port)) as plain:
                    plain.send(b"stats\r\n")
                    check(b"STAT ssl_handshake_errors 1\r\n" in plain.read_until(b"END\r\n"))


class _Load(threading.Thread):
    """A client that connects anew each 20 requests and believes only what it stored."""

    def __init__(self, server, number, stop):
        super().__init__()
        self.server, self.number, self.stop = server, number, stop
        self.requests, self.wrong, self.serials = 0, [], set()

    def run(self):
        generator = random.Random(self.number)
        try:
            while not self.stop.is_set():
                with self.server.connect() as client:
                    self.serials.add(client.serial())
                    for _ in range(20):
                        key = b"%d-%d" % (self.number, generator.randrange(10))
                        value = generator.randbytes(generator.randrange(20_000))
                        if client.set(key, value) != b"STORED\r\n" or client.get(key) != value:
                            self.wrong.append(key)
                        self.requests += 2
        except Exception as error:
            self.wrong.append(repr(error))


def test_reload_under_load_is_seen_by_nobody_but_newcomers():
    with Certificates() as files:
        for net in harness.nets():
            with TlsServer(files, flags=["-A"], memory_mb=128, net=net) as server:
                stop = threading.Event()
                load = [_Load(server, number, stop) for number in range(3)]
                for one in load:
                    one.start()
                with server.connect() as kept:
                    first = kept.serial()
                    for turn in range(6):
                        files.renew()
                        if turn % 2 == 0:
                            server.signal(signal.SIGHUP)
                            check(harness.eventually(
                                lambda n=turn // 2: server.log().count("read again") > n))
                        else:
                            check_equal(kept.command(b"refresh_certs\r\n"), b"OK\r\n")
                        with server.connect() as young:
                            check(young.serial() != first, "the certificate is the old one")
                            first = young.serial()
                    check(kept.command(b"version\r\n").startswith(b"VERSION"), "who is in stays in")
                stop.set()
                for one in load:
                    one.join()
                    check_equal(one.wrong, [], net)
                check(len(set().union(*(one.serials for one in load))) > 1)


def test_a_bad_certificate_leaves_the_old_one():
    with Certificates() as files, TlsServer(files) as server, server.connect() as client:
        serial = client.serial()
        chain = files.path / "chain.pem"
        good = chain.read_bytes()
        chain.write_bytes(b"nothing of the kind\n")
        said = client.command(b"refresh_certs\r\n")
        check(said.startswith(b"Error loading the certificate chain: %s : error:"
                              % bytes(chain)), said)
        server.signal(signal.SIGHUP)
        check(harness.eventually(lambda: "stay as they were" in server.log()), server.log())
        chain.write_bytes(good)
        key = (files.path / "key.pem").read_bytes()
        files.renew()
        (files.path / "key.pem").write_bytes(key)  # of another certificate
        check(client.command(b"refresh_certs\r\n").startswith(b"Error loading the key: "))
        with server.connect() as young:
            check_equal(young.serial(), serial)
        check("PRIVATE" not in server.log(), "the key is in the log")
    with Server() as plain, plain.connect() as client:
        check_equal(client.command(b"refresh_certs\r\n"), b"Error TLS not enabled\r\n")


def test_starts_that_would_serve_plainly_are_refused():
    with Certificates() as files:
        chain, key, ca = (files.path / name for name in ("chain.pem", "key.pem", "ca.pem"))
        for flags, words in (
            (["-Z"], "ssl_chain_cert"),
            (["-Z", "-o", f"ssl_chain_cert={chain}"], "Error loading the key"),
            (["-Z", "-o", f"ssl_chain_cert=/nowhere,ssl_key={key}"], "/nowhere : error:"),
            (["-Z", "-o", f"ssl_chain_cert={ca},ssl_key={key}"], "Error loading the key"),
            (["-Z", "-o", f"ssl_chain_cert={chain},ssl_key={key},ssl_ciphers=x"], "cipher"),
            (["-l", "btls:127.0.0.1"], "need -Z"),
            (["-Z", "-o", f"ssl_chain_cert={chain},ssl_key={key}", "-l", "mtls:127.0.0.1"],
             "ssl_ca_cert"),
        ):
            done = subprocess.run(
                [harness.subject_binary(), "serve", "-p", str(harness.free_port()), *flags],
                capture_output=True, text=True, timeout=20)
            check(done.returncode != 0 and words in done.stderr, f"{flags}: {done}")
            check_equal(done.stderr.count("\n") <= 2, True, done.stderr)


def test_a_key_that_the_user_cannot_read_is_refused_at_the_start():
    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")
    with Certificates() as files:
        files.path.chmod(0o755)
        for name, mode in (("chain.pem", 0o644), ("ca.pem", 0o644), ("key.pem", 0o600)):
            (files.path / name).chmod(mode)
        done = subprocess.run(
            [harness.subject_binary(), "serve", "-u", "nobody", "-p", str(harness.free_port()),
             *files.flags()], capture_output=True, text=True, timeout=20)
        check(done.returncode != 0 and "ermission denied" in done.stderr, done)


def test_handshakes_that_end_early_harm_nobody():
    generator = random.Random(int(os.environ.get("WEFT_SEED", "1")))
    with Certificates() as files:
        for net in harness.nets():
            with TlsServer(files, net=net) as server, server.connect() as well:
                hello = _client_hello(files.context())
                for _ in range(60):
                    with socket.create_connection(server.address) as one:
                        one.sendall(hello[:generator.randrange(1, len(hello) + 1)])
                        if generator.random() < 0.5:
                            one.sendall(generator.randbytes(generator.randrange(300)))
                check(well.command(b"version\r\n").startswith(b"VERSION"))
                check(harness.eventually(
                    lambda: server.stats()["curr_connections"] in ("2", "3")), server.stats())


def _client_hello(context):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    half = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        half.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def test_connections_beyond_the_limit_end_without_a_word_of_plain_text():
    with Certificates() as files, TlsServer(files, flags=["-c", "3"]) as server:
        with server.connect(), server.connect():
            check(harness.eventually(lambda: _is_full(server)), "the limit was never reached")


def _is_full(server):
    with harness.Client(server.address) as one, harness.Client(server.address) as other:
        one.socket.settimeout(0.5)
        other.socket.settimeout(0.5)
        for client in (other, one):
            try:
                return client.socket.recv(100) == b""
            except TimeoutError:
                continue
            except ConnectionResetError:
                return True
    return False


def test_pymemcache_and_python_binary_memcached_by_tls():
    base = client_library("pymemcache.client.base")
    bmemcached = client_library("bmemcached")
    with Certificates() as files:
        mutual = files.context(files.of_client)
        with TlsServer(files, context=mutual, extra=",ssl_verify_mode=2") as server:
            client = base.Client(("localhost", server.port), tls_context=mutual)
            check(client.set("k", b"v" * 50_000))
            check_equal(client.get("k"), b"v" * 50_000)
            check_equal(client.get_many(["k", "none"]), {"k": b"v" * 50_000})
            client.close()
            client = bmemcached.Client((f"localhost:{server.port}",), tls_context=mutual)
            check(client.set("b", "w" * 50_000))
            check_equal(client.get("b"), "w" * 50_000)
            client.disconnect_all()


def test_openssl_s_client_and_memcached_answer_alike():
    if shutil.which("openssl") is None:
        raise Skip("openssl is not installed")
    with Certificates() as files:
        with TlsServer(files) as server:
            done = subprocess.run(
                ["openssl", "s_client", "-quiet", "-connect", f"127.0.0.1:{server.port}",
                 "-CAfile", files.path / "ca.pem", "-verify_return_error"],
                input=b"set a 0 0 1\r\n1\r\nget a\r\nquit\r\n", capture_output=True, timeout=20)
            check_equal(done.stdout, b"STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n", done.stderr)
        for binary in (None, shutil.which("memcached")):
            if binary is None:
                continue
            with TlsServer(files, binary=pathlib.Path(binary)) as theirs, TlsServer(files) as ours:
                check_equal(_tls_lines(ours, theirs), [])


def _tls_lines(ours, theirs):
    """Names about TLS that memcached reports and Weft does not, and settings that differ."""
    def report(server, which):
        with server.connect() as client:
            client.send(b"stats" + which + b"\r\n")
            lines = client.read_until(b"END\r\n").decode().split("\r\n")
        return {line.split(" ")[1]: line.split(" ", 2)[2] for line in lines
                if line.startswith("STAT ") and ("ssl" in line or "cert" in line)}
    missing = set(report(theirs, b"")) - set(report(ours, b""))
    ours, theirs = report(ours, b" settings"), report(theirs, b" settings")
    return sorted(missing) + [(k, v, ours.get(k)) for k, v in theirs.items() if ours.get(k) != v]


if __name__ == "__main__":
    harness.main(globals())

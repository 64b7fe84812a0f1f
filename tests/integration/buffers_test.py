"""Clients that hold memory beside -m: readers that do not read, uploads that stop halfway, and
commands with long answers. The server's memory stays bounded, and honest clients are served."""

import contextlib
import fcntl
import os
import resource
import select
import signal
import socket
import struct
import tempfile
import termios
import time

import harness
from harness import Client, Server, Skip, check, is_weft, subject_binary

MIB = 1 << 20
CONNECTIONS = 1024
MEMORY_MB = 64
BESIDE_MB = 64  # SECURITY.md's promise
BESIDE_DISK_MB = 116  # with --data: what it has written and read, and answers that wait
VALUE = b"v" * (MIB - 1000)


def nets():
    if not is_weft(subject_binary()):
        raise Skip("a promise of weft's")
    return harness.nets()


def high_water_mb(server):
    """The most memory the process ever held."""
    with open(f"/proc/{server.pid}/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    raise RuntimeError("no VmHWM")


def allow_many_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))


class Crowd:
    """Hostile connections. They send what they are told as far as it is taken, and read nothing.

    Their own buffers are small. A thousand with the usual ones hold 1.5 GiB of the kernel's memory:
    there (tcp_mem) it drops packets of all connections, and the honest wait for it, not for Weft.
    """

    def __init__(self, server, count):
        self.sockets = []
        for _ in range(count):
            client = Client(server.address, receive_buffer=4096)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32768)
            client.socket.setblocking(False)
            self.sockets.append(client.socket)
        self.owed = {}

    def send(self, data, which=None):
        for one in self.sockets if which is None else which:
            self.owed[one] = data
        self.push()

    def push(self):
        """Sends once more what the server takes now."""
        for one, data in list(self.owed.items()):
            try:
                sent = one.send(data)
            except BlockingIOError:
                continue
            except OSError:  # it was closed
                del self.owed[one]
                continue
            self.owed[one] = data[sent:]
            if not self.owed[one]:
                del self.owed[one]

    def close(self):
        for one in self.sockets:
            one.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def fill(server):
    """All of -m is in use, and the values that are asked for are there."""
    with server.connect() as client:
        for i in range(3 * MEMORY_MB):
            assert client.set(b"fill%d" % i, VALUE) == b"STORED\r\n"
        for i in range(8):
            assert client.set(b"big%d" % i, VALUE) == b"STORED\r\n"


def be_honest(server, old, rounds, crowd):
    """Clients old and new get their answers, small and large."""
    for i in range(rounds):
        crowd.push()
        with server.connect(timeout=300) as new:
            for client in (old, new):
                assert client.set(b"small", b"%d" % i) == b"STORED\r\n"
                assert client.get(b"small") == b"%d" % i
                assert client.set(b"mine", VALUE) == b"STORED\r\n"
                assert client.get(b"mine") == VALUE


def hold(server, prepare, rounds=3):
    allow_many_descriptors()
    fill(server)
    with server.connect(timeout=300) as old:
        assert old.set(b"mine", VALUE) == b"STORED\r\n"
        for _ in range(4):
            assert old.get(b"mine") == VALUE
        # One place each for the honest, and for the one that asks for statistics.
        with Crowd(server, CONNECTIONS - 4) as crowd:
            prepare(crowd)
            be_honest(server, old, rounds, crowd)
            assert server.alive()
    high = high_water_mb(server)
    assert high <= MEMORY_MB + BESIDE_MB, f"{high:.0f} MiB were in use"
    return high


def everywhere(prepare, rounds=3):
    notes = []
    for net in nets():
        with Server(net=net, memory_mb=MEMORY_MB, threads=4, flags=["-c", CONNECTIONS]) as server:
            notes.append(f"{net} {hold(server, prepare, rounds):.0f} MiB")
    return ", ".join(notes)


def test_readers_that_do_not_read():
    return everywhere(lambda crowd: crowd.send(b"get big1\r\n"))


def test_readers_of_many_values_that_do_not_read():
    return everywhere(lambda crowd: crowd.send(b"get big1 big2 big3 big4\r\n" * 50))


def test_commands_that_return_values():
    asks = (
        b"gets big1\r\n",
        b"gat 0 big2\r\n",
        b"mg big3 v k O1 t f c s\r\n",
        b"mg big4 v q\r\nmn\r\n",
    )

    def prepare(crowd):
        for i, ask in enumerate(asks):
            crowd.send(ask * 20, crowd.sockets[i :: len(asks)])

    return everywhere(prepare)


def test_small_replies_that_nobody_reads():
    texts = (b"version\r\n", b"nonsense\r\n", b"mn\r\n", b"me small\r\n", b"get absent\r\n")

    def prepare(crowd):
        for i, text in enumerate(texts):
            crowd.send(text * 500, crowd.sockets[100 + i :: len(texts)])
            crowd.send(text * 20000, crowd.sockets[i : 100 : len(texts)])

    return everywhere(prepare)


def test_statistics_that_nobody_reads():
    def prepare(crowd):
        # Few of them, for each looks at all the connections; and short reports from many.
        crowd.send(b"stats conns\r\n" * 500, crowd.sockets[:64])
        crowd.send(b"stats settings\r\n" * 20, crowd.sockets[64:])

    return everywhere(prepare, rounds=2)


def test_uploads_that_stop_halfway():
    request = b"set half 0 0 %d\r\n%s\r\n" % (len(VALUE), VALUE)
    return everywhere(lambda crowd: crowd.send(request[:-1]))


def test_uploads_that_announce_much_and_send_little():
    def prepare(crowd):
        crowd.send(b"set half 0 0 %d\r\n" % len(VALUE) + VALUE[:30000])

    return everywhere(prepare)


def test_long_lines_that_do_not_end():
    return everywhere(lambda crowd: crowd.send(b"get " + b"key " * 100000))


def test_all_at_once():
    request = b"set half 0 0 %d\r\n%s\r\n" % (len(VALUE), VALUE)

    def prepare(crowd):
        crowd.send(b"get big1 big2\r\n" * 10, crowd.sockets[0::3])
        crowd.send(request[:-1], crowd.sockets[1::3])
        crowd.send(b"version\r\n" * 3000 + b"get big3\r\n", crowd.sockets[2::3])

    return everywhere(prepare)


def has_arrived(client):
    """All that it sent is at the server's socket."""
    return fcntl.ioctl(client.socket, termios.TIOCOUTQ, bytes(4)) == struct.pack("i", 0)


def test_pipelined_statistics_leave_the_others_their_turns():
    """While many reports are owed, others get answers between them, not behind them."""
    reports = 15  # fewer than a client's room for replies ends
    for net in nets():
        with Server(net=net, threads=1, flags=["-c", CONNECTIONS]) as server:
            with contextlib.ExitStack() as stack:
                for _ in range(400):
                    stack.enter_context(server.connect())
                greedy = stack.enter_context(server.connect(timeout=120))
                others = [stack.enter_context(server.connect()) for _ in range(2)]
                assert greedy.set(b"n", b"0") == b"STORED\r\n"
                for counted in range(0, 20, 2):
                    # While it stands still all arrives: one of the others' behind the reports.
                    server.signal(signal.SIGSTOP)
                    os.waitpid(server.pid, os.WUNTRACED)
                    others[0].send(b"incr n 1\r\n")
                    greedy.send(b"stats conns\r\nget n\r\n" * reports)
                    others[1].send(b"incr n 1\r\n")
                    while not all(has_arrived(client) for client in (greedy, *others)):
                        time.sleep(0.001)
                    server.signal(signal.SIGCONT)
                    for _ in range(reports):
                        assert len(greedy.read_until(b"END\r\n")) > 20000
                        last = greedy.read_until(b"END\r\n").split(b"\r\n")[1]
                    assert int(last) == counted + 2, f"{net}: {last} of {counted + 2}"
                    for other in others:
                        other.line()


def test_large_values_fit_whatever_the_threads():
    """-I counts: what the options allow can be stored and read."""
    big = b"x" * (12 * MIB)
    for net in nets():
        with Server(net=net, memory_mb=64, threads=4, flags=["-I", "16m"]) as server:
            with server.connect(timeout=60) as one, server.connect(timeout=60) as other:
                for client in (one, other):
                    assert client.set(b"big", big) == b"STORED\r\n"
                    assert client.get(b"big") == big


def test_slow_uploads_all_finish():
    """More half requests than fit, all at the same slow pace: nobody is cut off."""
    value = b"u" * 1000000
    for net in nets():
        with Server(net=net, memory_mb=64, threads=2) as server:
            with contextlib.ExitStack() as stack:
                clients = [stack.enter_context(server.connect(timeout=120)) for _ in range(40)]
                rest = {}
                for i, client in enumerate(clients):
                    rest[client] = b"set up%d 0 0 %d\r\n%s\r\n" % (i, len(value), value)
                    client.socket.setblocking(False)
                while rest:
                    for client, data in list(rest.items()):
                        with contextlib.suppress(BlockingIOError):
                            data = data[client.socket.send(data[:25000]) :]
                        rest[client] = data
                        if not data:
                            del rest[client]
                    time.sleep(0.002)
                for client in clients:
                    client.socket.settimeout(120)
                    assert client.line() == b"STORED\r\n"


def read_all(clients, ends=2):
    """What each client is sent, up to so many lines of END. All read whatever comes."""
    replies = {client.socket: b"" for client in clients}
    left = set(replies)
    while left:
        ready = select.select(list(left), [], [], 120)[0]
        assert ready, f"{len(left)} have no whole answer"
        for one in ready:
            data = one.recv(1 << 20)
            assert data, "closed"
            replies[one] += data
            if replies[one][-7:].endswith(b"END\r\n") and replies[one].count(b"END\r\n") >= ends:
                left.discard(one)
    return [replies[client.socket] for client in clients]


def test_answers_of_the_disk_that_wait_for_a_turn_are_bounded():
    """Touches of what is in memory have clients wait for their turn, each with a large value that
    has come from disk for the request behind."""
    value = b"d" * 1000000
    touches = 4
    worst = 0
    for net in nets():
        with tempfile.TemporaryDirectory() as folder:
            flags = ["--data", folder, "-c", CONNECTIONS]
            with Server(net=net, memory_mb=MEMORY_MB, threads=1, flags=flags) as server:
                allow_many_descriptors()
                with server.connect(timeout=60) as client:
                    for i in range(150):
                        assert client.set(b"d%d" % i, value) == b"STORED\r\n"
                    for i in range(16):
                        assert client.set(b"m%d" % i, value) == b"STORED\r\n"
                before = high_water_mb(server)
                with contextlib.ExitStack() as stack:
                    clients = [stack.enter_context(server.connect(timeout=120)) for _ in range(300)]
                    for i, client in enumerate(clients):
                        client.send(b"get none%d\r\n" % i + b"touch m%d 0\r\n" % (i % 16) * touches
                                    + b"get d%d\r\n" % (i % 120))
                    replies = read_all(clients)
                for i, reply in enumerate(replies):
                    head, _, rest = reply.partition(b"VALUE ")
                    assert head == b"END\r\n" + b"TOUCHED\r\n" * touches, head
                    assert rest == b"d%d 0 %d\r\n%s\r\nEND\r\n" % (i % 120, len(value), value)
                worst = max(worst, high_water_mb(server) - before)
    check(worst < BESIDE_MB + BESIDE_DISK_MB, f"{worst:.0f} MiB more than before")
    return f"{worst:.0f} MiB more than before"


def test_memory_of_a_burst_is_given_back():
    for net in nets():
        with Server(net=net, memory_mb=64, threads=4, flags=["-c", CONNECTIONS]) as server:
            allow_many_descriptors()
            with server.connect(timeout=120) as client:
                assert client.set(b"big1", VALUE) == b"STORED\r\n"
                assert client.get(b"big1") == VALUE
                before = server.rss_kb()
                with Crowd(server, 200) as crowd:
                    crowd.send(b"get big1\r\n" * 3)
                    assert client.get(b"big1") == VALUE
                deadline = time.monotonic() + 30
                while server.rss_kb() > before + 4 * 1024:
                    assert time.monotonic() < deadline, (before, server.rss_kb())
                    time.sleep(0.1)


if __name__ == "__main__":
    harness.main(globals())

"""memcached's binary protocol, packet by packet beside memcached itself, and what chooses it."""

import os
import struct
import time

import binary_stream as bs
import harness
from harness import Server, Skip, check, check_equal

SEED = int(os.environ.get("WEFT_SEED", "1"))
LONG = os.environ.get("WEFT_TEST_LONG") == "1"


def _reference():
    if not harness.REFERENCE.exists():
        raise Skip(f"no memcached at {harness.REFERENCE}")
    return Server(harness.REFERENCE, ["-o", "no_lru_maintainer,no_lru_crawler"])


def _exchange(client, data, pieces=None):
    """Sends bytes and a noop of opaque ffffffff; the replies before that one's, and what is left.
    A connection that ends gives what came until then, and None behind it; one that says nothing
    more, "waits"."""
    mark = bs.packet(bs.NOOP, opaque=0xFFFFFFFF)
    try:
        for piece in pieces or [data]:
            client.send(piece)
        client.send(mark)
    except OSError:
        pass  # it has hung up: what it said before tells
    received = bytearray()
    replies = []
    while True:
        try:
            more = client.socket.recv(1 << 18)
        except ConnectionResetError:
            more = b""
        except TimeoutError:
            return replies + ["waits"]
        if not more:
            return replies + [None]
        received += more
        new, rest = bs.take_replies(received)
        received = bytearray(rest)
        replies += new
        if replies and replies[-1].opcode == bs.NOOP and replies[-1].opaque == 0xFFFFFFFF:
            return replies[:-1]


class _Versions:
    """Maps one server's versions to the other's, one to one."""

    def __init__(self):
        self.theirs = {}
        self.ours = {}

    def same(self, theirs, ours):
        if (theirs == 0) != (ours == 0):
            return False
        return self.theirs.setdefault(theirs, ours) == ours and \
            self.ours.setdefault(ours, theirs) == theirs


def _compare(theirs, ours, versions, about):
    for their, our in zip(theirs, ours):
        if their is None or our is None:
            check(their is our, f"{about}: one hung up; theirs {their}, ours {our}")
            continue
        check_equal(our._replace(cas=0), their._replace(cas=0), about)
        check(versions.same(their.cas, our.cas), f"{about}: versions {their.cas} and {our.cas}")
    check_equal(len(ours), len(theirs), f"{about}: replies; theirs {theirs[-3:]}, ours {ours[-3:]}")


def test_random_packets_are_answered_as_memcached_answers():
    requests_max = 400_000 if LONG else 12_000
    stream = bs.BinaryStream(SEED)
    versions = _Versions()
    shown = ({}, {})
    count = 0
    with _reference() as reference, Server() as subject:
        clients = [reference.connect(), subject.connect()]
        while count < requests_max:
            batch = stream.batch(stream.random.choice((1, 5, 60, 300)))
            replies = []
            for client, known in zip(clients, shown):
                data = b"".join(
                    make({bs.NONE: 0, bs.SHOWN: known.get(key, 0), bs.WRONG: 2**63 + 5}[which])
                    for key, which, make in batch)
                cut = stream.random.randrange(1, len(data) + 1)
                replies.append(_exchange(client, data, [data[:cut], data[cut:]]))
            about = f"seed {SEED}, requests from {count} on"
            for known, got in zip(shown, replies):
                keys = {struct.unpack(">I", make(0)[12:16])[0]: key for key, _, make in batch}
                for reply in got:
                    if reply is not None and reply.cas:
                        known[keys[reply.opaque]] = reply.cas
            _compare(*replies, versions, about)
            count += len(batch)
    return f"{count} packets, seed {SEED}"


def _lying_packets():
    """(packet, answer): its lengths disagree with themselves or with its opcode. Without an answer
    memcached's is ours, too. It waits for bytes that nobody announced, or skips a body twice: there
    the answer is a status, and whether the connection ends."""
    known = {*range(0x00, 0x1B), *range(0x1C, 0x1F), *range(0x20, 0x25)}
    for opcode in [*range(0x00, 0x26), 0x30, 0x3C, 0xFF]:
        skipped = None if opcode in known else (0x81, False)
        yield bs.packet(opcode), None
        yield bs.packet(opcode, b"k"), skipped
        yield bs.packet(opcode, b"k", b"\0" * 4), skipped
        yield bs.packet(opcode, b"k", b"\0" * 8), skipped
        yield bs.packet(opcode, b"k", b"\0" * 20), skipped
        if opcode != bs.STAT:  # where memcached takes the value for the next packet
            yield bs.packet(opcode, b"k", b"", b"value"), skipped
        yield bs.packet(opcode, b"", b"\0" * 8, b"value"), skipped
        yield bs.packet(opcode, b"", b"\0" * 4), skipped
        yield bs.packet(opcode, b"k", key_bytes=9), (0x81, True)
        yield bs.packet(opcode, b"k" * 251), None
        yield bs.packet(opcode, b"k" * 251, b"\0" * 8), None
        yield bs.packet(opcode, b"k", b"\0" * 8, key_bytes=0xFFFF), (0x81, True)
        yield bs.packet(opcode, b"k", extras_bytes=255), (0x81, True)
        yield bs.packet(opcode, b"k", body_bytes=0), (0x81, True)
    for opcode in (bs.GET, bs.SET, bs.NOOP, 0x30):
        yield bs.packet(opcode, body_bytes=0xFFFFFFFF), (0x04, True)
        yield bs.packet(opcode, body_bytes=0x40000001), (0x04, True)
        yield bs.packet(opcode, magic=0x81), (None, True)
        yield bs.packet(opcode, magic=0x00), (None, True)


def test_lengths_that_disagree_are_refused_as_memcached_refuses():
    count = 0
    with _reference() as reference, Server() as subject:
        for data, answer in _lying_packets():
            replies = []
            for server in (reference, subject) if answer is None else (subject,):
                with server.connect() as client:
                    # A first good packet, so that the first byte has told the protocol.
                    begin = bs.packet(bs.SET, b"k", bs.set_extras(), b"7", opaque=1)
                    replies.append(_exchange(client, begin + data))
            count += 1
            if answer is not None:
                status, ends = answer
                got = [r and r.status for r in replies[0][1:]]
                expected = ([] if status is None else [status]) + [None] * ends
                check_equal(got, expected, f"packet {data[:60].hex()}")
                continue
            named = [[r._replace(cas=0) if isinstance(r, bs.Reply) else r for r in each]
                     for each in replies]
            if data[1] in (bs.STAT, bs.VERSION):  # numbers differ: what kind of answer it is
                named = [[r[0:2] if isinstance(r, bs.Reply) else r for r in each[:3]]
                         for each in named]
            check_equal(named[1], named[0], f"packet {data[:60].hex()}")
    return f"{count} packets"


def test_a_packet_may_come_in_any_pieces():
    data = (
        bs.packet(bs.SET, b"key", bs.set_extras(7), b"value", opaque=1)
        + bs.packet(bs.GETK, b"key", opaque=2)
        + bs.packet(bs.INCREMENT, b"n", bs.delta_extras(1, 41, 0), opaque=3)
        + bs.packet(bs.SETQ, b"big", bs.set_extras(), b"x" * 1_100_000, opaque=4)
        + bs.packet(0x33, b"unknown", b"", b"body", opaque=5)
        + bs.packet(bs.GETQ, b"none", opaque=6)
    )
    expected = [
        (bs.SET, 0, 1, b"", b"", b""),
        (bs.GETK, 0, 2, struct.pack(">I", 7), b"key", b"value"),
        (bs.INCREMENT, 0, 3, b"", b"", struct.pack(">Q", 41)),
        (bs.SETQ, 3, 4, b"", b"", b"Too large."),
        (0x33, 0x81, 5, b"", b"", b"Unknown command"),
    ]
    for net in harness.nets():
        with Server(net=net) as server:
            for cut in [*range(1, 200), len(data) - 60, len(data) - 1]:
                with server.connect() as client:
                    client.send(bs.packet(bs.FLUSHQ) + data[:cut])
                    if cut % 8 == 0:
                        time.sleep(0.002)
                    replies = _exchange(client, data[cut:])
                got = [(r.opcode, r.status, r.opaque, r.extras, r.key, r.value) for r in replies]
                check_equal(got, expected, f"{net}, cut at {cut}")


def test_the_first_byte_or_the_flags_choose_the_protocol():
    noop = bs.packet(bs.NOOP, opaque=9)
    answer = bs.HEADER.pack(bs.REPLY, bs.NOOP, 0, 0, 0, 0, 0, 9, 0)
    version = b"version\r\n"

    def speaks(server, port=None):
        """(text, binary): whether it answers each; one that does not hangs up without a word."""
        spoken = []
        for request, expected in ((version, b"VERSION "), (noop, answer)):
            with harness.Client(("127.0.0.1", port or server.port)) as client:
                client.send(request)
                got = client.socket.recv(100)
            check(got.startswith(expected) or got == b"", f"{request!r}: {got!r}")
            spoken.append(bool(got))
        return tuple(spoken)

    with Server(flags=["-B", "auto"]) as server:
        check_equal(speaks(server), (True, True))
        check_equal(server.stats(b"settings")["binding_protocol"], "auto-negotiate")
    with Server(flags=["-B", "ascii"]) as server:
        check_equal(speaks(server), (True, False))
        check_equal(server.stats(b"settings")["binding_protocol"], "ascii")
    for prefix, spoken in (("ascii", (True, False)), ("binary", (False, True)),
                           ("negotiating", (True, True))):
        port = harness.free_port()
        with Server(flags=["-l", f"proto[{prefix}]:tag[two]:127.0.0.1:{port}"]) as server:
            check_equal(speaks(server, port), spoken, prefix)


def test_statistics_come_as_packets():
    with _reference() as reference, Server(flags=["-F"]) as subject:
        for group in (b"", b"settings", b"items", b"slabs", b"sizes"):
            names = []
            for server in (reference, subject):
                with server.connect() as client:
                    client.send(bs.packet(bs.SET, b"k", bs.set_extras(), b"v"))
                    replies = _exchange(client, bs.packet(bs.STAT, group, opaque=5))[1:]
                check(all(r.opcode == bs.STAT and r.opaque == 5 and r.status == 0
                          for r in replies), f"{group}: {replies[:3]}")
                check_equal((replies[-1].key, replies[-1].value), (b"", b""), group)
                names.append([r.key for r in replies[:-1]])
            missing = set(names[0]) - set(names[1])
            check(not missing, f"{group}: without {missing}")
        for group, replies in (
            (b"reset", [(0, b"", b"")]),
            (b"detail on", [(0, b"", b"")]),
            (b"detail off", [(0, b"", b"")]),
            (b"nonsense", [(1, b"", b"Not found")]),
        ):
            with subject.connect() as client:
                got = _exchange(client, bs.packet(bs.STAT, group))
            check_equal([(r.status, r.key, r.value) for r in got], replies, group)
        with subject.connect() as client:
            got = _exchange(client, bs.packet(bs.FLUSH) + bs.packet(bs.VERSION))
        check_equal([(r.status, r.value) for r in got], [(0x20, b"Auth failure."), (0, b"1.6.18")])


if __name__ == "__main__":
    harness.main(globals())

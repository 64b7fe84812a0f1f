"""What fronts send: mcrouter, memcached's own proxy, and clients that pool connections.

Their streams are compared with memcached's answers; the runs that end with `mn` with a model.
"""

import os
import random
import re
import tempfile
import time

import harness
from harness import Client, Server, Skip, check, check_equal
from rings import LONG, four_servers

# memcached's proxy sends a client's line with two edits: `noreply` becomes `noreplY`, a word that
# is ignored and so answered, and the flag q becomes a blank.
PROXY = b"""version
get absent
set k 0 0 5 noreplY|hello
get k
gets k
add k 0 0 1 noreplY|x
replace k 3 0 7 noreplY|replace
append k 0 0 1 noreplY|>
prepend k 0 0 1 noreplY|<
get k
gat 100 k
gats 100 k
touch k 0 noreplY
touch absent 0 noreplY
incr k 1 noreplY
set n 0 0 2 noreplY|41
incr n 1 noreplY
decr n 2 noreplY
incr absent 1 noreplY
delete k noreplY
delete k noreplY
cas n 0 0 1 1 noreplY|2
get n
mg k  v
mg n  v
mg n v
mg n v
mg n  s  v  k
mg n k  O123  v
mg absent  k O1
ms k 2  T0|hi
ms k 2  F5  T100|hi
ms k 2   |hi
ms k 2 F7  MA|yo
ms absent 2  MR|yo
ms k 2  ME|yo
mg k  v f s
md absent
md k
md k
ma n  N0
ma n  MI D5 v
ma n  v
ma absent  N0 J7 v
mg n  t
me n x
mn
set k 0 0 3 noreply2|abc
set k 0 0 3 noReply|abd
get k
delete k 0 noreplY
delete k 1
flush_all noreplY
get n
verbosity 0 noreplY
mn
"""

# mcrouter asks for one key at a time. Its own commands are none of memcached's.
MCROUTER = b"""version
get absent
gets absent
set k 17 0 5|hello
get k
gets k
add k 0 0 1|x
add new 0 100 1|x
replace k 0 0 7|replace
replace absent 0 0 1|x
append k 0 0 1|>
prepend k 0 0 1|<
append absent 0 0 1|>
get k
gat 100 k
gat 100 absent
gats 100 k
touch k 100
touch absent 100
set n 0 0 20|18446744073709551615
incr n 1
decr n 1
incr absent 1
decr k 1
delete k
delete k
delete n 0
set n 0 -1 1|1
get n
cas absent 0 0 1 5|x
set empty 0 0 0|
get empty
version
lease-get k
lease-set k 1 0 0 2|hi
metaget k
lease-gets k
set __mcrouter__.probe 0 0 1|x
delete __mcrouter__.probe
get /region/cluster/k
set /region/cluster/k 0 0 1|x
get /region/cluster/k
flush_all 0
get new
flush_all
mn
quit
"""


def _requests(stream):
    for line in stream.splitlines():
        head, bar, value = line.partition(b"|")
        yield head + b"\r\n" + (value + b"\r\n" if bar else b"")


# Versions are each server's own; the rest of a line is the same.
_CAS = re.compile(rb"^(VALUE \S+ \d+ \d+) \d+\r$", re.M)


def _without_versions(text):
    text = _CAS.sub(rb"\1 *\r", text)
    return re.sub(rb"exp=.*", b"...", text)


def _compare(stream):
    """One request at a time, all in one piece, and cut anywhere, against the reference."""
    if not harness.REFERENCE.exists():
        raise Skip(f"no reference server at {harness.REFERENCE}")
    requests = list(_requests(stream))
    rng = random.Random(1)
    with Server(harness.REFERENCE) as theirs, Server() as ours:
        answers = []
        for server in (theirs, ours):
            # Whoever asks for one thing at a time sees which answer belongs to what.
            with server.connect() as client, server.connect() as cut:
                singly = []
                for request in requests:
                    client.send(request)
                    if request.startswith(b"quit"):
                        singly.append((request, client.read_to_end()))
                        break
                    client.send(b"mn\r\n")
                    singly.append((request, _without_versions(client.read_until(b"MN\r\n"))))
                    if request == b"mn\r\n":  # it has two answers
                        client.read_until(b"MN\r\n")
                whole = b"".join(requests)
                at = 0
                while at < len(whole):
                    step = rng.randrange(1, 60)
                    cut.send(whole[at:at + step])
                    at += step
                if not whole.endswith(b"quit\r\n"):
                    cut.send(b"quit\r\n")
                answers.append((singly, _without_versions(cut.read_to_end())))
        for (request, expected), (_, got) in zip(*(singly for singly, _ in answers), strict=True):
            check_equal(got, expected, f"the answer to {request}")
        check_equal(answers[1][1], answers[0][1], "all in a row")
    return f"{len(requests)} requests"


def test_the_stream_of_memcacheds_proxy():
    return _compare(PROXY)


def test_the_stream_of_mcrouter():
    return _compare(MCROUTER)


class Peer:
    """One pooled connection with keys of its own, and what the server should hold of them."""

    def __init__(self, address, number, rng):
        self.address = address
        self.name = b"p%d" % number
        self.rng = rng
        self.life = 0
        self.client = None
        self.expected = self.rest = b""
        self.begin_anew()

    def begin_anew(self):
        """After a close nobody knows how far the run came: the next life has other keys."""
        if self.client:
            self.client.close()
        self.client = Client(self.address, timeout=60)
        self.life += 1
        self.model = {}

    def _one(self, opaque):
        """A request, and what is answered to it."""
        rng, model = self.rng, self.model
        key = b"%s.%d.%d" % (self.name, self.life, rng.randrange(6))
        kind = rng.randrange(6)
        if kind == 0:  # quiet: a hit alone is answered
            if key not in model:
                return b"mg %s v k q O%d\r\n" % (key, opaque), b""
            return (b"mg %s v k q O%d\r\n" % (key, opaque),
                    b"VA %d k%s O%d\r\n%s\r\n" % (len(model[key]), key, opaque, model[key]))
        if kind == 1:
            size = b"HD s%d" % len(model[key]) if key in model else b"EN"
            got = size + b" O%d\r\n" % opaque
            return b"mg %s s O%d\r\n" % (key, opaque), got
        if kind in (2, 3):
            quiet = kind == 2
            size = rng.choice((0, 3, 40, 3000)) if rng.random() < 0.9 else 70_000
            value = (b"%s/%d/" % (key, opaque)).ljust(size, b"v") if size else b"7"
            model[key] = value
            words = b" q" if quiet else b""
            return (b"ms %s %d O%d%s\r\n%s\r\n" % (key, len(value), opaque, words, value),
                    b"" if quiet else b"HD O%d\r\n" % opaque)
        if kind == 4:
            there = model.pop(key, None) is not None
            return b"md %s q O%d\r\n" % (key, opaque), b"" if there else b"NF O%d\r\n" % opaque
        request = b"ma %s v O%d\r\n" % (key, opaque)
        value = model.get(key)
        if value is None:
            return request, b"NF O%d\r\n" % opaque
        if not value.isdigit():
            return request, b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"
        model[key] = b"%d" % (int(value) + 1)
        return request, b"VA %d O%d\r\n%s\r\n" % (len(model[key]), opaque, model[key])

    def send_run(self, count):
        pairs = [self._one(i) for i in range(count)]
        self.expected = b"".join(answer for _, answer in pairs) + b"MN\r\n"
        whole = b"".join(request for request, _ in pairs) + b"mn\r\n"
        if self.rng.random() < 0.1:  # closed in the middle, or before it reads
            self.client.send(whole[:self.rng.randrange(len(whole))])
            self.begin_anew()
            self.expected = b""
            return
        cut = self.rng.randrange(len(whole))
        self.client.send(whole[:cut])
        self.rest = whole[cut:]

    def finish_run(self):
        if not self.expected:
            return 0
        self.client.send(self.rest)
        got = self.client.read_until(b"MN\r\n")
        check(got == self.expected, f"{self.name}: {_first_difference(got, self.expected)}")
        return 1


def _first_difference(got, expected):
    at = next((i for i, pair in enumerate(zip(got, expected)) if pair[0] != pair[1]), len(got))
    start = max(0, at - 60)
    return f"got {got[start:at + 60]!r}, expected {expected[start:at + 60]!r}"


def test_pooled_meta_runs_end_with_mn():
    """Fifty connections to each of four servers send runs, and some close in the middle."""
    seed = 5
    rng = random.Random(seed)
    with four_servers() as servers:
        addresses = [address for address in servers for _ in range(50)]
        peers = [Peer(address, i, rng) for i, address in enumerate(addresses)]
        runs = 0
        for _ in range(40 if LONG else 8):
            rng.shuffle(peers)
            for peer in peers:
                peer.send_run(rng.randrange(1, 40))
            rng.shuffle(peers)
            runs += sum(peer.finish_run() for peer in peers)
        for server in servers.values():
            check(server.alive(), "a server ended")
        for peer in peers:
            peer.client.close()
    return f"{runs} runs, seed {seed}"


def test_idle_timeout_spares_whoever_is_in_the_middle_of_something():
    def outlive(server, silent, busy):
        """Two connections one after the other become idle; then the busy ones are asked on."""
        for _ in range(2):
            with server.connect(timeout=60) as idle:
                idle.set(b"other", b"1")
                check_equal(idle.read_to_end(), b"", "an idle connection")
        check_equal(silent.read_to_end(), b"", "half a line")
        busy()

    value = b"v" * 1_000_000
    for binary in (None, *([harness.REFERENCE] if harness.REFERENCE.exists() else [])):
        with Server(binary, flags=["-o", "idle_timeout=1"], threads=1) as server:
            with server.connect(timeout=60) as half, server.connect(timeout=60) as reads, \
                    server.connect(timeout=60) as silent, server.connect(timeout=60) as refused:
                reads.set(b"large", value)
                reads.send(b"get large\r\n" * 20)
                half.send(b"set key 0 0 10\r\n12345")
                refused.send(b"set key 0 0 2000000\r\n12345")
                silent.send(b"get ke")

                def busy():
                    check_equal(half.command(b"67890\r\n"), b"STORED\r\n", "half a value")
                    whole = b"VALUE large 0 1000000\r\n" + value + b"\r\nEND\r\n"
                    check(reads.read_exactly(20 * len(whole)) == whole * 20, "unread replies")
                    refused.send(b"x" * 1_999_995 + b"\r\nmn\r\n")
                    check_equal(refused.read_until(b"MN\r\n"),
                                b"SERVER_ERROR object too large for cache\r\nMN\r\n", "refused")

                outlive(server, silent, busy)
    if harness.subject_binary().exists():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s")
            with Server(flags=["-o", "idle_timeout=1"], unix_path=path) as server:
                with server.connect() as client:
                    client.set(b"key", b"1")
                    time.sleep(2.5)
                    check_equal(client.get(b"key"), b"1", "a Unix socket")


if __name__ == "__main__":
    harness.main(globals())

"""Lists of keys: `lru_crawler metadump` and `mgdump`, and `stats cachedump`."""

import base64
import re
import time
import urllib.parse

import binary_stream as bs
import harness
from harness import Server, Skip, check, check_equal

META = re.compile(rb"key=(\S+) exp=(-1|\d+) la=(\d+) cas=(\d+) fetch=(yes|no) cls=\d+ size=\d+ ?\n")


def _metadump(client, classes=b"all"):
    """{key: (exp, la, cas, fetch)} of a whole dump."""
    client.send(b"lru_crawler metadump %s\r\n" % classes)
    lines = client.read_until(b"END\r\n")[: -len(b"END\r\n")]
    found = {}
    for line in lines.splitlines(keepends=True):
        match = META.fullmatch(line)
        check(match, f"line {line!r}")
        key = urllib.parse.unquote_to_bytes(match[1])
        check(key not in found, f"{key} comes twice")
        found[key] = match.groups()[1:]
    return found


def test_a_metadump_says_what_memcached_says():
    if not harness.REFERENCE.exists():
        raise Skip(f"no memcached at {harness.REFERENCE}")
    odd = [b"plain-._~", b"per%cent", b"a=b&c", b"\xc3\xa9", b"x" * 250, b"/path?q#f", b"Upper+1"]
    dumps = []
    for binary in (harness.REFERENCE, harness.subject_binary()):
        with Server(binary) as server, server.connect() as client:
            for key in odd:
                check_equal(client.set(key, b"value"), b"STORED\r\n")
            client.set(b"flags", b"v", flags=7)
            client.set(b"ends", b"v", ttl_s=1000)
            client.set(b"read", b"v")
            client.get(b"read")
            client.set(b"gone", b"v", ttl_s=-1)
            client.command(b"delete per%cent\r\n")
            with server.connect() as other:
                other.send(bs.packet(bs.SETQ, b"any\0 \r\nbytes", bs.set_extras(), b"v")
                           + bs.packet(bs.NOOP))
                other.read_exactly(24)
            dump = _metadump(client)
            now = time.time()
            for key, (exp, la, cas, fetch) in dump.items():
                check(abs(int(la) - now) < 5, f"{key}: la {la}")
                check(int(cas) > 0, f"{key}: cas {cas}")
                expected = now + 1000 if key == b"ends" else -1
                check(abs(int(exp) - expected) < 5, f"{key}: exp {exp}")
                dump[key] = fetch
            dumps.append(dump)
            check_equal(_metadump(client, b"hash").keys(), dump.keys())
            check_equal(client.command(b"version\r\n")[:8], b"VERSION ")
    check_equal(dumps[1], dumps[0])


def test_dumps_of_many_keys_are_whole_and_hold_up_nobody():
    count = 200_000
    for net in harness.nets():
        with Server(memory_mb=256, net=net) as server, server.connect() as client:
            for at in range(0, count, 1000):
                client.send(b"".join(b"set key%d 0 0 2 noreply\r\nvv\r\n" % i
                                     for i in range(at, at + 1000)))
            check_equal(client.get(b"key%d" % (count - 1)), b"vv")
            dump = _metadump(client)
            check_equal(dump.keys(), {b"key%d" % i for i in range(count)}, net)
            # A reader that does not read holds nothing up, and there is one list at a time.
            with server.connect(receive_buffer=4096) as slow, server.connect() as other:
                slow.send(b"lru_crawler metadump all\r\n")
                slow.socket.recv(10)
                check_equal(other.command(b"lru_crawler metadump all\r\n"),
                            b"BUSY currently processing crawler request\r\n")
                for i in range(2000):
                    check_equal(other.set(b"key%d" % i, b"ww"), b"STORED\r\n")
                check_equal(other.get(b"key7"), b"ww")
            # It went away in the midst of it: the next may begin.
            check(harness.eventually(lambda: _may_dump(server)), "the list is still under way")
            client.send(b"get key7\r\nlru_crawler mgdump hash\r\nget key8\r\n")
            check_equal(client.read_exactly(len(b"VALUE key7 0 2\r\nww\r\nEND\r\n"))[-9:],
                        b"ww\r\nEND\r\n")
            lines = client.read_until(b"EN\r\n").split(b"\r\n")[:-2]
            check_equal(len(lines), count)
            check_equal(set(lines), {b"mg key%d" % i for i in range(count)})
            check_equal(client.read_until(b"END\r\n"), b"VALUE key8 0 2\r\nww\r\nEND\r\n")


def _may_dump(server):
    with server.connect() as client:
        client.send(b"lru_crawler metadump 2\r\n")
        return client.line() == b"END\r\n"


def test_an_mgdump_is_commands():
    with Server() as server, server.connect() as client:
        client.set(b"text", b"1")
        check_equal(client.command(b"ms %s 1 b\r\n2\r\n" % base64.b64encode(b"a b")), b"HD\r\n")
        with server.connect() as other:
            other.send(bs.packet(bs.SETQ, b"\0\xff", bs.set_extras(), b"3") + bs.packet(bs.NOOP))
            other.read_exactly(24)
        client.send(b"lru_crawler mgdump all\r\n")
        lines = client.read_until(b"EN\r\n").split(b"\r\n")[:-2]
        check_equal(len(lines), 3)
        values = []
        for line in lines:
            check_equal(client.command(line + b" v\r\n")[:4], b"VA 1", line)
            values.append(client.line().strip())
        check_equal(sorted(values), [b"1", b"2", b"3"])


def test_what_is_refused():
    with Server() as server, server.connect() as client:
        for words, reply in (
            (b"metadump", b"ERROR\r\n"),
            (b"metadump foo", b"BADCLASS invalid class id\r\n"),
            (b"metadump 0", b"BADCLASS invalid class id\r\n"),
            (b"metadump 5,9", b"END\r\n"),
            (b"mgdump 70", b"BADCLASS invalid class id\r\n"),
            (b"mgdump 3", b"EN\r\n"),
        ):
            check_equal(client.command(b"lru_crawler " + words + b"\r\n"), reply, words)
    with Server(flags=["-X"]) as server, server.connect() as client:
        check_equal(client.command(b"lru_crawler metadump all\r\n"),
                    b"ERROR metadump not allowed\r\n")
        check_equal(client.command(b"lru_crawler mgdump hash\r\n"),
                    b"ERROR key dump not allowed\r\n")
        check_equal(client.command(b"stats cachedump 1 5\r\n"),
                    b"CLIENT_ERROR stats cachedump not allowed\r\n")


def test_cachedump():
    with Server() as server, server.connect() as client:
        for i in range(100):
            client.set(b"key%d" % i, b"v" * i, ttl_s=1000 if i == 5 else 0)
        client.send(b"stats cachedump 1 0\r\n")
        lines = client.read_until(b"END\r\n").split(b"\r\n")[:-2]
        check_equal(len(lines), 100)
        found = {}
        for line in lines:
            match = re.fullmatch(rb"ITEM (\S+) \[(\d+) b; (\d+) s\]", line)
            check(match, line)
            found[match[1]] = (int(match[2]), int(match[3]))
        check_equal(found[b"key7"], (7, 0))
        check(abs(found[b"key5"][1] - time.time() - 1000) < 5, found[b"key5"])
        client.send(b"stats cachedump 1 3\r\n")
        check_equal(client.read_until(b"END\r\n").count(b"ITEM "), 3)
        check_equal(client.command(b"stats cachedump 2 3\r\n"), b"END\r\n")


def test_detail_counts_as_memcached_counts():
    if not harness.REFERENCE.exists():
        raise Skip(f"no memcached at {harness.REFERENCE}")
    requests = (
        b"stats detail on\r\nset a:b 0 0 1\r\nx\r\nget a:b\r\nget a:c\r\nget none\r\n"
        b"delete a:b\r\nset :x 0 0 1\r\n1\r\nget a:b:c q:1\r\nincr a:z 1\r\ntouch a:b 1\r\n"
        b"mg a:b v\r\nms a:m 1\r\n1\r\nmd a:m\r\nadd a:n 0 0 1\r\n1\r\n"
        b"append a:n 0 0 1\r\n1\r\ngat 50 a:n\r\ncas a:n 0 0 1 5\r\n1\r\ndelete q:1\r\n"
        b"stats detail off\r\nget a:b\r\nstats detail dump\r\nmn\r\n")
    dumps = []
    for binary in (harness.REFERENCE, harness.subject_binary()):
        with Server(binary) as server, server.connect() as client:
            client.send(requests)
            lines = client.read_until(b"MN\r\n").split(b"\r\n")
            dumps.append(sorted(line for line in lines if line.startswith(b"PREFIX ")))
            client.send(b"stats reset\r\nstats detail dump\r\n")
            check_equal(client.line(), b"RESET\r\n")
            check_equal(client.line(), b"END\r\n")
    check_equal(dumps[1], dumps[0])
    check(len(dumps[0]) == 3, dumps[0])
    with Server(flags=["-D", "/"]) as server, server.connect() as client:
        client.set(b"p/1", b"v")
        client.get(b"p/1")
        client.send(b"stats detail dump\r\n")
        check_equal(client.read_until(b"END\r\n"),
                    b"PREFIX p get 1 hit 1 set 1 del 0\r\nEND\r\n")
        client.send(bs.packet(bs.NOOP))
    with Server(flags=["-X"]) as server, server.connect() as client:
        for word in (b"on", b"off", b"dump"):
            check_equal(client.command(b"stats detail " + word + b"\r\n"),
                        b"CLIENT_ERROR stats detail not allowed\r\n")


def test_sizes():
    with Server(flags=["-o", "track_sizes"], memory_mb=128) as server:
        check_equal(server.stats(b"sizes"), {})
        with server.connect() as client:
            for count, size in ((100, 10), (50, 500), (60_000, 100)):
                client.send(b"".join(b"set %d:%d 0 0 %d noreply\r\n%s\r\n"
                                     % (size, i, size, b"v" * size) for i in range(count)))
            client.command(b"mn\r\n")
        sizes = {int(size): int(count) for size, count in server.stats(b"sizes").items()}
        check(all(size % 32 == 0 for size in sizes), sizes)
        largest = max(sizes, key=sizes.get)
        check(96 < largest <= 160 and abs(sizes[largest] - 60_000) < 3000, sizes)
    with Server() as server:
        check_equal(server.stats(b"sizes"), {"sizes_status": "disabled"})


if __name__ == "__main__":
    harness.main(globals())

"""`watch`: lines about what others do, compared with memcached's where it has the same."""

import re
import socket
import struct
import tempfile
import threading
import time

import binary_stream as bs
import harness
from auth_test import GatedServer
from harness import Server, Skip, check, check_equal

ALL = b"watch fetchers mutations evictions\r\n"
LINE = re.compile(rb"ts=(\d+)\.(\d{1,6}) gid=(\d+) type=([a-z_]+)((?: [a-z]+=[^ \n]*)*)")
END = b"the-last-one"

TEXT = [
    b"get nope", b"set a 5 0 3\r\nabc", b"get a", b"gets a", b"get a nope a", b"gat 100 a",
    b"gats 100 nope", b"touch a 0", b"touch nope 0", b"add a 0 0 1\r\nx", b"add b 0 100 1\r\nx",
    b"replace a 0 0 2\r\nxx", b"replace zz 0 0 2\r\nxx", b"append a 0 0 1\r\ny",
    b"append zz 0 0 1\r\ny", b"append b 0 0 1\r\ny", b"prepend a 0 0 1\r\ny",
    b"cas a 0 0 1 1\r\nq", b"cas zz 0 0 1 1\r\nq", b"set n 0 0 2 noreply\r\n10", b"incr n 5",
    b"incr n 10000000", b"decr n 1", b"incr zz 1", b"incr a 1", b"delete a", b"delete zz",
    b"set e 0 -1 1\r\nx", b"get e", b"add e 0 0 1\r\nx", b"set a 0 0 -1", b"set b 0 0 2\r\nabc",
    b"set same 0 0 4\r\nsame", b"set same 0 0 4\r\nmore", b"set same 0 0 5\r\nmores",
    b"get " + b"k" * 250, b"get " + b"k" * 251,
    b"set a%b/c?d=e&f~g-._ 0 0 1\r\nx", b"get a%b/c?d=e&f~g-._", b"set \xc3\xa9\x01 0 0 0\r\n",
]
META = [
    b"ms m 2 T100\r\nhi", b"mg m v", b"mg m", b"mg m s t h l k", b"mg nope v", b"mg viv v N30",
    b"mg viv v", b"mg m v T30", b"ms m 2 ME\r\nhi", b"ms m 2 MA\r\nhi", b"ms m 2 MP\r\nhi",
    b"ms m 2 MR\r\nhi", b"ms m 2 C99\r\nhi", b"ms zz 2 C99\r\nhi", b"ms m 2 I C1\r\nhi",
    b"ma none", b"ms n 1\r\n5", b"ma n v", b"ma new N0 J7 v", b"ma new MD", b"ma new q",
    b"md m", b"md nope", b"md new q", b"ms i 1\r\n1", b"md i I T30", b"mg i v", b"mg i v",
    b"me i", b"me none", b"ms YSBi 1 b\r\nz", b"mg YSBi b v", b"md YSBi b", b"ms AAoN 0 b\r\n",
    b"ms t 1 T0\r\nx", b"ms t 1 T-1\r\nx", b"mg t v", b"mn",
]
SET, EXP = bs.set_extras, lambda s: struct.pack(">I", s)
BINARY = [
    (bs.GET, b"a"), (bs.SET, b"a", SET(5, 100), b"abc"), (bs.GETK, b"a"), (bs.GETKQ, b"nope"),
    (bs.GAT, b"a", EXP(50)), (bs.TOUCH, b"a", EXP(50)), (bs.TOUCH, b"no", EXP(50)),
    (bs.ADD, b"a", SET(), b"q"), (bs.ADD, b"\0\xff \r\n", SET(), b"q"), (bs.GET, b"\0\xff \r\n"),
    (bs.REPLACE, b"a", SET(), b"q"), (bs.REPLACE, b"no", SET(), b"q"),
    (bs.SET, b"a", SET(), b"q", 0, 9), (bs.SET, b"no", SET(), b"q", 0, 9),
    (bs.REPLACE, b"a", SET(), b"q", 0, 9), (bs.ADD, b"a", SET(), b"q", 0, 9),
    (bs.APPEND, b"a", b"", b"q"), (bs.APPEND, b"no", b"", b"q"), (bs.PREPENDQ, b"a", b"", b"q"),
    (bs.APPEND, b"a", b"", b"q", 0, 9), (bs.INCREMENT, b"n", bs.delta_extras(1, 5, 0)),
    (bs.INCREMENT, b"n", bs.delta_extras(1, 5, 0)),
    (bs.INCREMENT, b"nn", bs.delta_extras(1, 5, -1)),
    (bs.DECREMENT, b"a", bs.delta_extras(1, 5, -1)), (bs.DELETE, b"a"), (bs.DELETE, b"a"),
    (bs.DELETE, b"n", b"", b"", 0, 99), (bs.INCREMENT, b"n", bs.delta_extras(1, 5, 0), b"", 0, 99),
    (bs.SET, b"f", SET(0, -1), b"q"), (bs.GETQ, b"f"), (bs.SETQ, b"g", SET(), b""),
    (bs.DELETEQ, b"g"),
]


def _watch(server, words=ALL, **how):
    client = server.connect(**how)
    check_equal(client.command(words), b"OK\r\n", words)
    return client


def _lines(watcher, last=END):
    """The lines up to the one of a look for the key `last`, without that one; each a match."""
    found = []
    mark = b"type=item_get key=%s " % last
    while True:
        line = watcher.read_until(b"\n")
        check(line.endswith(b"\n"), f"the stream of lines ended: {line!r}")
        match = LINE.fullmatch(line[:-1])
        check(match, f"line {line!r}")
        if mark in line:
            return found
        found.append(match)


def _plain(lines):
    """Without what differs from run to run: times, numbers and descriptors."""
    plain = []
    for match in lines:
        text = match[4] + match[5]
        # memcached 1.6.18 does not say it of those that have expired, and of flushed ones only
        # where no thread of its own has found them before.
        text = re.sub(rb"status=(expired|flushed)", b"status=not_found", text)
        text = re.sub(rb"ttl=(\d{10,})", b"ttl=ended", text)
        text = re.sub(rb"ttl=(?:9[5-9]|100)\b", b"ttl=hundred", text)
        text = re.sub(rb"ttl=(?:2[5-9]|30)\b", b"ttl=thirty", text)
        text = text.replace(b"rip= ", b"rip=unix ")  # as memcached forgets now and then
        plain.append(re.sub(rb"(cfd|rport)=\d+", rb"\1=some", text))
    return plain


def _session(binary, flags=(), **how):
    """The lines of a whole session."""
    with Server(binary, flags=flags, **how) as server, _watch(server) as watcher:
        with server.connect() as client:
            for request in TEXT + META:
                client.send(request + b"\r\n")
                client.send(b"mn\r\n")
                client.read_until(b"MN\r\n")
            time.sleep(2.1)  # a flush empties what is a second old
            client.command(b"flush_all\r\n")
            client.send(b"get b\r\nget %s\r\n" % END)
            client.read_until(b"END\r\nEND\r\n")
            lines = _lines(watcher)
        with server.connect() as client:
            for words in BINARY:
                client.send(bs.packet(*words) + bs.packet(bs.NOOP))
                while True:
                    reply = bs.HEADER.unpack(client.read_exactly(24))
                    client.read_exactly(reply[6])
                    if reply[1] == bs.NOOP:
                        break
            client.send(bs.packet(bs.GET, END))
            client.read_exactly(24)
            lines += _lines(watcher)
        numbers = [int(match[3]) for match in lines]
        check_equal(numbers, sorted(numbers), "gid")
        for match in lines:
            at = int(match[1]) + int(match[2]) / 1e6
            check(abs(at - time.time()) < 120, match[0])
        return _plain(lines)


DEVICE = ["--device", "opencl:0", "--device-batch-min", "1", "--plan",
          "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu"]


def _subjects():
    for net in harness.nets():
        yield f"{net}", {"net": net}
    with tempfile.TemporaryDirectory(prefix="weft-watch-") as folder:
        yield "data", {"flags": ["--data", folder]}
    try:
        with Server(flags=DEVICE):
            pass
    except RuntimeError:
        print("note: there is no OpenCL device here", flush=True)
        return
    yield "device", {"flags": DEVICE}


def test_lines_are_memcached_s():
    if not harness.REFERENCE.exists():
        raise Skip(f"no memcached at {harness.REFERENCE}")
    expected = _session(harness.REFERENCE)
    for what, how in _subjects():
        got = _session(harness.subject_binary(), **how)
        for mine, its in zip(got, expected):
            check_equal(mine, its, what)
        check_equal(len(got), len(expected), what)
    return f"{len(expected)} lines"


def test_stores_that_do_not_fit():
    # memcached 1.6.18 writes such lines from memory that is not theirs, or crashes.
    with Server() as server, _watch(server) as watcher, server.connect() as client:
        client.set(b"big", b"old")
        for request in (b"set big 0 100 2000000", b"append big 0 0 2000000",
                        b"cas big 0 0 2000000 1", b"ms big 2000000 ME"):
            client.send(request + b"\r\n" + b"x" * 2000000 + b"\r\n")
            check_equal(client.line(), b"SERVER_ERROR object too large for cache\r\n", request)
        with server.connect() as other:
            other.send(bs.packet(bs.ADD, b"\0", bs.set_extras(), b"x" * 2000000))
            check_equal(other.read_exactly(8)[7], 3)
            time.sleep(0.2)
        client.get(END)
        rest = b" clsid=1 cfd=some size=2000000"
        check_equal(_plain(_lines(watcher)), [
            b"item_get key=big status=not_found clsid=0 cfd=some size=0",
            b"item_store key=big status=stored cmd=set ttl=0 clsid=1 cfd=some size=3",
            b"item_store key=big status=too_large cmd=set ttl=hundred" + rest,
            b"item_get key=big status=found clsid=1 cfd=some size=3",
            b"item_store key=big status=too_large cmd=append ttl=0" + rest,
            b"item_store key=big status=too_large cmd=cas ttl=0" + rest,
            b"item_store key=big status=too_large cmd=add ttl=0" + rest,
            b"item_get key=big status=not_found clsid=0 cfd=some size=0",
            b"item_store key=%00 status=too_large cmd=add ttl=0" + rest,
        ])
    with Server(flags=["-M"], memory_mb=8) as server:
        with _watch(server, b"watch mutations\r\n") as watcher, server.connect() as client:
            client.send(b"".join(b"set key%d 0 0 100000 noreply\r\n%s\r\n" % (i, b"x" * 100000)
                                 for i in range(200)) + b"mn\r\n")
            check(client.read_until(b"MN\r\n").endswith(b"MN\r\n"))
            check(harness.eventually(lambda: watcher.fill() and b"key199 " in watcher.buffer))
            check(b" status=no_memory cmd=set ttl=0 clsid=1" in watcher.buffer, "no such line")


def test_deletions_and_ended_items():
    with Server() as server, _watch(server, b"watch deletions fetchers\r\n") as watcher:
        with server.connect() as client:
            client.set(b"a", b"123")
            client.set(b"b", b"12", ttl_s=1)
            for request in (b"delete a", b"delete a", b"ms c 4", b"1234", b"md c I", b"md c q",
                            b"md c q"):
                client.send(request + b"\r\n")
            time.sleep(2.1)
            client.send(b"get b\r\nset f 0 0 1 noreply\r\n1\r\nflush_all noreply\r\n"
                        b"get f\r\nmn\r\n")
            client.read_until(b"END\r\nMN\r\n")
            client.get(END)
            got = [re.sub(rb"cfd=\d+", b"cfd=some", match[4] + match[5])
                   for match in _lines(watcher)]
            got = [line for line in got if line.startswith(b"deleted")
                   or b"=b " in line or b"=f " in line]
            check_equal(got, [b"item_get key=b status=not_found clsid=0 cfd=some size=0",
                              b"deleted key=a cmd=delete clsid=1 size=3",
                              b"deleted key=c cmd=md clsid=1 size=4",
                              b"item_get key=b status=expired clsid=0 cfd=some size=0",
                              b"item_get key=f status=not_found clsid=0 cfd=some size=0",
                              b"item_get key=f status=flushed clsid=0 cfd=some size=0"])


def _refusals(binary):
    said = []
    with Server(binary) as server, server.connect() as client:
        for request in (b"version\r\nwatch", b"watch foo", b"watch fetchers foo",
                        b"set a 0 0 1 noreply\r\nx\r\nwatch", b"watch foo noreply"):
            client.send(request + b"\r\n")
            time.sleep(0.1)
            client.send(b"mn\r\n")
            text = client.read_until(b"MN\r\n")
            said.append(re.sub(rb"VERSION .*\r\n", b"VERSION\r\n", text))
    with Server(binary, flags=["-W"]) as server, server.connect() as client:
        for request in (b"watch", b"watch foo", b"version\r\nwatch"):
            client.send(request + b"\r\nmn\r\n")
            said.append(client.read_until(b"MN\r\n").split(b"\r\n")[-3])
    return said


def test_what_is_refused():
    pipelined = b"ERROR cannot pipeline other commands before watch\r\nMN\r\n"
    expected = [
        b"VERSION\r\n" + pipelined, b"ERROR\r\nMN\r\n", b"ERROR\r\nMN\r\n", pipelined, b"MN\r\n",
    ] + [b"CLIENT_ERROR watch commands not allowed"] * 3
    for binary in (harness.REFERENCE, harness.subject_binary()):
        if binary.exists():
            check_equal(_refusals(binary), expected, binary)


def test_twenty_watch_and_no_more():
    words = (b"sysevents", b"rawcmds", b"proxyreqs proxyevents proxyuser", b"pipeline",
             b"evictions")
    for net in harness.nets():
        with Server(net=net) as server, server.connect() as late:
            watchers = [_watch(server, b"watch " + words[i % len(words)] + b"\r\n")
                        for i in range(20)]
            check_equal(server.stats()["log_watchers"], "20")
            states = [value for name, value in server.stats(b"conns").items()
                      if name.endswith(":state")]
            check_equal(states.count("conn_watch"), 20, states)
            check_equal(late.command(b"watch\r\n"),
                        b"WATCHER_TOO_MANY log watcher limit reached\r\n")
            check_equal(late.command(b"mn\r\n"), b"MN\r\n")
            watchers.pop().close()
            check(harness.eventually(lambda: server.stats()["log_watchers"] == "19"), net)
            check_equal(late.command(b"watch\r\n"), b"OK\r\n")
            with server.connect() as client:
                client.get(END)
            check_equal(_lines(late), [])
            # None of the others had anything to hear of. They hear of the end.
            started = time.monotonic()
            check_equal(server.stop(), 0)
            check(time.monotonic() - started < 4, "the watchers held the server up")
            for watcher in watchers:
                check_equal(watcher.read_to_end(), b"")


def test_a_watcher_is_not_read_from_and_does_not_idle_away():
    for net in harness.nets():
        with Server(flags=["-o", "idle_timeout=1"], net=net) as server:
            with _watch(server, b"watch\r\nget what-is-behind-it\r\n") as watcher:
                watcher.send(b"get ignored\r\nquit\r\n")
                time.sleep(3.5)
                watcher.send(b"get ignored\r\n" * 100)
                with server.connect() as client:
                    client.get(END)
                check_equal(_lines(watcher), [], net)
                # Half closed is closed, as by memcached: by a reset, for there is unread input.
                watcher.socket.shutdown(socket.SHUT_WR)
                try:
                    check_equal(watcher.read_to_end(), b"", net)
                except ConnectionResetError:
                    pass
            check(harness.eventually(lambda: server.stats()["log_watchers"] == "0"), net)


def _connections(binary, transport, **how):
    """What is said of connections that end in one way each."""
    with Server(binary, flags=["-o", "idle_timeout=2"], threads=1, **how) as server:
        with _watch(server, b"watch connevents fetchers\r\n") as watcher:
            ports = []

            def connect():
                time.sleep(0.2)  # until the one before is gone
                client = server.connect()
                if transport == "tcp":
                    ports.append(client.socket.getsockname()[1])
                return client

            with connect() as client:
                client.send(b"quit\r\n")
                check_equal(client.read_to_end(), b"")
            with connect() as client:
                client.command(b"mn\r\n")
            client = connect()
            client.send(b"get a\r\n")
            time.sleep(0.3)
            client.close()  # with an answer that was not read: a reset, by TCP
            with connect() as client:
                client.send(b"GET / HTTP/1.1\r\n\r\n")
                client.read_to_end()
            if transport == "tcp":  # the others may stay
                with connect() as client:
                    check_equal(client.read_to_end(), b"", "it is idle")
            with connect() as client:
                client.get(END)
            lines = [line for line in _lines(watcher) if line[4].startswith(b"conn")]
            seen = [int(re.search(rb"rport=(\d+)", line[0])[1]) for line in lines]
            check_equal([p for p in seen if p], [p for p in ports for _ in "ab"][: len(seen)])
            return _plain(lines)


def test_connections_come_and_go():
    for transport in ("tcp", "unix"):
        with tempfile.TemporaryDirectory(prefix="weft-watch-") as folder:
            path = f"{folder}/socket" if transport == "unix" else None
            rip = b"unix" if path else b"127.0.0.1"
            name = b"local" if path else b"tcp"
            expected = []
            for reason in (b"normal", b"normal", b"error", b"error", b"idle_timeout"):
                front = b" rip=%s rport=some transport=%s " % (rip, name)
                expected += [b"conn_new" + front + b"cfd=some",
                             b"conn_close" + front + b"reason=%s cfd=some" % reason]
            if transport == "unix":
                del expected[-2:]
            expected.append(expected[0])
            if harness.REFERENCE.exists():
                got = _connections(harness.REFERENCE, transport, unix_path=path)
                check_equal(got, expected, f"memcached, {transport}")
            for net in harness.nets():
                got = _connections(harness.subject_binary(), transport, unix_path=path, net=net)
                check_equal(got, expected, f"{net}, {transport}")


def test_evictions_are_told_of_each():
    for net in harness.nets():
        flags = ["-o", "worker_logbuf_size=16384,watcher_logbuf_size=65536"]
        with Server(memory_mb=8, flags=flags, net=net) as server:
            with _watch(server, b"watch evictions\r\n", receive_buffer=1 << 22) as watcher:
                with server.connect() as client:
                    for at in range(0, 60_000, 1000):
                        client.send(b"".join(
                            b"set key%d 0 %d 500 noreply\r\n%s\r\n"
                            % (i, 1000 * (i % 2), b"v" * 500)
                            for i in range(at, at + 1000)) + b"mn\r\n")
                        client.read_until(b"MN\r\n")
                        client.send(b"get key%d\r\n" % at)
                        client.read_until(b"END\r\n")
                stats = server.stats()
                evictions = int(stats["evictions"])
                check(evictions > 10_000, evictions)
                check_equal(stats["log_worker_dropped"], "0")
                text = watcher.read_exactly(1)
                lines = 0
                while lines < evictions:
                    part = watcher.socket.recv(1 << 18)
                    check(part, "the stream of lines ended")
                    text += part
                    lines += part.count(b"\n")
                keys = set()
                fetched = 0
                for line in text.splitlines():
                    match = re.fullmatch(rb"ts=\d+\.\d+ gid=\d+ type=eviction key=key(\d+) "
                                         rb"fetch=(yes|no) ttl=(-1|\d+) la=(\d+) clsid=1 size=500",
                                         line)
                    check(match, line)
                    keys.add(match[1])
                    fetched += match[2] == b"yes"
                    odd = int(match[1]) % 2
                    check(900 < int(match[3]) <= 1000 if odd else match[3] == b"-1", line)
                    check(int(match[4]) < 100, line)
                check_equal(len(keys), evictions, "each once")
                print(f"{net}: {evictions} evictions, {fetched} of what was read")


def test_a_slow_watcher_loses_lines_and_delays_nobody():
    for net in harness.nets():
        flags = ["-o", "watcher_logbuf_size=64"]
        with Server(flags=flags, net=net) as server, server.connect() as client:
            slow = _watch(server, b"watch\r\n", receive_buffer=4096)
            with _watch(server, b"watch\r\n") as quick:
                got = []
                reader = threading.Thread(target=lambda: got.append(_lines_loosely(quick)))
                reader.start()
                batch = b"".join(b"get key%d\r\n" % i for i in range(1000))
                rounds = 0
                while int(server.stats()["log_watcher_skipped"]) < 5000:
                    client.send(batch)
                    check_equal(client.read_exactly(5000), b"END\r\n" * 1000)
                    rounds += 1
                    check(rounds < 5000, server.stats())
                before = server.rss_kb()
                for _ in range(100):
                    client.send(batch)
                    check_equal(client.read_exactly(5000), b"END\r\n" * 1000)
                check(server.rss_kb() - before < 8192, "its lines took memory")
                time.sleep(0.3)
                check_equal(client.get(END), None)
                reader.join(20)
                check(not reader.is_alive() and got, "the quick one lost its lines")
            text = b""
            while b"skipped=" not in text:
                text = slow.read_until(b"\n")
            check(re.fullmatch(rb"skipped=\d+\n", text), text)
            check(LINE.fullmatch(slow.read_until(b"\n")[:-1]), "behind it")
            slow.close()
            stats = server.stats()
            sent = int(stats["log_watcher_sent"]) + int(stats["log_watcher_skipped"])
            check(sent >= int(stats["log_worker_written"]), stats)


def _lines_loosely(watcher):
    """Reads up to the last line; lines may have been skipped."""
    count = 0
    while b"key=%s " % END not in (line := watcher.read_until(b"\n")):
        check(line.startswith((b"ts=", b"skipped=")), line)
        count += 1
    return count


def test_replies_are_the_same_while_somebody_watches():
    for what, how in _subjects():
        with Server(memory_mb=64, **how) as server:
            clients = [server.connect() for _ in range(3)]
            watchers = []
            for round_ in range(6):
                if round_ % 2:
                    watchers.append(_watch(server, b"watch fetchers mutations deletions\r\n"))
                    threading.Thread(target=_swallow, args=(watchers[-1],), daemon=True).start()
                elif watchers:
                    watchers.pop().socket.shutdown(socket.SHUT_RDWR)
                for client in clients:
                    client.send(b"".join(
                        b"set k%d %d 0 6\r\nv%05d\r\nget k%d nope k%d\r\nincr k%d 1\r\n"
                        b"mg k%d v f\r\ndelete k%d\r\nget k%d\r\n" % (i, i, i, i, i, i, i, i, i)
                        for i in range(500)))
                    for i in range(500):
                        value = b"VALUE k%d %d 6\r\nv%05d\r\n" % (i, i, i)
                        expected = (
                            b"STORED\r\n" + value + value + b"END\r\n"
                            b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"
                            b"VA 6 f%d\r\nv%05d\r\nDELETED\r\nEND\r\n" % (i, i))
                        check_equal(client.read_exactly(len(expected)), expected, what)


def _swallow(watcher):
    try:
        watcher.read_to_end()
    except OSError:
        pass


def test_only_those_who_logged_in_watch_and_no_password_is_in_a_line():
    with tempfile.NamedTemporaryFile("w", prefix="weft-users-") as users:
        users.write("user:secret\n")
        users.flush()
        with GatedServer(flags=["-Y", users.name]) as server:
            with server.connect() as client:
                check_equal(client.command(b"watch\r\n")[:28], b"CLIENT_ERROR unauthenticated")
            with server.connect() as client:
                check_equal(client.command(b"set a 0 0 11\r\nuser secret\r\n"), b"STORED\r\n")
                check_equal(client.command(ALL), b"OK\r\n")
                with server.connect() as other:
                    check_equal(other.command(b"set a 0 0 11\r\nuser secret\r\n"), b"STORED\r\n")
                    other.set(b"key", b"the-value")
                    other.get(END)
                text = b"".join(match[0] for match in _lines(client))
                check(b"key=key " in text, text)
                check(b"secret" not in text and b"the-value" not in text, text)


if __name__ == "__main__":
    harness.main(globals())

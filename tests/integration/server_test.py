"""The server as a process: many connections, slow ones, its limits, its memory, and its end.

Tests that concern sockets run with each way of waiting for them (weft's --net) that works here.
"""

import functools
import os
import pathlib
import random
import resource
import signal
import socket
import stat
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import harness
from harness import Client, Server, Skip, check, check_equal

MB = 1 << 20
LONG = bool(os.environ.get("WEFT_TEST_LONG"))


def each_net(test):
    """Runs the test once for each usable --net, and joins what they report."""

    @functools.wraps(test)
    def run():
        notes = []
        for net in harness.nets():
            note = test(net)
            if note:
                notes.append(f"{net}: {note}" if net else note)
        return "; ".join(notes)

    return run


def _raise_file_limit(wanted):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise Skip(f"needs {wanted} file descriptors, may have {hard}")
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _in_threads(count, work):
    """Runs work(0..count-1) on threads; raises the first error."""
    errors = []

    def guarded(number):
        try:
            work(number)
        except Exception as error:  # told in the main thread
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


# --- connections ---


@each_net
def test_ten_thousand_idle_connections(net):
    count = 10_000
    _raise_file_limit(count + 200)
    with Server(flags=["-c", str(count + 100)], threads=4, net=net) as server:
        before_kb = server.rss_kb()
        idle = []
        try:
            for _ in range(count):
                idle.append(server.connect(timeout=60))
            with server.connect() as client:
                for i in range(500):
                    check_equal(client.set(b"k%d" % i, b"v"), b"STORED\r\n")
                    check_equal(client.get(b"k%d" % i), b"v")
            for client in random.sample(idle, 200):
                check_equal(client.command(b"mn\r\n"), b"MN\r\n")
            check(int(server.stats()["curr_connections"]) >= count)
            per_connection = (server.rss_kb() - before_kb) * 1024 // count
        finally:
            for client in idle:
                client.close()
        with server.connect() as client:
            deadline = time.monotonic() + 20
            while int(server.stats()["curr_connections"]) > 50 and time.monotonic() < deadline:
                time.sleep(0.1)
            check(
                int(server.stats()["curr_connections"]) <= 50,
                "closed connections are still counted",
            )
            check_equal(client.get(b"k7"), b"v")
        return f"{per_connection} bytes a connection"


@each_net
def test_connection_storm(net):
    with Server(threads=4, net=net) as server:

        def work(number):
            for i in range(400):
                with server.connect() as client:
                    kind = (number + i) % 4
                    if kind == 0:
                        check_equal(client.set(b"s%d" % number, b"%d" % i), b"STORED\r\n")
                    elif kind == 1:
                        client.send(b"get s%d\r\n" % number)  # and away, without reading
                    elif kind == 2:
                        client.send(b"set s%d 0 0 100\r\nhalf" % number)
                    else:
                        check_equal(client.command(b"quit\r\n"), b"")

        _in_threads(8, work)
        with server.connect() as client:
            check_equal(client.set(b"after", b"x"), b"STORED\r\n")


@each_net
def test_connection_limit(net):
    limit = 100
    with Server(flags=["-c", str(limit)], net=net) as server:
        time.sleep(0.3)
        open_ones, refused = [], 0
        for _ in range(limit * 2):
            client = server.connect()
            reply = b""
            try:
                reply = client.command(b"mn\r\n")
            except OSError:
                pass
            if reply == b"MN\r\n":
                open_ones.append(client)
            else:
                check(reply in (b"", b"ERROR Too many open connections\r\n"), reply)
                refused += 1
                client.close()
        # memcached counts some descriptors of its own
        check(
            limit - 30 <= len(open_ones) <= limit, f"{len(open_ones)} connections with -c {limit}"
        )
        check(refused >= limit, "nobody was refused")
        for client in open_ones[:5]:
            client.close()
        deadline = time.monotonic() + 60
        while True:  # room again
            try:
                with server.connect() as client:
                    if client.command(b"mn\r\n") == b"MN\r\n":
                        break
            except OSError:
                pass
            check(time.monotonic() < deadline, "no connection although five were closed")
            time.sleep(0.05)
        for client in open_ones:
            client.close()


@each_net
def test_half_requests_do_not_hold_others_up(net):
    halves = [
        b"g",
        b"get ",
        b"get k",
        b"get k\r",
        b"set k 0 0 10",
        b"set k 0 0 10\r\n",
        b"set k 0 0 10\r\n12345",
        b"set k 0 0 10\r\n1234567890",
        b"set k 0 0 10\r\n1234567890\r",
        b"mg k v",
        b"ms k 5 T0\r\nhel",
        b"cas k 0 0 3 1\r\na",
    ]
    with Server(net=net) as server:
        waiting = []
        for half in halves * 5:
            client = server.connect()
            client.send(half)
            waiting.append(client)
        with server.connect() as client:
            for i in range(200):
                check_equal(client.set(b"k%d" % i, b"v"), b"STORED\r\n")
            check_equal(client.get(b"k"), None)
        rest = {
            b"g": b"et k7\r\n",
            b"get k\r": b"\n",
            b"set k 0 0 10\r\n12345": b"67890\r\n",
            b"ms k 5 T0\r\nhel": b"lo\r\n",
        }
        answers = {
            b"g": b"VALUE k7 0 1\r\nv\r\nEND\r\n",
            b"get k\r": b"END\r\n",
            b"set k 0 0 10\r\n12345": b"STORED\r\n",
            b"ms k 5 T0\r\nhel": b"HD\r\n",
        }
        for half, client in list(zip(halves, waiting)):  # the first of each, in this order
            if half in rest:
                client.send(rest[half])
                check_equal(client.read_exactly(len(answers[half])), answers[half], half)
        for client in waiting:
            client.close()
        with server.connect() as client:  # byte by byte
            for byte in b"set slow 0 0 5\r\nhello\r\nmg slow v\r\n":
                client.send(bytes([byte]))
            check_equal(client.read_exactly(8 + 13), b"STORED\r\nVA 5\r\nhello\r\n")


@each_net
def test_huge_pipelines(net):
    count = 200_000 if LONG else 60_000
    with Server(net=net) as server, server.connect(timeout=60) as client:
        requests = b"".join(
            b"set p%d 0 0 5\r\n%05d\r\n" % (i % 1000, i % 100000) for i in range(count)
        )
        requests += b"".join(
            b"get p%d p%d\r\n" % (i % 1000, (i + 1) % 1000) for i in range(count // 2)
        )
        requests += b"".join(b"mg p%d v q O%d\r\n" % (i % 1500, i) for i in range(count // 2))
        requests += b"mn\r\n"
        sender = threading.Thread(target=client.send, args=(requests,))
        sender.start()
        for _ in range(count):
            check_equal(client.line(), b"STORED\r\n")
        last = {i % 1000: b"%05d" % (i % 100000) for i in range(count)}
        for i in range(count // 2):
            a, b = i % 1000, (i + 1) % 1000
            expected = b"VALUE p%d 0 5\r\n%s\r\nVALUE p%d 0 5\r\n%s\r\nEND\r\n" % (
                a,
                last[a],
                b,
                last[b],
            )
            check_equal(client.read_exactly(len(expected)), expected, f"get {i}")
        for i in range(count // 2):
            if i % 1500 < 1000:
                check_equal(client.line(), b"VA 5 O%d\r\n" % i)
                check_equal(client.line(), last[i % 1500] + b"\r\n")
        check_equal(client.line(), b"MN\r\n")
        sender.join()


@each_net
def test_slow_readers_of_large_values_hold_nobody_up(net):
    values = {b"big%d" % i: bytes([65 + i]) * (1_000_000 - i * 1000) for i in range(8)}
    keys = sorted(values)
    asked = b" ".join(keys)
    with Server(memory_mb=128, threads=2, net=net) as server:
        with server.connect() as client:
            for key, value in values.items():
                check_equal(client.set(key, value), b"STORED\r\n")
        base_kb = server.rss_kb()
        expected = (
            b"".join(
                b"VALUE %s 0 %d\r\n%s\r\n" % (key, len(values[key]), values[key]) for key in keys
            )
            + b"END\r\n"
        )
        slow = []
        for _ in range(12):
            reader = server.connect(timeout=60, receive_buffer=4096)
            reader.send(b"get " + asked + b"\r\n" + b"get " + asked + b"\r\n")
            slow.append(reader)
        # Half of them read all the time, in small steps. The others stand still: whoever does so
        # while others wait for memory is closed (D4).
        with ThreadPoolExecutor(6) as pool:
            read = pool.map(lambda reader: reader.read_exactly(2 * len(expected)), slow[:6])
            with server.connect() as client:
                for i in range(1000):
                    check_equal(client.set(b"quick", b"%d" % i), b"STORED\r\n")
            grown_mb = (server.rss_kb() - base_kb) / 1024
            check(all(got == 2 * expected for got in read), "a slow reader got other bytes")
        for reader in slow:
            reader.close()
        with server.connect() as client:
            check_equal(client.get(b"big3"), values[b"big3"])
        return f"memory grew {grown_mb:.0f} MB"


# --- values and limits ---


@each_net
def test_values_of_all_sizes(net):
    sizes = [
        0,
        1,
        2,
        7,
        8,
        9,
        63,
        64,
        65,
        127,
        255,
        256,
        511,
        1000,
        1023,
        1024,
        1025,
        4095,
        4096,
        4097,
        8191,
        16383,
        16384,
        16385,
        32768,
        65535,
        65536,
        65537,
        100_000,
        262_143,
        262_144,
        500_000,
        524_288,
        1_000_000,
        MB - 512,
    ]
    source = random.Random(1).randbytes(MB)
    with Server(memory_mb=256, net=net) as server, server.connect() as client:
        for size in sizes:
            check_equal(client.set(b"z%d" % size, source[:size], flags=size), b"STORED\r\n", size)
        for size in sizes:
            check(
                client.get(b"z%d" % size) == source[:size],
                f"value of {size} bytes came back changed",
            )
            client.send(b"mg z%d v s f\r\n" % size)
            check_equal(client.line(), b"VA %d s%d f%d\r\n" % (size, size, size))
            check(client.read_exactly(size + 2) == source[:size] + b"\r\n")
        for size in sizes[:25]:
            check_equal(client.command(b"append z%d 0 0 3\r\nEND\r\n" % size), b"STORED\r\n")
            check(client.get(b"z%d" % size) == source[:size] + b"END")
        check_equal(
            client.set(b"z1", source + b"x"), b"SERVER_ERROR object too large for cache\r\n"
        )
        check_equal(client.get(b"z1"), None, "the old value must not survive a refused one")
        check_equal(client.set(b"after", b"x"), b"STORED\r\n")


def test_item_size_limit_may_be_raised():
    with Server(memory_mb=256, flags=["-I", "4m"]) as server, server.connect() as client:
        value = random.Random(2).randbytes(4_000_000)
        check_equal(client.set(b"big", value), b"STORED\r\n")
        check(client.get(b"big") == value)
        check_equal(
            client.set(b"over", b"x" * (4 * MB + 1)), b"SERVER_ERROR object too large for cache\r\n"
        )
        check_equal(client.get(b"over"), None)
        check(client.get(b"big") == value)
        check_equal(server.stats(b"settings")["item_size_max"], str(4 * MB))


def test_item_size_limit_may_be_lowered():
    with Server(flags=["-I", "512k"]) as server, server.connect() as client:
        check_equal(client.set(b"small", b"x" * 400_000), b"STORED\r\n")
        check_equal(
            client.set(b"big", b"x" * 530_000), b"SERVER_ERROR object too large for cache\r\n"
        )


def test_without_eviction_stores_are_refused():
    with Server(memory_mb=64, flags=["-M"]) as server, server.connect() as client:
        stored, refused = [], 0
        for i in range(40_000):
            reply = client.set(b"m%d" % i, b"%d" % i + b"x" * 4000)
            if reply == b"STORED\r\n":
                stored.append(i)
            else:
                check_equal(reply, b"SERVER_ERROR out of memory storing object\r\n")
                refused += 1
                if refused > 100:
                    break
        check(refused > 0, "160 MB went into 64 MB without eviction")
        check(len(stored) > 8_000, f"only {len(stored)} objects of 4 kB fit")
        for i in random.Random(3).sample(stored, 500):
            check_equal(client.get(b"m%d" % i), b"%d" % i + b"x" * 4000, "an accepted object")
        check_equal(server.stats()["evictions"], "0")
        for i in stored[:2000]:
            client.send(b"delete m%d noreply\r\n" % i)
        check_equal(client.command(b"mn\r\n"), b"MN\r\n")
        taken = sum(client.set(b"n%d" % i, b"x" * 4000) == b"STORED\r\n" for i in range(1000))
        check(taken >= 500, f"after 2000 deletes only {taken} of 1000 stores were taken")
        return f"{len(stored)} x 4 kB held"


def test_arithmetic_at_the_ends():
    with Server() as server, server.connect() as client:
        top = 2**64 - 1
        client.set(b"n", b"%d" % top)
        check_equal(client.command(b"incr n 1\r\n"), b"0\r\n")
        client.set(b"n", b"%d" % (top - 1))
        check_equal(client.command(b"incr n 1\r\n"), b"%d\r\n" % top)
        check_equal(client.command(b"decr n %d\r\n" % top), b"0\r\n")
        check_equal(client.command(b"incr n %d\r\n" % top), b"%d\r\n" % top)
        check_equal(client.command(b"incr n 2\r\n"), b"1\r\n")
        client.set(b"n", b"10")
        check_equal(client.command(b"decr n 1\r\n"), b"9\r\n")
        check_equal(client.get(b"n").rstrip(b" "), b"9")
        for bad in (b"-1", b"abc", b"", b"1.5", b"99999999999999999999"):
            client.set(b"bad", bad)
            check_equal(
                client.command(b"incr bad 1\r\n"),
                b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n",
                bad,
            )
        check_equal(
            client.command(b"incr n -1\r\n"), b"CLIENT_ERROR invalid numeric delta argument\r\n"
        )


# --- time ---


def _touch_in_time(client, key, life):
    """Stores what ends in `life` seconds, and touches it before: again where that took longer."""
    reply = b""
    while reply != b"TOUCHED\r\n":
        began = time.monotonic()
        client.set(key, b"v", ttl_s=life)
        reply = client.command(b"touch %s 1000\r\n" % key)
        check(reply == b"TOUCHED\r\n" or time.monotonic() - began > life - 1.1, reply)


@each_net
def test_expiry_to_the_second(net):
    with Server(net=net) as server, server.connect() as client:
        began = time.monotonic()
        for life in range(1, 6):
            check_equal(client.set(b"t%d" % life, b"v", ttl_s=life), b"STORED\r\n")
            client.send(b"ms m%d 1 T%d\r\nv\r\n" % (life, life))
            check_equal(client.line(), b"HD\r\n")
            client.set(b"a%d" % life, b"v", ttl_s=int(time.time()) + life)
        check_equal(client.set(b"gone", b"v", ttl_s=-1), b"STORED\r\n")
        check_equal(client.get(b"gone"), None)
        stored = time.monotonic()  # each was between began and now
        _touch_in_time(client, b"kept", 4)
        while (age := time.monotonic() - stored) < 7.5:
            for life in range(1, 6):
                for kind in b"tm":
                    asked = time.monotonic() - stored
                    value = client.get(b"%c%d" % (kind, life))
                    answered = time.monotonic() - began
                    if answered < life - 1.1:  # the clock ticks once a second: up to one early
                        check_equal(value, b"v", f"{life} s to live, {age:.1f} s old")
                    if asked > life + 1.1:
                        check_equal(value, None, f"{life} s to live, {age:.1f} s old")
            time.sleep(0.05)
        for life in range(1, 6):
            check_equal(client.get(b"a%d" % life), None, "absolute time")
        check_equal(client.get(b"kept"), b"v")


# --- memory ---


def _storm(server, megabytes, keys=1 << 40, seed=5):
    """Sets values of mixed size, far more than fit, in pipelined batches; returns bytes sent."""
    rng = random.Random(seed)
    block = rng.randbytes(MB)
    sizes = [20, 50, 100, 200, 400, 700, 1500, 3000, 10_000, 30_000, 100_000, 400_000]
    weights = [30, 30, 30, 25, 20, 15, 10, 6, 3, 1, 0.3, 0.05]
    sent, peak_kb = 0, 0
    with server.connect(timeout=60) as client:
        while sent < megabytes * MB:
            parts, bytes_here = [], 0
            for size in rng.choices(sizes, weights, k=500):
                size += int(rng.random() * size / 2)
                parts.append(
                    b"set s%d 0 %d %d noreply\r\n%s\r\n"
                    % (rng.randrange(keys), rng.choice((0, 0, 0, 100, 10000)), size, block[:size])
                )
                bytes_here += size
            client.send(b"".join(parts) + b"mn\r\n")
            check_equal(client.line(), b"MN\r\n")
            sent += bytes_here
            peak_kb = max(peak_kb, server.rss_kb())
    return peak_kb


def _memory_is_held(memory_mb):
    with Server(memory_mb=memory_mb, threads=4) as server:
        _in_threads(2, lambda i: _storm(server, memory_mb * 2, seed=i))
        peak_kb = max(_storm(server, memory_mb, seed=7), server.rss_kb())
        stats = server.stats()
        check(int(stats["evictions"]) > 0, "nothing was evicted")
        check_equal(int(stats["limit_maxbytes"]), memory_mb * MB)
        bound_mb = 1.1 * memory_mb + 32
        check(
            peak_kb / 1024 <= bound_mb,
            f"{peak_kb / 1024:.0f} MB resident with -m {memory_mb}; bound {bound_mb:.0f} MB",
        )
        held = int(stats["bytes"]) / MB
        return f"{peak_kb / 1024:.0f} MB resident, {held:.0f} MB of items, bound {bound_mb:.0f} MB"


def test_memory_is_held_at_64_mb():
    return _memory_is_held(64)


def test_memory_is_held_at_256_mb():
    return _memory_is_held(256)


def _hit_rate(binary, lives, requests):
    """A read-through cache: skewed reads, a set after each miss, a time to live for each key."""
    rng = random.Random(11)
    keys = 150_000  # of ~1250 bytes: a third fits into 64 MB
    value = b"v" * 1200
    hits = asked = 0
    with Server(binary, memory_mb=64, threads=2) as server, server.connect(timeout=60) as client:
        for _ in range(requests // 500):
            wanted = [int(keys * rng.random() ** 3) for _ in range(500)]
            client.send(b"".join(b"mg k%d q O%d\r\n" % (k, k) for k in wanted) + b"mn\r\n")
            reply = client.read_until(b"MN\r\n")
            found = set(reply.split())
            missing = [k for k in wanted if b"O%d" % k not in found]
            hits += 500 - len(missing)
            asked += 500
            client.send(
                b"".join(
                    b"set k%d 0 %d 1200 noreply\r\n%s\r\n" % (k, lives[k % len(lives)], value)
                    for k in missing
                )
                + b"mn\r\n"
            )
            check_equal(client.line(), b"MN\r\n")
            if asked == requests // 2 // 500 * 500:
                hits = asked = 0  # warm now: only the second half counts
                requests //= 2
    return hits / max(1, asked)


def test_a_thousand_times_to_live_still_cache_well():
    requests = 1_200_000 if LONG else 500_000
    many = [100 + 37 * i for i in range(1000)]
    subject = _hit_rate(None, many, requests)
    single = _hit_rate(None, [5000], requests)
    note = f"hit rate {subject:.3f} with 1000 times to live, {single:.3f} with one"
    if harness.REFERENCE.exists():
        reference = _hit_rate(harness.REFERENCE, many, requests)
        note += f", memcached {reference:.3f}"
        check(subject >= reference - 0.05, note)
    check(subject >= single - 0.05, note)
    return note


# --- the end ---


def _stop_under_load(number, net):
    """Clients send whole batches in one piece each; none of them may be answered in part."""
    batch_requests = 40
    request = b"".join(
        b"set g%d 0 0 8\r\nabcdefgh\r\n" % i if i % 2 else b"get g%d\r\n" % (i + 1)
        for i in range(batch_requests)
    )
    partial, completed, lock = [], [0], threading.Lock()
    with Server(threads=4, net=net) as server:
        with server.connect() as client:
            for i in range(batch_requests + 2):
                client.set(b"g%d" % i, b"abcdefgh")
        reply = b"".join(
            b"STORED\r\n" if i % 2 else b"VALUE g%d 0 8\r\nabcdefgh\r\nEND\r\n" % (i + 1)
            for i in range(batch_requests)
        )

        def work(_):
            client = server.connect(timeout=20)
            while True:
                got = b""
                try:
                    client.send(request)
                    while len(got) < len(reply):
                        data = client.socket.recv(65536)
                        if not data:
                            break
                        got += data
                except (ConnectionError, BrokenPipeError):
                    pass
                if got == reply:
                    with lock:
                        completed[0] += 1
                    continue
                if got and reply.startswith(got):
                    partial.append(len(got))
                elif got:
                    raise AssertionError(f"wrong bytes at the end: {got[-100:]!r}")
                client.close()
                return

        killer = threading.Timer(0.5, lambda: server.signal(number))
        killer.start()
        _in_threads(16, work)
        killer.join()
        status = server.process.wait(10)
        check_equal(status, 0, f"exit status after signal {number}")
        if harness.is_weft(server.binary):
            check_equal(partial, [], "batches answered in part (bytes of each)")
    return completed[0], len(partial)


@each_net
def test_stop_loses_no_reply(net):
    rounds = 10 if LONG else 3
    notes = []
    for number in (signal.SIGTERM, signal.SIGINT):
        done = [_stop_under_load(number, net) for _ in range(rounds)]
        notes.append(
            f"{signal.Signals(number).name}: {sum(d[0] for d in done)} batches answered, "
            f"{sum(d[1] for d in done)} in part"
        )
    return ", ".join(notes)


@each_net
def test_stop_answers_what_was_read(net):
    """Requests that arrived before the signal are answered although the client reads only later."""
    if not harness.is_weft(harness.subject_binary()):
        raise Skip("memcached does not promise this")
    with Server(threads=2, net=net) as server:
        clients = [server.connect() for _ in range(50)]
        for client in clients:
            client.send(b"set w 0 0 3\r\nabc\r\nget w\r\nmn\r\n")
        while int(server.stats()["cmd_set"]) < len(clients):  # and what came with each
            time.sleep(0.01)
        server.signal(signal.SIGTERM)
        for client in clients:
            check_equal(client.read_to_end(), b"STORED\r\nVALUE w 0 3\r\nabc\r\nEND\r\nMN\r\n")
            client.close()
        check_equal(server.process.wait(10), 0)


def test_stop_with_idle_and_slow_connections_is_quick():
    with Server(memory_mb=64) as server:
        with server.connect() as client:
            client.set(b"big", b"x" * 900_000)
        idle = [server.connect() for _ in range(100)]
        slow = server.connect(receive_buffer=4096)
        slow.send(b"get big big big big big big big big\r\n")
        time.sleep(0.2)
        began = time.monotonic()
        server.signal(signal.SIGTERM)
        server.process.wait(15)
        spent = time.monotonic() - began
        for client in idle + [slow]:
            client.close()
        return f"{spent:.1f} s"


# --- unix socket ---


@each_net
def test_unix_socket(net):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "weft.sock"
        with Server(unix_path=path, net=net) as server, server.connect() as client:
            check(stat.S_ISSOCK(path.stat().st_mode))
            check_equal(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, "only the owner may connect")
            check_equal(client.set(b"k", b"v" * 100_000), b"STORED\r\n")
            check_equal(client.get(b"k"), b"v" * 100_000)
            others = [Client(str(path)) for _ in range(50)]
            for other in others:
                check_equal(other.command(b"mn\r\n"), b"MN\r\n")
                other.close()
        with Server(unix_path=path, flags=["-a", "0777"], net=net) as server:  # over the old file
            check_equal(stat.S_IMODE(path.stat().st_mode), 0o777)
            with server.connect() as client:
                check_equal(client.get(b"k"), None)


def test_listens_on_loopback_unless_told_otherwise():
    if not harness.is_weft(harness.subject_binary()):
        raise Skip("memcached listens on all interfaces")
    server = Server()
    try:
        with open(f"/proc/{server.pid}/net/tcp") as table:
            ports = [line.split()[1] for line in table.readlines()[1:] if line.split()[3] == "0A"]
        mine = [
            entry.split(":")[0] for entry in ports if int(entry.split(":")[1], 16) == server.port
        ]
        check(mine == ["0100007F"], f"listens on {mine}")
    finally:
        server.stop()


if __name__ == "__main__":
    harness.main(globals())

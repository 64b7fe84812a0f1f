"""weft serve --data: what was acknowledged outlives the process, and is all that does.

Clients store on many connections while the server is killed (kill -9) at a random instant, and what
is there after a restart is held to what each of them was told. Seeds come from WEFT_SEED (default
1) and are printed; WEFT_TEST_LONG=1 runs more rounds.
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import harness
from harness import Server, Skip, check, check_equal, client_library

SEED = int(os.environ.get("WEFT_SEED", "1"))
ROUNDS = 30 if os.environ.get("WEFT_TEST_LONG") else 4
TOO_LARGE = b"SERVER_ERROR object too large for cache\r\n"
IO_ERROR = b"SERVER_ERROR i/o error in the durable store\r\n"


class Data:
    """A folder for --data, gone at the end."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="weft-data-"))

    def server(self, *flags, **options):
        return Server(flags=["--data", self.path, *flags], **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def kill(server):
    server.signal(signal.SIGKILL)
    server.process.wait()


# --- the session that is killed ---

# What a key may hold: (value, flags, second of its end or 0), or None for no item. A client knows
# what it was told, and of the request without an answer both what was and what would be.


class Session(threading.Thread):
    """Stores and changes keys of its own until the server is gone."""

    def __init__(self, base, address, number, seed, items):
        super().__init__()
        self.random = random.Random(seed * 1000 + number)
        self.client = base.Client(address, default_noreply=False, timeout=20)
        self.number = number
        self.items = items  # key -> list of what it may hold
        self.versions = {}  # key -> cas, where the last thing known of it is a gets
        self.seen = set()  # every version with its key and value
        self.acknowledged = 0
        self.error = None

    def run(self):
        try:
            while True:
                self.step()
        except OSError:
            pass  # the server was killed
        except Exception as error:
            if "Unexpected" not in type(error).__name__:
                self.error = error
        self.client.close()

    def value(self):
        size = self.random.choice([1, 10, 100, 100, 1000, 20000])
        return bytes([self.random.randrange(256)]) * self.random.randrange(1, size + 1)

    def expect(self, key, would_be):
        """Before a request: its key may from now on hold that as well."""
        self.items.setdefault(key, [None]).append(would_be)
        self.versions.pop(key, None)

    def settle(self, key, holds):
        """Its answer is here: the key holds just that."""
        self.items[key] = [holds]
        self.acknowledged += 1

    def known(self, key):
        held = self.items.get(key, [None])
        return held[0] if len(held) == 1 else "unknown"

    def end(self):
        """An exptime, and the second of its end."""
        if self.random.random() < 0.7:
            return 0, 0
        seconds = self.random.randrange(1000, 100000)
        return seconds, int(time.time()) + seconds

    def step(self):
        key = b"s%d-%d" % (self.number, self.random.randrange(200))
        was = self.known(key)
        if was == "unknown":  # left over from the kill before: look
            return self.look(key)
        self.random.choice(
            [self.set, self.set, self.add, self.replace, self.extend, self.count, self.cas]
            + [self.delete, self.touch, self.look, self.mark]
        )(key, was)

    def set(self, key, _):
        exptime, end = self.end()
        new = (self.value(), self.random.randrange(1 << 32), end)
        self.expect(key, new)
        check(self.client.set(key, new[0], expire=exptime, flags=new[1]))
        self.settle(key, new)

    def add(self, key, was):
        new = (self.value(), self.random.randrange(1 << 16), 0)
        self.expect(key, new)
        done = self.client.add(key, new[0], flags=new[1])
        check_equal(done, was is None, f"add of {key}")
        self.settle(key, new if done else was)

    def replace(self, key, was):
        new = (self.value(), self.random.randrange(1 << 16), 0)
        self.expect(key, new)
        done = self.client.replace(key, new[0], flags=new[1])
        check_equal(done, was is not None, f"replace of {key}")
        self.settle(key, new if done else was)

    def extend(self, key, was):
        back = self.random.random() < 0.5
        piece = b"piece%d" % self.random.randrange(10)
        if was is not None and len(was[0]) > 100_000:
            return self.delete(key, was)
        new = was and ((was[0] + piece if back else piece + was[0]), *was[1:])
        self.expect(key, new)
        done = (self.client.append if back else self.client.prepend)(key, piece)
        check_equal(done, was is not None, f"append to {key}")
        self.settle(key, new)

    def count(self, key, _):
        key = key.replace(b"s", b"n", 1)
        was = self.known(key)
        if was == "unknown":
            return self.look(key)
        if was is None:
            self.expect(key, (b"5", 3, 0))
            check(self.client.add(key, b"5", flags=3))
            return self.settle(key, (b"5", 3, 0))
        delta = self.random.randrange(1000)
        new = (b"%d" % (int(was[0]) + delta), was[1], was[2])
        self.expect(key, new)
        check_equal(self.client.incr(key, delta), int(new[0]), f"incr of {key}")
        self.settle(key, new)

    def cas(self, key, was):
        value, version = self.client.gets(key)
        check_equal(value, was and was[0], f"gets of {key}")
        if was is None:
            return
        self.note_version(key, value, version)
        if self.random.random() < 0.3:
            self.versions[key] = version  # for after the kill, if nothing comes between
            return
        new = (self.value(), 7, 0)
        self.expect(key, new)
        check_equal(self.client.cas(key, new[0], version, flags=7), True, f"cas of {key}")
        self.settle(key, new)
        check_equal(self.client.cas(key, b"no", version), False, f"stale cas of {key}")

    def note_version(self, key, value, version):
        self.seen.add((version, key, value))

    def delete(self, key, was):
        self.expect(key, None)
        check_equal(self.client.delete(key), was is not None, f"delete of {key}")
        self.settle(key, None)

    def touch(self, key, was):
        exptime, end = self.end()
        new = was and (was[0], was[1], end)
        self.expect(key, new)
        check_equal(self.client.touch(key, exptime), was is not None, f"touch of {key}")
        self.settle(key, new)

    def mark(self, key, was):
        """A meta store, whose flags the client library does not know."""
        new = (b"meta", 11, 0)
        self.expect(key, new)
        check_equal(self.client.raw_command(b"ms %s 4 F11\r\nmeta" % key), b"HD")
        self.settle(key, new)

    def look(self, key, was="unknown"):
        value = self.client.get(key)
        if was != "unknown":
            return check_equal(value, was and was[0], f"get of {key}")
        held = self.items[key]
        allowed = [one for one in held if value == (one and one[0])]
        check(allowed, f"{key} holds {str(value)[:60]}, not one of {str(held)[:300]}")
        if len(allowed) > 1:  # the same value with other flags: make it known
            self.client.delete(key)
            allowed = [None]
        self.items[key] = [allowed[0]]


def check_item(client, key, held):
    """What the server holds under `key` is one of `held`."""
    head = client.command(b"mg %s v f t c\r\n" % key)
    if head.startswith(b"EN"):
        now = time.time()
        gone = any(one is None or one[2] and one[2] <= now + 1 for one in held)
        return check(gone, f"{key} is lost: it held one of {str(held)[:300]}")
    check(head.startswith(b"VA "), f"{key}: {head}")
    words = head.split()
    value = client.read_exactly(int(words[1]) + 2)[:-2]
    flags, ttl = int(words[2][1:]), int(words[3][1:])
    for one in held:
        if one is None or (value, flags) != one[:2]:
            continue
        end = 0 if ttl < 0 else time.time() + ttl
        if -3 <= end - one[2] <= 60:  # a request may wait, so that what it stores ends later
            return None
    raise AssertionError(f"{key} holds {value[:60]} {flags} {ttl}, not one of {str(held)[:300]}")


def check_versions(client, sessions):
    """A version shown before the kill is still that of its item, and no other is."""
    used = 0
    for session in sessions:
        for key, version in session.versions.items():
            if len(session.items[key]) != 1:
                continue
            value = session.items[key][0][0]
            wrong = client.command(b"cas %s 0 0 2 %d\r\nno\r\n" % (key, int(version) + 1))
            check_equal(wrong, b"EXISTS\r\n", f"cas of {key} with another version")
            if len(value) > 1000:
                continue
            right = b"cas %s 9 0 %d %s\r\n%s\r\n" % (key, len(value), version, value)
            check_equal(client.command(right), b"STORED\r\n", f"cas of {key} with {version}")
            session.items[key] = [(value, 9, 0)]
            used += 1
        session.versions.clear()
    return used


def test_what_was_acknowledged_survives_kill_9():
    base = client_library("pymemcache.client.base")
    chance = random.Random(SEED)
    items = [{} for _ in range(4)]
    seen = {}
    acknowledged = versions = 0
    with Data() as data:
        for round_number in range(ROUNDS):
            sync = chance.choice(["0", "20", "1000"])
            memory = chance.choice([2, 64])
            flags = ["--sync-ms", sync, "-I", "256k"]
            with data.server(*flags, memory_mb=memory) as server:
                with server.connect() as client:
                    for held in items:
                        for key, one in held.items():
                            check_item(client, key, one)
                sessions = [Session(base, server.address, i, SEED + round_number, held)
                            for i, held in enumerate(items)]
                for session in sessions:
                    session.start()
                wanted = chance.randrange(100, 500 if sync == "0" else 3000)
                while sum(session.acknowledged for session in sessions) < wanted:
                    check(any(session.is_alive() for session in sessions), "all have ended")
                    time.sleep(0.002)
                kill(server)
                for session in sessions:
                    session.join()
                    if session.error:
                        raise AssertionError(f"session {session.number}") from session.error
                    acknowledged += session.acknowledged
            with data.server("-I", "256k", memory_mb=memory) as server:
                with server.connect() as client:
                    for held in items:
                        for key, one in held.items():
                            check_item(client, key, one)
                    versions += check_versions(client, sessions)
            for session in sessions:
                for version, key, value in session.seen:
                    check_equal(seen.setdefault(version, (key, value)), (key, value), "a version")
    return f"seed {SEED}: {ROUNDS} kills, {acknowledged} acknowledged, {versions} cas after a kill"


def test_flush_holds_after_kill_9():
    with Data() as data:
        with data.server() as server, server.connect() as client:
            for i in range(50):
                client.set(b"old%d" % i, b"x")
            check_equal(client.command(b"flush_all\r\n"), b"OK\r\n")
            check_equal(client.get(b"old1"), None)
            client.set(b"new", b"y")
            kill(server)
        with data.server() as server, server.connect() as client:
            check_equal([client.get(b"old%d" % i) for i in range(50)], [None] * 50)
            check_equal(client.get(b"new"), b"y")
            began = time.monotonic()
            check_equal(client.command(b"flush_all 2\r\n"), b"OK\r\n")
            check(client.get(b"new") == b"y" or time.monotonic() - began > 0.9, "not yet")
            kill(server)
        time.sleep(2.1)
        with data.server() as server, server.connect() as client:
            time.sleep(0.2)
            check_equal(client.get(b"new"), None)
            client.set(b"newer", b"z")
            check_equal(client.get(b"newer"), b"z")


def test_expiry_goes_on_while_nobody_serves():
    with Data() as data:
        with data.server() as server, server.connect() as client:
            client.set(b"short", b"x", ttl_s=2)
            began = time.monotonic()
            client.set(b"long", b"x", ttl_s=1000)
            client.command(b"set past 0 -1 1\r\nx\r\n")
            kill(server)
        time.sleep(2.1)
        with data.server() as server, server.connect() as client:
            check_equal(client.get(b"short"), None)
            check_equal(client.get(b"past"), None)
            check_equal(client.command(b"add short 0 0 1\r\ny\r\n"), b"STORED\r\n")
            left = int(client.command(b"mg long t\r\n").split()[1][1:])
            check(998 - time.monotonic() + began <= left <= 998, f"{left} s left of 1000")


def test_meta_marks_and_base64_keys_survive():
    with Data() as data:
        with data.server() as server, server.connect() as client:
            check_equal(client.command(b"ms /wAB/g== 3 b\r\nbin\r\n"), b"HD\r\n")
            client.set(b"stale", b"x")
            check_equal(client.command(b"md stale I T1000\r\n"), b"HD\r\n")
            client.set(b"won", b"x")
            check_equal(client.command(b"md won I T1000\r\n"), b"HD\r\n")
            check_equal(client.command(b"mg won\r\n"), b"HD X W\r\n")
            check_equal(client.command(b"mg made N500\r\n"), b"HD W\r\n")
            kill(server)
        with data.server() as server, server.connect() as client:
            check_equal(client.command(b"mg /wAB/g== b k\r\n"), b"HD k/wAB/g== b\r\n")
            check_equal(client.command(b"mg stale\r\n"), b"HD X W\r\n")
            check_equal(client.command(b"mg won\r\n"), b"HD Z X\r\n")
            check_equal(client.command(b"mg made\r\n"), b"HD Z\r\n")


def test_much_more_than_memory_is_served():
    count, value = 20000, b"v" * 1000
    with Data() as data:
        with data.server("-I", "64k", memory_mb=4) as server, server.connect() as client:
            for begin in range(0, count, 500):
                keys = range(begin, begin + 500)
                client.send(
                    b"".join(b"set k%d 3 0 1000 noreply\r\n%s\r\n" % (i, value) for i in keys)
                )
            check_equal(client.get(b"absent"), None)
            for begin in range(0, count, 100):
                keys = [b"k%d" % i for i in range(begin, begin + 100)]
                client.send(b"get " + b" ".join(keys) + b" none\r\n")
                text = client.read_until(b"END\r\n")
                check_equal(text.count(b"VALUE k"), 100, f"found from {begin}")
            stats = server.stats()
            check(int(stats["curr_items"]) < count // 2, "memory holds it all")
            check(int(stats["evictions"]) > count // 4, "nothing was evicted")
            check_equal(stats["get_misses"], "201")
            data_stats = server.stats(b"data")
            check(int(data_stats["lookup_hits"]) > count // 2, str(data_stats))
            # What depends on what is stored finds it there, too.
            check_equal(client.command(b"add k1 0 0 1\r\nx\r\n"), b"NOT_STORED\r\n")
            check_equal(client.command(b"append k2 0 0 1\r\nx\r\n"), b"STORED\r\n")
            check_equal(client.get(b"k2"), value + b"x")
            check_equal(client.command(b"delete k3\r\n"), b"DELETED\r\n")
            check_equal(client.command(b"delete k3\r\n"), b"NOT_FOUND\r\n")
            check_equal(client.command(b"incr k4 1\r\n")[:12], b"CLIENT_ERROR")
        with data.server("-I", "64k", memory_mb=4) as server, server.connect() as client:
            check_equal(client.get(b"k2"), value + b"x")
            check_equal(client.get(b"k3"), None)


def test_item_too_large_goes_as_it_does_without_data():
    with Data() as data:
        with data.server("-I", "2k") as server, server.connect() as client:
            client.set(b"k", b"x")
            check_equal(client.set(b"k", b"y" * 5000), TOO_LARGE)
            check_equal(client.get(b"k"), None)
            kill(server)
        with data.server() as server, server.connect() as client:
            check_equal(client.get(b"k"), None)
            client.set(b"large", b"y" * 500_000)
        with data.server("-I", "2k") as server, server.connect() as client:
            check_equal(client.get(b"large"), b"y" * 500_000)
            check_equal(client.command(b"append large 0 0 1\r\nx\r\n"), TOO_LARGE)


def test_a_refused_meta_set_drops_its_own_key_alone():
    with Data() as data:
        with data.server("-I", "4k", "-t", "1") as server, server.connect() as client:
            check_equal(client.command(b"ms QUFBQQ== 1 b\r\nx\r\n"), b"HD\r\n")
            check_equal(client.command(b"ms QkJCQg== 1 b\r\ny\r\n"), b"HD\r\n")
            value = b"z" * 5000
            client.send(b"ms QUFBQQ== 5000 b\r\n" + value + b"\r\nmg QkJCQg== b v\r\n")
            check_equal(client.line(), TOO_LARGE)
            check_equal(client.line(), b"VA 1\r\n")
            check_equal(client.line(), b"y\r\n")
            kill(server)
        with data.server() as server, server.connect() as client:
            check_equal(client.get(b"AAAA"), None)
            check_equal(client.get(b"BBBB"), b"y")


def test_a_damaged_value_is_not_written_on():
    value = random.Random(SEED).randbytes(1000)
    with Data() as data:
        with data.server() as server, server.connect() as client:
            client.set(b"damaged", value)
            client.set(b"whole", value[::-1])
        weft = str(harness.subject_binary())
        subprocess.run([weft, "db", "compact", data.path], check=True, capture_output=True)
        (table,) = (path for path in data.path.iterdir() if value in path.read_bytes())
        whole = table.read_bytes()
        at = whole.index(value) + 500
        with data.server() as server, server.connect() as client:
            with open(table, "r+b") as file:  # the same file, which the server may have open
                file.seek(at)
                file.write(bytes([whole[at] ^ 1]))
            for change in (
                b"append damaged 0 0 1\r\nx",
                b"prepend damaged 0 0 1\r\nx",
                b"touch damaged 100",
                b"gat 100 damaged",
                b"get damaged",
            ):
                check(client.command(change + b"\r\n").startswith(b"SERVER_ERROR"), change)
            kill(server)
        table.write_bytes(whole)
        with data.server() as server, server.connect() as client:
            check_equal(client.get(b"damaged"), value)
            check_equal(client.get(b"whole"), value[::-1])


def test_full_disk_is_an_error_and_nothing_is_acknowledged_in_vain():
    if os.geteuid() != 0:
        raise Skip("mounting a small file system takes root")
    with Data() as data:
        data.path.mkdir(exist_ok=True)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", data.path], capture_output=True
        )
        if mounted.returncode != 0:
            raise Skip(f"mount: {mounted.stderr.decode().strip()}")
        try:
            stored, refused = fill_until_refused(data)
            check_after_refusal(data, stored, refused)
        finally:
            subprocess.run(["umount", "-l", data.path], check=False)
    return f"{len(stored)} stored before the disk was full"


def fill_until_refused(data):
    chance = random.Random(SEED)
    stored = {}
    with data.server() as server, server.connect() as client:
        refused = None
        for i in range(400):
            key, value = b"k%d" % i, chance.randbytes(200_000)
            answer = client.set(key, value)
            if answer != b"STORED\r\n":
                check_equal(answer, IO_ERROR, "of a full disk")
                refused = key
                break
            stored[key] = value
        check(refused, "the disk never filled")
        with server.connect() as other:  # the refused client's connection is closed
            check_equal(other.get(refused), None)
            check_equal(other.get(b"k1"), stored[b"k1"])
            check_equal(other.set(b"more", b"x"), IO_ERROR)
            check_equal(other.command(b"delete k1\r\n"), IO_ERROR)
            check_equal(other.command(b"flush_all\r\n"), IO_ERROR)
            check_equal(other.get(b"k1"), stored[b"k1"])
        kill(server)
    return stored, refused


def check_after_refusal(data, stored, refused):
    """With room again, all that was acknowledged is there."""
    grown = subprocess.run(["mount", "-o", "remount,size=96m", data.path], capture_output=True)
    check_equal(grown.returncode, 0, "remount")
    with data.server() as server, server.connect() as client:
        for key, value in stored.items():
            check_equal(client.get(key), value, f"{key}")
        check_equal(client.set(refused, b"now"), b"STORED\r\n")


if __name__ == "__main__":
    harness.main(globals())

"""weft serve -e: a server that was stopped cleanly is followed by one that has its items."""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import harness
from harness import Server, Skip, check, check_equal
from starts import weft

SEED = int(os.environ.get("WEFT_SEED", "1"))
ROUNDS = 40 if os.environ.get("WEFT_TEST_LONG") else 6


@contextlib.contextmanager
def memory_folder():
    """A folder in memory."""
    if not os.access("/dev/shm", os.W_OK):
        raise Skip("/dev/shm cannot be written to")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-memory-", dir="/dev/shm"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kept_by(path, *flags, **options):
    return Server(flags=["-e", path, "-A", "-v", *flags], **options)


def filled(number, size):
    return (b"%d:" % number + bytes(range(97, 123)) * (size // 26 + 1))[:size]


def store(client, key, value, flags=0, ttl=0):
    check_equal(client.command(b"set %s %d %d %d\r\n%s\r\n" % (key, flags, ttl, len(value), value)),
                b"STORED\r\n")


def value_of(client, key):
    """The value; None: no such item."""
    client.send(b"get %s\r\nmn\r\n" % key)
    text = client.read_until(b"MN\r\n")
    if text == b"END\r\nMN\r\n":
        return None
    return text.split(b"\r\n", 1)[1][:-len(b"\r\nEND\r\nMN\r\n")]


def cas_of(client, key):
    client.send(b"gets %s\r\n" % key)
    return int(client.read_until(b"END\r\n").split(b"\r\n")[0].split()[4])


def end_by(server, how):
    """Ends it cleanly by a signal or a client's command."""
    if isinstance(how, bytes):
        with server.connect() as client:
            client.send(how)
            client.read_to_end()
    else:
        server.signal(how)
    check_equal(server.process.wait(30), 0)


STOPS = (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, b"shutdown graceful\r\n", b"shutdown\r\n")


def test_items_come_back_after_each_clean_stop():
    with memory_folder() as folder:
        for round_, how in enumerate(STOPS):
            values = {b"%d-%d" % (round_, i): filled(i, i * i) for i in range(300)}
            values[b"long"] = filled(round_, 900_000)
            with kept_by(folder / "file", threads=1 + round_ % 3) as server:
                with server.connect() as client:
                    for key, value in values.items():
                        store(client, key, value, flags=7)
                    check_equal(client.command(b"delete %d-17\r\n" % round_), b"DELETED\r\n")
                hash_power = server.stats()["hash_power_level"]
                end_by(server, how)
            check((folder / "file.meta").stat().st_mode & 0o777 == 0o600, "the mode of .meta")
            index = "cuckoo" if round_ % 2 else "set-associative"
            with kept_by(folder / "file", "--index", index) as server:
                check(not (folder / "file.meta").exists(), "it counts once")
                with server.connect() as client:
                    for key, value in values.items():
                        wanted = None if key == b"%d-17" % round_ else value
                        check_equal(value_of(client, key), wanted, f"{how} {key}")
                check_equal(server.stats(b"settings")["memory_file"], str(folder / "file"))
                check(int(server.stats()["hash_power_level"]) >= int(hash_power), "hash power")
                end_by(server, signal.SIGTERM)


def test_times_to_live_go_on_and_versions_rise():
    with memory_folder() as folder:
        with kept_by(folder / "file") as server:
            with server.connect() as client:
                store(client, b"short", b"x", ttl=2)
                store(client, b"mid", b"x", ttl=1000)
                store(client, b"for-ever", b"x")
                shown = cas_of(client, b"for-ever")
            begun = time.monotonic()
            end_by(server, signal.SIGUSR1)
        time.sleep(2.2)
        with kept_by(folder / "file") as server, server.connect() as client:
            check_equal(value_of(client, b"short"), None)
            ttl = int(client.command(b"mg mid t\r\n").split()[1][1:])
            away = time.monotonic() - begun
            check(1000 - away - 2 <= ttl <= 998, f"{ttl} s after {away:.1f} s")
            check_equal(client.command(b"mg for-ever t\r\n"), b"HD t-1\r\n")
            check_equal(cas_of(client, b"for-ever"), shown)
            seen = {shown}
            for i in range(100):
                store(client, b"new%d" % i, b"x")
                cas = cas_of(client, b"new%d" % i)
                check(cas > shown and cas not in seen, f"version {cas}")
                seen.add(cas)
            check_equal(client.command(b"cas for-ever 0 0 1 %d\r\ny\r\n" % shown), b"STORED\r\n")


def test_what_shutdown_answers():
    with Server() as server, server.connect() as client:
        check_equal(client.command(b"shutdown\r\n"), b"ERROR: shutdown not enabled\r\n")
        check_equal(client.command(b"shutdown graceful\r\n"), b"ERROR: shutdown not enabled\r\n")
        check_equal(server.stats(b"settings")["memory_file"], "(null)")
    with Server(flags=["-A"]) as server, server.connect() as client:
        check_equal(client.command(b"shutdown gently\r\n"),
                    b"CLIENT_ERROR invalid shutdown mode\r\n")


def test_another_server_begins_empty_and_says_why():
    with memory_folder() as folder:
        for flags, memory_mb, why in ((["-I", "2m"], 64, "-I was another"),
                                      ([], 128, "-m was another"),
                                      (["-M"], 64, "-M was given to only one")):
            with kept_by(folder / "file") as server:
                with server.connect() as client:
                    store(client, b"key", b"value")
                end_by(server, signal.SIGUSR1)
            with kept_by(folder / "file", *flags, memory_mb=memory_mb) as server:
                with server.connect() as client:
                    check_equal(value_of(client, b"key"), None)
                check(why in server.log(), server.log())
                server.signal(signal.SIGKILL)
                server.process.wait()
            with kept_by(folder / "file") as server:
                check("no server has stopped cleanly" in server.log(), server.log())


class Moments:
    """When to kill a process so that it is in the midst of something: within the time that this
    takes."""

    def __init__(self):
        print(f"WEFT_SEED={SEED}")
        self.random = random.Random(SEED)
        self.early = []
        self.late = []
        self.whole = None

    def wait(self, process):
        """Waits: not at all, until that was too early; then for as long as it takes; then for a
        part of that time."""
        if not self.early:
            self.waited = 0
        elif self.whole is None:
            begun = time.monotonic()
            process()
            self.waited = self.whole = time.monotonic() - begun
        else:
            self.waited = self.whole * self.random.uniform(0, 1.2)
            time.sleep(self.waited)

    def note(self, was_done):
        (self.late if was_done else self.early).append(self.waited)

    def check_both(self):
        print(f"killed too early for it after {sorted(self.early)} s, too late {sorted(self.late)}")
        check(self.early and self.late, "kills before and behind it")


def put_generation(server, count, number):
    """Stores key0, key1, ...; every tenth of them is deleted again."""
    with server.connect() as client:
        client.send(b"".join(b"set key%d 0 0 %d noreply\r\n%d\r\n" % (i, len(str(number)), number)
                             for i in range(count)))
        client.send(b"".join(b"delete key%d noreply\r\n" % i for i in range(0, count, 10)))
        client.command(b"mn\r\n")


def check_generation(server, count, number):
    """It is there as it was put, or nothing is. Returns whether it is."""
    items = int(server.stats()["curr_items"])
    check(items in (0, count - count // 10), f"{items} items")
    with server.connect() as client:
        for i in range(0, count, 77):
            wanted = b"%d" % number if items and i % 10 else None
            check_equal(value_of(client, b"key%d" % i), wanted, f"key{i}")
    return items != 0


def until_gone(path):
    deadline = time.monotonic() + 30
    while path.exists() and time.monotonic() < deadline:
        time.sleep(0.001)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_server_that_is_killed_while_it_stops_leaves_nothing_wrong():
    moments = Moments()
    with memory_folder() as folder:
        for round_ in range(1, ROUNDS + 1):
            with kept_by(folder / "file") as server:
                put_generation(server, 20000, round_)
                server.signal(signal.SIGUSR1)
                moments.wait(lambda: server.process.wait(30))
                kill(server.process)
            with kept_by(folder / "file") as server:
                moments.note(check_generation(server, 20000, round_))
                kill(server.process)
        moments.check_both()
        # One more, which is not killed, shows that leftovers do not hinder it.
        with kept_by(folder / "file") as server:
            with server.connect() as client:
                store(client, b"key0", b"last")
            end_by(server, signal.SIGUSR1)
        with kept_by(folder / "file") as server, server.connect() as client:
            check_equal(value_of(client, b"key0"), b"last")


def test_a_server_that_is_killed_while_it_starts_leaves_nothing_wrong():
    moments = Moments()
    with memory_folder() as folder:
        path = folder / "file"
        for round_ in range(ROUNDS):
            with kept_by(path) as server:
                put_generation(server, 50000, round_)
                end_by(server, signal.SIGUSR1)
            process = subprocess.Popen([weft(), "serve", "-p", "-1", "-m", "64", "-e", path],
                                       stderr=subprocess.DEVNULL)
            moments.wait(lambda: until_gone(folder / "file.meta"))
            kill(process)
            with kept_by(path) as server:
                # Kept: it had not begun to take what there was.
                moments.note(not check_generation(server, 50000, round_))
                kill(server.process)
        moments.check_both()


def test_a_durable_store_decides():
    with memory_folder() as folder, tempfile.TemporaryDirectory(prefix="weft-data-") as data:
        flags = ["--data", data]

        def put(server, value):
            with server.connect() as client:
                store(client, b"key", value)

        with kept_by(folder / "file", *flags) as server:
            put(server, b"1")
            end_by(server, signal.SIGUSR1)
        with kept_by(folder / "file", *flags) as server:
            check("1 items in" in server.log(), server.log())
            put(server, b"2")
            end_by(server, signal.SIGTERM)
        with Server(flags=flags) as server:  # it knows nothing of the file
            put(server, b"3")
        with kept_by(folder / "file", *flags) as server:
            check("the durable store was changed since" in server.log(), server.log())
            with server.connect() as client:
                check_equal(value_of(client, b"key"), b"3")
            end_by(server, signal.SIGUSR1)
        with kept_by(folder / "file") as server, server.connect() as client:
            check("--data was given to only one" in server.log(), server.log())
            check_equal(value_of(client, b"key"), None)


def refusal(*words):
    """What a server says that does not start."""
    done = subprocess.run([weft(), "serve", "-p", "-1", *map(str, words)], capture_output=True,
                          timeout=60)
    check(done.returncode != 0, done)
    return done.stderr.decode(errors="replace")


def test_files_that_are_refused():
    with memory_folder() as folder:
        path = folder / "file"
        with kept_by(path):
            check("another server uses" in refusal("-e", path), "a lock")
        path.write_text("an essay")
        check("is no memory file of weft's" in refusal("-e", path), "an essay")
        check_equal(path.read_text(), "an essay")
        path.unlink()
        check("remove" not in refusal("-e", folder), "a folder")
        check("has room for" in refusal("-e", path, "-m", 1 << 21), "no room")
        check("needs -e" in refusal("--memory-file-on-disk"), "the flag alone")
        (folder / "file.meta").write_text("nonsense\n")
        check("file.meta: it is damaged" in refusal("-e", path), "a damaged .meta")
        with kept_by(path) as server:  # once is enough
            check("the cache is empty" in server.log(), server.log())
        if os.geteuid() == 0:
            os.chown(path, 12345, 12345)
            check("belongs to another user" in refusal("-e", path), "another's")


def test_a_disk_needs_to_be_allowed():
    with tempfile.TemporaryDirectory(prefix="weft-disk-", dir="/var/tmp") as folder:
        kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True)
        if kind.stdout.strip() == "tmpfs":
            raise Skip("/var/tmp lies in memory")
        path = pathlib.Path(folder) / "file"
        check("does not lie in memory" in refusal("-e", path), "a disk")
        for value in (None, b"value"):
            with kept_by(path, "--memory-file-on-disk") as server:
                with server.connect() as client:
                    check_equal(value_of(client, b"key"), value)
                    store(client, b"key", b"value")
                end_by(server, signal.SIGTERM)


@contextlib.contextmanager
def small_tmpfs(mebibytes):
    if os.geteuid() != 0:
        raise Skip("a tmpfs of its own needs root")
    with tempfile.TemporaryDirectory(prefix="weft-tmpfs-") as folder:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "none", folder],
                              capture_output=True)
        if done.returncode != 0:
            raise Skip("a tmpfs cannot be mounted here")
        try:
            yield pathlib.Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def used_bytes(path):
    return path.stat().st_blocks * 512


def test_a_file_system_that_is_full_ends_no_server():
    with small_tmpfs(80) as folder:
        with kept_by(folder / "file") as server:
            (folder / "other").write_bytes(bytes(50 << 20))
            with server.connect() as client:
                for i in range(3000):
                    client.send(b"set key%d 0 0 20000\r\n%s\r\n" % (i, filled(i, 20000)))
                    reply = client.read_until(b"\r\n")
                    check(reply == b"STORED\r\n", reply)
                check_equal(value_of(client, b"key2999"), filled(2999, 20000))
                check(int(server.stats()["evictions"]) > 0, "the rest of it was evicted")
                log = server.log()
                check_equal(log.count("its file system is full"), 1, log)
                had_bytes = used_bytes(folder / "file")
                (folder / "other").unlink()
                # It asks again once a second, so it may go on evicting for a while.
                deadline = time.monotonic() + 30
                while used_bytes(folder / "file") < had_bytes + (20 << 20):
                    check(time.monotonic() < deadline, "it does not use the room again")
                    for i in range(3000, 5000):
                        store(client, b"key%d" % i, filled(i, 20000))
                store(client, b"key2999", filled(2999, 20000))
            end_by(server, signal.SIGUSR1)
        with kept_by(folder / "file") as server, server.connect() as client:
            check_equal(value_of(client, b"key2999"), filled(2999, 20000))


def test_a_start_that_fails_keeps_what_was_kept():
    with memory_folder() as folder:
        with kept_by(folder / "file") as server:
            with server.connect() as client:
                for i in range(100):
                    store(client, b"key%d" % i, filled(i, 1000))
            end_by(server, signal.SIGUSR1)
        for flags in (("-P", folder / "none" / "pid"), ("-P", folder / "none" / "pid", "-t", "3")):
            said = refusal("-e", folder / "file", "-m", "64", "-l", "127.0.0.1", *flags)
            check("-P" in said, said)
            check((folder / "file.meta").exists(), "it counts still")
        with kept_by(folder / "file") as server, server.connect() as client:
            for i in range(100):
                check_equal(value_of(client, b"key%d" % i), filled(i, 1000))


def test_a_stop_on_a_full_file_system_keeps_the_items():
    with small_tmpfs(80) as folder:
        with kept_by(folder / "file") as server:
            (folder / "other").write_bytes(bytes(50 << 20))
            with server.connect() as client:
                for i in range(3000):
                    store(client, b"key%d" % i, filled(i, 20000))
            items = int(server.stats()["curr_items"])
            check(500 < items < 3000, f"{items} items: it evicts, and has free segments")
            with open(folder / "rest", "wb", buffering=0) as rest, contextlib.suppress(OSError):
                while True:  # to the last page
                    rest.write(bytes(4096))
            end_by(server, signal.SIGUSR1)
            check("are kept" in server.log(), server.log())
        (folder / "other").unlink()
        with kept_by(folder / "file") as server, server.connect() as client:
            check_equal(int(server.stats()["curr_items"]), items)
            check_equal(value_of(client, b"key2999"), filled(2999, 20000))


# A stage on a copy of the store, and the rest on the CPU.
MIRROR = ("--device", "mirror", "--device-batch-min", "1", "--steal", "off", "--plan",
          "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu")


def test_a_copy_of_the_store_is_made_of_what_came_back():
    with memory_folder() as folder:
        values = {b"key%d" % i: filled(i, i % 3000) for i in range(3000)}
        for round_ in range(3):
            with kept_by(folder / "file", *(MIRROR if round_ else ())) as server:
                with server.connect() as client:
                    if round_ == 0:
                        for key, value in values.items():
                            store(client, key, value)
                    deadline = time.monotonic() + 60
                    jobs = 0
                    while jobs == 0 and time.monotonic() < deadline:
                        for key, value in values.items():
                            check_equal(value_of(client, key), value, key)
                        report = server.stats(b"pipeline") if round_ else {"jobs": "1"}
                        jobs = sum(int(v) for k, v in report.items()
                                   if k.endswith("jobs") and v.isdigit())
                    check(jobs > 0, f"the device did nothing: {report}")
                    if round_:  # changes upon what came back reach the copy
                        values[b"key7"] = b"round %d" % round_
                        store(client, b"key7", values[b"key7"])
                        check_equal(value_of(client, b"key7"), values[b"key7"])
                end_by(server, signal.SIGUSR1)

"""Client libraries and tools against the server under test: every call they have, as users make it.

pymemcache and pylibmc come from requirements.txt, in .venv; memccapable from libmemcached-tools;
memcached-tool from memcached's own package. What is not installed is skipped with its name.
"""

import pathlib
import shutil
import subprocess
import sys
import time

import harness
from harness import Server, Skip, check, check_equal, client_library

TOOL = pathlib.Path("/usr/share/memcached/scripts/memcached-tool")


def _raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


# --- pymemcache ---


def test_pymemcache_client():
    base = client_library("pymemcache.client.base")
    exceptions = client_library("pymemcache.exceptions")
    with Server(flags=["-A"]) as server:
        client = base.Client(server.address, default_noreply=False)
        check(client.set("k", b"v"))
        check_equal(client.get("k"), b"v")
        check_equal(client.get("absent"), None)
        check_equal(client.get("absent", 7), 7)
        check(client.set("k", b"v2", expire=100, flags=9))
        check_equal(client.add("k", b"x"), False)
        check_equal(client.add("added", b"x"), True)
        check_equal(client.replace("k", b"r"), True)
        check_equal(client.replace("none", b"r"), False)
        check(client.append("k", b"-tail"))
        check(client.prepend("k", b"head-"))
        check_equal(client.get("k"), b"head-r-tail")

        value, cas = client.gets("k")
        check_equal(value, b"head-r-tail")
        check_equal(client.cas("k", b"swapped", cas), True)
        check_equal(client.cas("k", b"again", cas), False)
        check_equal(client.cas("none", b"again", cas), None)
        check_equal(client.gets("none"), (None, None))

        check_equal(client.set_many({"a": b"1", "b": b"2", "c": b"3"}), [])
        check_equal(client.set_multi({"d": b"4"}), [])
        check_equal(client.get_many(["a", "b", "zz", "c"]), {"a": b"1", "b": b"2", "c": b"3"})
        check_equal(client.get_multi(["d"]), {"d": b"4"})
        check_equal(client.get_many([]), {})
        many = client.gets_many(["a", "b"])
        check_equal({key: pair[0] for key, pair in many.items()}, {"a": b"1", "b": b"2"})
        check(many["a"][1] != many["b"][1], "two keys have one version")

        check_equal(client.incr("a", 5), 6)
        check_equal(client.decr("a", 2), 4)
        check_equal(client.decr("a", 99), 0)
        check_equal(client.incr("none", 1), None)
        check_equal(client.decr("none", 1), None)
        client.set("word", b"word")
        _raises(exceptions.MemcacheClientError, lambda: client.incr("word", 1))
        check_equal(client.touch("b", 100), True)
        check_equal(client.touch("none", 100), False)
        check_equal(client.delete("b"), True)
        check_equal(client.delete("b"), False)
        check_equal(client.delete_many(["a", "c", "none"]), True)
        check_equal(client.delete_multi(["d"]), True)
        check_equal(client.get_many(["a", "c", "d"]), {})

        check(b"uptime" in client.stats())
        check(b"maxconns" in client.stats("settings"))
        client.stats("items")
        client.stats("slabs")
        check(isinstance(client.version(), bytes))
        check_equal(client.raw_command("mn"), b"MN")
        check_equal(client.raw_command("ms meta 2\r\nhi"), b"HD")
        check_equal(client.raw_command("mg meta v", b"hi\r\n"), b"VA 2\r\n")
        check_equal(client.cache_memlimit(100), True)
        check_equal(client.flush_all(), True)
        check_equal(client.get("k"), None)
        client.set("late", b"1")
        check_equal(client.flush_all(delay=1), True)
        time.sleep(2.2)
        check_equal(client.get("late"), None)
        client.quit()
        client.set("reconnected", b"1")  # the library opens a new connection by itself
        client.disconnect_all()
        client.shutdown(graceful=False)
        server.process.wait(10)


def test_pymemcache_values_and_keys():
    base = client_library("pymemcache.client.base")
    serde = client_library("pymemcache.serde")
    exceptions = client_library("pymemcache.exceptions")
    with Server() as server:
        client = base.Client(
            server.address,
            default_noreply=False,
            serde=serde.pickle_serde,
            key_prefix=b"pre:",
            allow_unicode_keys=True,
        )
        for value in (
            b"",
            b"\r\n",
            b"END\r\n",
            bytes(range(256)) * 40,
            "text",
            "\u00e5\u4e16",
            42,
            -1,
            1 << 80,
            1.5,
            {"a": [1, (2, 3)]},
            None,
            b"x" * 1_000_000,
        ):
            check(client.set("v", value))
            check_equal(client.get("v"), value)
        check(client.set("\u043a\u043b\u044e\u0447", b"unicode"))
        check_equal(client.get("\u043a\u043b\u044e\u0447"), b"unicode")
        check(client.set("k" * 246, b"longest"))
        check_equal(client.get("k" * 246), b"longest")
        _raises(exceptions.MemcacheIllegalInputError, lambda: client.set("k" * 247, b"too long"))
        _raises(exceptions.MemcacheServerError, lambda: client.set("big", b"x" * 1_100_000))
        check_equal(client.get("big"), None)
        plain = base.Client(server.address)
        check_equal(plain.get(b"pre:v"), b"x" * 1_000_000)


def test_pymemcache_noreply_keeps_order():
    base = client_library("pymemcache.client.base")
    with Server() as server:
        client = base.Client(server.address, default_noreply=True)
        for i in range(2000):
            client.set("n", b"%d" % i)
            client.set_many({"m%d" % (i % 7): b"%d" % i})
            if i % 3 == 0:
                client.incr("n", 1, noreply=True)
            if i % 100 == 0:
                check_equal(client.get("n"), b"%d" % (i + (1 if i % 3 == 0 else 0)))
        client.add("n", b"no")
        client.append("n", b"+")
        client.touch("n", 100)
        client.delete("m0")
        check_equal(client.get_many(["n", "m0"]), {"n": b"1999+"})
        client.flush_all()
        check_equal(client.get("n"), None)


def test_pymemcache_pool_and_hash():
    base = client_library("pymemcache.client.base")
    hashing = client_library("pymemcache.client.hash")
    retrying = client_library("pymemcache.client.retrying")
    import threading

    with Server() as one, Server() as two:
        pooled = base.PooledClient(one.address, max_pool_size=8, default_noreply=False)
        errors = []

        def work(number):
            try:
                for i in range(300):
                    key, value = f"t{number}:{i % 20}", b"%d.%d" % (number, i)
                    check(pooled.set(key, value))
                    check_equal(pooled.get(key), value)
            except Exception as error:  # told in the main thread
                errors.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check_equal(errors, [], "pooled client")
        pooled.close()

        client = hashing.HashClient([one.address, two.address], default_noreply=False)
        data = {f"h{i}": b"%d" % i for i in range(500)}
        check_equal(client.set_many(data), [])
        check_equal(client.get_many(list(data)), data)
        counts = [int(server.stats()["curr_items"]) for server in (one, two)]
        check(min(counts) > 50, f"one server got hardly any key: {counts}")
        client.delete_many(list(data))
        check_equal(client.get_many(list(data)), {})
        client.flush_all()
        client.close()

        retry = retrying.RetryingClient(base.Client(one.address), attempts=2)
        retry.set("r", b"1", noreply=False)
        check_equal(retry.get("r"), b"1")


def test_pymemcache_unix_socket():
    base = client_library("pymemcache.client.base")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "s"
        with Server(unix_path=path):
            client = base.Client(str(path), default_noreply=False)
            check(client.set("k", b"v"))
            check_equal(client.get("k"), b"v")


# --- pylibmc ---


def _pylibmc_address(server):
    return f"{server.address[0]}:{server.address[1]}"


def test_pylibmc_client():
    pylibmc = client_library("pylibmc")
    with Server() as server:
        client = pylibmc.Client(
            [_pylibmc_address(server)], binary=False, behaviors={"tcp_nodelay": True, "cas": True}
        )
        check(client.set("k", "v"))
        check_equal(client.get("k"), "v")
        check_equal(client.get("absent"), None)
        check_equal(client.get("absent", 3), 3)
        check("k" in client and "absent" not in client)
        check_equal(client.add("k", "x"), False)
        check_equal(client.add("fresh", "x"), True)
        check_equal(client.replace("k", "r"), True)
        check_equal(client.replace("absent", "r"), False)
        check(client.set("s", b"mid"))
        check(client.append("s", b">"))
        check(client.prepend("s", b"<"))
        check_equal(client.get("s"), b"<mid>")
        check_equal(client.append("absent", b">"), False)

        value, cas = client.gets("k")
        check_equal(value, "r")
        check_equal(client.cas("k", "swapped", cas), True)
        check_equal(client.cas("k", "again", cas), False)
        _raises(pylibmc.NotFound, lambda: client.cas("absent", "x", cas))

        check_equal(client.set_multi({"a": 1, "b": 2, "c": "three"}), [])
        check_equal(client.get_multi(["a", "b", "zz", "c"]), {"a": 1, "b": 2, "c": "three"})
        check_equal(client.set_multi({"a": 10, "b": 20}, key_prefix="p:"), [])
        check_equal(client.get_multi(["a", "b"], key_prefix="p:"), {"a": 10, "b": 20})
        check_equal(client.add_multi({"a": 0, "new": 1}), ["a"])
        check_equal(client.delete_multi(["a", "b"], key_prefix="p:"), True)
        check_equal(client.get_multi(["a", "b"], key_prefix="p:"), {})
        check_equal(client.incr("a", 5), 6)
        check_equal(client.decr("a", 2), 4)
        check_equal(client.decr("a", 100), 0)
        _raises(pylibmc.NotFound, lambda: client.incr("absent"))
        client.incr_multi(["a", "b"], delta=3)
        check_equal(client.get_multi(["a", "b"]), {"a": 3, "b": 5})
        check_equal(client.incr("wrap") if client.set("wrap", (1 << 64) - 1) else None, 0)
        check_equal(client.touch("a", 100), True)
        check_equal(client.touch("absent", 100), False)
        check_equal(client.delete("a"), True)
        check_equal(client.delete("a"), False)

        check(client.get_stats()[0][1]["curr_connections"])
        check(client.get_stats("settings")[0][1])
        check_equal(client.clone().get("b"), 5)
        check(client.flush_all())
        check_equal(client.get("b"), None)
        client.disconnect_all()


def test_pylibmc_values():
    pylibmc = client_library("pylibmc")
    with Server() as server:
        client = pylibmc.Client([_pylibmc_address(server)], binary=False)
        values = [
            "",
            b"",
            "text",
            b"\r\nEND\r\n",
            "\u00e5\u4e16",
            0,
            -5,
            1 << 40,
            True,
            False,
            2.5,
            None,
            [1, {"a": (2,)}],
            bytes(range(256)) * 1000,
        ]
        for i, value in enumerate(values):
            check(client.set(f"v{i}", value, time=100))
            check_equal(client.get(f"v{i}"), value)
        text = "compress me " * 20000
        check(client.set("zip", text, min_compress_len=100))
        check_equal(client.get("zip"), text)
        check(int(server.stats()["bytes"]) < 400_000)
        check(client.set("k" * 250, "longest"))
        check_equal(client.get("k" * 250), "longest")
        _raises(pylibmc.Error, lambda: client.set("big", b"x" * 1_100_000))
        check(client.set("after", 1))  # the refusal has not upset the connection
        check_equal(client.get("after"), 1)


def test_pylibmc_behaviours_and_pools():
    pylibmc = client_library("pylibmc")
    import threading

    with Server() as one, Server() as two:
        client = pylibmc.Client(
            [_pylibmc_address(one), _pylibmc_address(two)],
            binary=False,
            behaviors={"ketama": True, "no_block": True, "tcp_nodelay": True},
        )
        data = {f"h{i}": i for i in range(300)}
        check_equal(client.set_multi(data), [])
        check_equal(client.get_multi(list(data)), data)
        errors = []

        def work(pool, number):
            try:
                for i in range(200):
                    with pool.reserve() as reserved:
                        reserved.set(f"t{number}", i)
                        check_equal(reserved.get(f"t{number}"), i)
            except Exception as error:  # told in the main thread
                errors.append(error)

        master = pylibmc.Client([_pylibmc_address(one)], binary=False)
        for pool in (pylibmc.ClientPool(master, 4), pylibmc.ThreadMappedPool(master)):
            threads = [threading.Thread(target=work, args=(pool, i)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if hasattr(pool, "relinquish"):
                pool.relinquish()
        check_equal(errors, [], "pools")


# --- tools ---


def test_memccapable():
    if not shutil.which("memccapable"):
        raise Skip("memccapable is not installed (libmemcached-tools)")
    with Server() as server:
        done = subprocess.run(
            ["memccapable", "-h", "127.0.0.1", "-p", str(server.port), "-a"],
            capture_output=True,
            text=True,
            timeout=120,
        )
        passed = done.stdout.count("[pass]")
        lines = [line for line in done.stdout.splitlines() if "[pass]" not in line]
        check(
            done.returncode == 0 and passed == 27, f"{passed} of 27 passed; {lines} {done.stderr}"
        )
        return "27 of 27"


def _tool(server, *arguments):
    done = subprocess.run(
        ["perl", str(TOOL), f"127.0.0.1:{server.port}", *arguments],
        capture_output=True,
        text=True,
        timeout=20,
    )
    check_equal(done.returncode, 0, f"memcached-tool {arguments} {done.stderr}")
    told = [line for line in done.stderr.splitlines() if not line.startswith("Dumping memcache ")]
    check_equal(told, [], f"memcached-tool {arguments}, stderr")
    return done.stdout


def test_memcached_tool():
    if not TOOL.exists() or not shutil.which("perl"):
        raise Skip(f"no {TOOL}")
    with Server(flags=["-o", "track_sizes"]) as server:
        with server.connect() as client:
            for i in range(300):
                check_equal(client.set(b"key%d" % i, b"v" * (i * 7), flags=i), b"STORED\r\n")
            client.set(b"ends", b"x", ttl_s=1000)
        display = _tool(server, "display")
        check("Item_Size" in display and len(display.splitlines()) > 1, display)
        stats = _tool(server, "stats")
        check("curr_items" in stats and "301" in stats, stats)
        check("maxconns" in _tool(server, "settings"))
        _tool(server, "sizes")
        # A dump is a session that restores what was dumped.
        dump = _tool(server, "dump")
        check_equal(dump.count("add key"), 300, "dumped keys")
        with Server() as other, other.connect() as client:
            client.send(dump.replace("\n", "\r\n").encode())
            for _ in range(301):
                check_equal(client.line(), b"STORED\r\n", "restore")
            check_equal(client.get(b"key299"), b"v" * (299 * 7))
        keys = _tool(server, "keys")
        check("key299" in keys, keys[:200])


if __name__ == "__main__":
    harness.main(globals())

"""Clients of the meta commands and of asyncio, against the server under test, as users call them.

meta-memcache sends mg, ms, md, ma and mn alone; aiomcache the classic commands, from one thread for
many tasks. Both come from requirements.txt; what is not installed is skipped with its name.
"""

import asyncio
import logging
import random
import threading
import time

import harness
from harness import Server, check, check_equal, client_library


def _meta(server):
    meta = client_library("meta_memcache")
    logging.getLogger("meta_memcache").setLevel(logging.CRITICAL)  # it tells of each refusal
    address = meta.ServerAddress(*server.address)
    pools = meta.connection_pool_factory_builder(
        initial_pool_size=1, max_pool_size=4, connection_timeout=20, recv_timeout=20,
        read_buffer_size=1 << 16)  # with its own 4 KiB the library takes seconds for large values
    return meta, meta.CacheClient.cache_client_from_servers([address], pools)


def _raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


# --- meta-memcache ---


def test_meta_memcache_client():
    with Server() as server:
        meta, client = _meta(server)
        check(client.set("k", "text", ttl=100))
        check_equal(client.get("k"), "text")
        check_equal(client.get("absent"), None)
        check_equal(client.get_typed("k", str), "text")
        check_equal(client.get_typed("k", int), None)
        check(client.set("k", b"bytes", ttl=100, set_mode=meta.SetMode.REPLACE))
        check_equal(client.set("none", 1, ttl=100, set_mode=meta.SetMode.REPLACE), False)
        check_equal(client.set("k", 1, ttl=100, set_mode=meta.SetMode.ADD), False)
        check_equal(client.refill("k", 1, ttl=100), False)
        check(client.refill("filled", 1, ttl=100))
        check_equal(client.multi_get(["k", "absent", "filled"]),
                    {meta.Key("k"): b"bytes", meta.Key("absent"): None, meta.Key("filled"): 1})

        # Versions. One that a client names is a version as any.
        value, cas = client.get_cas("k")
        check_equal(value, b"bytes")
        check(client.set("k", b"second", ttl=100, cas_token=cas))
        check_equal(client.set("k", b"third", ttl=100, cas_token=cas), False)
        check_equal(client.delete("k", cas_token=cas), False)
        new = client.set_cas("k", b"fourth", ttl=100)
        check_equal(client.get_cas("k"), (b"fourth", new))
        check(client.multi_get_cas(["k"])[meta.Key("k")] == (b"fourth", new))
        check_equal(client.delete("k", cas_token=new), True)
        check_equal(client.delete("k"), False)
        check_equal(client.invalidate("k"), True)

        check_equal(client.delta("n", 1), False)
        check(client.delta_initialize("n", 1, initial_value=10, initial_ttl=100))
        check_equal(client.delta_and_get("n", 5), 15)
        check_equal(client.delta_and_get("n", -7), 8)
        check_equal(client.delta_and_get("n", -99), 0)
        check_equal(client.delta_initialize_and_get("m", 3, initial_value=7, initial_ttl=100), 7)
        check_equal(client.delta_initialize_and_get("m", 3, initial_value=7, initial_ttl=100), 10)
        check(client.touch("m", 1000))
        check_equal(client.touch("none", 1000), False)
        check_equal(client.get("m", touch_ttl=500), "10")  # without flags: a text


def test_meta_memcache_values_and_keys():
    with Server() as server:
        meta, client = _meta(server)
        values = (b"", b"\r\n", b"VA 2\r\n", b"EN\r\n", "\u00e5\u4e16", 0, -1, 1 << 70, 2.5, None,
                  [1, {"a": (2,)}], bytes(range(256)) * 4000, True)
        for i, value in enumerate(values):
            check(client.set(f"v{i}", value, ttl=100))
            check_equal(client.get(f"v{i}"), value)
        # Keys that no text line can carry go as base64, with the flag b.
        for key in ("\u043a\u043b\u044e\u0447", "with blank", "line\r\nbreak", "\x00\x01\x7f"):
            check(client.set(key, key, ttl=100))
            check_equal(client.get(key), key)
            check_equal(client.multi_get([key, "v6"]), {meta.Key(key): key, meta.Key("v6"): -1})
            check(client.delta_initialize(key + "n", 2, initial_value=5, initial_ttl=100))
            check_equal(client.delta_and_get(key + "n", 2), 7)
            check(client.touch(key, 50))
            check_equal(client.delete(key), True)
            check_equal(client.get(key), None)
        check(client.set("k" * 250, "longest", ttl=100))
        check_equal(client.get("k" * 250), "longest")
        noise = random.Random(1).randbytes(1_000_000)
        check(client.set("large", noise, ttl=100))
        check(client.get("large") == noise, "a large value")
        some = {f"some{i}": b"%d" % i + noise for i in range(3)}
        for key, value in some.items():
            check(client.set(key, value, ttl=100))
        got = client.multi_get(some)
        check({key.key: value for key, value in got.items()} == some, "several values")


def test_meta_memcache_no_reply_and_bunches():
    with Server() as server:
        meta, client = _meta(server)
        for i in range(500):
            check(client.set("n", i, ttl=100, no_reply=True))
            check(client.set(f"m{i % 7}", i, ttl=100, no_reply=True))
            client.delta("n", 1, no_reply=True)
            if i % 50 == 0:
                check_equal(client.get("n"), i + 1)
        client.delete("m0", no_reply=True)
        client.touch("m1", 100, no_reply=True)
        keys = [f"m{i}" for i in range(7)]
        found = client.multi_get(keys)
        check_equal([found[meta.Key(key)] for key in keys], [None, 498, 499, 493, 494, 495, 496])
        many = {f"many{i}": f"value{i}" for i in range(2000)}
        for key, value in many.items():
            client.set(key, value, ttl=100, no_reply=True)
        got = client.multi_get(many)
        check_equal({key.key: value for key, value in got.items()}, many)


def test_meta_memcache_leases_and_stale_items():
    with Server() as server:
        meta, client = _meta(server)
        _, other = _meta(server)
        lease = meta.LeasePolicy(ttl=30, miss_retries=2, miss_retry_wait=0.01)
        # One of two that miss is to store the value; the other waits in vain, then gets it.
        value, cas = client.get_or_lease_cas("lease", lease)
        check(value is None and cas is not None)
        check_equal(other.get_or_lease("lease", lease), None)
        check(client.set("lease", "stored", ttl=100, cas_token=cas))
        check_equal(other.get_or_lease("lease", lease), "stored")

        # Near its end an item is fetched anew by one; others get the old value.
        check(client.set("old", "value", ttl=20))
        recache = meta.RecachePolicy(ttl=30)
        check_equal(client.get("old", recache_policy=recache), None)
        check_equal(other.get("old", recache_policy=recache), "value")
        check(client.set("old", "fresh", ttl=100))
        check_equal(other.get("old", recache_policy=recache), "fresh")

        # A delete that leaves the item, stale: one gets the right to store it anew.
        stale = meta.StalePolicy(mark_stale_on_deletion_ttl=30, mark_stale_on_cas_mismatch=True)
        value, cas = client.get_cas("old")
        check(client.invalidate("old", stale_policy=stale))
        check_equal(client.get("old"), None)
        check_equal(other.get("old"), "fresh")
        # A store with an older version is taken, and stays stale.
        check(other.set("old", "late", ttl=100, cas_token=cas, stale_policy=stale))
        result = client.meta_get(meta.Key("old"), flags=meta.RequestFlags(
            return_value=True, return_ttl=True, return_cas_token=True, return_size=True,
            return_client_flag=True, no_update_lru=True, opaque=b"o1"))
        check(isinstance(result, meta.Value) and result.flags.stale, str(result))
        check_equal(result.value, "late")
        check_equal((result.flags.size, result.flags.opaque), (4, b"o1"))
        check(client.set("old", "new", ttl=100))
        result = client.meta_get(meta.Key("old"), flags=meta.RequestFlags(
            return_value=True, return_fetched=True, return_last_access=True, return_ttl=True))
        check(not result.flags.stale and result.flags.win is None, str(result))
        check_equal((result.flags.fetched, result.flags.last_access), (False, 0))
        check(95 <= result.flags.ttl <= 100, str(result))


def test_meta_memcache_errors_and_pools():
    with Server() as server:
        meta, client = _meta(server)
        noise = random.Random(2).randbytes(1_100_000)
        _raises(meta.MemcacheServerError, lambda: client.set("big", noise, ttl=100))
        check_equal(client.get("big"), None)
        check(client.set("word", "word", ttl=100))
        _raises(meta.MemcacheServerError, lambda: client.delta("word", 1))
        check_equal(client.get("word"), "word")
        errors = []

        def work(number):
            try:
                for i in range(200):
                    check(client.set(f"t{number}:{i % 20}", [number, i], ttl=100))
                    check_equal(client.get(f"t{number}:{i % 20}"), [number, i])
            except Exception as error:  # told in the main thread
                errors.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check_equal(errors, [], "pooled client")


def test_meta_flags_of_newer_releases():
    """What 1.6.45 knows and 1.6.18 does not: no client library sends all of it."""
    with Server() as server, server.connect() as client:
        def told(request, *lines):
            client.send(request + b"\r\nmn\r\n")
            check_equal(client.read_until(b"MN\r\n"), b"".join(line + b"\r\n" for line in lines)
                        + b"MN\r\n", str(request))

        told(b"ms k 2 E5 c s\r\nhi", b"HD c5 s2")
        told(b"mg k C5 v s", b"HD s2")
        told(b"mg k C4 v s", b"VA 2 s2", b"hi")
        told(b"mg k C5 T100 t v", b"HD t100")
        told(b"mg k t", b"HD t100")
        told(b"ms k 2 MA s E6 c\r\nyo", b"HD s4 c6")
        told(b"mg k C5 v c", b"VA 4 c6", b"hiyo")
        told(b"ms new 2 MA N100 s c E9\r\nyo", b"HD s2 c9")
        told(b"ms old 2 MP N0 s\r\nyo", b"HD s2")
        told(b"ms none 2 MP\r\nyo", b"NS")
        told(b"mg new t", b"HD t100")
        told(b"mg made N60 E7 C7 v c", b"HD c7 W")
        told(b"ma count N0 J3 E11 c v", b"VA 1 c11", b"3")
        told(b"ma count E12 c v", b"VA 1 c12", b"4")
        told(b"ma count C11 v", b"EX")
        told(b"md k C6 x I T30 E100", b"HD")
        told(b"mg k s f c t v", b"VA 0 s0 f0 c100 t30 X W", b"")
        told(b"mg k C100 v c", b"HD c100 Z X")
        told(b"mg YWIg b C0 v k", b"EN kYWIg b")
        told(b"mg absent C5 v q")


# --- aiomcache ---


def _aio(session, **flags):
    """Runs session(client) on a server of its own."""
    aiomcache = client_library("aiomcache")

    async def run(server):
        client = aiomcache.Client(*server.address, pool_size=4)
        try:
            await session(aiomcache, client)
        finally:
            await client.close()

    with Server(**flags) as server:
        asyncio.run(run(server))


async def _refused(kind, call):
    try:
        await call
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def test_aiomcache_client():
    async def session(aiomcache, client):
        check(await client.set(b"k", b"v"))
        check_equal(await client.get(b"k"), b"v")
        check_equal(await client.get(b"absent"), None)
        check_equal(await client.get(b"absent", b"other"), b"other")
        check_equal(await client.add(b"k", b"x"), False)
        check_equal(await client.add(b"added", b"x", exptime=100), True)
        check_equal(await client.replace(b"k", b"r"), True)
        check_equal(await client.replace(b"none", b"r"), False)
        check(await client.append(b"k", b">"))
        check(await client.prepend(b"k", b"<"))
        check_equal(await client.append(b"none", b">"), False)
        value, cas = await client.gets(b"k")
        check_equal(value, b"<r>")
        check_equal(await client.cas(b"k", b"swapped", cas), True)
        check_equal(await client.cas(b"k", b"again", cas), False)
        check_equal(await client.gets(b"none"), (None, None))
        for i in range(5):
            check(await client.set(b"m%d" % i, b"%d" % (i * 10)))
        check_equal(await client.multi_get(b"m0", b"none", b"m4"), (b"0", None, b"40"))
        check_equal(await client.multi_get(), ())
        check_equal(await client.incr(b"m1", 5), 15)
        check_equal(await client.decr(b"m1", 6), 9)
        check_equal(await client.decr(b"m1", 60), 0)
        await _refused(aiomcache.ClientException, client.incr(b"none"))
        await _refused(aiomcache.ClientException, client.incr(b"k"))
        check_equal(await client.touch(b"m1", 100), True)
        check_equal(await client.touch(b"none", 100), False)
        check_equal(await client.delete(b"m1"), True)
        check_equal(await client.delete(b"m1"), False)
        check(int((await client.stats())[b"curr_items"]) > 4)
        check(b"maxconns" in await client.stats(b"settings"))
        check((await client.version())[:2] == b"1.", "version")
        await client.flush_all()
        check_equal(await client.get(b"k"), None)

    _aio(session)


def test_aiomcache_values_and_tasks():
    async def session(aiomcache, client):
        key = "\u043a\u043b\u044e\u0447".encode()
        for value in (b"", b"\r\n", b"END\r\n", bytes(range(256)) * 3900):
            check(await client.set(key, value))
            check_equal(await client.get(key), value)
        check(await client.set(b"k" * 250, b"longest"))
        check_equal(await client.get(b"k" * 250), b"longest")
        await _refused(aiomcache.ClientException, client.set(b"big", b"x" * 1_100_000))
        check_equal(await client.get(b"big"), None)

        async def work(number):
            for i in range(150):
                name, value = b"t%d:%d" % (number, i % 10), b"%d.%d" % (number, i)
                check(await client.set(name, value))
                check_equal(await client.get(name), value)
                check_equal(await client.multi_get(name, b"none"), (value, None))

        await asyncio.gather(*(work(i) for i in range(12)))
        check(await client.set(b"late", b"1", exptime=1))
        deadline = time.monotonic() + 20
        while await client.get(b"late") is not None:
            check(time.monotonic() < deadline, "the item does not end")
            await asyncio.sleep(0.1)

    _aio(session)


if __name__ == "__main__":
    harness.main(globals())

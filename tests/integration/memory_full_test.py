"""What clients are told when there is no memory left and nothing may be evicted (-M)."""

import harness
from harness import Server, check, check_equal

NO_MEMORY = b"SERVER_ERROR out of memory storing object\r\n"


def fill(client, value):
    """Stores new keys until one is refused; the number that were stored."""
    for i in range(1_000_000):
        client.send(b"set large%d 0 0 %d\r\n%s\r\n" % (i, len(value), value))
        reply = client.line()
        if reply != b"STORED\r\n":
            check_equal(reply, NO_MEMORY)
            return i
    raise AssertionError("it is never full")


def test_what_is_no_longer_than_what_it_replaces_goes_on():
    for size in (100, 5_000, 500_000):
        with Server(memory_mb=16, threads=1, flags=["-M"]) as server, server.connect() as client:
            check_equal(client.set(b"number", b"1000"), b"STORED\r\n")
            count = fill(client, b"v" * size)
            check(count * size > 8 << 20, f"{count} of {size} bytes were stored")
            for i in range(300):
                check_equal(client.command(b"incr number 1\r\n"), b"%d\r\n" % (1001 + i))
                key = b"large%d" % (i * 7 % count)
                check_equal(client.set(key, b"w" * (size - i % 2)), b"STORED\r\n", f"{size} {i}")
                check_equal(client.command(b"touch %s 1000\r\n" % key), b"TOUCHED\r\n")
                client.send(b"gat 2000 absent %s none\r\n" % key)
                check_equal(client.line(), b"VALUE %s 0 %d\r\n" % (key, size - i % 2))
                client.read_until(b"\r\nEND\r\n")
            check_equal(client.set(b"more", b"x" * size), NO_MEMORY)
            check_equal(client.get(b"more"), None)
            stats = server.stats()
            check_equal((stats["evictions"], stats["get_misses"]), ("0", "1"))


if __name__ == "__main__":
    harness.main(globals())

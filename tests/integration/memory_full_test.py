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
            more = 0  # what became of the shorter ones may be room
            while client.set(b"more%d" % more, b"x" * size) != NO_MEMORY:
                more += 1
            check(more * 20 <= count, f"{more} of {size} bytes beside {count}")
            check_equal(client.get(b"more%d" % more), None)
            stats = server.stats()
            check_equal((stats["evictions"], stats["get_misses"]), ("0", "1"))


def test_a_refused_set_leaves_no_older_value():
    value = b"w" * 5_000
    with Server(memory_mb=16, threads=1, flags=["-M"]) as server, server.connect() as client:
        names = [b"set", b"quiet", b"ms", b"replace", b"append", b"cas", b"ms-append"]
        for name in names:
            check_equal(client.set(name, b"old"), b"STORED\r\n")
        version = client.command(b"mg cas c\r\n").split()[1][1:]
        fill(client, value)
        data = b" %d\r\n%s\r\n" % (len(value), value)

        def refused(line):
            client.send(line + data)
            check_equal(client.line(), NO_MEMORY, line)

        refused(b"set set 0 0")
        client.send(b"set quiet 0 0 5000 noreply\r\n" + value + b"\r\n")
        client.send(b"ms ms 5000\r\n" + value + b"\r\n")
        check_equal(client.line(), NO_MEMORY)
        refused(b"replace replace 0 0")
        refused(b"append append 0 0")
        client.send(b"cas cas 0 0 5000 " + version + b"\r\n" + value + b"\r\n")
        check_equal(client.line(), NO_MEMORY)
        client.send(b"ms ms-append 5000 MA\r\n" + value + b"\r\n")
        check_equal(client.line(), NO_MEMORY)
        for name in names:
            gone = name in (b"set", b"quiet", b"ms")
            check_equal(client.get(name), None if gone else b"old", name)


if __name__ == "__main__":
    harness.main(globals())

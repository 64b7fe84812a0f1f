"""What clients are told when there is no memory left and nothing may be evicted (-M)."""

import harness
from harness import Server, check, check_equal

READ_FAILED = b"SERVER_ERROR out of memory writing get response\r\n"


def test_gat_without_room_is_an_error_and_no_miss():
    value = b"v" * 500_000
    with Server(memory_mb=16, threads=1, flags=["-M"]) as server, server.connect() as client:
        stored = []
        for i in range(64):
            key = b"large%d" % i
            client.send(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value))
            if client.line() != b"STORED\r\n":
                break
            stored.append(key)
        check(5 < len(stored) < 64, f"{len(stored)} were stored")
        client.send(b"gat 1000 absent %s none\r\n" % stored[0])
        check_equal(client.line(), READ_FAILED)
        client.send(b"get %s\r\n" % stored[0])
        check_equal(client.line(), b"VALUE %s 0 %d\r\n" % (stored[0], len(value)))
        check_equal(client.read_until(b"END\r\n"), value + b"\r\nEND\r\n")
        check_equal(server.stats()["get_misses"], "2")


if __name__ == "__main__":
    harness.main(globals())

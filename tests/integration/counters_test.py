"""Which counters each command moves, on ours and on memcached 1.6.18."""

import os
import re
import time

import differential
import harness
from harness import Server, check

NAMES = (
    "cmd_get cmd_set cmd_flush cmd_touch cmd_meta get_hits get_misses get_expired get_flushed "
    "delete_misses delete_hits incr_misses incr_hits decr_misses decr_hits cas_misses cas_hits "
    "cas_badval touch_hits touch_misses store_too_large store_no_memory auth_cmds auth_errors "
    "curr_items total_items"
).split()
LARGE = b"*" * 1050000  # more than an item may have
CAS = b"@CAS@"  # the version of key v

# Each is sent alone, and its counters are compared.
COMMANDS = [
    # Classic stores.
    b"set a 0 0 1\r\n1\r\n",
    b"set a 0 0 1 noreply\r\n1\r\n",
    b"add a 0 0 1\r\n2\r\n",
    b"add b 0 0 1\r\n2\r\n",
    b"replace b 0 0 1\r\n3\r\n",
    b"replace nobody 0 0 1\r\n3\r\n",
    b"append a 0 0 1\r\n4\r\n",
    b"prepend a 0 0 1\r\n5\r\n",
    b"append nobody 0 0 1\r\n4\r\n",
    b"set gone 0 -1 1\r\n1\r\n",
    b"set long 0 0 1050000\r\n%s\r\n" % LARGE,
    b"add long 0 0 1050000\r\n%s\r\n" % LARGE,
    b"replace a 0 0 1050000\r\n%s\r\n" % LARGE,
    b"append a 0 0 1050000\r\n%s\r\n" % LARGE,
    b"cas a 0 0 1050000 1\r\n%s\r\n" % LARGE,
    b"get a\r\n",
    b"set a 0 0 1050000\r\n%s\r\n" % LARGE,
    b"get a\r\n",
    b"set a 0 0 1050000 noreply\r\n%s\r\n" % LARGE,
    b"set a 0 0 3\r\nabcdefg\r\n",
    b"add a 0 0 3\r\nabcdefg\r\n",
    b"set a 0 0 x\r\n",
    b"set a 0 0\r\n",
    b"set a 0 0 -1\r\n",
    # Versions.
    b"set v 0 0 1\r\n1\r\n",
    b"cas v 0 0 1 " + CAS + b"\r\n2\r\n",
    b"cas v 0 0 1 1\r\n2\r\n",
    b"cas v 0 0 1 0\r\n2\r\n",
    b"cas nobody 0 0 1 1\r\n2\r\n",
    b"ms v 1 C" + CAS + b"\r\n3\r\n",
    b"ms v 1 C1\r\n3\r\n",
    b"ms v 1 C0\r\n3\r\n",
    b"ms v 1 C1 q\r\n3\r\n",
    b"ms nobody 1 C1\r\n3\r\n",
    b"ms v 1 MR C" + CAS + b"\r\n4\r\n",
    b"ms v 1 MR C1\r\n4\r\n",
    b"ms nobody 1 MR C1\r\n4\r\n",
    b"ms v 1 ME C1\r\n4\r\n",
    b"ms v 1 MA C" + CAS + b"\r\n5\r\n",
    b"ms v 1 MA C1\r\n5\r\n",
    b"ms v 1 MP C1\r\n5\r\n",
    b"ms nobody 1 MA C1\r\n5\r\n",
    b"ms v 1 I C1\r\n6\r\n",
    b"ms v 1 I C18446744073709551615\r\n6\r\n",
    # Meta stores.
    b"ms m 1\r\nx\r\n",
    b"ms m 1 q\r\nx\r\n",
    b"ms m 1 ME\r\nx\r\n",
    b"ms m2 1 ME\r\nx\r\n",
    b"ms m 1 MA\r\nx\r\n",
    b"ms m 1 MP\r\nx\r\n",
    b"ms m 1 MR\r\nx\r\n",
    b"ms nobody 1 MR\r\nx\r\n",
    b"ms nobody 1 MA\r\nx\r\n",
    b"ms bTE= 1 b\r\nx\r\n",
    b"ms m 1050000\r\n%s\r\n" % LARGE,
    b"ms bTE= 1050000 b\r\n%s\r\n" % LARGE,
    b"ms m2 1050000 MA\r\n%s\r\n" % LARGE,
    b"ms m 3\r\nabcdefg\r\n",
    b"ms m 3 q\r\nabcdefg\r\n",
    b"ms m x\r\n",
    b"ms m 1 MX\r\nx\r\n",
    b"ms m 1 O" + b"o" * 40 + b"\r\nx\r\n",
    # Reads.
    b"set a 0 0 1\r\n1\r\n",
    b"get a nobody b\r\n",
    b"gets a nobody\r\n",
    b"get " + b"k" * 251 + b"\r\n",
    b"get\r\n",
    b"gat 100 a nobody b\r\n",
    b"gats 100 a nobody\r\n",
    b"gat x a\r\n",
    b"gat 100\r\n",
    b"mg a\r\n",
    b"mg a v t h l\r\n",
    b"mg a q v\r\n",
    b"mg a u v\r\n",
    b"mg nobody v\r\n",
    b"mg nobody v q\r\n",
    b"mg a T100\r\n",
    b"mg a T100 v q\r\n",
    b"mg nobody T100\r\n",
    b"mg made N100 v\r\n",
    b"mg made N100 v\r\n",
    b"mg made2 N100 T50\r\n",
    b"mg bWFkZTM= b N100\r\n",
    b"mg bWFkZTM= b v k\r\n",
    b"mg a R30 v\r\n",
    b"mg a Z\r\n",
    b"mg a v v\r\n",
    b"mg " + b"k" * 251 + b"\r\n",
    b"me a\r\n",
    b"me nobody\r\n",
    b"me\r\n",
    b"me bWFkZTM= b\r\n",
    # Touch.
    b"touch a 100\r\n",
    b"touch a 100 noreply\r\n",
    b"touch nobody 100\r\n",
    b"touch a x\r\n",
    # Arithmetic.
    b"set n 0 0 1\r\n8\r\n",
    b"incr n 1\r\n",
    b"incr n 1\r\n",
    b"decr n 5\r\n",
    b"incr n 1 noreply\r\n",
    b"decr n 100\r\n",
    b"incr nobody 1\r\n",
    b"decr nobody 1\r\n",
    b"incr n x\r\n",
    b"set text 0 0 3\r\nabc\r\n",
    b"incr text 1\r\n",
    b"decr text 1\r\n",
    b"ma n\r\n",
    b"ma n MD D2 v\r\n",
    b"ma n q\r\n",
    b"ma nobody\r\n",
    b"ma nobody MD\r\n",
    b"ma nobody q\r\n",
    b"ma born N100 J5 v\r\n",
    b"ma born N100 J5 v\r\n",
    b"ma born2 N100 MD q\r\n",
    b"ma n C1\r\n",
    b"ma n T100 t\r\n",
    b"ma text\r\n",
    b"ma bg== b v\r\n",
    b"ma n MX\r\n",
    b"ma n D99999999999 v\r\n",
    # Deletes.
    b"set d 0 0 1\r\n1\r\n",
    b"md d C1\r\n",
    b"md d C1 q\r\n",
    b"md d I\r\n",
    b"md d I T30 q\r\n",
    b"md d I C1\r\n",
    b"mg d v\r\n",
    b"mg d v\r\n",
    b"md d q\r\n",
    b"md d\r\n",
    b"md d q\r\n",
    b"md d I\r\n",
    b"md bTE= b\r\n",
    b"md v C" + CAS + b"\r\n",
    b"delete a\r\n",
    b"delete a\r\n",
    b"delete b noreply\r\n",
    b"delete b 5\r\n",
    # Others.
    b"bogus\r\n",
    b"version\r\n",
    b"verbosity 0\r\n",
    b"flush_all x\r\n",
    b"flush_all 1 2 3\r\n",
    b"flush_all 0 noreply\r\n",
    b"flush_all\r\n",
]

LONG_OPAQUE = re.compile(rb" O\S{32,}")

# Of one item each, which has ended by the time, or was flushed.
ENDED = [
    b"get %s\r\n",
    b"gets %s\r\n",
    b"gat 100 %s\r\n",
    b"mg %s v\r\n",
    b"mg %s N30\r\n",
    b"me %s\r\n",
    b"touch %s 100\r\n",
    b"delete %s\r\n",
    b"md %s\r\n",
    b"incr %s 1\r\n",
    b"ma %s\r\n",
    b"ma %s N30\r\n",
    b"set %s 0 0 1\r\nx\r\n",
    b"add %s 0 0 1\r\nx\r\n",
    b"replace %s 0 0 1\r\nx\r\n",
    b"append %s 0 0 1\r\nx\r\n",
    b"cas %s 0 0 1 1\r\nx\r\n",
    b"ms %s 1 ME\r\nx\r\n",
]


class Both:
    """memcached and ours, the same commands to each."""

    def __init__(self):
        if not harness.REFERENCE.exists():
            raise harness.Skip(f"no reference server at {harness.REFERENCE}")
        quiet = ["-o", "no_lru_maintainer,no_lru_crawler"]  # nobody counts in the background
        self.servers = [Server(harness.REFERENCE, quiet), Server()]
        self.clients = [server.connect() for server in self.servers]
        self.seen = [self.counters(server) for server in self.servers]
        self.differences = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.clients:
            client.close()
        for server in self.servers:
            server.stop()

    @staticmethod
    def counters(server):
        stats = server.stats()
        return {name: int(stats[name]) for name in NAMES}

    def send(self, command):
        for client in self.clients:
            text = command
            if CAS in command:
                client.send(b"mg v c\r\n")
                text = command.replace(CAS, client.line().split()[1][1:])
            client.send(text + b"mn\r\n")
            client.read_until(b"MN\r\n")

    def compare(self, command, ignored=()):
        """What the command counted on each; a difference is kept for report()."""
        self.send(command)
        moved = []
        for i, server in enumerate(self.servers):
            now = self.counters(server)
            before, self.seen[i] = self.seen[i], now
            moved.append(
                {n: now[n] - before[n] for n in NAMES if n not in ignored and now[n] != before[n]}
            )
        if moved[0] != moved[1]:
            self.differences.append(f"{command[:60]!r}: memcached {moved[0]}, ours {moved[1]}")

    def report(self):
        check(not self.differences, "\n  ".join(["counted otherwise:", *self.differences]))


def test_each_command_counts_as_in_memcached():
    with Both() as both:
        for command in COMMANDS:
            both.compare(command)
        both.report()
    return f"{len(COMMANDS)} commands"


def test_reads_of_what_has_ended_or_was_flushed():
    """memcached takes such an item away at once, ours later: what is there is not compared."""
    with Both() as both:
        for i in range(len(ENDED)):
            both.send(b"set e%d 0 1 1\r\n1\r\n" % i)
        time.sleep(2.1)
        # Whoever empties whole segments may have been there first, and then nothing has ended.
        for i, command in enumerate(ENDED):
            both.compare(command % (b"e%d" % i), ("curr_items", "get_expired", "total_items"))
        for i in range(len(ENDED)):
            both.send(b"set f%d 0 0 1\r\n1\r\n" % i)
        both.send(b"flush_all\r\n")
        both.seen = [both.counters(server) for server in both.servers]
        for i, command in enumerate(ENDED):
            both.compare(command % (b"f%d" % i), ("curr_items",))
        both.report()


def test_a_successor_reclaims_what_was_flushed():
    with harness.Server() as server, server.connect() as client:
        harness.check_equal(client.set(b"key", b"1"), b"STORED\r\n")
        harness.check_equal(server.stats()["reclaimed"], "0")
        harness.check_equal(client.command(b"flush_all\r\n"), b"OK\r\n")
        harness.check_equal(client.set(b"key", b"2"), b"STORED\r\n")
        # Or the memory had been freed before.
        stats = server.stats()
        harness.check_equal((stats["reclaimed"], stats["expired_unfetched"]), ("1", "1"))
        harness.check_equal(client.set(b"key", b"3"), b"STORED\r\n")
        harness.check_equal(server.stats()["reclaimed"], "1", "a live item was replaced")


def test_states_of_connections():
    def states():
        """Of all connections but the one that asks, and of that one."""
        found = [value for name, value in server.stats(b"conns").items() if name.endswith("state")]
        found.remove("conn_listening")
        harness.check("conn_parse_cmd" in found, str(found))  # others of its batch show it, too
        found.remove("conn_parse_cmd")
        return sorted(found)

    for net in harness.nets():
        with harness.Server(net=net) as server, server.connect() as half, server.connect() as idle:
            idle.set(b"other", b"1")
            half.send(b"set key 0 0 6\r\n")
            wanted = ["conn_nread", "conn_read"]
            # A connection that has just been closed may still be there.
            harness.check(harness.eventually(lambda: states() == wanted), f"{net}: {states()}")
            half.send(b"value")
            harness.check(harness.eventually(lambda: states() == wanted), f"{net}: {states()}")
            harness.check_equal(half.command(b".\r\n"), b"STORED\r\n")
            wanted = ["conn_read", "conn_read"]
            harness.check(harness.eventually(lambda: states() == wanted), f"{net}: {states()}")


def test_random_commands_count_as_in_memcached():
    seed = int(os.environ.get("WEFT_TEST_SEED", os.environ.get("WEFT_SEED", 1)))
    count = 4000 if os.environ.get("WEFT_TEST_LONG") else 800
    # The rest of a value that was not taken is commands: some end the connection, on both.
    names = [name for name in NAMES if name not in ("curr_items", "get_expired", "get_flushed")]
    if not harness.REFERENCE.exists():
        raise harness.Skip(f"no reference server at {harness.REFERENCE}")
    pair = differential.Pair(harness.REFERENCE, harness.subject_binary(), 64)
    try:
        session = differential.Session(pair, seed, "counters", int(time.time()))
        seen = [Both.counters(server) for server in pair.servers]
        rng = differential.random.Random(seed)
        for _ in range(count):
            commands = session.stream.batch(1)
            exchanges = session.start(commands, rng)
            differential.pump(exchanges)
            problem = session.finish(exchanges)
            check(problem is None, f"seed {seed}: {problem}")
            now = [Both.counters(server) for server in pair.servers]
            moved = [{n: b[n] - a[n] for n in names if a[n] != b[n]} for a, b in zip(seen, now)]
            seen = now
            # memcached has counted by the time it refuses such an opaque (D43).
            if any(LONG_OPAQUE.search(text) for text, _ in commands):
                continue
            shown = [text[:80] for text, _ in commands]
            check(moved[0] == moved[1],
                  f"seed {seed}: {shown}: memcached {moved[0]}, ours {moved[1]}")
    finally:
        pair.stop()
    return f"seed {seed}"


if __name__ == "__main__":
    harness.main(globals())

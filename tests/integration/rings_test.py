"""Four servers on one ring, behind nutcracker and pylibmc: who holds a key, and what happens to the
others while one is dead or stands still.
"""

import random
import signal
import threading

import harness
from harness import check, check_equal, client_library, eventually
from rings import LONG, Ketama, Nutcracker, RingServer, four_servers, get_all, set_all, value_of

KEYS = 100_000 if LONG else 10_000


def _pylibmc(servers):
    pylibmc = client_library("pylibmc")
    names = [f"{host}:{port}" for host, port in servers]
    return pylibmc.Client(names, binary=False, behaviors={
        "ketama_weighted": True, "hash": "md5", "tcp_nodelay": True})


def _names(prefix, count):
    return [b"%s:%d" % (prefix, i) for i in range(count)]


def _holds_what_ketama_says(servers, keys):
    ketama = Ketama(servers)
    expected = dict.fromkeys(servers, 0)
    for key in keys:
        expected[ketama.owner(key)] += 1
    found = {address: int(server.stats()["curr_items"]) for address, server in servers.items()}
    check_equal(found, expected, "items on each server")
    check(min(found.values()) > len(keys) // 10, f"a server got hardly any key: {found}")


def _one_ring(port):
    with four_servers(port) as servers, Nutcracker(servers) as proxy, proxy.connect() as client:
        other = _pylibmc(servers)
        ours, theirs = _names(b"proxy", KEYS // 2), _names(b"library", KEYS // 2)
        set_all(client, ours)
        failed = other.set_multi({key.decode(): value_of(key) for key in theirs})
        check_equal(failed, [], "stored by the library")
        _holds_what_ketama_says(servers, ours + theirs)
        found = {}
        for at in range(0, len(ours), 1000):
            found.update(other.get_multi([key.decode() for key in ours[at:at + 1000]]))
        check(found == {key.decode(): value_of(key) for key in ours}, "read by the library")
        # pylibmc gives bytes their own flags; the bytes are the same.
        check(get_all(client, theirs) == {key: value_of(key) for key in theirs},
              "read through the proxy")


def test_a_ring_on_port_11211():
    _one_ring(11211)


def test_a_ring_on_other_ports():
    _one_ring(None)


class Load:
    """Threads that read keys through the proxy, one at a time, and note errors and wrong values."""

    def __init__(self, proxy, keys, threads=3):
        self.proxy = proxy
        self.keys = keys
        self.over = False
        self.wrong = []
        self.clean_rounds = [0] * threads  # without an error, in a row
        self.errors = 0
        self.threads = [threading.Thread(target=self._run, args=(i,)) for i in range(threads)]
        for thread in self.threads:
            thread.start()

    def _run(self, number):
        client = None
        rng = random.Random(number)
        while not self.over:
            failed = 0
            for key in rng.sample(self.keys, len(self.keys)):
                try:
                    client = client or self.proxy.connect()
                    client.send(b"get %s\r\n" % key)
                    head = client.line()
                    if head.startswith(b"VALUE "):
                        value = client.read_exactly(int(head.split()[3]) + 7)
                        if value != value_of(key) + b"\r\nEND\r\n":
                            self.wrong.append((key, value))
                    elif head != b"END\r\n":  # the proxy's words, or the end of the stream
                        failed += 1
                        client = None if not head else client
                except (OSError, ValueError):
                    failed += 1
                    client = None
            self.errors += failed
            self.clean_rounds[number] = 0 if failed else self.clean_rounds[number] + 1

    def wait_for_clean_rounds(self):
        """Until each thread has read all keys without an error, twice from now on."""
        self.clean_rounds = [0] * len(self.threads)
        check(eventually(lambda: min(self.clean_rounds) >= 2, 120),
              f"errors do not end: {self.errors}")

    def stop(self):
        self.over = True
        for thread in self.threads:
            thread.join()
        check_equal(self.wrong, [], "values that are another key's")


def test_one_of_four_is_killed_under_load():
    keys = _names(b"key", KEYS // 10)
    eject = ("auto_eject_hosts: true", "server_failure_limit: 2", "timeout: 2000",
             "server_retry_timeout: 3600000")
    # How many keys move is the ring's matter, so its points are always the same.
    with four_servers(21211) as servers:
        dead = list(servers)[1]
        full = Ketama(servers)
        lost = [key for key in keys if full.owner(key) == dead]
        kept = [key for key in keys if full.owner(key) != dead]
        check(len(lost) <= len(keys) * 0.28, f"{len(lost)} of {len(keys)} keys move")
        with Nutcracker(servers, eject) as proxy, proxy.connect() as client:
            set_all(client, keys)
            load = Load(proxy, keys)
            try:
                load.wait_for_clean_rounds()
                servers[dead].signal(signal.SIGKILL)
                servers[dead].process.wait()
                load.wait_for_clean_rounds()
                check(get_all(client, kept) == {key: value_of(key) for key in kept},
                      "keys of the servers that live")
                check_equal(get_all(client, lost), {}, "keys of the dead server")
            finally:
                load.stop()
            # What is stored anew goes where a ring of three has it.
            set_all(client, lost)
            alive = {address: server for address, server in servers.items() if address != dead}
            _holds_what_ketama_says(alive, keys)

        with RingServer(*dead, threads=1) as again:  # while the others still run
            check_equal(again.stats()["curr_items"], "0", "started again")
            with Nutcracker(servers, eject) as proxy, proxy.connect() as client:
                check(get_all(client, kept) == {key: value_of(key) for key in kept},
                      "keys of the others, with the server back")
                check_equal(get_all(client, lost), {}, "keys of the server that is back")
        return f"{len(lost)} of {len(keys)} keys moved, {load.errors} errors"


def _reply(key):
    return b"VALUE %s 0 %d\r\n%s\r\nEND\r\n" % (key, len(value_of(key)), value_of(key))


def test_one_of_four_stands_still():
    keys = _names(b"key", KEYS // 10)
    with four_servers() as servers, Nutcracker(servers) as proxy:
        still = list(servers)[2]
        ketama = Ketama(servers)
        slow = [key for key in keys if ketama.owner(key) == still]
        quick = [key for key in keys if ketama.owner(key) != still]
        with proxy.connect() as client, proxy.connect() as waits:
            set_all(client, keys)
            direct = [servers[still].connect(timeout=60) for _ in range(20)]
            servers[still].signal(signal.SIGSTOP)
            try:
                asked = slow + quick[:50]
                waits.send(b"".join(b"get %s\r\n" % key for key in asked))
                for i, peer in enumerate(direct):
                    peer.send(b"".join(b"get %s\r\n" % key for key in slow[i:i + 30]))
                    if i % 4 == 0:
                        peer.send(b"get " + slow[i][:2])
                # The keys of the others are there at once, through the proxy as well.
                check(get_all(client, quick) == {key: value_of(key) for key in quick},
                      "keys of the servers that run")
                for peer in direct[::5]:
                    peer.close()
            finally:
                servers[still].signal(signal.SIGCONT)
            for key in asked:
                check_equal(waits.read_until(b"END\r\n"), _reply(key), "the proxy, in step")
            for i, peer in enumerate(direct):
                if i % 5 == 0:
                    continue
                keys_of_peer = slow[i:i + 30]
                if i % 4 == 0:  # the rest of the request that was cut
                    peer.send(slow[i][2:] + b"\r\n")
                    keys_of_peer = keys_of_peer + [slow[i]]
                for key in keys_of_peer:
                    check_equal(peer.read_until(b"END\r\n"), _reply(key), "a peer, in step")
                peer.close()
            check(get_all(client, keys) == {key: value_of(key) for key in keys}, "afterwards")


if __name__ == "__main__":
    harness.main(globals())

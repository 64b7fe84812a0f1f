"""A day in production: what a machine's server goes through under load, and what clients saw.

Certificates are renewed, somebody looks in all the ways that there are, the package is upgraded,
and the server is restarted with -e. A Day notes faults and figures; it asserts nothing itself.
"""

import contextlib
import dataclasses
import json
import re
import signal
import threading
import time
import urllib.error
import urllib.request

from harness import Client, check, check_equal, client_library, eventually
from production_load import Load, cuts_elsewhere, name_of, nobody_served, value_of
from tls_kit import TlsClient

LINE_OF_WATCH = re.compile(rb"ts=\d+\.\d+ gid=\d+ type=[a-z_]+( [a-z]+=[^ \n]*)*$|skipped=\d+$")
LINE_OF_DUMP = re.compile(rb"key=(\S+) exp=-?\d+ la=\d+ cas=\d+ fetch=(yes|no) cls=\d+ size=\d+$")
SHELF = b"shelf"
PIPELINE = 500


@dataclasses.dataclass
class Plan:
    """How much of each happens."""

    seed: int = 1
    memory_mb: int = 512
    clients: int = 6
    keys: int = 8000  # of each client
    shelf: int = 50000  # items that are stored once, and looked for after each restart
    reloads: int = 40
    restarts: int = 4
    calm_s: float = 5.0  # of load alone before each restart


class Watcher(threading.Thread):
    """A client that said `watch`, until the server ends the connection or close() does."""

    def __init__(self, client, words):
        super().__init__(daemon=True)
        self.client, self.lines, self.wrong, self.first_wrong = client, 0, 0, b""
        check_equal(client.command(b"watch " + words + b"\r\n"), b"OK\r\n")
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while (line := self.client.read_until(b"\n")).endswith(b"\n"):
                self.lines += 1
                if not LINE_OF_WATCH.match(line.rstrip(b"\r\n")):
                    self.wrong += 1
                    self.first_wrong = self.first_wrong or line

    def close(self):
        """What it saw: (lines, wrong lines)."""
        # A close alone would not wake the thread that reads.
        with contextlib.suppress(OSError):
            self.client.finish_sending()
        self.join(20)
        self.client.close()
        return self.lines, self.wrong


class Day:
    """`machine` has the package, `certificates` are in its folder. `say` is told each step."""

    def __init__(self, machine, certificates, plan, say=print):
        self.machine, self.certificates, self.plan, self.say = machine, certificates, plan, say
        self.known = certificates.context(certificates.of_client)
        self.load = Load(machine.tls, self.known, plan.clients, plan.keys, plan.seed)
        self.faults = []
        self.figures = {}
        self.phases = []  # (began, name)
        self.restarts = []  # (began, ended, seconds of the stop, seconds of the start)
        self.reports = []

    def fault(self, text):
        self.faults.append(text)
        self.say(f"FAULT {text}")

    def phase(self, name):
        self.phases.append((time.monotonic(), name))
        self.say(name)

    def expect(self, condition, text):
        if not condition:
            self.fault(text)

    def add(self, name, count):
        self.figures[name] = self.figures.get(name, 0) + count

    def _sealed(self):
        return TlsClient(self.machine.tls, self.known)

    def stats(self):
        with Client(self.machine.plain) as client:
            client.send(b"stats\r\n")
            lines = client.read_until(b"END\r\n").decode().split("\r\n")
        return dict(line.split(" ", 2)[1:] for line in lines if line.startswith("STAT "))

    def go(self, upgrade=None):
        """The whole of it. `upgrade` is called before the last restart."""
        try:
            self.open()
            self.phase("certificates are renewed")
            self.renew()
            self.look()
            for number in range(self.plan.restarts):
                if upgrade and number == self.plan.restarts - 1:
                    self.phase("the package is upgraded")
                    upgrade()
                self.restart(number)
                self.look()
            self.end_load()
            self.machine.stop()
        except Exception:
            self.say(self.machine.log(20000))
            raise
        finally:
            self.load.kill()
            self.machine.kill()

    # What happens, in order of the day.

    def open(self):
        self.machine.configure(self.plan.memory_mb)
        took_s = self.machine.start()
        self.say(f"serves as user {self.machine.service_ids()} after {took_s * 1e3:.0f} ms")
        self.doors()
        self.fill_shelf()
        self.phase("load alone")
        self.load.start()
        time.sleep(self.plan.calm_s)

    def doors(self):
        """Who gets in by TLS, and who does not."""
        others = {"without a certificate": self.certificates.context(),
                  "a stranger": self.certificates.context(self.certificates.of_stranger)}
        for who, context in others.items():
            with contextlib.suppress(OSError):
                with TlsClient(self.machine.tls, context) as client:
                    said = client.command(b"version\r\n")
                    self.expect(not said, f"{who} got in: {said}")
        with contextlib.suppress(OSError), Client(self.machine.tls) as client:
            said = client.command(b"version\r\n")
            self.expect(not said.startswith(b"VERSION"), "plain bytes got in")
        with self._sealed() as client:
            said = client.command(b"version\r\n")
            self.expect(said.startswith(b"VERSION"), f"one with a certificate: {said}")

    def fill_shelf(self):
        with self._sealed() as client:
            for begin in range(0, self.plan.shelf, PIPELINE):
                numbers = range(begin, min(begin + PIPELINE, self.plan.shelf))
                words = []
                for i in numbers:
                    name = name_of(SHELF, i)
                    value = value_of(name, i + 1)
                    words.append(b"set %s 7 0 %d\r\n%s\r\n" % (name, len(value), value))
                client.send(b"".join(words))
                said = [client.line() for _ in numbers]
                self.expect(said == [b"STORED\r\n"] * len(numbers), f"a store: {set(said)}")

    def look_at_shelf(self):
        """Each item that was stored before the day."""
        hits = misses = wrong = 0
        with self._sealed() as client:
            for begin in range(0, self.plan.shelf, PIPELINE):
                numbers = range(begin, min(begin + PIPELINE, self.plan.shelf))
                client.send(b"".join(b"get %s\r\n" % name_of(SHELF, i) for i in numbers))
                for i in numbers:
                    name = name_of(SHELF, i)
                    value = value_of(name, i + 1)
                    said = client.read_until(b"END\r\n")
                    right = b"VALUE %s 7 %d\r\n%s\r\nEND\r\n" % (name, len(value), value)
                    hits += said == right
                    misses += said == b"END\r\n"
                    wrong += said not in (right, b"END\r\n")
        self.add("shelf_hits", hits)
        self.add("shelf_misses", misses)
        self.expect(not misses and not wrong, f"of {self.plan.shelf} items that were stored before "
                                              f"{misses} are missing, {wrong} are wrong")

    def renew(self):
        """Certificates, one after the other, while a client stays on the line."""
        longest_s = 0.0
        with self._sealed() as kept:
            for turn in range(self.plan.reloads):
                self.certificates.renew()
                began = time.monotonic()
                self.machine.reload()
                with self._sealed() as young:
                    self.expect(int(young.serial(), 16) == self._serial_on_disk(),
                                f"reload {turn}: a newcomer sees another certificate")
                longest_s = max(longest_s, time.monotonic() - began)
                said = kept.command(b"version\r\n")
                self.expect(said.startswith(b"VERSION"), f"who was in at reload {turn}: {said}")
        self.add("reloads", self.plan.reloads)
        self.figures["longest_reload_s"] = longest_s

    def _serial_on_disk(self):
        x509 = client_library("cryptography.x509")
        chain = (self.certificates.path / "chain.pem").read_bytes()
        return x509.load_pem_x509_certificate(chain).serial_number

    def look(self):
        """In all the ways there are: top, probes, metrics, watch, a dump."""
        self.phase("somebody looks")
        watcher = Watcher(self._sealed(), b"fetchers mutations deletions evictions connevents")
        host, port = self.machine.plain
        top = json.loads(self.machine.command("/usr/bin/weft", "top", "--once", "--json",
                                              f"{host}:{port}"))
        self.expect(bool(top), "weft top says nothing")
        for path in ("/healthz", "/readyz"):
            self.expect(self._page(path)[0] == 200, f"{path} is {self._page(path)}")
        status, page = self._page("/metrics")
        found = re.search(r"^weft_get_hits_total(?:\{\S*\})? (\S+)$", page, re.M)
        self.expect(status == 200 and found and float(found.group(1)) > 0,
                    "no hits on the metrics page")
        self.add("dumped", len(self.dump()))
        eventually(lambda: watcher.lines > 1000)
        lines, wrong = watcher.close()
        self.add("watched", lines)
        self.expect(lines > 0, "watch shows nothing")
        self.expect(wrong == 0, f"{wrong} lines of watch, such as {watcher.first_wrong!r}")

    def _page(self, path):
        try:
            with urllib.request.urlopen(
                    f"http://127.0.0.1:{self.machine.metrics_port}{path}", timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def dump(self):
        """The keys of `lru_crawler metadump all`, in the order of the dump."""
        with self._sealed() as client:
            client.send(b"lru_crawler metadump all\r\n")
            lines = client.read_until(b"END\r\n").split(b"\n")
        check(lines[-2:] == [b"END\r", b""], f"the dump ends in {lines[-2:]}")
        found = [LINE_OF_DUMP.match(line) for line in lines[:-2]]
        self.expect(all(found), f"of a dump: {lines[found.index(None)] if None in found else ''}")
        return [match.group(1).replace(b"%3A", b":") for match in found if match]

    def restart(self, number):
        """By the unit's stop, or USR1 in turn; under load."""
        self.phase(f"restart {number + 1}")
        evictions = int(self.stats()["evictions"])
        self.expect(evictions == 0, f"{evictions} evictions: items that miss cannot be judged")
        watcher = Watcher(self._sealed(), b"deletions")
        began = time.monotonic()
        stop_s = self.machine.stop((signal.SIGTERM, signal.SIGUSR1)[number % 2])
        start_s = self.machine.start()
        ended = time.monotonic()
        watcher.close()
        self.restarts.append((began, ended, stop_s, start_s))
        self.say(f"stop {stop_s * 1e3:.0f} ms, start {start_s * 1e3:.0f} ms, "
                 f"{self.stats()['curr_items']} items are back")
        self.look_at_shelf()
        self.doors()
        self.phase("load alone")
        time.sleep(self.plan.calm_s)

    def end_load(self):
        """Stops the clients, and judges all that they saw."""
        self.reports = self.load.finish()
        for report in self.reports:
            for text in report.faults:
                self.fault(text)
            for name in ("requests", "hits", "misses", "stores", "unanswered", "fault_count"):
                self.add(name, getattr(report, name))
        windows = [restart[:2] for restart in self.restarts]
        for begin, end in cuts_elsewhere(self.reports, windows):
            self.fault(f"a client was cut off for {end - begin:.3f} s without a restart")
        self.figures["certificates"] = len(set().union(*(r.serials for r in self.reports)))
        self.figures["longest_wait"] = max(report.longest for report in self.reports)
        self.expect(int(self.stats()["evictions"]) == 0, "evictions")
        kept = {name_of(SHELF, i) for i in range(self.plan.shelf)}
        kept = kept.union(*(report.present for report in self.reports))
        dumped = self.dump()
        self.expect(len(dumped) == len(set(dumped)), "the dump has a key twice")
        self.expect(set(dumped) == kept, f"the dump has {len(dumped)} keys, {len(kept)} are stored")
        self.figures["items"] = len(kept)
        self.figures["outages"] = [nobody_served(self.reports, *window) for window in windows]
        self.expect(None not in self.figures["outages"], "a restart that no client saw")

    def report(self):
        """Lines of what was seen."""
        f = self.figures
        wait_s, moment = f["longest_wait"]
        during = [name for began, name in self.phases if began < moment][-1]
        yield (f"{f['requests']} requests of {self.plan.clients} clients by TLS: "
               f"{f['hits']} hits, {f['misses']} misses of keys that are not stored, "
               f"{f['stores']} stores; {f['unanswered']} unanswered at restarts")
        yield (f"{f['items']} items at the end; {f['shelf_hits']} looked for after restarts and "
               f"found, {f['shelf_misses']} missing")
        yield (f"{f['reloads']} certificates, {f['certificates']} seen by the load; the longest "
               f"reload {f['longest_reload_s'] * 1e3:.0f} ms; the longest wait for a reply "
               f"{wait_s * 1e3:.0f} ms ({during})")
        yield f"{f['watched']} lines of watch, {f['dumped']} of dumps"
        for outage, (_, _, stop_s, start_s) in zip(f["outages"], self.restarts):
            if outage:
                yield (f"restart: nobody was served for {max(0, outage[0]) * 1e3:.0f} ms (one "
                       f"client {outage[1] * 1e3:.0f} ms); the stop took {stop_s * 1e3:.0f} ms, "
                       f"the start {start_s * 1e3:.0f} ms")
        yield f"{f['fault_count']} wrong replies, {len(self.faults)} faults"

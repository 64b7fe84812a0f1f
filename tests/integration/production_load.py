"""Clients that remember: processes that know of each key what a reply may say, by TLS.

A client has keys of its own. What it sent and got no answer to may have been done or not; the next
reply decides. Anything else that a reply says is a fault. Times are of time.monotonic(), which all
processes of a machine share.
"""

import collections
import dataclasses
import multiprocessing
import random
import time

from tls_kit import TlsClient

# Requests that a client sends at once, and how often it does so until it connects anew.
PIPELINE = 16
BATCHES = 100
FAULTS_KEPT = 20
ABSENT = 0


def name_of(owner, number):
    return b"%s:%d" % (owner, number)


def value_of(name, version):
    """What version `version` of a key looks like: names both, in a size that depends on both."""
    size = (version * 7919 + len(name) * 31) % 900
    if version % 101 == 0:
        size *= 60  # several records of TLS
    head = b"%s %d;" % (name, version)
    return (head * (size // len(head) + 1))[:max(size, len(head))]


def version_in(name, value):
    """The version that a value names, or None if it is no value of this key."""
    head, _, _ = value.partition(b";")
    owner, _, version = head.partition(b" ")
    if owner != name or not version.isdigit() or value != value_of(name, int(version)):
        return None
    return int(version)


@dataclasses.dataclass
class Report:
    """What a client saw."""

    requests: int = 0
    hits: int = 0
    misses: int = 0
    stores: int = 0
    unanswered: int = 0
    faults: list = dataclasses.field(default_factory=list)
    fault_count: int = 0
    serials: set = dataclasses.field(default_factory=set)
    gaps: list = dataclasses.field(default_factory=list)  # (last good reply, first good reply)
    longest: tuple = (0.0, 0.0)  # between two good replies without a cut: seconds, and when
    present: set = dataclasses.field(default_factory=set)  # keys that must be there at the end


class Client:
    """One process of the load. `keys`: how many keys it has."""

    def __init__(self, number, address, context, keys, seed):
        self.owner = b"c%d" % number
        self.address, self.context, self.keys = address, context, keys
        self.random = random.Random(seed * 1000 + number)
        self.may_be = collections.defaultdict(lambda: {ABSENT})  # versions, by name
        self.version = 0
        self.pending = collections.deque()
        self.report = Report()
        self.last_good = 0.0
        self.was_cut = False

    def run(self, stop):
        self.last_good = time.monotonic()
        while not stop.is_set():
            try:
                with TlsClient(self.address, self.context) as wire:
                    self.report.serials.add(wire.serial())
                    for _ in range(BATCHES):
                        self._batch(wire)
                        if stop.is_set():
                            break
            except (OSError, ConnectionError):
                self._is_cut()
                time.sleep(0.001)
        self.report.present = {name for name, may_be in self.may_be.items()
                               if ABSENT not in may_be}
        return self.report

    def _is_cut(self):
        self.was_cut = True
        self.report.unanswered += len(self.pending)
        for kind, name, version in self.pending:
            if kind == "add" and ABSENT not in self.may_be[name]:
                continue
            if kind in ("set", "ms", "add"):
                self.may_be[name].add(version)
            elif kind == "delete":
                self.may_be[name].add(ABSENT)
        self.pending.clear()

    def _fault(self, text):
        self.report.fault_count += 1
        if len(self.report.faults) < FAULTS_KEPT:
            self.report.faults.append(f"{time.monotonic():.3f} {text}"[:300])

    def _good(self):
        moment = time.monotonic()
        if self.was_cut:
            self.report.gaps.append((self.last_good, moment))
            self.was_cut = False
        else:
            self.report.longest = max(self.report.longest, (moment - self.last_good, moment))
        self.last_good = moment

    def _batch(self, wire):
        words = []
        for _ in range(PIPELINE):
            kind = self.random.choices(("get", "mg", "set", "ms", "add", "delete"),
                                       (40, 20, 20, 10, 5, 5))[0]
            name = name_of(self.owner, self.random.randrange(self.keys))
            self.version += 1
            self.pending.append((kind, name, self.version))
            value = value_of(name, self.version)
            words.append({
                "get": b"get %s\r\n" % name,
                "mg": b"mg %s v\r\n" % name,
                "set": b"set %s 0 0 %d\r\n%s\r\n" % (name, len(value), value),
                "ms": b"ms %s %d\r\n%s\r\n" % (name, len(value), value),
                "add": b"add %s 0 0 %d\r\n%s\r\n" % (name, len(value), value),
                "delete": b"delete %s\r\n" % name,
            }[kind])
        wire.send(b"".join(words))
        while self.pending:
            kind, name, version = self.pending[0]
            line = wire.line()
            if not line.endswith(b"\r\n"):
                raise ConnectionError("the stream ended")
            # What is cut in a value was not answered, so it stays pending until here.
            value = self._value(wire, kind, line)
            self.pending.popleft()
            self.report.requests += 1
            self._judge(kind, name, version, line, value)
            self._good()

    def _value(self, wire, kind, line):
        words = line.split()
        if kind == "get" and words[0] == b"VALUE":
            data = wire.read_exactly(int(words[3]) + 7)
            return data[:-7] if data.endswith(b"\r\nEND\r\n") else b""
        if kind == "mg" and words[0] == b"VA":
            return wire.read_exactly(int(words[1]) + 2)[:-2]
        return None

    def _judge(self, kind, name, version, line, value):
        may_be = self.may_be[name]
        if kind in ("get", "mg"):
            self._judge_read(kind, name, line, value)
            return
        # What the reply says of the key before, and what it has from then on.
        before, after = {
            ("set", b"STORED\r\n"): (may_be, version),
            ("ms", b"HD\r\n"): (may_be, version),
            ("add", b"STORED\r\n"): (may_be & {ABSENT}, version),
            ("add", b"NOT_STORED\r\n"): (may_be - {ABSENT}, None),
            ("delete", b"DELETED\r\n"): (may_be - {ABSENT}, ABSENT),
            ("delete", b"NOT_FOUND\r\n"): (may_be & {ABSENT}, ABSENT),
        }.get((kind, line), (set(), None))
        if not before:
            self._fault(f"{kind} {name}: {line!r}, but it may be {sorted(may_be)}")
            return
        self.report.stores += after == version
        self.may_be[name] = before if after is None else {after}

    def _judge_read(self, kind, name, line, value):
        may_be = self.may_be[name]
        if value is None:
            found = ABSENT if line in (b"END\r\n", b"EN\r\n") else None
            self.report.misses += 1
        else:
            named = kind == "mg" or line.split()[1:3] == [name, b"0"]
            found = version_in(name, value) if named else None
            self.report.hits += 1
        if found in may_be:
            self.may_be[name] = {found}
        else:
            self._fault(f"{kind} {name}: {line!r} is version {found}, "
                        f"but it may be {sorted(may_be)}")


def _work(client, stop, pipe):
    try:
        pipe.send(client.run(stop))
    except Exception as error:  # whatever it is, the load has failed
        client.report.fault_count += 1
        client.report.faults.append(f"the client ended: {error!r}")
        pipe.send(client.report)


class Load:
    """`clients` processes against `address`, from start() until finish(). Not thread-safe."""

    def __init__(self, address, context, clients, keys, seed):
        self._clients = [Client(i, address, context, keys, seed) for i in range(clients)]
        fork = multiprocessing.get_context("fork")
        self._stop = fork.Event()
        self._running = []
        for client in self._clients:
            mine, theirs = fork.Pipe()
            process = fork.Process(target=_work, args=(client, self._stop, theirs))
            self._running.append((process, mine))

    def start(self):
        for process, _ in self._running:
            process.start()

    def finish(self):
        """Ends the clients; their reports."""
        self._stop.set()
        reports = []
        for process, pipe in self._running:
            while not pipe.poll(1):
                if not process.is_alive() and not pipe.poll():
                    reports.append(Report(fault_count=1, faults=["a client was killed"]))
                    break
            else:
                reports.append(pipe.recv())
            process.join()
        return reports

    def kill(self):
        for process, _ in self._running:
            if process.is_alive():
                process.kill()
                process.join()


def nobody_served(reports, began, ended):
    """Seconds around a restart from `began` to `ended` that nobody was served, and the longest that
    one client waited. None if no client was cut off."""
    gaps = [gap for report in reports for gap in report.gaps
            if gap[1] > began and gap[0] < ended]
    if not gaps:
        return None
    return (min(end for _, end in gaps) - max(begin for begin, _ in gaps),
            max(end - begin for begin, end in gaps))


def cuts_elsewhere(reports, restarts):
    """Gaps that lie around none of the `restarts`, as (began, ended)."""
    return [gap for report in reports for gap in report.gaps
            if not any(gap[1] > began and gap[0] < ended for began, ended in restarts)]

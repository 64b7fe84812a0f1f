#!/usr/bin/env python3
"""Sends the same random commands to two servers and compares every reply byte for byte.

  differential.py --commands 1000000 --seed 1 [--subject PATH] [--reference /usr/bin/memcached]

Commands come from command_stream.py in pipelined batches of 1 to 500, cut into random pieces on
their way, on one connection first and then on several at once, each with its own keys. What may
differ is listed in replies.py. Between rounds, with nothing in flight, come the things that concern
every connection or take time: flush_all with and without delay, times to live that end, quit.

A mismatch is replayed on fresh servers one command at a time, shrunk to the fewest commands that
still show it, and printed with the seed; the exit status is 1.
"""

import argparse
import random
import re
import select
import sys
import time

import harness
from command_stream import CAS, CAS_OLD, CommandStream
from replies import Comparison, Replies

REPLY_TIMEOUT_S = 20
REPLAY_TIMEOUT_S = 3
SHRINK_SECONDS_MAX = 90


class Mismatch(Exception):
    def __init__(self, stream_index, text):
        super().__init__(text)
        self.stream_index = stream_index

    def unit(self):
        """Which unit of the batch's replies differs, or None."""
        found = re.match(r"unit (\d+):", str(self))
        return int(found[1]) if found else None


class Pair:
    """The two servers under comparison."""

    def __init__(self, reference, subject, memory_mb):
        self.servers = tuple(
            harness.Server(binary, self.flags(binary), memory_mb, threads=2)
            for binary in (reference, subject)
        )

    @staticmethod
    def flags(binary):
        # memcached's background threads hold an item for a moment, and then a decr that makes a
        # number shorter does not pad it with spaces: without them it always does
        return () if harness.is_weft(binary) else ("-o", "no_lru_maintainer,no_lru_crawler")

    def connect(self):
        sockets = []
        for server in self.servers:
            client = server.connect()
            client.socket.setblocking(False)
            sockets.append(client.socket)
        return sockets

    def stop(self):
        for server in self.servers:
            server.stop()


class Exchange:
    """One socket's part of a round: pieces to send, replies to collect up to `mark` or the end."""

    __slots__ = ("socket", "pieces", "next", "mark", "replies", "ended")

    def __init__(self, sock, pieces, mark):
        self.socket = sock
        self.pieces = pieces
        self.next = 0
        self.mark = mark
        self.replies = bytearray()
        self.ended = False

    def send_some(self):
        """Sends what the socket takes. True when nothing is left."""
        while self.next < len(self.pieces):
            piece = self.pieces[self.next]
            try:
                sent = self.socket.send(piece)
            except BlockingIOError:
                return False
            except OSError:  # the server has hung up: its replies tell what it made of it
                self.next = len(self.pieces)
                return True
            if sent < len(piece):
                self.pieces[self.next] = piece[sent:]
                return False
            self.next += 1
            if len(self.pieces) > 1:
                return self.next == len(self.pieces)
        return True

    def receive_some(self):
        """Takes what has arrived. True when the replies are complete."""
        try:
            data = self.socket.recv(1 << 18)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return True
        self.replies += data
        return self.complete()

    def complete(self):
        return self.ended or self.mark is not None and self.replies.endswith(self.mark)


def pump(exchanges, seconds=REPLY_TIMEOUT_S):
    """Carries out all exchanges at once; raises TimeoutError when a reply does not come."""
    poll = select.poll()
    waiting = {}
    for exchange in exchanges:
        sent = exchange.send_some()
        waiting[exchange.socket.fileno()] = exchange
        poll.register(exchange.socket, select.POLLIN if sent else select.POLLIN | select.POLLOUT)
    while waiting:
        events = poll.poll(seconds * 1000)
        if not events:
            raise TimeoutError
        for number, event in events:
            exchange = waiting[number]
            if event & select.POLLOUT and exchange.send_some():
                poll.modify(number, select.POLLIN)
            if event & ~select.POLLOUT and exchange.receive_some():
                poll.unregister(number)
                del waiting[number]


def cut(data, rng):
    """The bytes in pieces: mostly one, sometimes a few, short ones now and then byte by byte."""
    draw = rng.random()
    if draw < 0.5 or len(data) < 2:
        return [data]
    if draw < 0.53 and len(data) < 300:
        return [data[i : i + 1] for i in range(len(data))]
    count = 1 + int(rng.random() * (5 if draw < 0.95 else 40))
    marks = sorted({int(rng.random() * len(data)) for _ in range(count)} | {0, len(data)})
    return [data[a:b] for a, b in zip(marks, marks[1:])]


def render(commands, comparison):
    """The bytes of one batch for (reference, subject)."""
    if all(cas_key is None for _, cas_key in commands):
        data = b"".join([text for text, _ in commands])
        return data, data
    reference, subject = [], []
    for text, cas_key in commands:
        if cas_key is None:
            reference.append(text)
            subject.append(text)
            continue
        mark, age = (CAS, 0) if CAS in text else (CAS_OLD, 1)
        a, b = comparison.cas_for(cas_key, age)
        reference.append(text.replace(mark, b"%d" % a, 1))
        subject.append(text.replace(mark, b"%d" % b, 1))
    return b"".join(reference), b"".join(subject)


class Session:
    """One stream on one connection to each server, with everything it has sent."""

    def __init__(self, pair, seed, name, epoch):
        self.pair = pair
        self.stream = CommandStream(seed, name, epoch)
        self.comparison = Comparison()
        self.sockets = pair.connect()
        self.history = []  # batches, each a list of commands
        self.marks = 0

    def start(self, commands, rng, closing=False):
        """The two exchanges that send `commands`."""
        self.history.append(commands)
        datas = render(commands, self.comparison)
        mark = None
        if not closing:
            self.marks += 1
            token = b"O@%d@" % self.marks
            datas = [data + b"md !end " + token + b"\r\n" for data in datas]
            mark = b"NF " + token + b"\r\n"
        return [Exchange(sock, cut(data, rng), mark) for sock, data in zip(self.sockets, datas)]

    def finish(self, exchanges):
        """A sentence on how the replies differ, or None. Reconnects where both hung up."""
        reference, subject = exchanges
        problem = self.comparison.compare(bytes(reference.replies), bytes(subject.replies))
        if problem is None and reference.ended != subject.ended:
            problem = f"hung up: reference {reference.ended}, subject {subject.ended}"
        if problem is None and reference.ended:
            self.close()
            self.sockets = self.pair.connect()
        return problem

    def close(self):
        for sock in self.sockets:
            sock.close()


class Run:
    """A whole differential run."""

    def __init__(self, options):
        self.options = options
        self.rng = random.Random(f"{options.seed}/driver")
        self.pair = Pair(options.reference, options.subject, options.memory_mb)
        self.epoch = int(time.time())
        self.commands = 0
        self.sessions = []
        self.pauses = 0
        self.excused = {}

    def session(self, name):
        session = Session(self.pair, self.options.seed, name, self.epoch)
        self.sessions.append(session)
        return session

    def round(self, batches, closing=False):
        """Sends one batch on each named session at once, and compares."""
        started = [
            (index, self.sessions[index].start(commands, self.rng, closing))
            for index, commands in batches
        ]
        try:
            pump([exchange for _, exchanges in started for exchange in exchanges])
        except TimeoutError:
            for index, exchanges in started:
                silent = [
                    name
                    for name, exchange in zip(("reference", "subject"), exchanges)
                    if not exchange.complete()
                ]
                if silent:
                    raise Mismatch(
                        index,
                        f"no more replies from {' and '.join(silent)}; last "
                        f"{[bytes(x.replies[-100:]) for x in exchanges]}",
                    ) from None
            raise
        for index, exchanges in started:
            self.commands += len(self.sessions[index].history[-1])
            problem = self.sessions[index].finish(exchanges)
            if problem:
                raise Mismatch(index, problem)

    def batch_size(self):
        return self.rng.choice((1, 3, 20, 100, 200, 350, 500))

    def run(self):
        alone = self.options.commands // 5
        self.session("s0")
        while self.commands < alone:
            self.round([(0, self.sessions[0].stream.batch(self.batch_size()))])
            self.between()
        for i in range(1, self.options.connections):
            self.session(f"s{i}")
        while self.commands < self.options.commands:
            self.round(
                [
                    (i, session.stream.batch(self.batch_size()))
                    for i, session in enumerate(self.sessions)
                ]
            )
            self.between()
        for session in self.sessions:
            for entry, count in session.comparison.excused.items():
                self.excused[entry] = self.excused.get(entry, 0) + count

    def between(self):
        """What happens with nothing in flight."""
        draw = self.rng.random()
        if draw < 0.01:
            self.everywhere(
                self.rng.choice(
                    (
                        b"flush_all\r\n",
                        b"flush_all 0\r\n",
                        b"flush_all noreply\r\n",
                        b"flush_all 0 noreply\r\n",
                        b"flush_all\n",
                    )
                )
            )
        elif draw < 0.013:
            self.everywhere(
                self.rng.choice(
                    (b"flush_all abc\r\n", b"flush_all 1x\r\n", b"flush_all 1 2 3 4\r\n")
                )
            )
        elif draw < 0.03:
            index = self.rng.randrange(len(self.sessions))
            batch = self.sessions[index].stream.batch(5)
            self.round([(index, batch + [(b"quit\r\n", None)])], closing=True)
        elif draw < 0.06:
            index = self.rng.randrange(len(self.sessions))
            for batch in self.sessions[index].stream.lonely():
                self.round([(index, batch)])
        elif self.pauses < self.options.pauses * self.commands / self.options.commands:
            self.pauses += 1
            self.pause()

    def everywhere(self, command):
        """A command that concerns every session's items: sent on one, noted in all."""
        self.round([(0, [(command, None)])])
        for session in self.sessions[1:]:
            session.history.append([(command, None)])

    def pause(self):
        """Times to live that end while nobody asks, and flush_all that waits."""
        index = self.rng.randrange(len(self.sessions))
        stem = b"s%d:pause%d:" % (index, self.pauses)
        lives = [
            (b"set %s%c 7 2 2\r\nab\r\n", b"a"),
            (b"ms %s%c 2 T2\r\nab\r\n", b"b"),
            (b"mg %s%c N2 v\r\n", b"c"),
            (b"ma %s%c N2 J7 v\r\n", b"d"),
            (b"set %s%c 0 0 1\r\n5\r\n", b"e"),
            (b"set %s%c 0 9000 1\r\n5\r\n", b"f"),
            (b"set %s%c 0 9000 1\r\n5\r\n", b"g"),
            (b"set %s%c 0 1 1\r\n5\r\n", b"h"),
            (b"set %s%c 0 2 1\r\n5\r\n", b"i"),
            (b"set %s%c 0 " + b"%d" % (time.time() + 2) + b" 1\r\n5\r\n", b"j"),
            (b"set %s%c 0 9000 1\r\n5\r\n", b"k"),
        ]
        begin = [(text % (stem, letter), None) for text, letter in lives]
        begin += [
            (text % stem, None)
            for text in (
                b"touch %se 2\r\n",
                b"gat 2 %sf\r\n",
                b"mg %sg T2\r\n",
                b"touch %si 9000\r\n",
                b"md %sk I T2\r\n",
            )
        ]
        delayed = self.rng.random() < 0.5
        if delayed:
            begin.append((self.rng.choice((b"flush_all 2\r\n", b"flush_all 2 noreply\r\n")), None))
        keys = [stem + bytes([letter]) for letter in b"abcdefghijk"]
        after = [(b"get " + b" ".join(keys) + b"\r\n", None)]
        after += [(b"mg %s v t\r\n" % key, None) for key in keys]
        after += [(b"add %s 0 0 1\r\n1\r\n" % key, None) for key in keys]
        after += [(b"incr %s 1\r\n" % key, None) for key in keys]
        self.round([(index, begin)])
        if delayed:
            for i, session in enumerate(self.sessions):
                if i != index:
                    session.history.append([begin[-1]])
        time.sleep(4.6)
        self.round([(index, after)])


# --- finding the shortest story ---


class Replay:
    """One command at a time on fresh servers."""

    def __init__(self, options):
        self.options = options
        self.pair = Pair(options.reference, options.subject, memory_mb=256)
        self.sockets = self.pair.connect()
        self.comparison = Comparison()
        self.count = 0

    def one(self, command):
        """(problem or None, reference replies, subject replies)."""
        self.count += 1
        token = b"O@%d@" % self.count
        closing = command[0].startswith(b"quit")
        tail = b"" if closing else b"md !end " + token + b"\r\n"
        mark = None if closing else b"NF " + token + b"\r\n"
        datas = render([command], self.comparison)
        exchanges = [Exchange(s, [data + tail], mark) for s, data in zip(self.sockets, datas)]
        replies = [b"", b""]
        silent = False
        try:
            pump(exchanges, REPLAY_TIMEOUT_S)
        except TimeoutError:
            silent = True
        replies = [bytes(exchange.replies) for exchange in exchanges]
        if silent:
            names = [
                name for name, x in zip(("reference", "subject"), exchanges) if not x.complete()
            ]
            return f"no more replies from {' and '.join(names)}", *replies
        problem = self.comparison.compare(*replies)
        if problem is None and exchanges[0].ended != exchanges[1].ended:
            problem = f"hung up: reference {exchanges[0].ended}, subject {exchanges[1].ended}"
        if exchanges[0].ended and problem is None:
            for sock in self.sockets:
                sock.close()
            self.sockets = self.pair.connect()
        if mark:
            replies = [r[: -len(mark)] if r.endswith(mark) else r for r in replies]
        return problem, replies[0], replies[1]

    def first_problem(self, commands):
        """Index of the first command whose replies differ, or None."""
        for i, command in enumerate(commands):
            if self.one(command)[0]:
                return i
        return None

    def close(self):
        for sock in self.sockets:
            sock.close()
        self.pair.stop()


def fails_at(options, commands):
    replay = Replay(options)
    try:
        return replay.first_problem(commands)
    finally:
        replay.close()


def shrink(options, history):
    """The fewest commands whose last one still shows a difference, or None if none does alone."""
    everything = [command for batch in history for command in batch]
    deadline = time.monotonic() + SHRINK_SECONDS_MAX
    for length in (300, 5000, 50000):
        commands = everything[-length:]
        at = fails_at(options, commands)
        if at is not None:
            break
        if length >= len(everything):
            return None
    else:
        return None
    commands, last = commands[:at], commands[at]
    size = max(1, len(commands) // 2)
    while commands and time.monotonic() < deadline:
        begin, removed = 0, False
        while begin < len(commands) and time.monotonic() < deadline:
            fewer = commands[:begin] + commands[begin + size :]
            if fails_at(options, fewer + [last]) == len(fewer):
                commands, removed = fewer, True
            else:
                begin += size
        if size == 1 and not removed:
            break
        size = max(1, size // 2)
    return commands + [last]


def show(text, limit=400):
    text = repr(bytes(text))[2:-1]
    return (
        text if len(text) <= limit else text[: limit // 2] + f" ...({len(text)})... " + text[-60:]
    )


def report(run, mismatch):
    session = run.sessions[mismatch.stream_index]
    print(
        f"MISMATCH after {run.commands} commands, seed {run.options.seed}, "
        f"connection {mismatch.stream_index} of {len(run.sessions)}: {mismatch}",
        flush=True,
    )
    for server, name in zip(run.pair.servers, ("reference", "subject")):
        if not server.alive():
            print(
                f"the {name} has ended with {server.process.returncode}; its log:\n{server.log()}"
            )
    story = shrink(run.options, session.history)
    if story is None:
        report_batch(run, session, mismatch.unit())
        return
    print(f"shortest story found, {len(story)} commands (\\x01CAS\\x01: the version last shown):")
    replay = Replay(run.options)
    for command in story:
        problem, reference, subject = replay.one(command)
        print("  >", show(command[0]))
        if reference == subject:
            print("  <", show(reference))
        else:
            print("  < reference", show(reference))
            print("  < subject  ", show(subject))
        if problem:
            print("  ==", problem)
    replay.close()


def report_batch(run, session, unit):
    """Prints the commands of the last batch up to the one whose reply differed."""
    print("one command at a time the servers agree, so batching matters; the end of the batch was:")
    replay = Replay(run.options)
    for batch in session.history[-30:-1]:
        replay.first_problem(batch)
    seen = 0
    told = []
    for command in session.history[-1]:
        _, reference, _ = replay.one(command)
        told.append((command[0], reference))
        seen += len(Replies(reference).units)
        if unit is not None and seen > unit:
            break
    replay.close()
    for text, reference in told[-40:]:
        print("  >", show(text, 160))
        print("  < alone:", show(reference, 160))


def compare_servers(commands, seed, subject=None, reference=None, connections=6, pauses=None,
                    memory_mb=1024):
    """Runs and reports; returns (exit status, one line on what was done)."""
    options = argparse.Namespace(
        commands=commands,
        seed=seed,
        subject=subject or harness.subject_binary(),
        reference=reference or harness.REFERENCE,
        connections=connections,
        memory_mb=memory_mb,
        pauses=min(12, 2 + commands // 50000) if pauses is None else pauses,
    )
    began = time.monotonic()
    run = Run(options)
    try:
        run.run()
    except Mismatch as mismatch:
        run.pair.stop()
        report(run, mismatch)
        return 1, f"seed {seed}: mismatch after {run.commands} commands"
    finally:
        run.pair.stop()
    seconds = time.monotonic() - began
    excused = "".join(f", {count} x {entry}" for entry, count in run.excused.items())
    return 0, (
        f"seed {seed}: {run.commands} commands on {len(run.sessions)} connections, "
        f"{run.pauses} pauses, no difference{excused}, {seconds:.0f} s"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--commands", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--subject", default=None)
    parser.add_argument("--reference", default=None)
    parser.add_argument("--connections", type=int, default=6)
    parser.add_argument("--pauses", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    try:
        status, line = compare_servers(
            options.commands,
            seed,
            options.subject,
            options.reference,
            options.connections,
            options.pauses,
        )
    except harness.Skip as reason:
        print(f"cannot run: {reason}")
        sys.exit(2)
    print(line)
    sys.exit(status)


if __name__ == "__main__":
    main()

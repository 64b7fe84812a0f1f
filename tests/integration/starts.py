"""What tests of starts share: `weft serve` until it serves or has ended, and how to judge that.

The rule: a server serves, or it ends with a status from 1 to 125 and one line that names the option
(or says what there was too little of). Never by a signal, never with an exception's text.
"""

import concurrent.futures
import contextlib
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import harness
from harness import Client, Skip, check, check_equal

SERVES = re.compile(r" serves (\S+?)[,:] ")


def weft():
    binary = harness.subject_binary()
    if not harness.is_weft(binary):
        raise Skip("about weft's own start")
    if not binary.exists():
        raise Skip(f"no server at {binary}")
    return str(binary)


class Start:
    """`weft serve` with these words, until it has said that it serves, or has ended."""

    def __init__(self, words, preexec=None, patience=60.0, env=None):
        self.words = words
        self.lines = []
        self.address = None
        self._ready = threading.Event()
        self.process = subprocess.Popen(
            [weft(), "serve", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=preexec,
            env=env,
            cwd="/tmp",
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        if not self._ready.wait(patience):
            self.process.kill()
            raise AssertionError(f"{words}: neither serves nor ends; {self.lines}")
        if self.address is None:
            self.process.wait(30)

    def _read(self):
        for line in self.process.stderr:
            text = line.decode(errors="replace").rstrip("\n")
            self.lines.append(text)
            found = SERVES.search(text)
            if found and self.address is None:
                self.address = found.group(1)
                self._ready.set()
        self._ready.set()

    def connect(self):
        if self.address.startswith("/"):
            return Client(self.address)
        host, port = self.address.rsplit(":", 1)
        return Client((host.strip("[]"), int(port)))

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"{self.words}: does not end") from None
        finally:
            self._reader.join()
            self.process.stderr.close()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stderr.close()


def judge(words, name=None, preexec=None):
    """The rule above. True where it serves."""
    with Start(words, preexec) as start:
        if start.address is None:
            status = start.stop()
            told = f"{words}: status {status}, {start.lines}"
            check(0 < status <= 125, told)
            # A driver may take its time, above all the first time on a machine: that is told, too.
            lines = [line for line in start.lines if "info: still opening " not in line]
            check_equal(len(lines), 1, told)
            check("terminate called" not in lines[0] and "what()" not in lines[0], told)
            check("std::" not in lines[0], told)
            if name is not None:
                check(name in lines[0], told)
            return False
        with start.connect() as client:
            reply = client.command(b"version\r\n")
            check(reply.startswith(b"VERSION "), f"{words}: {reply!r}")
        check_equal(start.stop(), 0, f"{words}: {start.lines}")
        return True


def judge_all(cases, workers=4):
    """judge() for each (words, name[, preexec]); returns how many served, and how many did not."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        served = list(pool.map(lambda case: judge(*case), cases))
    return f"{sum(served)} serve, {len(served) - sum(served)} are refused"


@contextlib.contextmanager
def folder(**how):
    path = tempfile.mkdtemp(prefix="weft-start-", **how)
    try:
        yield pathlib.Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def fill(client, count, begin=0):
    """Sets so many keys, or until the connection ends; returns the numbers of those stored."""
    stored = []
    for i in range(begin, begin + count):
        try:
            reply = client.set(b"k%d" % i, b"value-%d" % i)
        except ConnectionError:  # it was closed behind an error, and this was sent meanwhile
            break
        if reply == b"STORED\r\n":
            stored.append(i)
        elif not reply:
            break
        else:
            check(reply.startswith(b"SERVER_ERROR "), reply)
    return stored


def found_after_restart(data, numbers):
    deadline = time.monotonic() + 30
    while True:
        with Start(["-p", "-1", "--data", str(data)]) as start:
            if start.address is None:
                # The lock of one that was killed goes with the last of its threads.
                held = "held already" in start.lines[0]
                check(held and time.monotonic() < deadline, f"does not start: {start.lines}")
                continue
            with start.connect() as client:
                return [i for i in numbers if client.get(b"k%d" % i) == b"value-%d" % i]

"""Odd starts and odd ends: closed descriptors, full disks, signals."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time

import harness
from harness import Client, check, check_equal
from starts import Start, fill, folder, found_after_restart, judge, weft


# --- standard streams ---


def _closing(closed):
    def close():
        for fd in range(3):
            if closed >> fd & 1:
                os.close(fd)

    return close


@contextlib.contextmanager
def _serve_without(closed, words):
    """(process, client) of a server without these of its standard streams."""
    port = harness.free_port()
    process = subprocess.Popen(
        [weft(), "serve", "-p", str(port), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=_closing(closed),
    )
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                client = Client(("127.0.0.1", port))
                break
            except OSError:
                check(process.poll() in (None, 0), f"ended with {process.returncode}")
                check(time.monotonic() < deadline, "does not serve")
                time.sleep(0.02)
        with client:
            yield process, client
    finally:
        process.kill()
        process.wait()


def test_closed_standard_streams_cost_no_data():
    for closed in range(8):
        with folder() as data:
            with _serve_without(closed, ["--data", str(data)]) as (process, client):
                check_equal(len(fill(client, 30)), 30)
                client.command(b"verbosity 3\r\n")
                check_equal(len(fill(client, 30, 30)), 30)
                for fd in range(3):
                    check_equal(os.readlink(f"/proc/{process.pid}/fd/{fd}"), "/dev/null", closed)
            check_equal(len(found_after_restart(data, range(60))), 60, f"closed {closed:03b}")


def test_closed_standard_streams_in_the_background():
    for closed in (0, 1, 6, 7):
        for words in ([], ["-v"]):
            with folder() as place:
                pid_path, data = place / "pid", place / "data"
                words = ["-d", "-P", str(pid_path), "--data", str(data), *words]
                with _serve_without(closed, words) as (process, client):
                    check_equal(process.wait(30), 0, "the parent")
                    check_equal(len(fill(client, 30)), 30)
                    os.kill(int(pid_path.read_text()), signal.SIGKILL)
                check_equal(len(found_after_restart(data, range(30))), 30, f"closed {closed:03b}")


def test_what_cannot_be_printed_is_a_failure():
    with folder() as data:
        with Start(["-p", "-1", "--data", str(data)]) as start:
            with start.connect() as client:
                fill(client, 30)
            start.stop()
        commands = [
            ["--help"], ["help"], ["version"], ["--version"], ["serve", "--help"], ["serve", "-V"],
            ["serve", "-i"], ["db", "--help"], ["db", "dump", "--help"], ["db", "dump", str(data)],
            ["db", "stats", str(data)], ["db", "verify", str(data)], ["devices", "--help"],
            ["calibrate", "--help"], ["plan", "--help"],
        ]
        for command in commands:
            whole = subprocess.run([weft(), *command], capture_output=True, check=False)
            check_equal(whole.returncode, 0, command)
            with open("/dev/full", "wb") as full:
                done = subprocess.run(
                    [weft(), *command], stdout=full, stderr=subprocess.PIPE, check=False
                )
            check(0 < done.returncode <= 125, f"{command} > /dev/full: {done.returncode}")
            check_equal(done.stderr.count(b"\n"), 1, f"{command}: {done.stderr}")
            done = subprocess.run(
                [weft(), *command], stderr=subprocess.PIPE, check=False, preexec_fn=_closing(2)
            )
            check(0 < done.returncode <= 125, f"{command} >&-: {done.returncode}")


def test_a_folder_that_is_gone_is_no_place_to_start_in():
    """In the background, where names that are given from there would mean another place."""
    place = tempfile.mkdtemp(prefix="weft-start-")

    def be_there():
        os.chdir(place)
        os.rmdir(place)

    for words in (["--data", "weft-data"], ["-P", "weft.pid"]):
        os.makedirs(place, exist_ok=True)
        check(not judge(["-p", "-1", "-d", *words], "-d", be_there), f"{words}: it serves")
        check(not os.path.exists("/" + words[1]), f"/{words[1]} was made")


# --- signals ---


def _plain_signals(ignored=()):
    """For a child: none ignored but these, whatever the test itself was started with."""

    def set_them():
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

    return set_them


def _ignores(pid, number):
    with open(f"/proc/{pid}/status") as status:
        mask = next(int(line.split()[1], 16) for line in status if line.startswith("SigIgn:"))
    return bool(mask >> (number - 1) & 1)


def test_signals_that_end_it():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        with Start(["-p", "-1"], _plain_signals()) as start:
            check(not _ignores(start.process.pid, number))
            check_equal(start.stop(number), 0, number)


def test_signals_that_change_nothing():
    for words in ([], ["-v"]):
        with Start(["-p", "-1", *words], _plain_signals()) as start:
            for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP):
                check(_ignores(start.process.pid, number), number)
                start.process.send_signal(number)
                with start.connect() as client:
                    check_equal(client.set(b"k", b"v"), b"STORED\r\n", number)
            check_equal(start.stop(), 0)


def test_an_ignored_signal_stays_ignored():
    ends = {signal.SIGINT, signal.SIGTERM, signal.SIGUSR1}
    for number in (signal.SIGHUP, *sorted(ends)):
        with Start(["-p", "-1"], _plain_signals([number])) as start:
            check(_ignores(start.process.pid, number), number)
            start.process.send_signal(number)
            with start.connect() as client:
                check_equal(client.set(b"k", b"v"), b"STORED\r\n", number)
            other = min(ends - {number})
            check_equal(start.stop(other), 0, f"{other} where {number} is ignored")


def test_signals_meet_no_dying_server():
    """As timeout(1) and terminals send them, to a process and to its group; and at any moment of
    the end. It ends well; or by one of them, where the machine took more than a second."""
    for delay in range(20):
        with folder() as data, Start(["-p", "-1", "--data", str(data)], _plain_signals()) as start:
            with start.connect() as client:
                fill(client, 30)
            began = time.monotonic()
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP) * 5:
                with contextlib.suppress(ProcessLookupError):
                    start.process.send_signal(number)
                time.sleep(delay / 4000)
            late = time.monotonic() - began > 0.9
            status = start.stop()
            check(status == 0 or (late and status in (-2, -10, -15)), f"{status}: {start.lines}")


# --- starts right behind an end ---


def _start_patiently(words):
    """A server that serves. One may be refused, but only after the second that it is to try."""
    deadline = time.monotonic() + 60
    while True:
        began = time.monotonic()
        start = Start(words)
        if start.address is not None:
            return start
        ended = time.monotonic()
        check(ended - began > 1 and ended < deadline, f"{words}: {start.lines}")
        start.stop()


def test_a_start_right_after_a_kill_gets_what_the_killed_one_had():
    with folder() as place:
        data = ["--data", str(place / "data"), "--metrics-port", str(harness.free_port())]
        for words in (["-p", str(harness.free_port())], ["-s", str(place / "socket")]):
            for _ in range(12):
                with Start(words + data) as killed, killed.connect() as client:
                    client.set(b"k", b"v")
                    killed.process.kill()  # and nobody waits for its end
                    _start_patiently(words + data).stop()


# --- what it got ---


def test_the_port_file_names_the_ports_once_it_serves():
    with folder() as place:
        path = place / "ports"
        env = dict(os.environ, MEMCACHED_PORT_FILENAME=str(path))
        start = Start(["-p", "-1"], env=env)
        check_equal(path.read_text(), f"TCP INET: {start.address.rsplit(':', 1)[1]}\n")
        check_equal(start.stop(), 0)
        path.unlink()
        start = Start(["-s", str(place / "socket")], env=env)
        check_equal(os.listdir(place), ["socket"])
        start.stop()
        env["MEMCACHED_PORT_FILENAME"] = str(place / "no" / "ports")
        start = Start(["-p", "-1"], env=env)
        check(start.address is not None, start.lines)
        start.stop()
        check(any("MEMCACHED_PORT_FILENAME" in line for line in start.lines), start.lines)


if __name__ == "__main__":
    harness.main(globals())

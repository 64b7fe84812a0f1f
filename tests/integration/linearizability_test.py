"""Histories of a running server, checked by the net_histories driver (tests/linearizability)."""

import contextlib
import os
import pathlib
import subprocess
import tempfile
import threading

import harness
from harness import Server, Skip, check


def _driver():
    named = os.environ.get("WEFT_NET_HISTORIES")
    found = (
        [pathlib.Path(named)]
        if named
        else sorted(
            harness.ROOT.glob("build/*/tests/linearizability/net_histories"),
            key=lambda path: path.stat().st_mtime,
        )
    )
    if not found:
        raise Skip("net_histories is not built")
    return found[-1]


def histories(server, *flags):
    """Runs short histories against the server; returns what was checked. Raises where one fails."""
    count = "5000" if os.environ.get("WEFT_TEST_LONG") else "500"
    seed = os.environ.get("WEFT_SEED", "1")
    address = server.unix_path or f"127.0.0.1:{server.port}"
    line = [str(_driver()), address, "--histories", count, "--seed", seed, "--seconds-max", "240"]
    done = subprocess.run([*line, *flags], capture_output=True, text=True, timeout=600)
    check(done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:])
    return done.stdout.splitlines()[-1]


def test_single_key_operations_are_linearizable():
    notes = []
    for net in harness.nets():
        with Server(memory_mb=256, threads=4, net=net) as server:
            notes.append(f"{net or 'default'}: {histories(server)}")
    return "; ".join(notes)


def test_linearizable_over_a_unix_socket():
    with tempfile.TemporaryDirectory() as folder:
        with Server(memory_mb=256, threads=4, unix_path=pathlib.Path(folder) / "s") as server:
            return histories(server)


@contextlib.contextmanager
def _filling(server, value_bytes, full_items):
    """Other keys are stored all the while, so that what is in use is evicted again and again."""
    stop, full = threading.Event(), threading.Event()
    value = b"f" * value_bytes

    def fill():
        with server.connect() as client:
            i = 0
            while not stop.is_set():
                batch = b"".join(
                    b"set fill%d 0 0 %d noreply\r\n%s\r\n" % (j % 20000, value_bytes, value)
                    for j in range(i, i + 50)
                )
                client.send(batch + b"mn\r\n")
                client.line()
                i += 50
                if i > full_items:
                    full.set()

    filler = threading.Thread(target=fill)
    filler.start()
    full.wait(60)
    try:
        yield
    finally:
        stop.set()
        filler.join()


def test_linearizable_while_evicting():
    with Server(memory_mb=64, threads=4) as server, _filling(server, 20000, 5000):
        return histories(server, "--evicting")


def test_linearizable_over_the_disk():
    """With --data nothing is lost to eviction, so that is no excuse."""
    notes = []
    for net in harness.nets():
        with tempfile.TemporaryDirectory() as folder:
            flags = ["--data", folder, "-I", "64k"]
            with Server(memory_mb=2, threads=4, net=net, flags=flags) as server:
                with _filling(server, 4000, 1000):
                    note = histories(server)
                hits = int(server.stats(b"data")["lookup_hits"])
                check(hits > 0, "nothing came from disk")
                notes.append(f"{net or 'default'}: {note}, {hits} from disk")
    return "; ".join(notes)


if __name__ == "__main__":
    harness.main(globals())

"""weft serve --data: what it refuses to start with, and the one line that it says."""

import subprocess

import harness
from data_test import Data, kill
from harness import Skip, check, check_equal


def start_fails(*flags, status=None):
    """The one line that a server that cannot start says."""
    done = subprocess.run(
        [harness.subject_binary(), "serve", "-p", str(harness.free_port()), *map(str, flags)],
        capture_output=True,
        text=True,
        timeout=20,
    )
    check(done.returncode != 0, "it started")
    if status is not None:
        check_equal(done.returncode, status, done.stderr)
    lines = [line for line in (done.stderr + done.stdout).splitlines() if "warning" not in line]
    return lines[0]


def test_start_errors_name_the_folder():
    with Data() as data:
        with data.server() as server:
            said = start_fails("--data", data.path)
            check(f"--data {data.path}: " in said, said)
            holder = f"another process ({server.process.pid}) has it open and locked"
            check(holder in said, said)
        current = data.path / "CURRENT"
        current.write_bytes(b"MANIFEST-999999\n")
        check(f"--data {data.path}: " in start_fails("--data", data.path), "corrupt")
        file = data.path / "file"
        file.write_bytes(b"")
        check(str(file) in start_fails("--data", file), "a file")
    check("needs --data" in start_fails("--sync-ms", "5"), "--sync-ms alone")
    check("-M cannot be used with --data" in start_fails("--data", "/nowhere", "-M"), "-M")


def test_a_damaged_log_is_not_served():
    with Data() as data:
        with data.server() as server, server.connect() as client:
            for i in range(30):
                client.set(b"key%d" % i, b"x" * 20)
            kill(server)
        log = max(data.path.glob("*.log"), key=lambda path: path.stat().st_size)
        whole = log.read_bytes()
        damaged = whole[:300] + bytes(byte ^ 0xFF for byte in whole[300:360]) + whole[360:]
        log.write_bytes(damaged)
        for _ in range(2):
            said = start_fails("--data", data.path, status=71)
            check(log.name in said and "repair the store" in said, said)
        check_equal((data.path / "lost" / log.name).read_bytes(), damaged)


def test_another_ones_store_is_refused():
    weft = str(harness.subject_binary())
    with Data() as data:
        subprocess.run([weft, "db", "put", "--create", data.path, "key", "value"], check=False)
        if not (data.path / "CURRENT").exists():
            subprocess.run([weft, "db", "put", data.path, "key", "value"], check=False)
        if not (data.path / "CURRENT").exists():
            raise Skip("weft db put makes no store")
        check("not a cache's" in start_fails("--data", data.path), "it is served")

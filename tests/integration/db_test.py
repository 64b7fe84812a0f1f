"""weft db, as a user runs it: a store is made, looked into, damaged, checked and mended."""

import json
import os
import pathlib
import subprocess
import tempfile

import harness
from harness import Skip, check, check_equal


def _db(*arguments, status=0):
    """Runs `weft db ARGUMENTS`; returns what it printed."""
    binary = harness.subject_binary()
    if not harness.is_weft(binary) or not binary.exists():
        raise Skip(f"no weft at {binary}")
    done = subprocess.run(
        [str(binary), "db", *map(str, arguments)], capture_output=True, timeout=120, check=False
    )
    text = done.stdout.decode() + done.stderr.decode()
    check_equal(done.returncode, status, f"exit status of db {arguments[0]}: {text}")
    return done.stdout.decode()


def _fill(store, keys):
    for i in range(keys):
        _db("put", store, f"key{i}", f"value{i}" * 50, *(["--create"] if i == 0 else []))


def _files(store, end):
    return sorted(path for path in store.iterdir() if path.name.endswith(end))


def test_a_store_is_made_read_and_changed_by_hand():
    with tempfile.TemporaryDirectory() as scratch:
        store = pathlib.Path(scratch) / "store"
        _db("put", store, "k", "v", status=2)
        check(not store.exists(), "a refused put made the folder")
        _db("put", store, "a\\x00\\xff", "one\\x0atwo", "--create")
        _db("put", store, "b", "2")
        check_equal(_db("get", store, "a\\x00\\xff"), "one\\x0atwo\n")
        check_equal(_db("get", store, "a\\x00\\xff", "--raw"), "one\ntwo")
        check_equal(_db("dump", store), "'a\\x00\\xff' => 'one\\x0atwo'\n'b' => '2'\n")
        check_equal(_db("dump", store, "--from", "a\\x01", "--keys"), "'b'\n")
        _db("delete", store, "b")
        _db("get", store, "b", status=1)
        stats = json.loads(_db("stats", store, "--json", "--full"))
        check_equal(stats["last_sequence"] >= 2, True, "sequence numbers")
        copy = pathlib.Path(scratch) / "copy"
        _db("checkpoint", store, copy)
        check_equal(_db("dump", copy), _db("dump", store))
        _db("checkpoint", store, copy, status=2)
        _db("compact", store)
        check(json.loads(_db("verify", store, "--json"))["whole"], "a compacted store is whole")


def test_damage_is_found_named_and_mended():
    with tempfile.TemporaryDirectory() as scratch:
        store = pathlib.Path(scratch) / "store"
        _fill(store, 20)
        _db("compact", store)
        table = _files(store, ".ldb")[0]
        whole = table.read_bytes()
        damaged = bytearray(whole)
        damaged[len(whole) // 3] ^= 0x40
        table.write_bytes(damaged)
        before = {path: path.read_bytes() for path in store.iterdir()}
        found = json.loads(_db("verify", store, "--json", status=1))
        check(any(table.name in line for line in found["problems"]), f"not named: {found}")
        _db("dump", store, "--file", table.name, status=1)
        check_equal({path: path.read_bytes() for path in store.iterdir()}, before, "verify, dump")
        _db("repair", store)
        _db("verify", store)
        check((store / "lost" / table.name).is_file(), "the damaged table was not kept aside")


def test_without_a_store_nothing_is_made():
    with tempfile.TemporaryDirectory() as scratch:
        nowhere = pathlib.Path(scratch) / "none"
        for command in ("dump", "verify", "repair", "stats", "compact"):
            _db(command, nowhere, status=2)
            _db(command, scratch, status=2)
        check_equal(os.listdir(scratch), [], "what is in the folder")
        check("Exit status" in _db("--help"), "help")
        check("--from" in _db("dump", "--help"), "help of dump")


if __name__ == "__main__":
    harness.main(globals())

"""The differential test with fixed settings; see differential.py."""

import os

import differential
import harness
from harness import check


def _run(commands, **more):
    if not harness.REFERENCE.exists():
        raise harness.Skip(f"no reference server at {harness.REFERENCE}")
    seed = int(os.environ.get("WEFT_TEST_SEED", os.environ.get("WEFT_SEED", 1)))
    status, line = differential.compare_servers(commands, seed, **more)
    check(status == 0, line)
    return line


def test_reference_agrees_with_itself():
    return _run(20_000, subject=harness.REFERENCE, pauses=1)


def test_subject_agrees_with_memcached():
    return _run(1_000_000 if os.environ.get("WEFT_TEST_LONG") else 60_000)


if __name__ == "__main__":
    harness.main(globals())

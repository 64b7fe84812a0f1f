"""The differential test with fixed settings; see differential.py."""

import os

import differential
import harness
import replies
from harness import check


def run(commands, **more):
    if not harness.REFERENCE.exists():
        raise harness.Skip(f"no reference server at {harness.REFERENCE}")
    seed = int(os.environ.get("WEFT_TEST_SEED", os.environ.get("WEFT_SEED", 1)))
    status, line = differential.compare_servers(commands, seed, **more)
    check(status == 0, line)
    return line


def test_excused_loss_of_replies_leaves_the_rest_compared():
    """D25 drops units of the subject; what was put aside of them must go with them."""
    lost = b"VALUE a 0 1 7\r\nx\r\nHD c9 t5 ka\r\n"
    rest = replies.BAD_FORMAT + b"VALUE b 0 1 %d\r\ny\r\nME b exp=30 cas=%d\r\n"
    comparison = replies.Comparison()
    check(comparison.compare(rest % (3, 3), lost + rest % (8, 8)) is None, "wrongly refused")
    check(comparison.excused == {"D25": 1}, str(comparison.excused))
    check(comparison.cas_for(b"b", 0) == (3, 8), str(comparison.cas_for(b"b", 0)))
    problem = comparison.compare(rest % (3, 3), lost + rest % (8, 6))
    check(problem is not None and "versions" in problem, f"missed: {problem}")


def test_reference_agrees_with_itself():
    return run(20_000, subject=harness.REFERENCE, pauses=1)


def test_subject_agrees_with_memcached():
    return run(1_000_000 if os.environ.get("WEFT_TEST_LONG") else 60_000)


if __name__ == "__main__":
    harness.main(globals())

"""Options at their extremes, and limits of the system (starts.py has the rule)."""

import os
import resource
import subprocess

import harness
from harness import Skip, check, check_equal
from starts import Start, fill, folder, found_after_restart, judge, judge_all, weft

MIB = 1 << 20
# Of a number, as somebody may write it who is wrong.
NUMBERS = (
    "0 1 -1 2 12 32 33 255 1024 65535 65536 2147483647 2147483648 4294967295 4294967296 "
    "9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 "
    "99999999999999999999999999 x 1k 1e3 0x10 1.5 +1 1,2"
).split() + ["", " 1", "1 "]
# Of anything else.
WORDS = ["", "x", ",", "/", "/dev/null", "/none/at/all", "y" * 300, "\n", "=", "\xff"]


# --- options ---


def test_numbers_at_their_extremes():
    flags = [
        "-p", "-a", "-c", "-b", "-m", "-I", "-t", "-U", "-f", "-n", "-R", "-N",
        "--device-batch-min", "--interval-us", "--metrics-port",
    ]
    cases = []
    for flag in flags:
        at = [] if flag == "-p" else ["-p", "-1"]
        for value in NUMBERS:
            # A port that may be another's, by its number alone.
            if flag in ("-p", "--metrics-port") and value in ("2", "12", "32", "33", "255", "1024"):
                continue
            cases.append(([*at, f"{flag}={value}" if flag[1] == "-" else flag + value]
                          if value else [*at, flag, value], flag))
    return judge_all(cases)


def test_numbers_of_the_durable_store_at_their_extremes():
    with folder() as place:
        cases = []
        for flag in ("--sync-ms", "--lookup-threads"):
            for value in NUMBERS:
                data = str(place / str(len(cases)))
                cases.append((["-p", "-1", "--data", data, flag, value], flag))
        return judge_all(cases)


def test_suboptions_at_their_extremes():
    names = [
        "hashpower", "idle_timeout", "tail_repair_time", "hot_lru_pct", "hot_max_factor",
        "temporary_ttl", "slab_automove", "slab_automove_ratio", "ext_item_size", "ssl_verify_mode",
        "hash_algorithm", "slab_sizes", "maxconns_fast", "modern", "none",
    ]
    cases = [(["-p", "-1", "-o", f"{name}={value}"], "-o") for name in names for value in NUMBERS]
    cases += [(["-p", "-1", "-o", word], "-o") for word in WORDS + names]
    # What one alone allows, with memory for it.
    cases += [(["-p", "-1", "-m", "999999", "-o", f"hashpower={n}"], "-o") for n in (12, 31, 32)]
    return judge_all(cases)


def test_words_at_their_extremes():
    flags = [
        "-l", "-s", "-P", "-B", "-D", "-e", "-o", "--plan", "--device", "--steal", "--learn",
        "--calibration", "--data", "--compaction-device", "--net", "--index", "--metrics-address",
    ]
    cases = []
    for flag in flags:
        for value in WORDS:
            names = ("x", ",", "=", "\n", "\xff")  # as good as others
            if flag in ("-s", "-P", "-e", "--data") and value in (*names, "/"):
                continue
            more = ["--metrics-port", "0"] if flag == "--metrics-address" else []
            at = [] if flag in ("-l", "-s") else ["-p", "-1"]
            cases.append(([*at, *more, flag, value], flag))
    return judge_all(cases)


def test_memory_of_a_limit_is_not_touched_before_it_is_used():
    most_kb = 0
    for limit in ("64", "100000", "1000000", "2000000"):
        with Start(["-p", "-1", "-m", limit]) as start:
            if start.address is None:
                check("-m" in start.lines[0], start.lines)
                continue
            with open(f"/proc/{start.process.pid}/status") as status:
                kb = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
            check(kb < 64 * 1024, f"-m {limit}: {kb} kB resident before it is used")
            most_kb = max(most_kb, kb)
            with start.connect() as client:
                check_equal(len(fill(client, 100)), 100)
    return f"{most_kb} kB at most"


def test_a_failed_start_is_one_line_whatever_else_there_is_to_say():
    words = ["-p", "-1", "-f", "1.5", "-n", "50", "-t", "100", "-l", "0.0.0.0"]
    with Start([*words, "-m", "99999999"]) as start:
        check_equal(len(start.lines), 1, start.lines)
        check("-m 99999999" in start.lines[0], start.lines)
    with Start(words) as start:
        told = "\n".join(start.lines)
        for part in ("-f has no effect", "-n has no effect", "EXPOSED", "high number of threads"):
            check(part in told, f"{part} is not in {told}")


def test_a_failed_start_names_all_that_it_depends_on():
    with Start(["-p", "-1", "-m", "1", "-I", "512k", "-o", "hashpower=17"]) as start:
        check("-m 1 -I 524288 with -o hashpower: " in start.lines[0], start.lines)
    with Start(["-p", "-1", "--data", "/no/folder/here"]) as start:
        check("--data /no/folder/here: " in start.lines[0], start.lines)
        check_equal(start.stop(), 71, "as of any file that can't be had, not of a user")


def _judge_tool(words, name=None):
    done = subprocess.run(
        words, capture_output=True, check=False, cwd="/tmp", stdin=subprocess.DEVNULL, timeout=60
    )
    errors = done.stderr.decode(errors="replace")
    told = f"{words[1:]}: status {done.returncode}, {errors[-300:]!r}"
    check(0 <= done.returncode <= 125, told)
    traces = ("terminate called", "what()", "std::", "check failed", "vector::", "basic_string")
    for trace in traces:
        check(trace not in errors, told)
    if done.returncode != 0 and name is not None:
        check(name in errors, told)


def test_options_of_tools_at_their_extremes():
    numbers = {
        "dump": ["--limit", "--bloom-bits", "--cache-mb"],
        "verify": ["--bloom-bits", "--cache-mb"],
        "stats": ["--cache-mb"],
        "get": ["--cache-mb"],
        "compact": ["--cache-mb", "--bloom-bits"],
        "put": ["--cache-mb", "--bloom-bits"],
    }
    words = {
        "dump": ["--from", "--to", "--file", "--values", "--comparator"],
        "compact": ["--compaction-device", "--compression"],
        "repair": ["--comparator"],
        "put": ["--compression"],
    }
    more = {"get": ["k"], "put": ["k", "v"]}
    with folder() as place:
        data = str(place / "store")
        _judge_tool([weft(), "db", "put", data, "k", "v", "--create"])
        for command, options in numbers.items():
            for option in options:
                for value in NUMBERS:
                    _judge_tool(
                        [weft(), "db", command, data, *more.get(command, []), f"{option}={value}"]
                    )
        for command, options in words.items():
            for option in options:
                for value in WORDS:
                    _judge_tool(
                        [weft(), "db", command, data, *more.get(command, []), f"{option}={value}"]
                    )


# --- limits of the system ---


def _limited(which, limit, user=None):
    def limits():
        resource.setrlimit(which, (limit, limit))
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)

    return limits


def test_too_little_address_space():
    cases = []
    for mib in [*range(40, 200, 8), *range(200, 1200, 40)]:
        cases.append((["-p", "-1"], None, _limited(resource.RLIMIT_AS, mib * MIB)))
    return judge_all(cases)


def test_too_little_address_space_with_data():
    with folder() as place:
        cases = []
        for mib in [*range(60, 300, 16), *range(300, 1500, 60)]:
            words = ["-p", "-1", "--data", str(place / str(mib))]
            cases.append((words, None, _limited(resource.RLIMIT_AS, mib * MIB)))
        return judge_all(cases)


def _user_that_may_run_it():
    """A user of no other process, for whom the limit of processes holds: for root it does not."""
    if os.geteuid() != 0:
        raise Skip("only root can become a user without other processes")
    user = 100_000 + os.getpid()  # nobody's, and no other test's that runs meanwhile
    done = subprocess.run(
        [weft(), "version"], preexec_fn=_limited(resource.RLIMIT_CORE, 0, user), check=False,
        stdout=subprocess.DEVNULL, cwd="/",
    )
    if done.returncode != 0:
        raise Skip(f"{weft()} can't be run by another user")
    return user


def test_too_few_threads():
    user = _user_that_may_run_it()
    served = []
    for limit in range(1, 9):  # one after the other: the limit is of all processes of the user
        if judge(["-p", "-1", "-t", "4"], "-t 4", _limited(resource.RLIMIT_NPROC, limit, user)):
            served.append(limit)
    check(served and served[0] == 4, f"serves with {served} threads")


def test_too_few_threads_with_data():
    user = _user_that_may_run_it()
    served = []
    with folder() as place:
        os.chown(place, user, user)
        os.chmod(place, 0o755)
        for limit in range(1, 24):
            words = ["-p", "-1", "-t", "2", "--data", str(place / "data")]
            if judge(words, None, _limited(resource.RLIMIT_NPROC, limit, user)):
                served.append(limit)
    check(served, "never serves")
    check_equal(served, list(range(served[0], 24)), "serves with")
    return f"{served[0]} threads are enough"


def test_too_few_files():
    user = _user_that_may_run_it()
    served = []
    with folder() as place:
        os.chown(place, user, user)
        os.chmod(place, 0o755)
        for limit in [*range(5, 30, 2), 64, 100, 200, 1100, 1200, 1300]:
            for words in ([], ["-c", "10"], ["-c", "10", "--data", str(place / str(limit))]):
                preexec = _limited(resource.RLIMIT_NOFILE, limit, user)
                if judge(["-p", "-1", *words], None, preexec):
                    served.append(limit)
    check(served, "never serves")


def test_files_may_not_grow():
    for limit in (0, 1, 4096, 100_000, 1_000_000):
        with folder() as data:
            with Start(["-p", "-1", "--data", str(data)],
                       _limited(resource.RLIMIT_FSIZE, limit)) as start:
                if start.address is None:
                    check(0 < start.stop() <= 125, start.lines)
                    check_equal(len(start.lines), 1, start.lines)
                    check("--data" in start.lines[0], start.lines)
                    continue
                stored = []
                for _ in range(3):  # a failed change costs the connection, and no more
                    with start.connect() as client:
                        stored += fill(client, 20_000, len(stored))
                with start.connect() as client:
                    check(client.command(b"version\r\n").startswith(b"VERSION "))
                check(0 <= start.stop() <= 125, f"limit {limit}: {start.lines[-3:]}")
            found = found_after_restart(data, stored)
            check_equal(found, stored, f"stored with files of {limit} bytes at most")


if __name__ == "__main__":
    harness.main(globals())

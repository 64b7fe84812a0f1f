"""Servers whose plan follows the workload (--plan auto).

The machine is measured in small by `weft calibrate`; where a test needs a device that pays, the
file is edited to say that it does: what is tested is that plans change and nothing is lost.

The device is a GPU where there is one, else what OpenCL has of the CPU; WEFT_PLANNER_DEVICE names
another, such as `mirror`.
"""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

import differential_test
import harness
from harness import Server, check, check_equal, environment

DEVICE = os.environ.get("WEFT_PLANNER_DEVICE") or (
    "cuda:0" if harness.has_nvidia_driver() else "cpu"
)
ONE_STAGE = "[RV PP MM IN.search IN.insert IN.delete KC RD WR SD]cpu"


def _calibrate(folder, device=DEVICE):
    """A file of `weft calibrate`, of a small store."""
    path = pathlib.Path(folder) / "calibration.json"
    harness_binary = str(harness.subject_binary())
    line = [harness_binary, "calibrate", "--device", device, "--memory-mb", "24", "--threads", "2"]
    done = subprocess.run(
        [*line, "--file", str(path), "--quiet"], capture_output=True, text=True, timeout=300
    )
    check_equal(done.returncode, 0, done.stderr)
    return path


def _make_the_device_pay(path):
    """Work costs it next to nothing, and the workers nothing, but a job some microseconds. On the
    CPU it costs what is usual: what was measured beside other work may be anything."""
    calibration = json.loads(path.read_text())
    cpu = calibration["cpu"]
    for task, unit in cpu["units"].items():
        of_devices = task in ("search", "insert", "delete", "compare")
        unit.update({name: 0 for name in unit}, instructions_ns=40 if of_devices else 2)
    cpu.update(job_ns=200, job_latency_ns=0, interference=0)
    device = calibration["devices"][0]
    for unit in device["units"].values():
        for name in unit:
            unit[name] = 0.001
    device.update(job_ns=2000, job_latency_ns=5000, interference=0)
    device.update(worker_units={}, worker_job_ns=0, change_ns=0, change_byte_ns=0)
    path.write_text(json.dumps(calibration))


def _flags(path, *more):
    return ["--device", DEVICE, "--calibration", str(path), "--learn", "off", *more]


def _plan(server):
    return server.stats(b"pipeline")["plan"]


class Load(threading.Thread):
    """A client that reads and stores `depth` keys at a time, and checks each reply."""

    def __init__(self, server, number):
        super().__init__()
        self.depth, self.value_bytes = 1, 10
        self.stopping = False
        self.failure = None
        self.replies = 0
        self.times = []  # of round trips, seconds
        self._client = server.connect()
        self._prefix = b"c%d-" % number

    def run(self):
        try:
            turn = 0
            while not self.stopping:
                self._turn(turn)
                turn += 1
        except Exception as error:  # told by the test
            self.failure = error

    def _turn(self, turn):
        keys = [self._prefix + b"%d" % ((turn * 37 + i) % 500) for i in range(self.depth)]
        value = b"%d/" % turn + b"v" * self.value_bytes
        begin = time.perf_counter()
        self._client.send(
            b"".join(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value) for key in keys[:1])
            + b"".join(b"get %s\r\n" % key for key in keys)
        )
        stored = self._client.read_exactly(len(b"STORED\r\n"))
        check_equal(stored, b"STORED\r\n")
        for i, key in enumerate(keys):
            text = self._client.read_until(b"END\r\n")
            if i == 0:
                expected = b"VALUE %s 0 %d\r\n%s\r\nEND\r\n" % (key, len(value), value)
                check_equal(text, expected, "what was just stored")
            elif text != b"END\r\n":
                check(text.startswith(b"VALUE " + key + b" "), text)
        self.times.append(time.perf_counter() - begin)
        self.replies += 1 + len(keys)

    def finish(self):
        self.stopping = True
        self.join()
        self._client.close()
        if self.failure is not None:
            raise self.failure


def _steps(server):
    """How many steps of its measurement the server has begun."""
    words = _calibration(server).split()  # "under way, 3 of 51"
    return int(words[2]) if words[:2] == ["under", "way,"] else 0


def _wait_for(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    check(False, f"not within {seconds} s: {what}")


def test_the_plan_follows_the_load():
    with tempfile.TemporaryDirectory() as folder:
        path = _calibrate(folder)
        _make_the_device_pay(path)
        with Server(flags=_flags(path)) as server:
            loads = [Load(server, number) for number in range(4)]
            for load in loads:
                load.start()
            _wait_for("replies", lambda: all(load.replies > 200 for load in loads))
            check_equal(_plan(server), ONE_STAGE, "one request at a time")
            for load in loads:
                load.depth, load.value_bytes = 200, 1000
            _wait_for("a plan with the device", lambda: "gpu0" in _plan(server))
            stats = server.stats(b"pipeline")
            check_equal(stats["plan:chosen_by"], "planner")
            check(int(stats["plan:changes"]) >= 1, stats)
            check(stats["plan:last_change"] != "", stats)
            check(float(stats["profile:get_share"]) > 0.9, stats)
            check(float(stats["plan:sockets_ns"]) >= 0, stats)
            _wait_for("jobs", lambda: int(server.stats(b"pipeline")["gpu0:jobs"]) > 20)
            for load in loads:
                load.depth, load.value_bytes = 1, 10
            _wait_for("the one-stage plan", lambda: _plan(server) == ONE_STAGE)
            for load in loads:
                load.finish()
            changes = server.stats(b"pipeline")["plan:changes"]
            replies = sum(load.replies for load in loads)
    return f"{replies} replies, {changes} changes of the plan"


def test_a_lost_device_is_left_alone():
    with tempfile.TemporaryDirectory() as folder:
        path = _calibrate(folder)
        _make_the_device_pay(path)
        with environment(WEFT_DEVICE_FAULT="lose=20"):
            with Server(flags=_flags(path)) as server:
                load = Load(server, 0)
                load.depth = 200
                load.start()
                retired = lambda: server.stats(b"pipeline")["gpu0:state"] == "retired"
                _wait_for("the device to be given up", retired)
                check_equal(_plan(server), ONE_STAGE)
                at = load.replies
                _wait_for("further replies", lambda: load.replies > at + 20_000)
                refused = int(server.stats(b"pipeline")["device:refused"])
                load.finish()
                check(refused < 20, f"{refused} stages were still meant for the lost device")


def test_answers_are_memcacheds_while_plans_change():
    with tempfile.TemporaryDirectory() as folder:
        path = _calibrate(folder)
        _make_the_device_pay(path)
        flags = " ".join(f"'{flag}'" for flag in _flags(path, "--device-batch-min", "1"))
        with environment(WEFT_FLAGS=flags):
            return differential_test.run(5_000, pauses=0, memory_mb=256)


def test_a_calibration_of_other_hardware_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        path = _calibrate(folder, device="none")  # not the one that the server opens
        bad = pathlib.Path(folder) / "bad.json"
        bad.write_text("{}")
        missing = pathlib.Path(folder) / "missing.json"
        wrong = ((path, "other hardware"), (bad, "not a calibration"), (missing, "does not exist"))
        for file, words in wrong:
            try:
                with Server(flags=_flags(file)):
                    check(False, f"it started with {file}")
            except RuntimeError as error:
                check(words in str(error), str(error))
                check("--calibration: " in str(error), str(error))
                check("gpu0 is" not in str(error), str(error))


def _calibration(server):
    return server.stats(b"pipeline")["plan:calibration"]


def test_it_serves_while_it_is_measured_and_ends_when_told():
    with tempfile.TemporaryDirectory() as folder:
        with environment(XDG_CACHE_HOME=folder):
            with Server(flags=["--device", DEVICE]) as server:
                began = _calibration(server)
                check(began == "waiting" or began.startswith("under way"), began)
                check_equal(_plan(server), ONE_STAGE)
                load = Load(server, 0)
                load.start()
                _wait_for("steps of it", lambda: _steps(server) >= 3)
                check_equal(_plan(server), ONE_STAGE)
                load.finish()
                check(load.replies > 0, "no replies")
                check_equal(server.stop(), 0)
                check(not list(pathlib.Path(folder).rglob("*.json")), "half of one was kept")


def test_what_is_measured_is_used_kept_and_within_bounds():
    with tempfile.TemporaryDirectory() as folder:
        with environment(XDG_CACHE_HOME=folder):
            with Server(flags=["--device", DEVICE], memory_mb=64) as server:
                with server.connect() as client:
                    client.set(b"key", b"value")
                begin = peak = server.rss_kb()
                end = time.monotonic() + 300
                while "under way" in (state := _calibration(server)) or state == "waiting":
                    check(time.monotonic() < end, state)
                    peak = max(peak, server.rss_kb())
                    time.sleep(0.05)
                check(state.endswith("Z"), state)
                # -m for the store, and as much to measure with; what PoCL takes for itself.
                check(peak - begin < (64 + 64 + 32) << 10, f"{peak - begin} KiB more")
                check_equal(len(list(pathlib.Path(folder).rglob("*.json"))), 1, "files")
                load = Load(server, 0)
                load.depth = 200
                load.start()
                plannings = lambda: int(server.stats(b"pipeline")["plan:plannings"])
                _wait_for("a search for the best plan", lambda: plannings() > 0)
                load.finish()
                with server.connect() as client:
                    check_equal(client.get(b"key"), b"value")
            with Server(flags=["--device", DEVICE], memory_mb=64) as server:
                check_equal(_calibration(server), state, "it is there at once")


def test_a_given_plan_needs_no_calibration():
    with tempfile.TemporaryDirectory() as folder:
        with environment(XDG_CACHE_HOME=folder):
            with Server(flags=["--device", DEVICE, "--plan", ONE_STAGE]) as server:
                check("plan:calibration" not in server.stats(b"pipeline"), "it is measured")


def test_a_device_that_fails_while_it_is_measured_keeps_nobody_from_serving():
    with tempfile.TemporaryDirectory() as folder:
        with environment(WEFT_DEVICE_FAULT="lose=3", XDG_CACHE_HOME=folder):
            with Server(flags=["--device", DEVICE]) as server:
                with server.connect() as client:
                    client.set(b"key", b"value")
                _wait_for("its failure", lambda: "failed: " in _calibration(server), 180)
                check("no plan is chosen" in server.log(), server.log())
                check_equal(_plan(server), ONE_STAGE)
                check(not list(pathlib.Path(folder).rglob("*.json")), "a calibration was kept")


def test_without_a_device_all_run_in_one_stage():
    with Server(flags=["--plan", "auto"]) as server:
        stats = server.stats(b"pipeline")
        check_equal(stats["plan"], ONE_STAGE)
        check_equal(stats["plan:chosen_by"], "command line")


def test_plans_change_to_and_fro_under_load():
    """Every reply is right. It reports, and asserts nothing of, how much longer the slowest
    hundredth takes just behind a change than later."""
    rounds = 10 if os.environ.get("WEFT_TEST_LONG") else 2
    with tempfile.TemporaryDirectory() as folder:
        path = _calibrate(folder)
        _make_the_device_pay(path)
        with Server(flags=_flags(path)) as server:
            load = Load(server, 0)
            load.depth, load.value_bytes = 100, 1000
            load.start()
            ratios = []
            for _ in range(rounds):
                load.depth = 1
                _wait_for("one stage", lambda: _plan(server) == ONE_STAGE)
                load.depth = 100
                at = len(load.times)
                _wait_for("the device", lambda: "gpu0" in _plan(server))
                _wait_for("steadiness", lambda: len(load.times) > at + 4000)
                around = sorted(load.times[at + 5 : at + 1000])
                steady = sorted(load.times[at + 2000 :])
                ratios.append(around[len(around) * 99 // 100] / steady[len(steady) * 99 // 100])
            load.finish()
    middle = statistics.median(ratios)
    return f"p99 while the plan changes is {middle:.2f} times the steady one"


if __name__ == "__main__":
    harness.main(globals())

"""Servers whose queries go through plans with several stages, on whatever devices are here.

Each is held to what the one-stage plan is held to: memcached's answers, linearizable histories,
clients' libraries; while devices work, while they fail, and at low load.
"""

import contextlib
import os
import tempfile

import clients_test
import differential_test
import harness
import linearizability_test
from harness import Server, Skip, check, check_equal, environment

ALL_ON_DEVICE = "[RV PP MM]cpu -> [IN.search KC RD IN.insert IN.delete]gpu0 -> [WR SD]cpu"
MEGA_KV = "[RV PP MM]cpu -> [IN.search IN.insert IN.delete]gpu0 -> [KC RD WR SD]cpu"
READS = "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu"
TWO_VISITS = (
    "[RV PP MM]cpu -> [IN.search]gpu0 -> [KC IN.insert]cpu -> [RD]gpu0 -> [IN.delete WR SD]cpu"
)
CPU_STAGES = "[RV PP MM]cpu -> [IN.search KC IN.insert]cpu -> [RD IN.delete WR SD]cpu"
PLANS = {
    "all on the device": ALL_ON_DEVICE,
    "Mega-KV": MEGA_KV,
    "reads": READS,
    "two visits": TWO_VISITS,
    "stages on the cpu": CPU_STAGES,
}


def _devices():
    """Those that a server starts with here."""
    return ["cpu"] + (["opencl:0"] if _starts("opencl:0") else [])


def _starts(device):
    try:
        with Server(flags=_flags(READS, device)):
            return True
    except RuntimeError:
        print(f"note: --device {device} does not start here", flush=True)
        return False


def _mirrors():
    """Devices with memory of their own, which run reads alone: a GPU too, where there is one."""
    return ["mirror"] + (["cuda:0"] if _has_cuda() else [])


def _has_cuda():
    return harness.has_nvidia_driver() and _starts("cuda:0")


def _flags(plan, device, batch_min=1):
    return ["--plan", plan, "--device", device, "--device-batch-min", str(batch_min)]


@contextlib.contextmanager
def _kernel_cache():
    """OpenCL's compiled kernels go where they are forgotten."""
    with tempfile.TemporaryDirectory() as folder:
        with environment(POCL_CACHE_DIR=os.environ.get("POCL_CACHE_DIR", folder)):
            yield


def _quoted(flags):
    return " ".join(f"'{flag}'" for flag in flags)


def test_every_plan_answers_as_memcached_does():
    is_long = os.environ.get("WEFT_TEST_LONG")
    commands = 200_000 if is_long else 5_000
    with _kernel_cache():
        last = _devices()[-1]
        runs = [_flags(plan, device) for device in _devices() for plan in PLANS.values()]
        if not is_long:
            runs = [_flags(plan, last) for plan in (ALL_ON_DEVICE, TWO_VISITS)]
        on_mirrors = [_flags(plan, mirror) for mirror in _mirrors() for plan in (READS, MEGA_KV)]
        for flags in runs + on_mirrors:
            with environment(WEFT_FLAGS=_quoted(flags)):
                # Some OpenCL drivers allot no gigabyte at once.
                line = differential_test.run(
                    commands, pauses=2 if is_long else 0, memory_mb=256
                )
                print(f"note: {flags}: {line}", flush=True)


def test_histories_under_plans_are_linearizable():
    notes = []
    with _kernel_cache():
        for device in _devices():
            for plan in (ALL_ON_DEVICE, READS):
                flags = _flags(plan, device)
                with Server(memory_mb=256, threads=3, flags=flags) as server:
                    notes.append(f"{device}: {linearizability_test.histories(server)}")
                    check(_stat(server, "device:batches") > 0, "no batch went to the device")
    for mirror in _mirrors():
        for memory_mb in (256, 64):
            with Server(memory_mb=memory_mb, threads=3, flags=_flags(READS, mirror)) as server:
                notes.append(f"{mirror}: {linearizability_test.histories(server)}")
                check(_stat(server, "device:batches") > 0, "no batch went to the device")
    return "; ".join(notes)


def test_clients_are_served_by_a_plan():
    """The clients' own tests, against a server with a plan."""
    with _kernel_cache():
        runs = [_flags(ALL_ON_DEVICE, _devices()[-1]), _flags(READS, _mirrors()[-1])]
        for flags in runs:
            with environment(WEFT_FLAGS=_quoted(flags)):
                ran = 0
                for name, test in harness.collect(vars(clients_test)):
                    try:
                        test()
                        ran += 1
                    except Skip as skip:
                        print(f"note: {name}: {skip}", flush=True)
                check(ran > 0, "no client is installed")


def _stat(server, name):
    return int(server.stats(b"pipeline")[name])


def _stats_text(server, name):
    return server.stats(b"pipeline")[name]


def _store_and_read(server, rounds):
    """Pipelined stores, reads and deletes, each answer checked."""
    with server.connect() as client:
        for turn in range(rounds):
            keys = [b"k%d" % (i * 7 % 500) for i in range(200)]
            value = b"value %d" % turn
            request = b"".join(
                b"set %s 0 0 %d\r\n%s\r\nget %s\r\ndelete %s\r\nget %s\r\n"
                % (key, len(value), value, key, key, key)
                for key in keys
            )
            client.send(request)
            answer = b"".join(
                b"STORED\r\nVALUE %s 0 %d\r\n%s\r\nEND\r\nDELETED\r\nEND\r\n"
                % (key, len(value), value)
                for key in keys
            )
            check_equal(client.read_exactly(len(answer)), answer, f"round {turn}")


def test_a_failing_device_loses_no_reply():
    for faults in ("fail=7", "fail=5,refuse"):
        with environment(WEFT_DEVICE_FAULT=faults):
            with Server(flags=_flags(ALL_ON_DEVICE, "cpu")) as server:
                _store_and_read(server, 30)
                check(_stat(server, "gpu0:failures") > 0, "the drill did not take place")
                check(_stat(server, "device:reruns") > 0, "nothing was run again")
                check_equal(_stats_text(server, "gpu0:state"), "in use")


def test_histories_of_failing_devices_are_linearizable():
    """A job that fails lies for a while, so that others come upon what it left half done."""
    notes = []
    with _kernel_cache():
        runs = [(device, ALL_ON_DEVICE) for device in _devices()]
        runs += [(mirror, READS) for mirror in _mirrors() if mirror != "mirror"]
        for device, plan in runs:
            # Not too many, for a device that fails three times in a row is used no more.
            for faults in ("fail=20,pause=100", "fail=10", "fail=10,refuse"):
                with environment(WEFT_DEVICE_FAULT=faults):
                    flags = _flags(plan, device)
                    with Server(memory_mb=256, threads=3, flags=flags) as server:
                        notes.append(f"{device} {faults}: {linearizability_test.histories(server)}")
                        failures = _stat(server, "gpu0:failures")
                        check(failures > 0, "the drill did not take place")
                        notes.append(f"{failures} jobs failed")
    return "; ".join(notes)


def test_a_lost_device_is_retired_and_the_cpu_serves_on():
    for plan, device in ((ALL_ON_DEVICE, "cpu"), (READS, _mirrors()[-1])):
        with environment(WEFT_DEVICE_FAULT="lose=20"):
            with Server(flags=_flags(plan, device)) as server:
                _store_and_read(server, 60)
                check_equal(_stats_text(server, "gpu0:state"), "retired")
                check(_stat(server, "device:refused") > 0, "the CPU served nothing in its place")
                check("is no longer used" in server.log(), server.log())


def test_a_device_that_changes_nothing_leaves_that_to_the_cpu():
    """Mega-KV's plan, on a device that works on a copy of the store."""
    for device in _mirrors():
        with Server(flags=_flags(MEGA_KV, device)) as server:
            _store_and_read(server, 20)
            check("plan: IN.insert runs on the cpu" in server.log(), server.log())
            check(_stat(server, "device:batches") > 0, "the device had nothing to do")


def test_without_the_cuda_module_the_cpu_serves():
    with environment(WEFT_CUDA_MODULE="/nonexistent/libweft_cuda.so"):
        with Server(flags=["--device", "auto"]) as server:
            _store_and_read(server, 3)
        try:
            with Server(flags=_flags(READS, "cuda:0")):
                check(False, "it started")
        except RuntimeError as error:
            check("/nonexistent/libweft_cuda.so" in str(error), str(error))


def test_too_little_device_memory_is_said_at_the_start():
    with environment(WEFT_DEVICE_FAULT="memory=100000"):
        try:
            with Server(flags=_flags(ALL_ON_DEVICE, "cpu")):
                check(False, "it started")
        except RuntimeError as error:
            check("no 1" in str(error) or "memory left" in str(error), str(error))


def test_wrong_plans_and_devices_are_refused():
    wrong = [
        (["--plan", "[RV]cpu"], "is in no stage"),
        (["--plan", READS], "0 devices are open"),
        (_flags(READS, "opencl:99"), "opencl:99"),
        (_flags(READS, "abacus"), "abacus"),
        ([*_flags(READS, "cpu"), "--data", "/tmp/weft-never-made"], "--data cannot be used with"),
        (["--steal", "perhaps"], "--steal must be on or off"),
    ]
    for flags, words in wrong:
        try:
            with Server(flags=flags):
                check(False, f"{flags} started")
        except RuntimeError as error:
            check(words in str(error), f"{flags}: {error}")


def test_small_batches_stay_on_the_cpu():
    """A device's round trip is longer than the whole of a small batch's work."""
    device = _mirrors()[-1] if _has_cuda() else "cpu"
    with Server(flags=_flags(READS, device, batch_min=64)) as server:
        with server.connect() as client:
            client.set(b"key", b"value")
            for _ in range(1500):
                check_equal(client.get(b"key"), b"value")
            check_equal(_stat(server, "device:batches"), 0)
            client.send(b"get" + b" key" * 1000 + b"\r\n")
            client.read_until(b"END\r\n")
            check(_stat(server, "device:batches") > 0, "no large batch went to the device")


if __name__ == "__main__":
    harness.main(globals())

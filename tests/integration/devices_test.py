"""weft devices, as a user runs it: the CPU is always there, OpenCL devices where a driver is."""

import json
import os
import pathlib
import subprocess
import tempfile

import harness
from harness import Skip, check, check_equal


def _devices(*arguments, status=0, **environment):
    """Runs `weft devices ARGUMENTS`; returns what it printed on both streams."""
    binary = harness.subject_binary()
    if not harness.is_weft(binary) or not binary.exists():
        raise Skip(f"no weft at {binary}")
    with tempfile.TemporaryDirectory() as cache:  # of what PoCL compiles
        done = subprocess.run(
            [str(binary), "devices", *arguments],
            capture_output=True,
            timeout=120,
            check=False,
            env={**os.environ, "POCL_CACHE_DIR": cache, **environment},
        )
    out, err = done.stdout.decode(), done.stderr.decode()
    check_equal(done.returncode, status, f"exit status: {out}{err}")
    return out, err


def test_each_device_is_usable_or_says_why_not():
    devices = json.loads(_devices("--json")[0])
    check_equal(devices[0]["name"], "cpu")
    check_equal(len({device["name"] for device in devices}), len(devices), "different names")
    for device in devices:
        check(device["hardware"], f"no hardware: {device}")
        check(device["memory"] in ("coupled", "mirrored"), f"memory: {device}")
        check(device["units"] > 0, f"units: {device}")
        check_equal(device["usable"], device["why_not"] == "", f"a reason: {device}")
    check(devices[0]["usable"], f"the CPU: {devices[0]}")
    return f"{len(devices)} devices"


def test_the_table_has_a_line_a_device():
    lines = _devices()[0].splitlines()
    check(lines[0].startswith("device "), f"head: {lines[0]}")
    check(lines[1].startswith("cpu ") and "passed in" in lines[1], f"the CPU: {lines[1]}")
    names = [line.split()[0] for line in lines[1:] if line[0] != " "]
    listed = [device["name"] for device in json.loads(_devices("--json")[0])]
    check_equal(names, listed, "names")


def test_pocl_passes_the_self_test():
    if not pathlib.Path("/etc/OpenCL/vendors/pocl.icd").exists():
        raise Skip("PoCL is not installed")
    devices = json.loads(_devices("--json", OCL_ICD_VENDORS="pocl.icd")[0])
    opencl = [device for device in devices if device["name"].startswith("opencl:")]
    check(opencl, f"no OpenCL device: {devices}")
    for device in opencl:
        check(device["usable"], f"not usable: {device}")
        check_equal(device["memory"], "coupled")
        check(device["allocation_bytes_max"] > 0, f"a largest allocation: {device}")


def test_without_a_driver_only_the_cpu_is_left():
    with tempfile.TemporaryDirectory() as nothing:
        devices = json.loads(_devices("--json", OCL_ICD_VENDORS=nothing)[0])
    check_equal([d["name"] for d in devices if d["name"].startswith("opencl:")], [])
    check(devices[0]["usable"], "the CPU")


def test_bad_usage_is_refused():
    out, err = _devices("--nonsense", status=2)
    check_equal(out, "")
    check("--nonsense" in err and "--help" in err, f"message: {err}")
    check("--json" in _devices("--help")[0], "help")


if __name__ == "__main__":
    harness.main(globals())

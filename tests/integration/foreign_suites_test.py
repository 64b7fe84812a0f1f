"""The tests that a client library brings along, against the server under test.

pymemcache has them in its package. They run in a process of their own, by pytest.
"""

import pathlib
import subprocess
import sys

import harness
from harness import ROOT, Server, Skip, check, client_library


def test_pymemcaches_own_integration_tests():
    pymemcache = client_library("pymemcache")
    client_library("pytest")
    folder = pathlib.Path(pymemcache.__file__).parent / "test"
    if not (folder / "test_integration.py").exists():
        raise Skip("this pymemcache has no tests")
    python = ROOT / ".venv" / "bin" / "python"
    with Server() as server:
        done = subprocess.run(
            [str(python) if python.exists() else sys.executable, "-m", "pytest", "-q",
             "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(folder),
             str(folder / "test_integration.py"), "--server", server.address[0],
             "--port", str(server.port)],
            cwd=folder, capture_output=True, text=True, timeout=300)
        last = done.stdout.strip().split("\n")[-1]
        check(done.returncode == 0 and " passed" in last, done.stdout[-3000:] + done.stderr[-500:])
        return last


if __name__ == "__main__":
    harness.main(globals())

"""The package of the program under test, for tests of what is in it and of what it does."""

import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

import harness
from harness import Skip, check_equal
from starts import weft


@functools.lru_cache(None)
def package():
    """The package, built once a process, and its folder, which goes with this process."""
    for program in ("dpkg-deb", "dpkg-shlibdeps", "strip", "cmake"):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed (dpkg-dev, binutils, cmake)")
    folder = tempfile.TemporaryDirectory(prefix="weft-package-")
    done = subprocess.run([harness.ROOT / "tools/package", weft(), folder.name],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "WEFT_PACKAGE_LEVEL": "0"})
    check_equal(done.returncode, 0, done.stderr)
    return pathlib.Path(done.stdout.strip()), folder

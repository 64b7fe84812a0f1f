#!/usr/bin/env python3
"""tools/setup: what was configured without a package is configured anew once it is installed.

The commands that know and install packages are stand-ins here: nothing is installed.
"""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SETUP = Path(__file__).resolve().parent / "setup"

# Says that the packages named in the file `there` are installed.
QUERY = """#!/bin/sh
while read -r package; do echo "$package installed"; done <"{root}/there"
"""
INSTALL = """#!/bin/sh
echo "$@" >>"{root}/installed"
exit $(cat "{root}/answer")
"""
AS_ROOT = """#!/bin/sh
exec "$@"
"""


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("tools", "bin", "build/release", "build/asan"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(SETUP, self.root / "tools/setup")
        for name, text in (("dpkg-query", QUERY), ("apt-get", INSTALL), ("sudo", AS_ROOT)):
            program = self.root / "bin" / name
            program.write_text(text.format(root=self.root))
            program.chmod(0o755)
        self.stamps = [self.root / f"build/{preset}/configured" for preset in ("release", "asan")]
        for stamp in self.stamps:
            stamp.touch()
        (self.root / "answer").write_text("0")
        self.packages = self.setup("list").stdout.split()

    def setup(self, *words):
        paths = f"{self.root}/bin:{os.environ['PATH']}"
        environment = {key: value for key, value in os.environ.items() if key != "WEFT_SETUP"}
        return subprocess.run([self.root / "tools/setup", *words], text=True, capture_output=True,
                              env={**environment, "PATH": paths}, check=False)

    def there(self, packages):
        (self.root / "there").write_text("".join(f"{package}\n" for package in packages))

    def test_what_is_missing_is_installed_and_presets_are_configured_anew(self):
        self.there(package for package in self.packages if package != "liburing-dev")
        done = self.setup("run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("liburing-dev", (self.root / "installed").read_text())
        self.assertEqual([stamp for stamp in self.stamps if stamp.exists()], [])

    def test_nothing_happens_where_all_is_there(self):
        self.there(self.packages)
        done = self.setup("run")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertFalse((self.root / "installed").exists())
        self.assertEqual([stamp for stamp in self.stamps if not stamp.exists()], [])

    def test_an_install_that_fails_changes_nothing(self):
        self.there([])
        (self.root / "answer").write_text("1")
        done = self.setup("run")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("apt-get install failed", done.stderr)
        self.assertEqual([stamp for stamp in self.stamps if not stamp.exists()], [])


if __name__ == "__main__":
    unittest.main()

"""What passed before with the same files, for tools/test: such a check would only pass again.

A check's files are the program that it runs, and whatever else it reads. Its digest is made of
their contents, of the variables that tests heed (WEFT_...), of the system's version and of the
user. What a test finds on the machine by itself, such as memcached, is no part of it.

Threads: digests any; Passed otherwise one at a time (test_tally.Tally's lock).
"""

import functools
import hashlib
import json
import os
from pathlib import Path

COMPILED = (".cc", ".h", ".cu", ".cl", ".c", ".inc")
NO_INPUT = {"build", ".git", ".venv", "__pycache__"}


@functools.cache
def digest_of_file(path):
    """Digest of a file's contents, in hexadecimal; "" of one that is not there."""
    try:
        with open(path, "rb") as file:
            total = hashlib.blake2b(digest_size=20)
            while part := file.read(1 << 20):
                total.update(part)
            return total.hexdigest()
    except OSError:
        return ""


@functools.cache
def files_below(root):
    """All files of a checkout, in order, but for what is built there."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - NO_INPUT)
        found += [Path(folder) / name for name in sorted(names)]
    return tuple(found)


def read_by_tests(root):
    """The files of a checkout that tests may read: all but sources, which their programs stand for,
    and documents."""
    return tuple(path for path in files_below(root) if path.suffix not in (*COMPILED, ".md"))


class Passed:
    """The checks that passed, each with the digest of its files, in a JSON file."""

    def __init__(self, file, root, is_heeded):
        """`is_heeded`: whether cases() tells of them; otherwise it says that none has passed."""
        self.file = file
        self.root = root
        self.is_heeded = is_heeded
        try:
            self.checks = dict(json.loads(file.read_text()))
        except (OSError, ValueError, TypeError):
            self.checks = {}

    def digest(self, files):
        """Digest of files with their names, of WEFT_..., of the system and of the user. It is taken
        before a check runs, for its files may change under it."""
        total = hashlib.blake2b(digest_size=20)
        for variable in sorted(name for name in os.environ if name.startswith("WEFT_")):
            total.update(f"{variable}={os.environ[variable]}\0".encode())
        total.update(f"{os.uname().release} {os.getuid()}\0".encode())
        for path in files:
            total.update(f"{os.path.relpath(path, self.root)}\0{digest_of_file(path)}\0".encode())
        return total.hexdigest()

    def cases(self, check, digest):
        """How many cases of a check passed with the files of this digest; 0 where it has not."""
        entry = self.checks.get(check)
        if self.is_heeded and isinstance(entry, list) and len(entry) == 2 and entry[0] == digest:
            return int(entry[1])
        return 0

    def keep(self, check, digest, cases):
        """Notes that a check passed, at once: a run may be ended."""
        self.checks[check] = [digest, cases]
        self.write()

    def drop(self, check):
        """Forgets a check, which failed."""
        if self.checks.pop(check, None) is not None:
            self.write()

    def write(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.checks, indent=0, sort_keys=True) + "\n")
        os.replace(new, self.file)

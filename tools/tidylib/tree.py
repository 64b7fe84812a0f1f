"""The tree under check: which files there are, their text, and C++ text without its comments.

A Tree is read once; rules are functions from a Tree to findings and never touch the disk
themselves (alone.py, which runs the compiler, excepted).
"""

import os
import re
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CPP = (".h", ".cc", ".cu", ".cl", ".inc")
HEADER = ".h"


@dataclass(frozen=True, order=True)
class Finding:
    """One broken rule. Prints as path:line: rule: message."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


def split_cpp(text):
    """Returns (code, comments): each as long as `text`, the other's characters blanked.

    String and character literals are blanked in the code as well, their quotes kept; line breaks
    stay in both, so that line numbers agree.
    """
    code, comments = list(text), [c if c == "\n" else " " for c in text]
    pattern = re.compile(
        r"//[^\n]*|/\*.*?\*/"
        r'|R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"'
        r'|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'", re.S)
    for match in pattern.finditer(text):
        begin, end = match.span()
        comment = match.group().startswith("/")
        for i in range(begin, end):
            if text[i] == "\n":
                continue
            if comment:
                comments[i] = text[i]
            if comment or (i != begin and i != end - 1):
                code[i] = " "
    return "".join(code), "".join(comments)


def split_hash(text):
    """As split_cpp, for languages whose comments start with #; strings stay as they are."""
    code, comments = [], []
    for line in text.split("\n"):
        match = re.match(r"""((?:[^#'"]|'[^']*'|"(?:\\.|[^"\\])*"|(?<=\S)#)*)(#.*)?$""", line)
        cut = match.end(1) if match else len(line)
        code.append(line[:cut])
        comments.append(" " * cut + line[cut:])
    return "\n".join(code), "\n".join(comments)


class File:
    """One text file: `path` is relative to the root, with forward slashes."""

    def __init__(self, path, text):
        self.path = path
        self.text = text

    @cached_property
    def lines(self):
        return self.text.splitlines()

    @property
    def is_cpp(self):
        return self.path.endswith(CPP)

    @property
    def is_header(self):
        return self.path.endswith(HEADER)

    @property
    def is_markdown(self):
        return self.path.endswith(".md")

    @cached_property
    def is_python(self):
        first = self.text.split("\n", 1)[0]
        return self.path.endswith(".py") or (first.startswith("#!") and "python" in first)

    @cached_property
    def is_shell(self):
        first = self.text.split("\n", 1)[0]
        return self.path.endswith(".sh") or (first.startswith("#!") and first.endswith("sh"))

    @property
    def is_cmake(self):
        return self.path.endswith((".cmake", "CMakeLists.txt"))

    @property
    def is_code(self):
        return self.is_cpp or self.is_python or self.is_shell or self.is_cmake

    @cached_property
    def _split(self):
        return (split_cpp if self.is_cpp else split_hash)(self.text)

    @property
    def code(self):
        return self._split[0]

    @property
    def comments(self):
        return self._split[1]


class Tree:
    """Every text file of a checkout that is ours to keep tidy."""

    # Inputs kept byte for byte, and texts that are not ours.
    SKIP = re.compile(r"(^|/)(testdata|corpus|__pycache__)/|^(build|\.git|\.venv)/|^LICENSE$")

    def __init__(self, root):
        self.root = Path(root)
        self.all_paths = sorted(self._list())
        self.files = []
        for path in self.all_paths:
            if self.SKIP.search(path):
                continue
            try:
                text = (self.root / path).read_text(encoding="utf-8")
            except (UnicodeDecodeError, OSError):
                continue
            if "\0" not in text:
                self.files.append(File(path, text))

    def _list(self):
        """What git tracks or would track; without git, all that is there."""
        if (self.root / ".git").exists():
            out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"],
                                 cwd=self.root, capture_output=True, check=True).stdout
            paths = {os.fsdecode(p) for p in out.split(b"\0") if p}
            return [p for p in paths if (self.root / p).is_file()]
        found = (p for p in self.root.rglob("*") if p.is_file())
        return [p.relative_to(self.root).as_posix() for p in found]

    @cached_property
    def by_path(self):
        return {file.path: file for file in self.files}

    def having(self, kind):
        """Files for which the named property holds, such as "is_cpp"."""
        return [file for file in self.files if getattr(file, kind)]


def matches_by_line(pattern, text):
    """Yields (line number, match) for every match of a compiled pattern."""
    line, position = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        yield line, match

"""Include direction: a folder includes only what stands below it, in its tower and in others."""

import re
from dataclasses import dataclass, field

from tidylib.tree import CPP, Finding, matches_by_line

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)
IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)|import[ \t]+(\w[\w., \t]*))", re.M)
SOURCES = (*CPP, ".cuh", ".c")
# What no library holds. In bench/ a file that ends in _bench.cc is a benchmark of weft-bench.
TEST = re.compile(r"_(test|fuzz)\.(cc|cu)$|^(?!bench/).*_bench\.cc$|^bench/.*/cost/.*_bench\.cc$"
                  r"|_test_kit\.(h|cc)$")


@dataclass(frozen=True)
class Tower:
    """Folders of one folder of the root."""

    rooms: tuple  # top floor first
    # The rooms or whole towers outside that a room may include: {room: ...}, "" for every room.
    may: dict = field(default_factory=dict)
    files: tuple = ()  # what lies in the tower's own folder, above all rooms

    def allows(self, room, there):
        """Whether `room` may include `there`, a room of another tower such as "src/net"."""
        allowed = (*self.may.get("", ()), *self.may.get(room, ()))
        return there in allowed or there.split("/")[0] in allowed


def room_of(path):
    """The room a file lies in: "src/net" of src/net/tcp.h, "bench" of bench/main.cc."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def is_test(path):
    return TEST.search(path) is not None


def sources(tree):
    """The files that have #include lines."""
    return [file for file in tree.files if file.path.endswith(SOURCES)]


def included_room(name, path, towers):
    """The room that a name in quotes behind #include leads to from the file `path`; None where it
    lies beside that file or is no room's."""
    parts = name.split("/")
    at = path.split("/")[0]
    if len(parts) == 1:
        return None
    if at == "tests" and parts[0] in towers["tests"].rooms:
        return f"tests/{parts[0]}"
    if parts[0] in towers:
        return room_of(name)
    if parts[0] in towers["src"].rooms:
        return f"src/{parts[0]}"
    # Elsewhere this is LevelDB itself, which tests and benchmarks stand beside.
    if parts[0] == "leveldb" and at in ("src", "include") and not is_test(path):
        return "compat/leveldb"
    return None


def why_not(here, there, towers):
    """Why `here` may not include or link `there`, as the beginning of a sentence, or None."""
    tower, _, room = here.partition("/")
    other, _, below = there.partition("/")
    if tower != other:
        return None if towers[tower].allows(room, there) else f"{here} may not reach {there} or"
    rooms = towers[tower].rooms
    if room not in rooms or below not in rooms or rooms.index(room) <= rooms.index(below):
        return None
    return f"{here} stands below {there} and may not"


def check_folders(tree, towers):
    """Every folder that has code is in the list of its tower, and nothing else lies above them."""
    for file in tree.files:
        tower, *rest = file.path.split("/")
        if tower not in towers or not rest:
            continue
        is_source = file.path.endswith(SOURCES)
        if len(rest) == 1 and is_source and rest[0] not in towers[tower].files:
            yield Finding(file.path, 1, "house", f"lies in no folder of {tower}/, and is none of"
                          f" the files that may stand above them")
        elif len(rest) > 1 and (is_source or file.is_code) and rest[0] not in towers[tower].rooms:
            yield Finding(file.path, 1, "house", f"{tower}/{rest[0]} is not a folder of the house:"
                          " draw it in docs/architecture.md and in TOWERS of tools/tidy")


def check_includes(tree, towers):
    for file in sources(tree):
        tower = file.path.split("/")[0]
        if tower not in towers and tower != "include":
            continue
        here = room_of(file.path)
        # Literals are blanked in the code, so read the text where the code has the directive.
        for line, match in matches_by_line(INCLUDE, file.text):
            there = included_room(match.group(1), file.path, towers)
            if there is None:
                continue
            if tower == "include":
                yield Finding(file.path, line, "house",
                              f'include/weft is for all and includes no room: "{match.group(1)}"')
            elif why := why_not(here, there, towers):
                yield Finding(file.path, line, "house", f'{why} include "{match.group(1)}"')


def check_imports(tree, libraries):
    """A library of Python files imports none of the scripts that stand on it."""
    for library in libraries:
        above = library.rsplit("/", 1)[0]
        scripts = {path.split("/")[-1].removesuffix(".py") for path in tree.all_paths
                   if path.rsplit("/", 1)[0] == above}
        for file in tree.having("is_python"):
            if not file.path.startswith(f"{library}/"):
                continue
            for line, match in matches_by_line(IMPORT, file.code):
                names = (match.group(1) or match.group(2)).split(",")
                for name in sorted({name.split()[0].split(".")[0] for name in names if name.split()}
                                   & scripts):
                    yield Finding(file.path, line, "house", f"{library} stands below the scripts of"
                                  f" {above}/ and may not import {name}")


def check(tree, towers, libraries):
    yield from check_folders(tree, towers)
    yield from check_includes(tree, towers)
    yield from check_imports(tree, libraries)

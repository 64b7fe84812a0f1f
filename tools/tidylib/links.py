"""What CMake is told of the rooms: libraries link downwards, and a room declares what it includes.

A target stands for a room: weft_NAME for src/NAME, weft_bench_NAME for bench/NAME, weft_sim_NAME
for sim/NAME. Any other target stands for the folder whose CMakeLists.txt makes it. All branches of
an if() count.
"""

import re
from collections import defaultdict

from tidylib.house import INCLUDE, included_room, is_test, room_of, sources, why_not
from tidylib.tree import Finding, matches_by_line

COMMAND = re.compile(r"\b(weft_module|weft_bench_part|weft_sim_part|target_link_libraries"
                     r"|add_library|add_executable|set)\s*\(([^()]*)\)")
# What weft_bench_part and weft_sim_part put before the name, and every room of theirs links.
PARTS = {"weft_bench_part": "weft_bench_", "weft_sim_part": "weft_sim_"}
IMPLIED = "weft_base"
PREFIXES = {"weft_bench_": "bench", "weft_sim_": "sim", "weft_": "src"}
OF_TESTS = re.compile(r"_(test|bench|fuzz)$")
SCOPES = ("PUBLIC", "PRIVATE", "INTERFACE")


class Links:
    """The targets of the CMake files below the towers, and what each links."""

    def __init__(self, tree, towers, stands_for):
        self.towers, self.stands_for = towers, stands_for
        self.public = defaultdict(dict)  # target: {linked target: (path, line)}
        self.private = defaultdict(dict)
        self.made_in = {}  # target: path of the CMake file
        self.unknown = []  # (path, line, name) of DEPENDS that are no room
        for file in tree.having("is_cmake"):
            if file.path.split("/")[0] in towers:
                values = {}  # of variables
                for line, match in matches_by_line(COMMAND, file.code):
                    command, words = match.group(1), []
                    for word in match.group(2).split():
                        words += values.get(word, [word])
                    if words and command == "set":
                        values[f"${{{words[0]}}}"] = words[1:]
                    elif words and "$" not in words[0]:
                        self._take((file.path, line), command, words[0],
                                   [word for word in words[1:] if "$" not in word])

    def _take(self, place, command, name, words):
        if command == "weft_module":
            words = words[:words.index("LIBRARIES")] if "LIBRARIES" in words else words
            words = words[words.index("DEPENDS") + 1:] if "DEPENDS" in words else []
            self.unknown += [(*place, word) for word in words
                             if word not in self.towers["src"].rooms]
            name, words = f"weft_{name}", [f"weft_{word}" for word in words]
        elif command in PARTS:
            name = PARTS[command] + name
            words = [IMPLIED, *(word for word in words if word != "COLD")]
        elif command != "target_link_libraries":  # the words are sources
            words = []
        if command != "target_link_libraries":
            self.made_in.setdefault(name, place[0])
        scope = "PUBLIC"
        for word in words:
            if word in SCOPES:
                scope = word
            else:
                found = self.private if scope == "PRIVATE" else self.public
                found[name].setdefault(word, place)

    def rooms(self, target):
        """The rooms that a target stands for; none where no CMake file of a tower makes it."""
        if target in self.stands_for:
            return self.stands_for[target]
        for prefix, tower in PREFIXES.items():
            if target.startswith(prefix) and target[len(prefix):] in self.towers[tower].rooms:
                return (f"{tower}/{target[len(prefix):]}",)
        path = self.made_in.get(target)
        return () if path is None or OF_TESTS.search(target) else (room_of(path),)

    def targets(self, room):
        """The targets that stand for a room and lie in its tower."""
        tower = room.split("/")[0]
        return sorted(target for target, path in self.made_in.items()
                      if room in self.rooms(target) and path.split("/")[0] == tower)

    def module(self, room):
        """The target that weft_module makes of a folder of src/."""
        return "weft_" + room.split("/")[-1]

    def told_in(self, room):
        """The CMake file that says what a room links."""
        targets, module = self.targets(room), self.module(room)
        return self.made_in[module if module in targets else targets[0]]

    def named_by(self, targets):
        """{room: (path, line)} that the targets name."""
        found = {}
        for target in targets:
            for linked, place in {**self.private[target], **self.public[target]}.items():
                for there in self.rooms(linked):
                    found.setdefault(there, place)
        return found

    def direct(self, room):
        """named_by() of a room's targets, itself left out."""
        found = self.named_by(self.targets(room))
        found.pop(room, None)
        return found

    def reached(self, room):
        """The rooms that a room names or gets by what its links are public about."""
        seen, waiting = set(), self.targets(room)
        waiting += [linked for target in waiting for linked in self.private[target]]
        while waiting:
            target = waiting.pop()
            if target not in seen:
                seen.add(target)
                waiting += self.public[target]
        return {there for target in seen for there in self.rooms(target)}

    def declared(self, path):
        """The rooms that the file may include, or None where no target takes it. A module of src/
        names each itself; a program, and a part of another tower, may get it by what they name."""
        room = room_of(path)
        targets, module = self.targets(room), self.module(room)
        if not targets:
            return None
        if room.startswith("src/") and module in targets and not path.endswith("/main.cc"):
            return set(self.named_by([module]))
        return self.reached(room)


def check_direction(links):
    for path, line, name in links.unknown:
        yield Finding(path, line, "house", f"{name} is not a folder of the house")
    for here in sorted({room for target in links.made_in for room in links.rooms(target)}):
        for there, (path, line) in links.direct(here).items():
            why = why_not(here, there, links.towers)
            if why:
                yield Finding(path, line, "house", f"{why} link it")


def check_declared(tree, links):
    """The rooms whose headers a room includes stand where CMake is told of it."""
    known, found = {}, set()
    for file in sources(tree):
        here = room_of(file.path)
        if is_test(file.path) or here.split("/")[0] not in links.towers:
            continue
        key = (here, file.path.endswith("/main.cc"))
        if key not in known:
            known[key] = links.declared(file.path)
        if known[key] is None:
            continue
        for line, match in matches_by_line(INCLUDE, file.text):
            there = included_room(match.group(1), file.path, links.towers)
            if (there and "/" in there and there != here and there not in known[key]
                    and (here, there) not in found):
                found.add((here, there))
                yield Finding(file.path, line, "link", f'includes "{match.group(1)}", and'
                              f" {links.told_in(here)} does not say that {here} links {there}")


def check(tree, links):
    yield from check_direction(links)
    yield from check_declared(tree, links)

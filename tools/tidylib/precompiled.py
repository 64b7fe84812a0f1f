"""Headers of libraries, parsed once for many files of ours that include all of them anyway.

What is precompiled for a file is only what it includes itself, directly or through other headers
of ours and under no condition: no name is there that it would not have had. Those that it leans on
are checked by themselves.
"""

import collections
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

# Tenths of a second that g++ 12 takes for each: what counts.
WEIGHTS = {"CLI/CLI.hpp": 25, "nlohmann/json.hpp": 20, "gmock/gmock.h": 19, "gtest/gtest.h": 14,
           "thread": 8, "condition_variable": 8, "fmt/format.h": 7, "random": 6, "memory": 5,
           "chrono": 5, "fstream": 4, "mutex": 4, "atomic": 3, "string": 3, "functional": 3,
           "unordered_map": 2, "vector": 2, "algorithm": 2, "string_view": 1, "map": 1, "set": 1,
           "deque": 1, "span": 1, "variant": 1, "array": 1, "optional": 1}
SETS_MAX = 16
SAVES_MIN = 40  # tenths of a second, by a set over the others: parsing it takes some, too
DIRECTIVE = re.compile(r'^[ \t]*#[ \t]*(if|ifdef|ifndef|endif|include)\b[ \t]*([<"][^>"]+[>"])?',
                       re.M)


def includes(text):
    """What a file includes under no condition: (names in quotes, names of WEIGHTS)."""
    depth, ours, theirs = 0, [], set()
    for word, name in DIRECTIVE.findall(text):
        if word == "endif":
            depth -= 1
        elif word != "include":
            depth += 1
        elif depth == 0 and name:
            if name[0] == '"':
                ours.append(name[1:-1])
            elif name[1:-1] in WEIGHTS:
                theirs.add(name[1:-1])
    return ours, theirs


def closure(tree, path):
    """The names of WEIGHTS that a header includes, itself or through others."""
    seen, todo, found = set(), [path], set()
    while todo:
        current = todo.pop()
        if current in seen or current not in tree.by_path:
            continue
        seen.add(current)
        ours, theirs = includes(tree.by_path[current].text)
        found |= theirs
        for name in ours:
            todo += [f"src/{name}", f"include/{name}", name,
                     os.path.normpath(os.path.join(os.path.dirname(current), name))]
    return frozenset(found)


def weight(names):
    return sum(WEIGHTS[name] for name in names)


def choose(wanted):
    """Sets of names that save the most: wanted counts the files by what they include."""
    common = [names for names, _ in wanted.most_common(60)]
    candidates = {a & b for a in common for b in common} | set(wanted)
    best = dict.fromkeys(wanted, 0)  # what the sets chosen so far save each
    chosen = []

    def gain(candidate):
        own = weight(candidate)
        return sum(count * max(0, own - best[names]) for names, count in wanted.items()
                   if candidate <= names) - own
    while len(chosen) < SETS_MAX and candidates:
        taken = max(sorted(candidates, key=sorted), key=gain)
        if gain(taken) < SAVES_MIN:
            break
        chosen.append(taken)
        for names in wanted:
            if taken <= names:
                best[names] = max(best[names], weight(taken))
    return chosen


def settings_that_count(flags):
    """Those of a compiler's flags that a precompiled header must share with who uses it."""
    return tuple(flag for flag in flags
                 if re.match(r"-(std=|m|f(?!PI|pch)|DNDEBUG|pthread)", flag) or flag == flags[0])


class Precompiled:
    """Files to include before a header; they lie in `folder`."""

    def __init__(self, tree, jobs, folder):
        """jobs: (path, flags) of the files that will be compiled."""
        self.names = {path: closure(tree, path) for path, _ in jobs}
        wanted = collections.defaultdict(collections.Counter)
        for path, flags in jobs:
            wanted[settings_that_count(flags)][self.names[path]] += 1
        todo = [(flags, names) for flags, of in wanted.items() for names in choose(of)]
        self.made = collections.defaultdict(list)  # by settings: (names, file), the most first
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            files = [folder / f"{number}.h" for number in range(len(todo))]
            well = pool.map(self.make, todo, files)
            for (flags, names), file, good in zip(todo, files, well):
                if good:
                    self.made[flags].append((names, file))
        for of in self.made.values():
            of.sort(key=lambda each: -weight(each[0]))

    @staticmethod
    def make(job, file):
        flags, names = job
        file.write_text("".join(f"#include <{name}>\n" for name in sorted(names)))
        return subprocess.run([*flags, "-w", "-x", "c++-header", file, "-o", f"{file}.gch"],
                              capture_output=True).returncode == 0

    def flags_for(self, path, flags):
        """Further ones, for compiling a header with these."""
        for names, file in self.made[settings_that_count(flags)]:
            if names <= self.names[path]:
                return ["-include", str(file)]
        return []

"""Headers of libraries, parsed once for many files of ours that include all of them anyway.

What is precompiled for a file is only what it includes itself, directly or through other headers,
ours under no condition: no name is there that it would not have had. Those that it leans on are
checked by themselves.
"""

import collections
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

# Headers that take the compiler long, and that many files include.
NAMES = ("CLI/CLI.hpp", "algorithm", "array", "atomic", "chrono", "cmath", "condition_variable",
         "deque", "filesystem", "fmt/format.h", "fstream", "functional", "gmock/gmock.h",
         "gtest/gtest.h", "iostream", "map", "memory", "mutex", "nlohmann/json.hpp", "numeric",
         "optional", "random", "set", "span", "sstream", "string", "string_view", "system_error",
         "thread", "unordered_map", "variant", "vector")
SETS_MAX = 32
SAVES_MIN = 12 << 20  # bytes that are not parsed, by a set over the others: some seconds
DIRECTIVE = re.compile(r'^[ \t]*#[ \t]*(if|ifdef|ifndef|endif|include)\b[ \t]*([<"][^>"]+[>"])?',
                       re.M)


def includes(text):
    """What a file includes under no condition: (names in quotes, of NAMES)."""
    depth, ours, theirs = 0, [], set()
    for word, name in DIRECTIVE.findall(text):
        if word == "endif":
            depth -= 1
        elif word != "include":
            depth += 1
        elif depth == 0 and name:
            if name[0] == '"':
                ours.append(name[1:-1])
            elif name[1:-1] in NAMES:
                theirs.add(name[1:-1])
    return ours, theirs


def closure(tree, path):
    """What a file includes, itself or through others: (files of ours, of NAMES)."""
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
    return seen, frozenset(found)


class Texts:
    """What the headers of NAMES consist of, for a compiler with these flags."""

    def __init__(self, flags, pool):
        files = dict(zip(NAMES, pool.map(lambda name: self.files_of(name, flags), NAMES)))
        name_of = {of[0]: name for name, of in files.items() if of}  # the first: the header itself
        self.files = {name: frozenset(of) for name, of in files.items()}
        # With <thread> a file has <string>, too, whole.
        self.implied = {name: {name} | {name_of[file] for file in of if file in name_of}
                        for name, of in files.items()}
        self.sizes = {file: os.path.getsize(file) for of in files.values() for file in of}
        self.weights = {}

    @staticmethod
    def files_of(name, flags):
        """The files of a header of NAMES, its own first; none where it is not installed."""
        listed = subprocess.run([*flags, "-w", "-M", "-H", "-x", "c++", "-"], text=True,
                                input=f"#include <{name}>\n", capture_output=True)
        return [line.split(" ", 1)[1] for line in listed.stderr.split("\n")
                if re.match(r"\.+ ", line)] if listed.returncode == 0 else []

    def weight(self, names):
        """The bytes that the compiler parses for some of NAMES."""
        if names not in self.weights:
            files = frozenset().union(*(self.files[name] for name in names))
            self.weights[names] = sum(self.sizes[file] for file in files)
        return self.weights[names]


def choose(wanted, weight):
    """Sets of names that save the most: `wanted` counts the files by what they include, and
    `weight` says what parsing a set takes."""
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
    """Files to include before one of ours; they lie in `folder`."""

    def __init__(self, tree, jobs, folder):
        """jobs: (path, flags) of the files that will be compiled."""
        self.ours = {}  # the files that each includes in any case, itself among them
        self.names, flags_of = {}, collections.defaultdict(list)
        for path, flags in jobs:
            self.ours[path], self.names[path] = closure(tree, path)
            flags_of[settings_that_count(flags)].append(path)
        self.made = collections.defaultdict(list)  # by settings: (weight, names, file), sorted
        todo = []
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for flags, paths in flags_of.items():
                texts = Texts(flags, pool)
                for path in paths:
                    self.names[path] = frozenset().union(
                        *(texts.implied[name] for name in self.names[path]))
                wanted = collections.Counter(self.names[path] for path in paths)
                todo += [(flags, names, texts.weight(names))
                         for names in choose(wanted, texts.weight)]
            files = [folder / f"{number}.h" for number in range(len(todo))]
            well = pool.map(self.make, todo, files)
            for (flags, names, weight), file, good in zip(todo, files, well):
                if good:
                    self.made[flags].append((weight, names, file))
        for of in self.made.values():
            of.sort(key=lambda each: -each[0])

    @staticmethod
    def make(job, file):
        flags, names, _ = job
        file.write_text("".join(f"#include <{name}>\n" for name in sorted(names)))
        return subprocess.run([*flags, "-w", "-x", "c++-header", file, "-o", f"{file}.gch"],
                              capture_output=True).returncode == 0

    def flags_for(self, path, flags):
        """Further ones, for compiling a header with these."""
        for _, names, file in self.made[settings_that_count(flags)]:
            if names <= self.names[path]:
                return ["-include", str(file)]
        return []

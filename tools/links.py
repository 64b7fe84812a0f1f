"""What programs link, as the build.ninja of a build says, and what they must not link.

A library that is linked without need is compiled for a program, and changes it. Nobody sees it in
the code: what a program includes may need less than what it links.
"""

import re

LIBRARY = re.compile(r"(?:^|/)lib(weft\w*)\.(?:a|so)$")

# By a program's path in the build: the names of libraries that it must not link. What simulates and
# what draws charts needs nothing of the cache tower; the server needs no instrument.
FORBIDDEN = {
    "src/server/weft": r"weft_(?:bench|sim)_\w+",
    "sim/weft-sim": r"weft_(?:processor|cache|planner|pipeline)",
    "bench/weft_bench_harness_test": r"weft_(?!base$|bench_harness$)\w+",
}


def linked(ninja, program):
    """The names of our libraries in the link line of `program` in a build.ninja's text, in order;
    None where the build does not make it."""
    found = None
    for line in ninja.split("\n"):
        if line.startswith("build "):
            if found is not None:
                break
            outputs = line[len("build "):].split(":")[0].split()
            found = [] if outputs[:1] == [program] else None
        elif found is not None and line.startswith("  LINK_LIBRARIES = "):
            matches = (LIBRARY.search(word) for word in line.split())
            return [match[1] for match in matches if match]
    return found


def faults(ninja, program):
    """The libraries that `program` links and must not."""
    return [name for name in linked(ninja, program) or []
            if re.fullmatch(FORBIDDEN[program], name)]

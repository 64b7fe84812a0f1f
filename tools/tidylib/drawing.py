"""What documents draw of the house: rows such as `src/net/  sockets  base` in docs/architecture.md,
whose last column has the rooms that a room stands on. Rooms that follow from these are left out, as
are src/base and, with a slash, rooms of other towers where they say nothing new.
"""

import re

from tidylib.house import SOURCES
from tidylib.tree import Finding, matches_by_line

DRAWN = re.compile(r"^(\w+)/(\w+)/ {2,}(\S.*?)(?: {2,}(\S[^\n]*?))?$", re.M)
DOCUMENT = "docs/architecture.md"
GROUND = "src/base"


def closure(of):
    """{room: all that its rooms lead to}, of {room: rooms}."""
    reach = {room: set(below) for room, below in of.items()}
    for _ in reach:
        for found in reach.values():
            found.update(*(reach.get(there, ()) for there in list(found)))
    return reach


def inside(rooms, tower):
    return {room for room in rooms if room.split("/")[0] == tower and room != GROUND}


def stands_on(links, tower):
    """{room: the last column of its row}, as CMake has it."""
    real = {room: inside(links.direct(room), tower)
            for room in (f"{tower}/{name}" for name in links.towers[tower].rooms)}
    reach = closure(real)
    rows = {}
    for room, below in real.items():
        rest = [there.split("/")[1] for there in below
                if not any(there in reach[other] for other in below - {there})]
        rows[room] = " ".join(sorted(rest, key=links.towers[tower].rooms.index)) or "-"
    return rows


def check_rooms(tree, links, tower, rows):
    """The rows of a tower are its folders, in their order."""
    rooms = links.towers[tower].rooms
    drawn = [name for _, name, _ in rows]
    if drawn != [name for name in rooms if name in drawn]:
        yield Finding(DOCUMENT, 1, "house", f"draws {tower}/ in the order {' '.join(drawn)},"
                      " TOWERS of tools/tidy in another")
    for line, name, _ in rows:
        if name not in rooms:
            yield Finding(DOCUMENT, line, "house",
                          f"draws {tower}/{name}, which TOWERS of tools/tidy lacks")
    there = {path.split("/")[1] for path in tree.all_paths
             if path.startswith(f"{tower}/") and path.count("/") > 1 and path.endswith(SOURCES)}
    should = stands_on(links, tower)
    for name in rooms:
        if name in there and name not in drawn:
            yield Finding(DOCUMENT, 1, "house", f"lacks {tower}/{name}, which stands on"
                          f" {should[f'{tower}/{name}']}")


def check_arrows(links, tower, rows):
    """The last column is true, and all that CMake knows follows from it."""
    arrows = {f"{tower}/{name}": {word if "/" in word else f"{tower}/{word}"
                                  for word in on.split() if word != "-"}
              for _, name, on in rows if on}
    reach = closure(arrows)
    for line, name, on in rows:
        here = f"{tower}/{name}"
        if not on or not links.targets(here):
            continue
        real = links.direct(here)
        wrong = arrows[here] - set(real)
        lacks = inside(real, tower) - reach[here]
        if wrong or lacks:
            yield Finding(DOCUMENT, line, "house", f"draws {here} on {on}, and CMake has it on"
                          f" {stands_on(links, tower)[here]}")


def check_drawing(tree, links):
    document = tree.by_path.get(DOCUMENT)
    if document is None:
        return
    rows = {}
    for line, match in matches_by_line(DRAWN, document.text):
        rows.setdefault(match.group(1), []).append((line, match.group(2), match.group(4)))
    for tower in links.towers:
        if tower in rows:
            yield from check_rooms(tree, links, tower, rows[tower])
            yield from check_arrows(links, tower, rows[tower])


def check_readme(tree):
    """README.md has a row for each folder of the root and of src/."""
    readme = tree.by_path.get("README.md")
    if readme is None:
        return
    folders = {"/".join(parts[:2 if parts[0] == "src" else 1]) + "/"
               for parts in (path.split("/")[:-1] for path in tree.all_paths)
               if parts and not parts[0].startswith(".")}
    rows = "\n".join(line for line in readme.lines if line.startswith("|"))
    for folder in sorted(folders - {"src/"}):
        if f"`{folder}" not in rows:
            yield Finding(readme.path, 1, "house", f"its table of folders lacks {folder}")


def check(tree, links):
    yield from check_readme(tree)
    yield from check_drawing(tree, links)

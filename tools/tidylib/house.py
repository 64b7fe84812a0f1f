"""Include direction: a folder of src/ may include only what stands below it."""

import re

from tidylib.tree import Finding, matches_by_line

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)
MODULE = re.compile(r"weft_module\(\s*(\w+)([^)]*)\)")
DRAWN = re.compile(r"^src/(\w+)/", re.M)


def floor_name(path, house):
    """The folder of the house that a path such as src/net/tcp.h or net/tcp.h lies in, or None."""
    parts = path.split("/")
    if parts[0] == "src":
        parts = parts[1:]
    return parts[0] if len(parts) > 1 and parts[0] in house else None


def check_includes(tree, house):
    height = {name: len(house) - i for i, name in enumerate(house)}
    for file in tree.having("is_cpp"):
        in_src, public = file.path.startswith("src/"), file.path.startswith("include/")
        if not in_src and not public:
            continue
        here = floor_name(file.path, house) if in_src else None
        if in_src and here is None:
            yield Finding(file.path, 1, "house", f"src/{file.path.split('/')[1]} is not a folder of"
                          " the house: draw it in docs/architecture.md and in HOUSE of tools/tidy")
            continue
        # Literals are blanked in the code, so read the text where the code has the directive.
        for line, match in matches_by_line(INCLUDE, file.text):
            there = floor_name(match.group(1), house)
            if there is None:
                continue
            if public:
                yield Finding(file.path, line, "house",
                              f'include/weft is for all and includes no room: "{match.group(1)}"')
            elif there != here and height[there] > height[here]:
                yield Finding(file.path, line, "house", f"src/{here} stands below src/{there} and"
                              f' may not include "{match.group(1)}"')


def check_links(tree, house):
    """The same direction for the libraries that CMake is told of."""
    height = {name: len(house) - i for i, name in enumerate(house)}
    for file in tree.having("is_cmake"):
        if not file.path.startswith("src/"):
            continue
        for line, match in matches_by_line(MODULE, file.code):
            here, rest = match.groups()
            names = re.split(r"\bDEPENDS\b", rest)[1:]
            for there in re.split(r"\bLIBRARIES\b", names[0])[0].split() if names else ():
                if there not in height:
                    yield Finding(file.path, line, "house", f"{there} is not a folder of the house")
                elif here in height and height[there] >= height[here]:
                    yield Finding(file.path, line, "house",
                                  f"src/{here} stands below src/{there} and may not depend on it")


def check_drawing(tree, house):
    """HOUSE and the drawing in docs/architecture.md must be one."""
    doc = tree.by_path.get("docs/architecture.md")
    if doc is None:
        return
    drawn = list(dict.fromkeys(DRAWN.findall(doc.text)))
    if drawn and drawn != [name for name in house if name in drawn]:
        yield Finding(doc.path, 1, "house", "draws src/ in the order " + " ".join(drawn)
                      + ", HOUSE in tools/tidy in another")
    for name in drawn:
        if name not in house:
            yield Finding(doc.path, 1, "house", f"draws src/{name}, which HOUSE lacks")


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


def check(tree, house):
    yield from check_readme(tree)
    yield from check_includes(tree, house)
    yield from check_links(tree, house)
    yield from check_drawing(tree, house)

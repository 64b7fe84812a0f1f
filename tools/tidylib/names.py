"""What a comment or a document names must exist: paths, Foo::Bar, FooBar(), kConstant, WEFT_X.

Comments that name something rot when it moves; this finds them. It asks little, to be right when
it speaks: a path must end a file of the tree (cache/bucket.h is found at src/cache/bucket.h), and
every word of a name must occur somewhere in the code. Names of others' (std::, memcached's files)
are listed in tools/tidy_words.txt, one a line; a line may end in * to mean all that begins so.
"""

import posixpath
import re
from functools import cached_property

from tidylib.tree import Finding, matches_by_line

WORDS = "tools/tidy_words.txt"

ENDINGS = "h|hpp|cc|cpp|cu|cuh|cl|inc|py|md|txt|json|jsonl|sh|cmake|yml|yaml|toml|dict|c"
PATH = re.compile(r"(?<![\w/.:~<$*{}@-])((?:\.{1,2}/)?(?:[\w.+-]+/)+(?:[\w+-]+\.)+(?:" + ENDINGS
                  + r"))(?![\w/*({])(?!\.\w)")
FOLDER = re.compile(r"(?<![\w/.:~<$*{}@-])((?:src|include|bench|tests|fuzz|sim|tools|docs|cmake)/"
                    r"(?:[\w-]+/)*)(?![\w*.<{$])")
BARE = re.compile(r"^[\w+-]+\.(?:h|cc|cu|cl|inc|py|cmake|md)$")
DOCUMENT = re.compile(r"(?<![\w/.*-])([\w-]+\.md)\b")
SCOPED = re.compile(r"(?<![\w:.])((?:[A-Za-z_]\w*::)+~?[A-Za-z_]\w*)")
CALL = re.compile(r"(?<![\w:.>-])([A-Za-z_]\w*)\(\)")
CONSTANT = re.compile(r"(?<![\w:.])(k[A-Z][A-Za-z0-9]+)\b(?!\*)")
MACRO = re.compile(r"(?<![\w:.])(WEFT_[A-Z][A-Z0-9_]*[A-Z0-9])\b(?!_?\*)")
CAMEL = re.compile(r"^[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+$")
TICKED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.M | re.S)
PLACEHOLDER = re.compile(r"(?:^|/)(?:NAME|X)\b")
URL = re.compile(r"\b\w+://\S+")

# What a build makes, and so may be named without being there.
MADE = ("build/", ".venv/", "./build/")
# Documents about what was or about others.
HISTORY = ("CHANGELOG.md",)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


class Index:
    """What may be named: the tree's paths, the words of its code, the words of others."""

    def __init__(self, tree):
        self.tree = tree
        self.paths = set(tree.all_paths)
        self.endings = set()
        self.folders = set()
        for path in tree.all_paths:
            parts = path.split("/")
            for i in range(len(parts)):
                self.endings.add("/".join(parts[i:]))
                if i:
                    self.folders.add("/".join(parts[:i]))
        words = tree.by_path.get(WORDS)
        listed = [line.split("#")[0].strip() for line in words.lines] if words else []
        self.exact = {word for word in listed if word and not word.endswith("*")}
        self.begins = tuple(word[:-1] for word in listed if word.endswith("*"))

    @cached_property
    def words(self):
        found = set()
        for file in self.tree.having("is_code"):
            found.update(re.findall(r"[A-Za-z_]\w*", file.code))
            found.update(re.findall(r'"(WEFT_\w+)"', file.text))  # an environment variable
        for file in self.tree.files:  # presets hold switches that no code names
            if file.path.endswith(".json"):
                found.update(re.findall(r"WEFT_\w+", file.text))
        return found

    @cached_property
    def families(self):
        """kAccess, where the tree has kAccessShift: what constants that go together begin with."""
        found = set()
        for word in self.words:
            if CONSTANT.fullmatch(word):
                cuts = (match.start() for match in re.finditer(r"[A-Z]", word[2:]))
                found.update(word[:cut + 2] for cut in cuts)
        return found

    def foreign(self, name):
        return name in self.exact or name.startswith(self.begins)

    def has_path(self, name, beside):
        if name.startswith(MADE) or PLACEHOLDER.search(name) or self.foreign(name):
            return True
        plain = posixpath.normpath(name)
        near = posixpath.normpath(posixpath.join(posixpath.dirname(beside), name))
        return plain in self.endings or near in self.paths

    def has_folder(self, name):
        return (name.rstrip("/") in self.folders or PLACEHOLDER.search(name)
                or self.foreign(name))

    def has_name(self, name):
        if self.foreign(name):
            return True
        return (all(part.lstrip("~") in self.words for part in name.split("::"))
                or name in self.families)


def names_in_text(index, text, beside):
    """Yields (line, name, kind) of what `text` names and the tree lacks."""
    for line, match in matches_by_line(PATH, text):
        if not index.has_path(match.group(1), beside):
            yield line, match.group(1), "file"
    for line, match in matches_by_line(FOLDER, text):
        if not index.has_folder(match.group(1)):
            yield line, match.group(1), "folder"
    for line, match in matches_by_line(DOCUMENT, text):
        if match.group(1) not in index.endings and not index.foreign(match.group(1)):
            yield line, match.group(1), "file"
    for pattern, suffix in ((SCOPED, ""), (CALL, "()"), (CONSTANT, ""), (MACRO, "")):
        for line, match in matches_by_line(pattern, text):
            if not index.has_name(match.group(1)):
                yield line, match.group(1) + suffix, "name"


def names_in_markdown(index, text, beside):
    """In documents only `ticked` text names things; paths also in links and plain text."""
    text = FENCE.sub(blank, text)
    for line, match in matches_by_line(PATH, text):
        if not index.has_path(match.group(1), beside):
            yield line, match.group(1), "file"
    for line, match in matches_by_line(TICKED, text):
        span = match.group(1).strip()
        if BARE.match(span):
            if span not in index.endings and not index.foreign(span):
                yield line, span, "file"
            continue
        if CAMEL.match(span) and not index.has_name(span):
            yield line, span, "name"
        if re.search(r"\s", span):  # a command or a sentence, not a name
            continue
        for _, name, kind in names_in_text(index, span, beside):
            if kind != "file":  # files were looked for above
                yield line, name, kind


def check(tree):
    index = Index(tree)
    for file in tree.files:
        if file.is_markdown and file.path not in HISTORY:
            found = names_in_markdown(index, URL.sub(blank, file.text), file.path)
        elif file.is_cpp or file.is_cmake:
            found = names_in_text(index, URL.sub(blank, file.comments), file.path)
        else:
            continue
        for line, name, kind in found:
            yield Finding(file.path, line, "name", f"no {kind} {name} in the tree")

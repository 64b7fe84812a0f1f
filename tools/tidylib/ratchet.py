"""Sizes may shrink and not grow: files beyond 500 lines, functions beyond 70, findings of words.py.

A file or function over its limit is allowed only up to the size that tools/tidy_ratchet.json
records, and so is the number of long sentences and the like in a file. Function lengths come from
counting braces: good to a line or two, and blind to functions that macros make.
"""

import ast
import json
import re

from tidylib import words
from tidylib.tree import Finding

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
STORE = "tools/tidy_ratchet.json"

DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
SCOPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:inline\s+)?(?:class|struct|union|enum|namespace|"
                   r"extern|concept)\b", re.S)
CONTROL = re.compile(r"^(?:if|for|while|switch|do|else|catch|try)\b")
NAME = re.compile(r"((?:[\w~]+::)*~?(?:operator\s*[^\s\w(]+|operator\s*\(\s*\)|\w+))\s*\(")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def head_of_function(head):
    """The function's name where `head`, the text before a brace, begins one; else None."""
    head = head.strip()
    if not head or SCOPE.match(head) or CONTROL.match(head):
        return None
    bare = re.sub(r"operator\s*(?:[=!<>]=?|<=>|[+\-*/%&|^]=)", "operator_", head)
    outside, depth = [], 0
    for c in bare:
        depth += (c in "([") - (c in ")]")
        if depth == 0:
            outside.append(c)
    if "=" in "".join(outside) or ")" not in bare:
        return None
    match = NAME.search(head)
    if match and match.group(1) in ("TEST", "TEST_F", "TEST_P", "BENCHMARK_F"):
        return re.sub(r"\s+", "", head)
    return match.group(1) if match else None


def cpp_functions(code):
    """Yields (name, first line, lines) of each outermost function."""
    code = DIRECTIVE.sub(blank, code)
    stack = []  # of (function name or None, line where its head began)
    head, head_line, line, parens = "", 1, 1, 0
    last = None
    for c in code:
        if c == "\n":
            line += 1
        if c in "()":
            parens += 1 if c == "(" else -1
        if c == "{":
            inside = parens > 0 or any(name for name, *_ in stack)
            name = None if inside else head_of_function(head)
            start = head_line
            if name and head.lstrip().startswith(",") and last:
                name, start = last  # the tail of a constructor's initialisers
            stack.append((name, start, parens))
            parens = 0
            if name:
                last = (name, start)
            head = ""
        elif c == "}":
            if stack:
                name, start, parens = stack.pop()
                if name:
                    yield name, start, line - start + 1
            head = ""
        elif c == ";" and parens == 0:
            head = ""
        else:
            if not head.strip() and not c.isspace():
                head_line = line
            head += c


def python_functions(text):
    try:
        module = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def measure(tree):
    """Returns ({path: lines}, {"path name": (lines, line)}) of what is over its limit."""
    files, functions = {}, {}
    for file in tree.files:
        if not file.is_code or file.path.endswith(".inc"):
            continue
        if len(file.lines) > FILE_LINES_MAX:
            files[file.path] = len(file.lines)
        found = ()
        if file.is_cpp:
            found = cpp_functions(file.code)
        elif file.is_python:
            found = python_functions(file.text)
        for name, start, lines in found:
            if lines > FUNCTION_LINES_MAX:
                key = f"{file.path} {name}"
                if lines > functions.get(key, (0, 0))[0]:  # overloads: the longest speaks
                    functions[key] = (lines, start)
    return files, functions


def load(tree):
    store = tree.root / STORE
    return json.loads(store.read_text()) if store.is_file() else {}


def check_words(tree, recorded):
    for kind, found in words.measure(tree).items():
        allowed = recorded.get(kind, {})
        for path, places in found.items():
            if len(places) <= allowed.get(path, 0):
                continue
            more = f" ({allowed[path]} such are allowed here)" if path in allowed else ""
            for place in places:
                yield Finding(path, place.line, kind, place.message + more)


def check(tree):
    files, functions = measure(tree)
    recorded = load(tree)
    allowed_files, allowed_functions = recorded.get("files", {}), recorded.get("functions", {})
    for path, lines in files.items():
        allowed = max(FILE_LINES_MAX, allowed_files.get(path, 0))
        if lines > allowed:
            yield Finding(path, 1, "size",
                          f"{lines} lines, but {allowed} are allowed: split the file")
    for key, (lines, start) in functions.items():
        path, name = key.split(" ", 1)
        allowed = max(FUNCTION_LINES_MAX, allowed_functions.get(key, 0))
        if lines > allowed:
            yield Finding(path, start, "size",
                          f"{name} has {lines} lines, but {allowed} are allowed: split it")
    yield from check_words(tree, recorded)


def update(tree, accept):
    """Lowers what is recorded to what is there; with `accept` records growth as well."""
    files, functions = measure(tree)
    now = {"files": files, "functions": {key: lines for key, (lines, _) in functions.items()}}
    for kind, found in words.measure(tree).items():
        now[kind] = {path: len(places) for path, places in found.items()}
    recorded = load(tree)
    if not accept:
        now = {kind: {key: min(size, there[key])
                      for key, size in recorded.get(kind, {}).items() if key in there}
               for kind, there in now.items()}
    now = {kind: sizes for kind, sizes in now.items() if sizes}
    (tree.root / STORE).write_text(json.dumps(now, indent=2, sort_keys=True) + "\n")

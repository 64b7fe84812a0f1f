#!/usr/bin/env python3
"""Tests of docs/pictures/draw, of the pictures that are checked in, and of what they claim."""

import importlib.machinery
import importlib.util
import itertools
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SVG = "{http://www.w3.org/2000/svg}"
DOCUMENTS = ("*.md", "docs/*.md", "docs/*/*.md", "bench/*.md", "sim/*.md", "report/*.md")


def load_draw():
    loader = importlib.machinery.SourceFileLoader("draw", str(HERE / "draw"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("draw", loader))
    sys.modules["draw"] = module  # where dataclasses look for it
    loader.exec_module(module)
    return module


draw = load_draw()


class Scene:
    """An SVG as rectangles (left, top, right, bottom) and parts of arrows."""

    def __init__(self, svg):
        tree = ElementTree.fromstring(svg)
        self.size = [float(word) for word in tree.get("viewBox").split()[2:]]
        self.boxes = []  # (rectangle, [(text, rectangle)])
        for group in tree.iter(f"{SVG}g"):
            texts = [self.text(each) for each in group.iter(f"{SVG}text")]
            self.boxes.append((self.rectangle(group.find(f"{SVG}rect")), texts))
        self.texts = [self.text(each) for each in tree.findall(f"{SVG}text")]
        self.arrows = []
        for line in tree.iter(f"{SVG}polyline"):
            points = [tuple(map(float, at.split(","))) for at in line.get("points").split()]
            self.arrows.append([(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
                                for a, b in zip(points, points[1:])])

    @staticmethod
    def rectangle(element):
        x, y, width, height = (float(element.get(key)) for key in ("x", "y", "width", "height"))
        return x, y, x + width, y + height

    @staticmethod
    def text(element):
        kinds = set(element.get("class").split())
        size = draw.HEADING if kinds & {"head", "section"} else draw.TEXT
        is_bold = bool(kinds & {"head", "section", "framehead", "lanename"})
        width = draw.width_of(element.text, size, is_bold)
        x, y = float(element.get("x")), float(element.get("y"))
        left = x - width / 2 if kinds & {"head", "text", "middle"} else x
        return element.text, (left, y - 0.8 * size, left + width, y + 0.25 * size)


def overlap(one, other):
    """Whether two rectangles share more than a border, or a part of an arrow goes into one."""
    return all(one[i] < other[i + 2] and other[i] < one[i + 2] for i in (0, 1))


def inside(inner, outer):
    return (inner[0] >= outer[0] and inner[1] >= outer[1] and inner[2] <= outer[2]
            and inner[3] <= outer[3])


def shrunk(box, by=1):
    return box[0] + by, box[1] + by, box[2] - by, box[3] - by


class Drawn(unittest.TestCase):
    """The pictures that are checked in."""

    @classmethod
    def setUpClass(cls):
        cls.pictures = {name: draw.drawn(name) for name in draw.sources()}
        cls.svgs = {name: picture.svg() for name, picture in cls.pictures.items()}

    def test_each_picture_is_what_its_source_says_now(self):
        self.assertEqual([path.stem for path in sorted(HERE.glob("*.svg"))], sorted(self.svgs))
        for name, svg in self.svgs.items():
            self.assertTrue((HERE / f"{name}.svg").read_text(encoding="utf-8") == svg,
                            f"{name}.svg is old: run docs/pictures/draw")

    def test_each_picture_is_shown_in_a_document(self):
        shown = set()
        for pattern in DOCUMENTS:
            for document in ROOT.glob(pattern):
                for alt, link in re.findall(r"!\[([^\]]*)\]\(([^)]*\.svg)\)", document.read_text()):
                    self.assertTrue((document.parent / link).is_file(), f"{document}: {link}")
                    self.assertTrue(alt, f"{document}: {link} has no alternative text")
                    shown.add((document.parent / link).resolve().stem)
        self.assertEqual(set(self.svgs) - shown, set())

    def test_readers_of_dark_pages_and_screen_readers_are_served(self):
        for name, svg in self.svgs.items():
            tree = ElementTree.fromstring(svg)
            self.assertTrue(tree.find(f"{SVG}title").text and tree.find(f"{SVG}desc").text, name)
            self.assertIn("@media (prefers-color-scheme: dark)", svg)
            self.assertIn("system-ui, sans-serif", svg)
            self.assertLessEqual(float(tree.get("width")), 900)
            shown = re.sub(r"svg \{[^}]*\}", "", svg)  # without what sets variables
            self.assertEqual(re.findall(r"#[0-9a-f]{3,6}\b|fill=|stroke=", shown), [], name)

    def test_texts_stay_within_their_boxes_and_the_picture(self):
        for name, svg in self.svgs.items():
            scene = Scene(svg)
            page = (0, 0, *scene.size)
            for box, texts in scene.boxes:
                self.assertTrue(inside(box, page), f"{name}: {texts}")
                for text, place in texts:
                    self.assertTrue(inside(place, box), f"{name}: {text!r} leaves its box")
            for text, place in scene.texts:
                self.assertTrue(inside(place, page), f"{name}: {text!r} leaves the picture")

    def test_nothing_lies_on_anything_else(self):
        for name, svg in self.svgs.items():
            scene = Scene(svg)
            boxes = [(f"box {texts}", box) for box, texts in scene.boxes]
            for (one, at), (other, there) in itertools.combinations(boxes + scene.texts, 2):
                self.assertFalse(overlap(at, there), f"{name}: {one!r} and {other!r}")
            for parts in scene.arrows:
                for (what, place), part in itertools.product(boxes + scene.texts, parts):
                    self.assertFalse(overlap(part, shrunk(place)), f"{name}: arrow on {what!r}")
            for one, other in itertools.combinations(scene.arrows, 2):
                for part, another in itertools.product(one, other):
                    along = [min(part[i + 2], another[i + 2]) - max(part[i], another[i])
                             for i in (0, 1)]
                    self.assertFalse(min(along) >= -1 and max(along) > 1 and
                                     (part[0] == part[2]) == (another[0] == another[2]),
                                     f"{name}: arrows run on each other at {part}")


class Claims(unittest.TestCase):
    """What pictures say of the code."""

    def holds(self, name, depends, beside=()):
        """The arrows are some of `depends`, and all of that follows from them. `beside`: boxes of
        which nothing is known."""
        links = [link for link in draw.drawn(name).links if not set(link) & set(beside)]
        self.assertEqual(set(links) - set(depends), set(), f"{name}: arrows that are none")
        reach = {box: {to for at, to in links if at == box} for box in set(itertools.chain(*links))}
        for _ in reach:
            for box, found in reach.items():
                found.update(*(reach[to] for to in list(found)))
        self.assertEqual({(at, to) for at, to in depends if to not in reach.get(at, ())}, set(),
                         f"{name}: lacks arrows")

    def test_the_house_is_that_of_cmake(self):
        depends = {("compat", "lsm")}
        for path in sorted(ROOT.glob("src/*/CMakeLists.txt")):
            for names in re.findall(r"weft_module\([\w/ ]* DEPENDS ([^)]*)\)", path.read_text()):
                names = names.split("LIBRARIES")[0].split()
                depends.update((path.parent.name, name) for name in names)
        self.assertIn("set(rooms weft_lsm", (ROOT / "compat/leveldb/CMakeLists.txt").read_text())
        self.assertGreater(len(depends), 30)
        self.holds("house", depends, ("src", "bench", "sim", "report"))

    def includes(self, top, others=(), itself="commands"):
        """(folder, folder) of each #include below `top`, tests left out: `itself` is what lies in
        `top` itself, "headers" what is included of it."""
        depends = set()
        for path in ROOT.glob(f"{top}/**/*"):
            if path.suffix not in (".h", ".cc", ".cu") or re.search(
                    r"_(test|fuzz|bench)\.cc$|_test_kit\.h$", str(path)):
                continue
            folders = path.relative_to(ROOT).parts[1:-1]
            here = folders[0] if folders else itself
            for first, rest in re.findall(r'^#include "(\w+)/([^"]+)"', path.read_text(), re.M):
                if first == top:
                    there = rest.split("/")[0] if "/" in rest else "headers"
                    depends.add((here, there))
                elif first in others:
                    depends.add((here, first))
        return {(here, there) for here, there in depends if here != there}

    def test_the_rooms_of_bench_are_those_of_its_includes(self):
        found = {link for link in self.includes("bench", itself="command")
                 if "headers" not in link}
        self.assertGreater(len(found), 30)
        self.holds("bench-rooms", found)

    def test_the_rooms_of_sim_are_those_of_its_includes(self):
        found = self.includes("sim", ("bench",))
        self.assertGreater(len(found), 30)
        self.holds("sim-rooms", found, ("src",))

    def test_functions_that_pictures_name_exist(self):
        named = set()
        for path in HERE.glob("*.txt"):
            named.update(re.findall(r"\b(?:[A-Z][a-z]+){2,}\b", path.read_text()))
        self.assertGreater(len(named), 1)
        words = set()
        for path in ROOT.glob("src/*/*.h"):
            words.update(re.findall(r"\b[A-Z]\w+", path.read_text()))
        self.assertEqual(named - words, set())


class Form(unittest.TestCase):
    """Sources that are made up here."""

    HEAD = "title A & B\nabout what\n  it shows\ncolumns 10\n"

    def picture(self, text):
        return draw.Picture(self.HEAD + text)

    def fails(self, text, message):
        with self.assertRaisesRegex(draw.SourceError, message):
            self.picture(text)

    def test_a_source_becomes_boxes_and_arrows(self):
        svg = self.picture("row\nbox a 0-4 blue | A < | one | two\nbox b 6-10\narrow a -> b | to\n"
                           "note the\n  end\n").svg()
        scene = Scene(svg)
        self.assertEqual([[text for text, _ in texts] for _, texts in scene.boxes],
                         [["A <", "one", "two"], []])
        self.assertEqual([text for text, _ in scene.texts], ["the end", "to"])
        (a, _), (b, _) = scene.boxes
        self.assertEqual([(part[0], part[2]) for part in scene.arrows[0]], [(a[2], b[0])])
        self.assertIn("<title id=\"title\">A &amp; B</title>", svg)
        self.assertIn(">what it shows<", svg)
        self.assertEqual(svg, self.picture("row\nbox a 0-4 blue | A < | one | two\nbox b 6-10\n"
                                           "arrow a -> b | to\nnote the end\n").svg())

    def test_arrows_go_where_they_are_told(self):
        boxes = "row\nbox a 0-4\nrow\nbox b 2-6\nrow\nbox c 7-9\n"

        def ways(arrow):
            scene = Scene(self.picture(boxes + arrow).svg())
            return [tuple(part[2] - part[0] > 0 for part in parts) for parts in scene.arrows]

        self.assertEqual(ways("arrow a -> b"), [(False,)])
        self.assertEqual(ways("arrow b -> c"), [(True, False)])
        self.assertEqual(ways("arrow a -> c via 9.5"), [(True, False, True)])
        self.assertEqual(ways("arrow c -> a dashed via 1"), [(True, False)])

    def test_frames_hold_their_rows_and_lanes_their_names(self):
        svg = self.picture("frame out 0-10 | out\nrow\nbox a 1-3\nframe in 1-9 red | in\nrow\n"
                           "box b 2-3\nend in\nend out\ncolumns 5 99\nlane time\nbox c 0-5\n").svg()
        tree = ElementTree.fromstring(svg)
        of = {rect.get("class"): Scene.rectangle(rect) for rect in tree.iter(f"{SVG}rect")
              if "frame" in rect.get("class") or rect.get("class") == "band"}
        self.assertTrue(inside(of["frame red"], of["frame plain"]))
        (a, _), (b, _), (c, _) = Scene(svg).boxes
        self.assertTrue(inside(b, of["frame red"]) and inside(a, of["frame plain"]))
        self.assertFalse(overlap(a, of["frame red"]))
        self.assertTrue(inside(c, of["band"]) and c[1] > of["frame plain"][3])

    def test_texts_wrap_into_lines_of_like_length(self):
        self.assertEqual(draw.wrap("a b c", draw.width_of("a b")), ["a b", "c"])
        self.assertEqual(draw.wrap_evenly("one two three four", draw.width_of("one two three")),
                         ["one two", "three four"])
        self.assertEqual(draw.wrap_evenly("", 10), [])
        self.assertGreater(draw.width_of("é→"), draw.width_of("ii"))

    def test_what_cannot_be_drawn_is_an_error_with_its_line(self):
        self.fails("tower\n", "^5: no keyword 'tower'")
        self.fails("row\nbox a 0-0.5 | Wide\n", "^6: 'Wide' is wider than its place")
        self.fails("row\nbox a 8-11\n", "^6: 8-11 is beyond the columns")
        self.fails("row\nbox a 0-1\n\nbox a 1-2\n", "^8: a second 'a'")
        self.fails("row\nbox a 0-1 pink\n", "^6: no tone 'pink'")
        self.fails("row\nbox a 0\n", "^6: cannot read it")
        self.fails("box a 0-1\n", "^5: cannot read it")
        self.fails("row\nbox a 0-1\narrow a -> b\n", "^7: cannot read it")
        self.fails("row\nbox a 0-1\narrow a - b\n", "^7: no arrow")
        self.fails("frame f 0-1 | f\nrow\nbox a 0-1\n", "frame is missing")
        with self.assertRaisesRegex(draw.SourceError, "a title"):
            draw.Picture("columns 3\n")


if __name__ == "__main__":
    unittest.main()

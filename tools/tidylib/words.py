"""Documents fit 100 columns; sentences are short, and have no turns of phrase from elsewhere.

Looked at are documents (.md) and the comments of headers, where most readers begin. Sentences end
at a full stop, a colon or a semicolon; code, tables and headings are none. What a file has too many
of may shrink and not grow (ratchet.py); the release notes of others are nobody's concern here.
"""

import re
from dataclasses import dataclass

COLUMNS_MAX = 100
SENTENCE_WORDS_MAX = 25

# What to write instead.
BANNED = (
    (r"\bbut for\b", "except, apart from"),
    (r"\bso many that\b", "so many ... that reads twice: say the number, or 'enough ... to'"),
    (r"(?:^|[.;:] )Else\b|, else [a-z]", "otherwise"),
    (r"(?:^|[.:;] )Who [a-z]+s?\b(?![^.]*\?)", "whoever"),
    (r"\b(?:is|are) to be\b", "must be, or the plain future"),
    (r"\b[Hh]ence\b|\b[Tt]hus\b", "so"),
    (r"\bwhat (?:is|was) (?:told|otherwise)\b", "name it"),
    (r"\bNot (?:taken|measured|done|kept) (?:is|are)\b", "subject first"),
    (r", for (?:it|they|there|nobody|nothing) [a-z]+", "because"),
)
BANNED = tuple((re.compile(pattern, re.M), instead) for pattern, instead in BANNED)

FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.M | re.S)
ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
LABEL = re.compile(r"[A-Z][\w-]*(?: [a-z]+)?(?::|  +)\s*")  # "Threads   any.", "Errors: none"
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
ADDRESS = re.compile(r"\s*(?:\[[^\]]+\]: |<?https?://\S+>?$)")
CODE = re.compile(r"`[^`\n]*`")
SHORT = re.compile(r"\b(e\.g|i\.e|cf|vs|etc)\.", re.I)
END = re.compile(r"(?<=[.!?])[\"*_)']*\s+(?=[\"*_(\[`A-Z0-9])|(?<=[:;])\s+")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


@dataclass(frozen=True)
class Place:
    line: int
    message: str


def paragraphs(lines):
    """(line number, text) of runs of prose in `lines`, which are (number, text)."""
    begin, words = 0, []
    for number, text in [*lines, (0, "")]:
        is_end = not text.strip() or text.lstrip().startswith(("|", "#", ">"))
        item = ITEM.match(text)
        label = LABEL.match(text)
        if words and (is_end or item or label):
            yield begin, " ".join(words)
            words = []
        if is_end:
            continue
        for start in (item, label):
            if start:
                text = text[start.end():]
                break
        if not words:
            begin = number
        words.append(text.strip())


def prose_of(file):
    """The paragraphs of a document, or of a header's comments."""
    if file.is_markdown:
        text = FENCE.sub(blank, file.text)
        return paragraphs(enumerate(text.split("\n"), 1))
    lines = []
    both = zip(file.comments.split("\n"), file.code.split("\n"))
    for number, (text, code) in enumerate(both, 1):
        text = text.strip()
        if code.strip():
            lines.append((number, ""))  # what stands behind code is about that line alone
        text = text[2:] if text.startswith("//") else ""
        drawn = text.startswith("    ") or "   " in LABEL.sub("", text.strip(), count=1)
        lines.append((number, "" if drawn else text.strip()))
    return paragraphs(lines)


def sentences(text):
    text = SHORT.sub(r"\1", LINK.sub(r"\1", CODE.sub("CODE", text)))
    return [sentence for sentence in END.split(text) if sentence.strip()]


def wide_lines(file):
    for number, line in enumerate(file.lines, 1):
        if len(line) > COLUMNS_MAX and not ADDRESS.match(line):
            yield Place(number, f"{len(line)} columns, {COLUMNS_MAX} are allowed")


def long_sentences(file):
    for number, text in prose_of(file):
        for sentence in sentences(text):
            count = len(sentence.split())
            if count > SENTENCE_WORDS_MAX:
                begin = " ".join(sentence.split()[:6])
                yield Place(number, f"a sentence of {count} words,"
                                    f" {SENTENCE_WORDS_MAX} are allowed: {begin} ...")


def banned_words(file):
    for number, text in prose_of(file):
        text = CODE.sub("CODE", text)
        for pattern, instead in BANNED:
            for match in pattern.finditer(text):
                yield Place(number, f"\"{match.group().strip(' .;:,')}\": {instead}")


# Name in the ratchet's file: what finds them, and in which files.
KINDS = {
    "columns": (wide_lines, lambda file: file.is_markdown),
    "sentences": (long_sentences, lambda file: file.is_markdown or file.is_header),
    "words": (banned_words, lambda file: file.is_markdown or file.is_header),
}


def measure(tree):
    """{kind: {path: its places}} of the files that have any."""
    found = {kind: {} for kind in KINDS}
    for file in tree.files:
        for kind, (places, looks_at) in KINDS.items():
            if looks_at(file) and (all_of_it := list(places(file))):
                found[kind][file.path] = all_of_it
    return found

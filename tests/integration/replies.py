"""Cuts memcached replies into units and puts aside what two right servers may answer differently.

A unit is one reply line, with its data block where it has one. NORMALISATIONS is the whole list of
what is not compared byte for byte; nothing else may differ.
"""

import base64

NORMALISATIONS = (
    # where                     what is done                          why
    (
        "gets, gats, meta c, me",
        "one-to-one map within a stream",
        "servers number versions as they like; " "equal here must be equal there",
    ),
    (
        "meta t, me exp",
        "within 2 seconds; -1 stays exact",
        "the clocks tick at different moments, and " "one server may be scheduled later",
    ),
    (
        "meta l, me la",
        "any number",
        "memcached notes an access only when it " "bumps the item, about once a minute",
    ),
    ("me cls, me size", "any number", "slab classes and header sizes are the " "server's own"),
    ("version", "any text after VERSION", "it names the server"),
)

SECONDS_APART_MAX = 2
NO_VERSION = 9223372036854775000  # sent as expected version of a key that has shown none

_META = (b"HD", b"VA", b"NF", b"NS", b"EX", b"EN")


class Replies:
    """One stretch of replies, taken apart.

    units    list of bytes, with marks where something was put aside
    cas      (unit, version): what was put aside, in order, with the index of its unit
    seconds  (unit, seconds): the times put aside, likewise
    shown    (unit, key, version) where a reply tells both
    """

    __slots__ = ("units", "cas", "seconds", "shown")

    def __init__(self, data):
        self.units = units = []
        self.cas = []
        self.seconds = []
        self.shown = []
        at, end = 0, len(data)
        find = data.find
        while at < end:
            stop = find(b"\n", at) + 1 or end
            line = data[at:stop]
            head = line[:2]
            if head == b"VA":
                if line[:6] == b"VALUE ":
                    stop = self._value(line, data, stop)
                elif line[:3] == b"VA ":
                    stop = self._meta(line, data, stop)
                else:
                    units.append(b"VERSION *\r\n" if line[:8] == b"VERSION " else line)
            elif head in _META and line[2:3] == b" ":
                self._meta(line, data, stop)
            elif line[:8] == b"VERSION ":
                units.append(b"VERSION *\r\n")
            elif line[:3] == b"ME ":
                self._debug(line)
            else:
                units.append(line)
            at = stop

    def _value(self, line, data, start):
        parts = line.split()
        try:
            stop = start + int(parts[3]) + 2
        except (IndexError, ValueError):
            self.units.append(line)
            return start
        if len(parts) == 5:
            cas = int(parts[4])
            self.cas.append((len(self.units), cas))
            self.shown.append((len(self.units), parts[1], cas))
            line = line[: line.rindex(b" ")] + b" #\r\n"
        self.units.append(line + data[start:stop])
        return stop

    def _meta(self, line, data, start):
        tokens = line[:-2].split(b" ")
        stop = start
        first = 1
        if tokens[0] == b"VA":
            try:
                stop = start + int(tokens[1]) + 2
            except (IndexError, ValueError):
                self.units.append(line)
                return start
            first = 2
        cas = key = None
        for i in range(first, len(tokens)):
            token = tokens[i]
            letter = token[:1]
            if letter == b"k":
                key = token[1:]
            elif not token[1:].isdigit():
                continue
            elif letter == b"c":
                if token != b"c0":
                    cas = int(token[1:])
                    self.cas.append((len(self.units), cas))
                    tokens[i] = b"c#"
            elif letter == b"t":
                self.seconds.append((len(self.units), int(token[1:])))
                tokens[i] = b"t#"
            elif letter == b"l":
                tokens[i] = b"l#"
        if cas is not None and key is not None:
            if b"b" in tokens[first:]:
                key = base64.b64decode(key)
            self.shown.append((len(self.units), key, cas))
        self.units.append(b" ".join(tokens) + line[-2:] + data[start:stop])
        return stop

    def _debug(self, line):
        tokens = line[:-2].split(b" ")
        for i, token in enumerate(tokens):
            name, equals, number = token.partition(b"=")
            if not equals:
                continue
            if name == b"cas":
                self.cas.append((len(self.units), int(number)))
                tokens[i] = b"cas=#"
            elif name == b"exp" and number != b"-1":
                self.seconds.append((len(self.units), int(number)))
                tokens[i] = b"exp=#"
            elif name in (b"la", b"cls", b"size"):
                int(number)
                tokens[i] = name + b"=#"
        self.units.append(b" ".join(tokens) + line[-2:])

    def drop(self, begin, end):
        """Forgets the units [begin, end) and what was put aside of them."""
        del self.units[begin:end]

        def keep(entries):
            return [
                entry if entry[0] < begin else (entry[0] - (end - begin), *entry[1:])
                for entry in entries
                if not begin <= entry[0] < end
            ]

        self.cas, self.seconds, self.shown = map(keep, (self.cas, self.seconds, self.shown))


class KnownDifference:
    """One entry of docs/differences.md, with the exact replies it excuses."""

    def __init__(self, entry, predicate):
        self.entry = entry
        self.predicate = predicate  # (reference unit, subject unit) -> bool


def _forgets_binary_key(reference_unit, subject_unit):
    """memcached 1.6.18 forgets that a key came as base64 when a read creates its item (N) or an
    append replaces it, and then shows the key's raw bytes; Weft shows it as it came."""
    line, _, rest = subject_unit.partition(b"\r\n")
    tokens = line.split(b" ")
    try:
        if tokens[0] == b"ME":
            tokens[1] = base64.b64decode(tokens[1], validate=True)
        else:
            at = next(
                i
                for i, token in enumerate(tokens[:-1])
                if token[:1] == b"k" and tokens[i + 1] == b"b"
            )
            tokens[at : at + 2] = [b"k" + base64.b64decode(tokens[at][1:], validate=True)]
    except (ValueError, StopIteration):
        return False
    return b" ".join(tokens) + b"\r\n" + rest == reference_unit


def _names_the_size(reference_unit, subject_unit):
    """An append beyond the limit: memcached says that nothing was stored, Weft says why."""
    return (
        reference_unit[:2] in (b"NO", b"NS")
        and subject_unit == b"SERVER_ERROR object too large for cache\r\n"
    )


KNOWN_DIFFERENCES = (
    KnownDifference("D17", _names_the_size),
    KnownDifference("D33", _forgets_binary_key),
)


BAD_FORMAT = b"CLIENT_ERROR bad command line format\r\n"


class Comparison:
    """Compares two servers' replies to one stream, and remembers which version is which."""

    def __init__(self):
        self.subject_cas = {}  # reference version -> subject version
        self.reference_cas = {}
        self.shown = {}  # key -> list of (reference version, subject version), newest last
        self.excused = {}

    def compare(self, reference, subject):
        """None where both say the same, else a sentence. Takes the raw bytes."""
        ours, theirs = Replies(subject), Replies(reference)
        self._excuse_lost_replies(theirs.units, ours)
        if ours.units != theirs.units:
            for i, (a, b) in enumerate(zip(theirs.units, ours.units)):
                if a != b and not self._excuse(a, b):
                    return f"unit {i}: reference {_short(a)}, subject {_short(b)}"
            if len(ours.units) != len(theirs.units):
                return (
                    f"reference sent {len(theirs.units)} units, subject {len(ours.units)}; "
                    f"last {_short(theirs.units[-1:])} and {_short(ours.units[-1:])}"
                )
        for (_, a), (_, b) in zip(theirs.cas, ours.cas):
            if self.subject_cas.setdefault(a, b) != b or self.reference_cas.setdefault(b, a) != a:
                return (
                    f"versions: reference {a} was subject's {self.subject_cas[a]}, now {b} "
                    f"(which was reference's {self.reference_cas.get(b)})"
                )
        for (_, a), (_, b) in zip(theirs.seconds, ours.seconds):
            if abs(a - b) > SECONDS_APART_MAX:
                return f"seconds left: reference {a}, subject {b}"
        for (_, key, a), (_, _, b) in zip(theirs.shown, ours.shown):
            pairs = self.shown.setdefault(key, [])
            if not pairs or pairs[-1] != (a, b):
                pairs.append((a, b))
                if len(pairs) > 8:
                    del pairs[0]
        return None

    def cas_for(self, key, age):
        """(reference, subject) version shown for `key`, `age` changes ago."""
        pairs = self.shown.get(key)
        if not pairs:
            return NO_VERSION, NO_VERSION
        return pairs[max(0, len(pairs) - 1 - age)]

    def _excuse_lost_replies(self, theirs, ours):
        """D25: a refused key makes memcached lose replies that it had not sent yet.

        Only where the reference has fewer replies: those before its error, and no more than lack.
        """
        for i, unit in enumerate(theirs):
            spare = len(ours.units) - len(theirs)
            if spare <= 0:
                return
            if unit != BAD_FORMAT or ours.units[i] == unit:
                continue
            if BAD_FORMAT in ours.units[i : i + spare + 1]:
                ours.drop(i, ours.units.index(BAD_FORMAT, i))
                self.excused["D25"] = self.excused.get("D25", 0) + 1

    def _excuse(self, reference_unit, subject_unit):
        for difference in KNOWN_DIFFERENCES:
            if difference.predicate(reference_unit, subject_unit):
                self.excused[difference.entry] = self.excused.get(difference.entry, 0) + 1
                return True
        return False


def _short(unit):
    text = repr(unit)
    return text if len(text) <= 300 else text[:200] + f"...({len(text)} characters)..." + text[-60:]

"""Packets of memcached's binary protocol: written, taken apart, and made at random.

A random request names the version (cas) that it compares with by a word, because two servers number
versions as they like: NONE, SHOWN (what this server has shown last for the key), or WRONG.
"""

import collections
import random
import struct

HEADER = struct.Struct(">BBHBBHIIQ")
REQUEST, REPLY = 0x80, 0x81

GET, SET, ADD, REPLACE, DELETE, INCREMENT, DECREMENT, QUIT = range(0x00, 0x08)
FLUSH, GETQ, NOOP, VERSION, GETK, GETKQ, APPEND, PREPEND = range(0x08, 0x10)
STAT, SETQ, ADDQ, REPLACEQ, DELETEQ, INCREMENTQ, DECREMENTQ, QUITQ = range(0x10, 0x18)
FLUSHQ, APPENDQ, PREPENDQ = range(0x18, 0x1B)
TOUCH, GAT, GATQ = range(0x1C, 0x1F)
SASL_LIST, SASL_AUTH, SASL_STEP, GATK, GATKQ = range(0x20, 0x25)

NONE, SHOWN, WRONG = "none", "shown", "wrong"

Reply = collections.namedtuple("Reply", "opcode status opaque cas extras key value")


def packet(opcode, key=b"", extras=b"", value=b"", opaque=0, cas=0, **lies):
    """One request. `lies`: key_bytes, extras_bytes, body_bytes, magic that its header has."""
    return HEADER.pack(
        lies.get("magic", REQUEST),
        opcode,
        lies.get("key_bytes", len(key)),
        lies.get("extras_bytes", len(extras)),
        0,
        0,
        lies.get("body_bytes", len(extras) + len(key) + len(value)),
        opaque,
        cas,
    ) + extras + key + value


def take_reply(data, at=0):
    """The reply at `at` and where the next begins; None where it is not whole."""
    if len(data) - at < HEADER.size:
        return None
    magic, opcode, key_bytes, extras_bytes, _, status, body_bytes, opaque, cas = HEADER.unpack_from(
        data, at
    )
    if magic != REPLY:
        raise ValueError(f"no reply: {bytes(data[at:at + 24])!r}")
    body = bytes(data[at + HEADER.size : at + HEADER.size + body_bytes])
    if len(body) < body_bytes:
        return None
    front = extras_bytes + key_bytes
    return (
        Reply(opcode, status, opaque, cas, body[:extras_bytes], body[extras_bytes:front],
              body[front:]),
        at + HEADER.size + body_bytes,
    )


def take_replies(data):
    """Every whole reply of `data`, and what is left."""
    replies = []
    at = 0
    while taken := take_reply(data, at):
        reply, at = taken
        replies.append(reply)
    return replies, bytes(data[at:])


def set_extras(flags=0, exptime=0):
    return struct.pack(">II", flags, exptime & 0xFFFFFFFF)


def delta_extras(delta, initial, exptime):
    return struct.pack(">QQI", delta, initial, exptime & 0xFFFFFFFF)


_WITHOUT_BLANKS = bytes(ord("x") if chr(byte).isspace() else byte for byte in range(256))


class BinaryStream:
    """Random requests over few keys, so that most find something. Each is (key, which cas, maker):
    maker(cas) gives its bytes."""

    EXPTIMES = (0, 0, 0, 100, 3600, -1, 1, 2_592_000, 2_592_001, 2_000_000_000)

    def __init__(self, seed):
        self.random = random.Random(seed)
        rng = self.random
        self.keys = [b"k%d" % i for i in range(6)]
        self.keys += [bytes(rng.randrange(256) for _ in range(rng.choice((1, 9, 250))))
                      for _ in range(6)]
        self.opaque = 0

    def value(self):
        rng = self.random
        kind = rng.randrange(10)
        if kind < 4:
            return b"%d" % rng.choice((0, 1, 9, 10, 99, 2**32, 2**62, rng.randrange(10**6)))
        if kind == 4:
            return rng.choice((b"", b"-1", b"12 ", b" 12", b"1x", b"18446744073709551616"))
        # Blanks alone would let memcached look for digits beyond the value's end.
        return rng.randbytes(rng.choice((1, 8, 30, 200, 5000))).translate(_WITHOUT_BLANKS)

    def batch(self, count):
        """Requests to send at once. None counts on a key that an earlier one reads: memcached holds
        what it is about to send, and does not pad a number then that gets shorter."""
        requests = []
        read = set()
        for _ in range(count):
            key, which, make = self.request()
            opcode = make(0)[1]
            if opcode in (INCREMENT, INCREMENTQ, DECREMENT, DECREMENTQ) and key in read:
                continue
            if opcode in (GET, GETQ, GETK, GETKQ, GAT, GATQ, GATK, GATKQ):
                read.add(key)
            requests.append((key, which, make))
        return requests

    def request(self):
        rng = self.random
        self.opaque = rng.getrandbits(32)
        key = rng.choice(self.keys)
        exptime = rng.choice(self.EXPTIMES)
        if exptime == 1:
            exptime = 5000
        which = rng.choice((NONE, NONE, NONE, SHOWN, WRONG))
        roll = rng.randrange(100)
        if roll < 30:
            which = rng.choice((NONE, NONE, NONE, NONE, SHOWN, WRONG))
            opcode = rng.choice((GET, GETQ, GETK, GETKQ))
            return self.made(opcode, key, which)
        if roll < 36:
            return self.made(rng.choice((TOUCH, GAT, GATQ, GATK, GATKQ)), key, NONE,
                             struct.pack(">I", exptime & 0xFFFFFFFF))
        if roll < 60:
            opcode = rng.choice((SET, SETQ, SET, SETQ, ADD, ADDQ, REPLACE, REPLACEQ))
            flags = rng.choice((0, 0, 1, 0xFFFFFFFF, rng.getrandbits(32)))
            return self.made(opcode, key, which, set_extras(flags, exptime), self.value())
        if roll < 70:
            return self.made(rng.choice((APPEND, APPENDQ, PREPEND, PREPENDQ)), key, which, b"",
                             self.value()[:40])
        if roll < 82:
            opcode = rng.choice((INCREMENT, INCREMENTQ, DECREMENT, DECREMENTQ))
            # From 2**63 on memcached 1.6.18 looks for a '-' beyond the value's end.
            extras = delta_extras(rng.choice((0, 1, 7, 2**40)), rng.choice((0, 5, 2**62)),
                                  rng.choice((0xFFFFFFFF, 0xFFFFFFFF, 0, 1000)))
            return self.made(opcode, key, which, extras)
        if roll < 90:
            return self.made(rng.choice((DELETE, DELETEQ)), key, which)
        if roll < 93:
            return self.made(NOOP, b"", NONE)
        if roll < 95:
            # Without a body, which memcached skips twice.
            return self.made(rng.choice((0x1B, 0x1F, 0x25, 0x30, 0x3C, 0x40, 0xFF, SASL_LIST)),
                             b"", NONE)
        if roll < 96:
            return self.made(rng.choice((SASL_AUTH, SASL_STEP)), b"PLAIN", NONE, b"", b"\0a\0b")
        if roll < 97:
            return self.made(rng.choice((FLUSH, FLUSHQ)), b"", NONE,
                             rng.choice((b"", struct.pack(">I", 0))))
        if roll < 98:
            opcode = rng.choice((SET, SETQ, ADD, REPLACE, APPEND))
            extras = b"" if opcode == APPEND else set_extras()
            # Items between are cut into chunks by memcached, and are no numbers then.
            size = 1_100_000 if opcode == APPEND else rng.choice((100_000, 1_100_000))
            return self.made(opcode, key, rng.choice((NONE, SHOWN)), extras, b"x" * size)
        return self.made(rng.choice((GET, GETQ)), key, NONE)

    def made(self, opcode, key, which, extras=b"", value=b""):
        opaque = self.opaque
        return key, which, lambda cas: packet(opcode, key, extras, value, opaque, cas)

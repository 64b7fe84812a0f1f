"""The tool that runs memcached's own test files: tests/compat/memcached_own/run.

With MEMCACHED_SOURCE, a checkout of memcached 1.6.18, it runs them all; that takes five minutes.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import harness
from harness import ROOT, Skip, check, check_equal

TOOL = ROOT / "tests" / "compat" / "memcached_own"

START = """
use Test::More tests => 1;
use Cwd;
use IO::Socket::UNIX;
my $path = getcwd . "/socket$$";
my $pid = fork();
exec(getcwd . "/timedrun 600 " . getcwd . "/memcached-debug -s $path" .
     ($< == 0 ? " -u root" : "") . " -o relaxed_privileges") unless $pid;
my $peer;
for (1 .. 400) {
    last if $peer = IO::Socket::UNIX->new(Peer => $path);
    select undef, undef, undef, 0.05;
}
print $peer "set k 0 0 1\\r\\nx\\r\\n";
is(scalar <$peer>, "%s\\r\\n", "the reply");
kill 15, $pid if "%s";
waitpid($pid, 0) if "%s";
"""

FILES = {
    "passes.t": START % ("STORED", "1", "1"),
    "fails.t": START % ("OTHER", "1", "1"),
    "leaves.t": START % ("STORED", "", ""),  # a server, that the tool ends
    # It keeps items in a file that need not lie in memory.
    "keeps.t": (START % ("STORED", "1", "1")).replace(" -o rel", " -e $path.items -o rel"),
    "plain.t": "use Test::More tests => 1; ok(!$ENV{SSL_TEST} && !$ENV{RUN_SASL_TESTS});",
    "ssl_file.t": "use Test::More tests => 1; is(!!$ENV{SSL_TEST}, !!eval "
                  "{ require IO::Socket::SSL });",
    "late.t": "sleep 600;",
    "skips.t": "use Test::More skip_all => 'not today';",
}


def _run(*words):
    done = subprocess.run([sys.executable, str(TOOL / "run"), *map(str, words)],
                          capture_output=True, text=True, timeout=3600)
    return done.returncode, done.stdout + done.stderr


def test_the_tool_tells_files_apart():
    if not shutil.which("perl"):
        raise Skip("perl is not installed")
    if not harness.subject_binary().exists():
        raise Skip(f"no server at {harness.subject_binary()}")
    with tempfile.TemporaryDirectory() as folder:
        checkout = pathlib.Path(folder)
        (checkout / "t" / "lib").mkdir(parents=True)
        (checkout / "t" / "lib" / "MemcachedTest.pm").write_text("1;")
        for name, text in FILES.items():
            (checkout / "t" / name).write_text(text)
        status, text = _run(checkout, harness.subject_binary(), "--limit", 10)
        check_equal(status, 1, text)
        told = dict(re.findall(r"^(\w+\.t) +[\d.]+ s +(\w+)", text, re.M))
        check_equal(told, {"passes.t": "passes", "fails.t": "fails", "leaves.t": "passes",
                           "keeps.t": "passes", "plain.t": "passes", "ssl_file.t": "passes",
                           "late.t": "late", "skips.t": "skips"}, text)
        check("5 of 8 files passed" in text, text)
        status, text = _run(checkout / "t", harness.subject_binary())
        check_equal(status, 2, text)


def test_each_reason_is_explained():
    lines = [line.split("#")[0].split() for line in (TOOL / "expected.txt").read_text().split("\n")]
    reasons = {words[1] for words in lines if words} - {"passes"}
    document = (ROOT / "docs" / "differences.md").read_text()
    section = document.split("## memcached's own test files")[1]
    explained = set(re.findall(r"^- \*\*(\w+)\*\*:", section, re.M))
    check_equal(set(re.findall(r"^\| `(\w+)` \|", section, re.M)), explained, "its table")
    check_equal(reasons, explained, "the words of expected.txt, and of docs/differences.md")


def test_memcacheds_own_files():
    source = os.environ.get("MEMCACHED_SOURCE")
    if not source:
        raise Skip("MEMCACHED_SOURCE names no checkout of memcached 1.6.18")
    status, text = _run(source, harness.subject_binary())
    check_equal(status, 0, text[-3000:])
    return text.strip().split("\n")[-1]


if __name__ == "__main__":
    harness.main(globals())

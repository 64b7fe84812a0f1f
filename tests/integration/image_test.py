"""The image: what its entrypoint starts, from flags and environment, and its recipe."""

import contextlib
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

import harness
from harness import Skip, check, check_equal
from starts import weft

IMAGE = harness.ROOT / "packaging/image"
ENTRYPOINT = IMAGE / "entrypoint"
# Stands for the server: shows how it was started.
SHOW = """#!/bin/sh
for word in "$@"; do echo "[$word]"; done
env | grep ^MEMCACHED_ | sort
if [ -n "$MEMCACHED_SASL_PWDB" ]; then
  stat -c %a "$MEMCACHED_SASL_PWDB"; cat "$MEMCACHED_SASL_PWDB"
fi
"""


@contextlib.contextmanager
def _folder(memcached):
    """A folder with a program `memcached`, and an environment that finds it and little else."""
    with tempfile.TemporaryDirectory(prefix="weft-image-") as folder:
        program = pathlib.Path(folder) / "memcached"
        if memcached == SHOW:
            program.write_text(SHOW)
            program.chmod(0o755)
        else:
            program.symlink_to(memcached)
        yield folder, {"PATH": f"{folder}:/usr/bin:/bin", "TMPDIR": folder}


def _start(*words, **settings):
    """What the entrypoint starts for `words` and the environment `settings`."""
    with _folder(SHOW) as (_, environment):
        environment.update({f"MEMCACHED_{name}": value for name, value in settings.items()})
        return subprocess.run([ENTRYPOINT, *words], env=environment, capture_output=True, text=True)


def _flags(*words, **settings):
    done = _start(*words, **settings)
    check_equal(done.returncode, 0, done.stderr)
    return re.findall(r"^\[(.*)\]$", done.stdout, re.M)


def test_a_flag_first_is_for_the_server():
    address = ["-l", "0.0.0.0"]
    check_equal(_flags(), address, "no words")
    check_equal(_flags("memcached"), address, "the image's own command")
    check_equal(_flags("-m", "64"), [*address, "-m", "64"], "flags")
    check_equal(_flags("memcached", "-m", "64"), [*address, "-m", "64"], "name and flags")
    check_equal(_flags("-o", "a b"), [*address, "-o", "a b"], "a blank in a word")
    check_equal(_start("echo", "-m", "64").stdout, "-m 64\n", "another command")


def test_an_address_given_is_the_only_one():
    for words in (["-l", "127.0.0.1"], ["-l127.0.0.1"], ["--listen=::1"], ["-s", "/run/s"],
                  ["-vvl", "::1"], ["--config", "/etc/weft.conf"]):
        check_equal(_flags(*words), words, "address")
    check_equal(_flags(LISTEN_ADDRESS="10.0.0.1"), ["-l", "10.0.0.1"], "by the environment")
    check_equal(_flags(EXTRA_FLAGS="-l ::1"), ["-l", "::1"], "by extra flags")


def test_the_environment_becomes_flags():
    got = _flags("-m", "7", PORT_NUMBER="11300", CACHE_SIZE="512", MAX_CONNECTIONS="99",
                 THREADS="3", MAX_ITEM_SIZE="2m", EXTRA_FLAGS="-v  -o idle_timeout=10 *")
    check_equal(got, ["-l", "0.0.0.0", "-p", "11300", "-m", "512", "-c", "99", "-t", "3", "-I",
                      "2m", "-v", "-o", "idle_timeout=10", "*", "-m", "7"], "flags, ours last")
    check_equal(_flags(PORT_NUMBER="", CACHE_SIZE=""), ["-l", "0.0.0.0"], "empty settings")


def test_a_password_asks_for_a_log_in():
    done = _start(PASSWORD="a secret", USERNAME="me")
    check("[-S]" in done.stdout, done.stdout)
    check(done.stdout.endswith("\n600\nme:a secret\n"), done.stdout)
    check("MEMCACHED_PASSWORD" not in done.stdout, "the password is in the server's environment")
    check(_start(PASSWORD="x").stdout.endswith("600\nroot:x\n"), "bitnami's user")
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("from a file\n")
        file.flush()
        done = _start(PASSWORD_FILE=file.name)
        check(done.stdout.endswith("600\nroot:from a file\n"), done.stdout)
        check_equal(_start(PASSWORD_FILE=file.name, PASSWORD="x").returncode, 64, "both")


def test_a_log_in_that_would_not_hold_is_refused():
    for settings in ({"USERNAME": "me"}, {"PASSWORD_FILE": "/nowhere"},
                     {"PASSWORD_FILE": "/dev/null"}, {"PASSWORD": "a\nb:c"},
                     {"PASSWORD": "x", "USERNAME": "a:b"}, {"PASSWORD": "x", "USERNAME": "a\nb"}):
        done = _start(**settings)
        check_equal((done.returncode, done.stdout), (64, ""), str(settings))
        check(done.stderr.startswith("entrypoint: "), done.stderr)


def _log_in(port, password):
    """The status of SASL's PLAIN, or None if nobody answers."""
    text = b"PLAIN\0me\0" + password
    with contextlib.suppress(OSError), harness.Client(("127.0.0.1", port)) as client:
        client.send(struct.pack(">BBHBBHIIQ", 0x80, 0x21, 5, 0, 0, 0, len(text), 0, 0) + text)
        return struct.unpack(">H", client.read_exactly(24)[6:8])[0]


def test_what_it_starts_serves():
    with _folder(weft()) as (_, environment):
        port = harness.free_port()
        environment.update(MEMCACHED_LISTEN_ADDRESS="127.0.0.1", MEMCACHED_PORT_NUMBER=str(port),
                           MEMCACHED_USERNAME="me", MEMCACHED_PASSWORD="secret")
        with subprocess.Popen([ENTRYPOINT, "-m", "64"], env=environment, stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            try:
                check(harness.eventually(lambda: _log_in(port, b"secret") == 0), "no log-in")
                check_equal(_log_in(port, b"wrong"), 0x20, "a wrong password")
                words = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes()
                check(b"secret" not in words, "the password is in the environment")
                check_equal(pathlib.Path(f"/proc/{process.pid}/comm").read_text(), "memcached\n")
            finally:
                process.terminate()
            check_equal(process.wait(20), 0)


def test_it_is_plain_shell():
    check_equal(subprocess.run(["sh", "-n", ENTRYPOINT], capture_output=True).stderr, b"", "sh")
    if not shutil.which("shellcheck"):
        raise Skip("shellcheck is not installed (shellcheck)")
    done = subprocess.run(["shellcheck", ENTRYPOINT], capture_output=True, text=True)
    check_equal(done.stdout, "", "shellcheck")


def test_the_recipe_names_what_is_there():
    text = (IMAGE / "Dockerfile").read_text()
    for words in ("FROM debian:bookworm-slim\n", "--gid 11211 memcache", "--uid 11211",
                  "USER memcache", "EXPOSE 11211", 'CMD ["memcached"]'):
        check(words in text, words)
    for source in re.findall(r"^COPY ([^-.]\S*) ", text, re.M):
        check((harness.ROOT / source).is_file(), source)
        check(os.access(harness.ROOT / source, os.X_OK), source)


if __name__ == "__main__":
    harness.main(globals())

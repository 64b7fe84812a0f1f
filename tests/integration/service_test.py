"""What a service manager sees: systemd's notifications, its units, and memcached's own names."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile

import harness
from harness import Skip, check, check_equal
from starts import weft

PACKAGING = harness.ROOT / "packaging"


@contextlib.contextmanager
def _manager(abstract=False):
    """A socket as systemd's, and the environment of what it starts."""
    with tempfile.TemporaryDirectory(prefix="weft-notify-") as folder:
        name = f"\0weft-notify-{os.getpid()}" if abstract else f"{folder}/notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(name)
            manager.settimeout(20)
            yield manager, {**os.environ, "NOTIFY_SOCKET": name.replace("\0", "@")}


@contextlib.contextmanager
def _started(words, env):
    process = subprocess.Popen([weft(), "serve", *map(str, words)], env=env,
                               stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_service_manager_is_told():
    for abstract in (False, True):
        with _manager(abstract) as (manager, env), tempfile.TemporaryDirectory() as folder:
            passwords = pathlib.Path(folder) / "passwords"
            passwords.write_text("a:b\n")
            port = harness.free_port()
            with _started(["-p", port, "-Y", passwords], env) as process:
                check_equal(manager.recv(999), b"READY=1")
                harness.Client(("127.0.0.1", port)).close()  # it serves by then
                process.send_signal(signal.SIGHUP)
                lines = manager.recv(999).split(b"\n")
                check_equal(lines[0], b"RELOADING=1")
                check(lines[1].startswith(b"MONOTONIC_USEC="), lines)
                check_equal(manager.recv(999), b"READY=1")
                process.send_signal(signal.SIGTERM)
                check_equal(manager.recv(999), b"STOPPING=1")
                check_equal(process.wait(20), 0)


def test_a_manager_that_does_not_listen_is_no_reason_not_to_serve():
    for name in ("/nowhere/at/all", "@nobody", "relative", "/" + "x" * 200):
        port = harness.free_port()
        with _started(["-p", port], {**os.environ, "NOTIFY_SOCKET": name}):
            check(_answers(port), name)


def _answers(port):
    import time
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), harness.Client(("127.0.0.1", port)) as client:
            return client.command(b"version\r\n").startswith(b"VERSION ")
        time.sleep(0.02)
    return False


def test_called_as_memcached_it_serves():
    with tempfile.TemporaryDirectory(prefix="weft-link-") as folder:
        link = pathlib.Path(folder) / "memcached"
        link.symlink_to(weft())
        port = harness.free_port()
        process = subprocess.Popen([link, "-p", str(port), "-l", "127.0.0.1", "-m", "64"],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            check(_answers(port), "it does not serve")
            name = pathlib.Path(f"/proc/{process.pid}/comm").read_text().strip()
            check_equal(name, "memcached")  # what pkill and monitors look for
        finally:
            process.terminate()
            check_equal(process.wait(20), 0)


def test_the_packaged_configuration_is_accepted():
    port = harness.free_port()
    with _started(["--config", PACKAGING / "weft.conf", "-p", port], os.environ):
        check(_answers(port), "weft.conf")
    debian = pathlib.Path("/etc/memcached.conf")
    if debian.exists():
        port = harness.free_port()
        words = ["--config", debian, "-p", port, "-u", "root"] if os.geteuid() == 0 else \
            ["--config", debian, "-p", port]
        with tempfile.TemporaryDirectory() as folder:
            with _started([*words, "-P", f"{folder}/pid"], os.environ):
                check(_answers(port), "memcached.conf")


def test_the_log_tells_of_connections_and_refusals():
    with harness.Server(flags=["-v", "-B", "ascii"]) as server:
        for request in (b"nonsense secretkey\r\n", b"get " + b"k" * 251 + b"\r\n",
                        b"set secretkey 0 0 2\r\nsecretvalue\r\n", b"x" * 3000,
                        b"\x80" + b"\0" * 23, b"GET / HTTP/1.1\r\nHost: secrethost\r\n\r\n"):
            with server.connect() as client:
                client.send(request)
                client.socket.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionResetError):
                    client.read_to_end()
        server.stop()
        log = server.log(1 << 20)
    for words in (" connected, 127.0.0.1:", " closed after ", "was refused: ERROR",
                  "was refused: CLIENT_ERROR bad data chunk",
                  "was refused: CLIENT_ERROR line too long",
                  "speaks the binary protocol where text is served", "speaks TLS, HTTP"):
        check(words in log, f"{words!r} is not in the log: {log}")
    check("secret" not in log, log)
    with harness.Server() as server:
        with server.connect() as client:
            client.command(b"nonsense\r\n")
        server.stop()
        check("nonsense" not in server.log() and "connected" not in server.log(), server.log())


def test_units_are_well_formed():
    if not shutil.which("systemd-analyze"):
        raise Skip("systemd-analyze is not installed (systemd)")
    with tempfile.TemporaryDirectory() as folder:
        for unit, started in (("weft.service",) * 2, ("weft@.service", "weft@1.service")):
            text = (PACKAGING / "systemd" / unit).read_text()
            # The program may not be installed here.
            (pathlib.Path(folder) / started).write_text(text.replace("/usr/bin/weft", weft()))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no",
                                   f"{folder}/{started}"], capture_output=True, text=True)
            about = [line for line in done.stderr.splitlines() if "weft" in line]
            check_equal(about, [], unit)


if __name__ == "__main__":
    harness.main(globals())

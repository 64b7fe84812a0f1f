"""A machine that the package is on: a bare Debian (BareMachine), or its files alone (Tree).

Both start the server by the command line of its unit, as the unit's user, and hear what it would
tell systemd. Neither has systemd.
"""

import contextlib
import ctypes
import fcntl
import os
import pathlib
import pwd
import re
import resource
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import time

import harness
from harness import check, check_equal

PATIENCE_S = 300  # the unit's TimeoutSec
UNIT = "lib/systemd/system/weft.service"


def run(*words, **more):
    """A command that must succeed; what it printed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    check(done.returncode == 0, f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


class Machine:
    """`root`: where its files are. Subclasses say how a command is started in it."""

    def __init__(self, root, tls, plain, metrics_port, memory_folder):
        self.root = pathlib.Path(root)
        self.tls, self.plain, self.metrics_port = tls, plain, metrics_port
        self.memory_folder = memory_folder  # as the server sees it
        self.process = None
        self._log = None
        self._log_path = self.root.parent / "server.log"
        self._manager = None

    def unit(self, key):
        """The value of a line of the unit."""
        found = re.findall(rf"^{key}=(.*)$", (self.root / UNIT).read_text(), re.M)
        check_equal(len(found), 1, f"{key} in {UNIT}")
        return found[0]

    def configure(self, memory_mb):
        """Writes /etc/weft.conf for TLS, a warm restart and metrics."""
        folder = self.inside("/etc/weft")
        self._log_path.unlink(missing_ok=True)
        self.inside("/etc/weft.conf", real=True).write_text("\n".join((
            f"-m {memory_mb}", "-c 1024", "-t 2", f"-p {self.tls[1]}",
            f"-l mtls:{self.tls[0]},notls:{self.plain[0]}:{self.plain[1]}",
            f"-e {self.memory_folder}/weft", f"--metrics-port {self.metrics_port}",
            "-Z", f"-o ssl_chain_cert={folder}/chain.pem,ssl_key={folder}/key.pem,"
            f"ssl_ca_cert={folder}/ca.pem", "-v", "")))

    def start(self):
        """Until the server says that it is ready; the seconds that took."""
        self._listen()
        words = shlex.split(self.unit("ExecStart"))
        began = time.monotonic()
        self._log = open(self._log_path, "ab")
        self.process = self.popen(words, stdin=subprocess.DEVNULL, stdout=self._log,
                                  stderr=self._log, env=self._environment())
        check_equal(self.told(), b"READY=1", f"the start; its log:\n{self.log()}")
        return time.monotonic() - began

    def _listen(self):
        self._manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = self.inside("/run/notify", real=True)
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        self._manager.bind(str(path))
        path.chmod(0o666)
        self._manager.settimeout(0.2)

    def _environment(self):
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "NOTIFY_SOCKET": str(self.inside("/run/notify"))}

    def told(self):
        """The next word to systemd."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(TimeoutError):
                return self._manager.recv(999).split(b"\n")[0]
        return b"nothing"

    def reload(self):
        """ExecReload, until all is read again."""
        check_equal(self.unit("ExecReload"), "/bin/kill -HUP $MAINPID")
        self.process.send_signal(signal.SIGHUP)
        check_equal(self.told(), b"RELOADING=1")
        check_equal(self.told(), b"READY=1")

    def stop(self, how=signal.SIGTERM):
        """The seconds until the server had ended by the signal `how`."""
        began = time.monotonic()
        self.process.send_signal(how)
        check_equal(self.told(), b"STOPPING=1")
        check_equal(self.process.wait(PATIENCE_S), 0, f"the end; its log:\n{self.log()}")
        self._close()
        return time.monotonic() - began

    def _close(self):
        self._log.close()
        self._manager.close()
        self.inside("/run/notify", real=True).unlink(missing_ok=True)

    def kill(self):
        """For the end of a day that went wrong."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def log(self, bytes_max=2000):
        with open(self._log_path, "rb") as log:
            return log.read()[-bytes_max:].decode(errors="replace")

    def as_service(self):
        """What a child does before the program: its limit, its user, and no rights of root."""
        limit = int(self.unit("LimitNOFILE"))
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        ids = self.service_ids() if os.geteuid() == 0 else None
        libc = ctypes.CDLL(None, use_errno=True)
        no_new_privileges = 38  # of prctl

        def become():
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            os.umask(0o022)
            if ids is not None:
                os.setgroups([])
                os.setgid(ids[1])
                os.setuid(ids[0])
            libc.prctl(no_new_privileges, 1, 0, 0, 0)

        return become


class Tree(Machine):
    """The package's files in a folder of this machine. Needs no root; as root it serves as
    `nobody`. The folder's parent gets the log."""

    def __init__(self, package, folder, memory_folder):
        root = pathlib.Path(folder) / "tree"
        run("dpkg-deb", "-x", package, root)
        os.chmod(folder, 0o755)  # other users start the program
        os.chmod(root, 0o755)
        os.chmod(memory_folder, 0o777)
        super().__init__(root, ("127.0.0.2", harness.free_port()),
                         ("127.0.0.1", harness.free_port()), harness.free_port(), memory_folder)

    def inside(self, path, real=False):
        """A path of the machine, as the server sees it; `real`: as this process does."""
        return self.root / path.lstrip("/")

    def popen(self, words, **more):
        """Starts a command of the machine as its service's user."""
        words = [str(self.inside(word)) if word.startswith(("/usr/", "/etc/")) else word
                 for word in words]
        return subprocess.Popen(words, preexec_fn=self.as_service(), **more)

    def service_ids(self):
        nobody = pwd.getpwnam("nobody")
        return nobody.pw_uid, nobody.pw_gid

    def command(self, *words):
        """What a command of the machine printed."""
        return run(self.inside(words[0]), *words[1:])


# Everything on the machine, but for the books of the package manager and what belongs to this test.
STATE = r"""
find / -xdev \( -path /proc -o -path /var/lib/dpkg -o -path /var/cache -o -path /var/log \
  -o -path /var/lib/apt -o -path /root -o -path /opt -o -path /tmp -o -path /run/notify \) \
  -prune -o -print | sort
find /dev/shm /run -mindepth 1 -not -name notify | sort
getent passwd | sort
getent group | sort
"""


class BareMachine(Machine):
    """A bare Debian 12 in `dir`/root (tools/bare-debian). Needs root. enter() first."""

    def __init__(self, dir_):
        root = run(harness.ROOT / "tools/bare-debian", dir_).strip()
        super().__init__(root, ("127.0.0.2", 11211), ("127.0.0.1", 11211), 9150, "/dev/shm")
        self._mounted = []

    def mount(self):
        """What every machine has. Needs a mount namespace of this process's own."""
        for kind, path, options in (("proc", "proc", "nosuid"), ("tmpfs", "run", "mode=755"),
                                    ("tmpfs", "dev/shm", "mode=1777,size=2g")):
            (self.root / path).mkdir(exist_ok=True)
            run("mount", "-t", kind, "-o", options, kind, self.root / path)
            self._mounted.append(self.root / path)

    def unmount(self):
        while self._mounted:
            subprocess.run(["umount", "-l", self._mounted.pop()], check=False)

    def inside(self, path, real=False):
        return self.root / path.lstrip("/") if real else pathlib.Path(path)

    def command(self, *words):
        return run("chroot", self.root, *words, env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C",
            "DEBIAN_FRONTEND": "noninteractive"})

    def popen(self, words, **more):
        self._folders()
        become = self.as_service()

        def enter():
            os.chroot(self.root)
            os.chdir("/")
            become()

        return subprocess.Popen(words, preexec_fn=enter, **more)

    def _close(self):
        super()._close()
        shutil.rmtree(self.root / "run" / self.unit("RuntimeDirectory"))

    def _folders(self):
        """RuntimeDirectory, which is there from the start to the stop, and StateDirectory."""
        user, group = self.service_ids()
        for key, below in (("RuntimeDirectory", "run"), ("StateDirectory", "var/lib")):
            folder = self.root / below / self.unit(key)
            folder.mkdir(exist_ok=True)
            os.chown(folder, user, group)

    def service_ids(self):
        """Of the unit's user, in the machine's own books."""
        name = self.unit("User")
        for line in (self.root / "etc/passwd").read_text().splitlines():
            fields = line.split(":")
            if fields[0] == name:
                return int(fields[2]), int(fields[3])
        raise AssertionError(f"no user {name}")

    def state(self):
        return self.command("sh", "-c", STATE).splitlines()

    def install(self, package):
        """By apt, with what the package depends on. Returns the state without the package."""
        shutil.copy(package, self.root / "opt/weft.deb")
        self.command("apt-get", "-qq", "update")
        self._apt_install()
        self.command("dpkg", "--purge", "weft")
        before = self.state()
        self._apt_install()
        return before

    def _apt_install(self):
        self.command("apt-get", "-qq", "install", "-y", "--no-install-recommends",
                     "/opt/weft.deb")

    def reinstall(self):
        self.command("dpkg", "-i", "/opt/weft.deb")

    def remove(self):
        self.command("apt-get", "-qq", "remove", "-y", "weft")

    def purge(self):
        self.command("apt-get", "-qq", "purge", "-y", "weft")


def leave_the_network():
    """This process and those that it starts have a loopback of their own from then on. Needs root.
    So the unit's own port is free, and nobody else comes to it."""
    clone_newnet = 0x40000000
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(clone_newnet) != 0:
        raise OSError(ctypes.get_errno(), "no network namespace")
    get_flags, set_flags, up = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        loopback = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack_from("16xh", fcntl.ioctl(any_socket, get_flags, loopback))[0]
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh14x", b"lo", flags | up))

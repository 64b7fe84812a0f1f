"""The Debian package: its files, its scripts, and what a machine has after install and purge."""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import harness
from harness import Skip, check, check_equal
from package_kit import package
from starts import weft

FILES = {  # path: (mode, kind)
    "etc/weft": "drwxr-xr-x",
    "etc/weft.conf": "-rw-r--r--",
    "lib/systemd/system/weft.service": "-rw-r--r--",
    "lib/systemd/system/weft@.service": "-rw-r--r--",
    "usr/bin/weft": "-rwxr-xr-x",
    "usr/lib/weft/memcached": "lrwxrwxrwx",
    "usr/share/doc/weft/changelog.Debian.gz": "-rw-r--r--",
    "usr/share/doc/weft/changelog.gz": "-rw-r--r--",
    "usr/share/doc/weft/copyright": "-rw-r--r--",
    "usr/share/doc/weft/examples/gpu.conf.example": "-rw-r--r--",
    "usr/share/doc/weft/examples/memcached.conf.example": "-rw-r--r--",
    "usr/share/lintian/overrides/weft": "-rw-r--r--",
    "usr/share/man/man1/weft.1.gz": "-rw-r--r--",
    "usr/share/man/man1/weft-serve.1.gz": "-rw-r--r--",
}
# Where a package manager keeps its books, and a link that the test takes away. What else a machine
# has must be as before.
BOOKS = ("var/lib/dpkg", "var/log", "var/cache", "etc/passwd-", "etc/shadow-", "etc/group-",
         "etc/gshadow-", "etc/subuid-", "etc/subgid-", "etc/.pwd.lock",
         "etc/systemd/system/multi-user.target.wants/memcached.service")


def _run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)


@contextlib.contextmanager
def _unpacked():
    with tempfile.TemporaryDirectory(prefix="weft-tree-") as folder:
        os.chmod(folder, 0o755)  # other users start the program
        done = _run("dpkg-deb", "-R", package()[0], folder)
        check_equal(done.returncode, 0, done.stderr)
        yield pathlib.Path(folder)


def test_the_package_has_its_files_and_no_other():
    done = _run("dpkg-deb", "-c", package()[0])
    got = {}
    for line in done.stdout.splitlines():
        mode, owner, path = re.match(r"(\S+) (\S+) .*? \./(.*)$", line).groups()
        check_equal(owner, "root/root", line)
        path = path.split(" -> ")[0].rstrip("/")
        if mode[0] != "d" or path in FILES:
            got[path] = mode
    check_equal(got, FILES, "files")
    with _unpacked() as tree:
        check_equal((tree / "DEBIAN/conffiles").read_text(), "/etc/weft.conf\n")
        check_equal(os.readlink(tree / "usr/lib/weft/memcached"), "../../bin/weft")
        for line in (tree / "DEBIAN/md5sums").read_text().splitlines():
            check((tree / line.split("  ")[1]).is_file(), line)


def test_it_can_lie_beside_memcached():
    owned = _run("dpkg-query", "-L", "memcached")
    if owned.returncode:
        raise Skip("memcached is not installed as a package (memcached)")
    theirs = {path for path in owned.stdout.split() if not os.path.isdir(path)}
    check(theirs, "memcached has no files")
    check_equal(theirs & {"/" + path for path in FILES}, set(), "files of both")


def test_its_fields_are_filled():
    done = _run("dpkg-deb", "-f", package()[0])
    fields = dict(re.findall(r"^(\S+): (.*)$", done.stdout, re.M))
    check_equal(fields["Package"], "weft")
    check("@" not in done.stdout.replace(fields["Maintainer"], ""), done.stdout)
    for library in ("libc6", "libstdc++6", "liburing2", "adduser"):
        check(re.search(rf"(^|, ){re.escape(library)}\b", fields["Depends"]), fields["Depends"])
    version = _run(weft(), "--version").stdout.split()[1]
    check_equal(fields["Version"], version + "-1")


def test_its_scripts_are_sound():
    with _unpacked() as tree:
        for name in ("preinst", "postinst", "prerm", "postrm"):
            script = tree / "DEBIAN" / name
            check(os.access(script, os.X_OK), name)
            check_equal(_run("sh", "-n", script).stderr, "", name)
            check(not re.search("@[A-Z_]+@", script.read_text()), name)
            if shutil.which("shellcheck"):
                check_equal(_run("shellcheck", script).stdout, "", name)


def test_lintian_finds_nothing():
    if not shutil.which("lintian"):
        raise Skip("lintian is not installed (lintian)")
    as_root = ["--allow-root"] if os.geteuid() == 0 else []
    done = _run("lintian", *as_root, "--fail-on", "error,warning", package()[0])
    check_equal((done.returncode, done.stdout), (0, ""), "lintian")


def test_the_manual_has_every_option():
    with _unpacked() as tree:
        for page, words in (("weft", []), ("weft-serve", ["serve"])):
            path = tree / f"usr/share/man/man1/{page}.1.gz"
            text = _run("gzip", "-dc", path).stdout.replace("\\-", "-")
            wanted = _run(weft(), *words, "--help").stdout
            options = re.findall(r"^  (-\S+|[a-z]+ )", wanted, re.M)
            check(len(options) >= 7, wanted)
            for option in options:
                check(f".B {option.strip()}" in text, f"{option} is not in {page}(1)")
            if words:  # suboptions too
                for name in wanted[wanted.index("Suboptions"):].replace(",", " ").split():
                    check("_" not in name or name in text, f"{name} is not in {page}(1)")
            if shutil.which("groff"):
                done = _run("groff", "-man", "-ww", "-Tutf8", "-z", "-", input=text)
                check_equal(done.stderr, "", page)


def _command_of_unit(tree, unit):
    lines = (tree / "lib/systemd/system" / unit).read_text().splitlines()
    command = [line for line in lines if line.startswith("ExecStart=")]
    check_equal(len(command), 1, unit)
    words = shlex.split(command[0].partition("=")[2])
    return [str(tree) + word if word.startswith(("/usr/", "/etc/")) else word for word in words]


def _nobody():
    """What a service's user has: no rights of root."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def test_what_the_units_start_serves():
    with _unpacked() as tree:
        for unit in ("weft.service", "weft@.service"):
            port = harness.free_port()
            words = [word.replace("%i", str(port)) for word in _command_of_unit(tree, unit)]
            if unit == "weft.service":  # its port is 11211, which this machine may need
                words += ["-p", str(port)]
            process = subprocess.Popen(words, preexec_fn=_nobody, stdin=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            try:
                check(harness.eventually(lambda: _stores(port)), " ".join(words))
            finally:
                process.terminate()
                check_equal(process.wait(20), 0, unit)


def _stores(port):
    with contextlib.suppress(OSError), harness.Client(("127.0.0.1", port)) as client:
        return client.set(b"k", b"value") == b"STORED\r\n" and client.get(b"k") == b"value"
    return False


# Puts a layer over this machine, and in it installs, upgrades, removes, installs and purges the
# package $1 beside an enabled memcached, and again alone. Behind LEFT are the paths of the layer,
# in the folder $2, that differ from the machine.
IN_A_LAYER = r"""
set -e
mount -t tmpfs layer "$2"
mkdir "$2"/upper "$2"/work "$2"/all
mount -t overlay layer -o lowerdir=/,upperdir="$2"/upper,workdir="$2"/work "$2"/all || exit 77
mount -t proc proc "$2"/all/proc
mount -t tmpfs tmp "$2"/all/tmp
mount -t tmpfs run "$2"/all/run
cp "$1" "$2"/all/tmp/weft.deb
chroot "$2"/all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -e <<'INSIDE'
exec 2>&1
install() { dpkg --no-triggers --force-depends -i /tmp/weft.deb; }
wanted=/etc/systemd/system/multi-user.target.wants
mkdir -p "$wanted"
ln -sf /lib/systemd/system/memcached.service "$wanted"/memcached.service
install
/usr/bin/weft --version
id weft
mkdir -p /var/lib/weft/11212
touch /var/lib/weft/CURRENT /var/lib/weft/11212/CURRENT
mkdir -p /dev/shm
touch /dev/shm/weft /dev/shm/weft.meta
chown weft /dev/shm/weft /dev/shm/weft.meta
echo a:b >/etc/weft/passwords
echo '# mine' >>/etc/weft.conf
install
tail -n 1 /etc/weft.conf
dpkg --no-triggers --remove weft
ls /etc/weft.conf /var/lib/weft/CURRENT /dev/shm/weft
install
dpkg --no-triggers --purge weft
ls "$wanted"
echo ALONE
rm "$wanted"/memcached.service
install
ls "$wanted"
dpkg --no-triggers --purge weft
INSIDE
echo LEFT
cd "$2"/upper
find . | while read -r path; do
  if [ -d "$path" ] && [ -d "/$path" ]; then continue; fi
  if [ -f "$path" ] && cmp -s "$path" "/$path"; then continue; fi
  echo "${path#./}"
done
"""


def test_a_purge_leaves_nothing():
    if os.geteuid():
        raise Skip("needs root, for a layer over this machine's files")
    for program in ("adduser", "unshare", "deb-systemd-helper"):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
    if _run("dpkg", "-s", "weft").returncode == 0 or _run("getent", "passwd", "weft").stdout:
        raise Skip("the package, or a user weft, is on this machine")
    with tempfile.TemporaryDirectory(prefix="weft-layer-") as folder:
        done = _run("unshare", "--mount", "--net", "sh", "-c", IN_A_LAYER, "sh", package()[0],
                    folder)
    if done.returncode == 77 or "permission denied" in done.stderr:
        raise Skip("no layer can be put over this machine's files here")
    check_equal(done.returncode, 0, done.stdout[-2000:] + done.stderr)
    did, alone, left = re.split("ALONE\n|LEFT\n", done.stdout)
    for words in ("# mine", "/var/lib/weft/CURRENT", "/etc/weft.conf", "/dev/shm/weft"):
        check(words in did.splitlines(), f"{words} did not stay: {did}")
    check("uid=" in did, did)
    # Beside memcached either could be first at the next boot.
    check("weft.service" not in did.splitlines() and "port 11211 belongs" in did, did)
    check("weft.service" in alone.splitlines() and "port 11211 belongs" not in alone, alone)
    check_equal([path for path in left.splitlines() if not path.startswith(BOOKS)], [],
                "what a purge leaves")


if __name__ == "__main__":
    harness.main(globals())

"""Client libraries that speak the binary protocol, as their users call them.

pylibmc and python-binary-memcached come from requirements.txt; Dalli, PHP's memcached extension and
memccapable from Debian's packages. What is not installed is skipped with its name.
"""

import json
import shutil
import subprocess

import harness
from harness import Server, Skip, check, check_equal, client_library


def test_memccapable():
    if not shutil.which("memccapable"):
        raise Skip("memccapable is not installed (libmemcached-tools)")
    for net in harness.nets():
        with Server(net=net) as server:
            done = subprocess.run(
                ["memccapable", "-h", "127.0.0.1", "-p", str(server.port), "-b"],
                capture_output=True, text=True, timeout=120)
            passed = done.stdout.count("[pass]")
            check(done.returncode == 0 and passed == 27,
                  f"{net}: {passed} of 27 passed; {done.stdout} {done.stderr}")
    return "27 of 27"


def test_pylibmc():
    pylibmc = client_library("pylibmc")
    with Server() as one, Server() as two:
        client = pylibmc.Client(
            [f"127.0.0.1:{server.port}" for server in (one, two)],
            binary=True,
            behaviors={"cas": True, "ketama": True, "tcp_nodelay": True},
        )
        check(client.set("k", "v", time=100))
        check_equal(client.get("k"), "v")
        check_equal(client.get("absent"), None)
        check_equal(client.add("k", "x"), False)
        check_equal(client.add("fresh", "x"), True)
        check_equal(client.replace("k", "r"), True)
        try:
            client.replace("absent", "r")
            check(False, "an absent key was replaced")
        except pylibmc.NotFound:
            pass
        check(client.set("s", b"mid"))
        check(client.append("s", b">") and client.prepend("s", b"<"))
        check_equal(client.get("s"), b"<mid>")
        value, cas = client.gets("k")
        check_equal(value, "r")
        check_equal(client.cas("k", "swapped", cas), True)
        check_equal(client.cas("k", "again", cas), False)
        data = {f"m{i}": i for i in range(500)}
        check_equal(client.set_multi(data), [])
        check_equal(client.get_multi([*data, "absent"]), data)
        check_equal(client.incr("m1", 5), 6)
        check_equal(client.decr("m1", 100), 0)
        check_equal(client.delete("m2"), True)  # touch: libmemcached waits for a reply it has had
        check_equal(client.delete("m2"), False)
        for value in ("", b"\r\n", bytes(range(256)) * 1000, 1 << 40, None, [1, {"a": (2,)}]):
            check(client.set("value", value))
            check_equal(client.get("value"), value)
        check(client.get_stats()[0][1]["curr_connections"])
        check(client.flush_all())
        check_equal(client.get_multi(list(data)), {})


def test_python_binary_memcached():
    bmemcached = client_library("bmemcached")
    with Server() as server:
        client = bmemcached.Client((f"127.0.0.1:{server.port}",))
        check(client.set("k", {"a": [1, "two"]}, time=100))
        check_equal(client.get("k"), {"a": [1, "two"]})
        check_equal(client.get("absent"), None)
        check_equal(client.set_multi({f"m{i}": str(i) for i in range(100)}), [])
        check_equal(client.get_multi([f"m{i}" for i in range(100)] + ["absent"]),
                    {f"m{i}": str(i) for i in range(100)})
        check(client.add("new", "1") and not client.add("new", "2"))
        check(client.replace("new", "3") and not client.replace("absent", "3"))
        value, cas = client.gets("new")
        check_equal(value, "3")
        check(client.cas("new", "4", cas) and not client.cas("new", "5", cas))
        check_equal(client.incr("count", 5, default=40), 40)
        check_equal(client.incr("count", 5), 45)
        check_equal(client.decr("count", 50), 0)
        check(client.delete("new"))
        check_equal(client.get("new"), None)
        check_equal(client.delete_multi(["m1", "m2"]), True)
        stats = client.stats()[f"127.0.0.1:{server.port}"]
        check(int(stats["curr_items"]) > 90, stats)
        check(client.flush_all())
        check_equal(client.get("m3"), None)
        client.disconnect_all()


_DALLI = """
require 'dalli'
require 'json'
c = Dalli::Client.new(ARGV[0], expires_in: 100, compress: true)
out = []
out << (c.set('k', {'a' => [1, 'two']}) ? 1 : 0) << c.get('k') << c.get('absent')
out << c.get_multi('k', 'absent').keys
out << (c.add('k', 1) ? 1 : 0)
c.set('raw', 'mid', 100, raw: true)
c.append('raw', '>'); c.prepend('raw', '<')
out << c.get('raw', raw: true)
out << c.incr('n', 5, 100, 40) << c.incr('n', 5) << c.decr('n', 50)
out << (c.cas('k') { |v| v.merge('b' => 2) } ? 1 : 0) << c.get('k')
out << (c.touch('k', 50) ? 1 : 0) << (c.delete('k') ? 1 : 0) << (c.delete('k') ? 1 : 0)
c.set('large', 'x' * 900_000)
out << c.get('large').size
c.multi { 200.times { |i| c.set("q#{i}", i) } }
out << c.get_multi((0...200).map { |i| "q#{i}" }).size
out << c.stats.values.first['curr_items'].to_i << c.version.values.first
out << (c.flush_all ? 1 : 0) << c.get('q1')
puts JSON.generate(out)
"""


def test_dalli():
    if not shutil.which("ruby"):
        raise Skip("ruby is not installed")
    if subprocess.run(["ruby", "-e", "require 'dalli'"], capture_output=True).returncode:
        raise Skip("Dalli is not installed (ruby-dalli)")
    with Server() as server:
        done = subprocess.run(["ruby", "-e", _DALLI, f"127.0.0.1:{server.port}"],
                              capture_output=True, text=True, timeout=60)
        check_equal(done.returncode, 0, done.stderr)
        got = json.loads(done.stdout.splitlines()[-1])
    both = {"a": [1, "two"]}
    check_equal(got, [1, both, None, ["k"], 0, "<mid>", 40, 45, 0, 1, {**both, "b": 2}, 1, 1, 0,
                      900_000, 200, 203, "1.6.18", 1, None])


_PHP = """
$m = new Memcached();
$m->setOption(Memcached::OPT_BINARY_PROTOCOL, $argv[2] == 'binary');
$m->addServer('127.0.0.1', (int)$argv[1]);
$out = [];
$out[] = $m->set('k', ['a' => [1, 'two']], 100);
$out[] = $m->get('k');
$out[] = $m->get('absent');
$out[] = $m->getResultCode() == Memcached::RES_NOTFOUND;
$out[] = $m->add('k', 1);
$out[] = $m->replace('absent', 1);
$m->setOption(Memcached::OPT_COMPRESSION, false);
$m->set('raw', 'mid');
$m->append('raw', '>');
$m->prepend('raw', '<');
$out[] = $m->get('raw');
$m->set('n', 40);
$out[] = $m->increment('n', 5);
$out[] = $m->decrement('n', 50);
if ($argv[2] == 'binary') $out[] = $m->increment('made', 5, 7);
$found = $m->get('k', null, Memcached::GET_EXTENDED);
$out[] = $m->cas($found['cas'], 'k', 'swapped');
$out[] = $m->cas($found['cas'], 'k', 'again');
$many = [];
for ($i = 0; $i < 200; $i++) $many["m$i"] = $i;
$out[] = $m->setMulti($many);
$out[] = $m->getMulti(array_keys($many)) == $many;
$out[] = $m->touch('m1', 100);
$out[] = $m->delete('m1');
$out[] = $m->delete('m1');
$out[] = $m->set('large', str_repeat('x', 900000));
$out[] = strlen($m->get('large'));
$out[] = array_values($m->getVersion())[0];
$out[] = array_values($m->getStats())[0]['curr_items'] > 100;
$out[] = $m->flush();
$out[] = $m->get('m2');
echo json_encode($out), "\\n";
"""


def test_php():
    if not shutil.which("php"):
        raise Skip("php is not installed")
    if subprocess.run(["php", "-r", "new Memcached();"], capture_output=True).returncode:
        raise Skip("PHP's memcached extension is not installed (php-memcached)")
    with Server() as server:
        for protocol in ("text", "binary"):
            done = subprocess.run(["php", "-r", _PHP, "--", str(server.port), protocol],
                                  capture_output=True, text=True, timeout=60)
            check_equal(done.returncode, 0, done.stderr)
            got = json.loads(done.stdout.splitlines()[-1])
            made = [7] if protocol == "binary" else []
            check_equal(got, [True, {"a": [1, "two"]}, False, True, False, False, "<mid>", 45, 0,
                              *made, True, False, True, True, True, True, False, True, 900_000,
                              "1.6.18", True, True, False], protocol)


if __name__ == "__main__":
    harness.main(globals())

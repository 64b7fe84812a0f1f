"""What the metrics port of a whole server shows: latency, the exporter's series, the page's
numbers, and whether it serves."""

import http.client
import json
import re
import socket
import tempfile

from harness import ROOT, Server, check, check_equal

# Families of memcached_exporter 0.17 for a server without external storage, proxy and LRU crawler,
# once it has an item: name after "memcached_", and type.
FAMILIES = {
    "counter": """
        uptime_seconds process_user_cpu_seconds_total process_system_cpu_seconds_total
        read_bytes_total written_bytes_total connections_total connections_rejected_total
        connections_yielded_total connections_listener_disabled_total commands_total items_total
        items_evicted_total items_reclaimed_total item_too_large_total item_no_memory_total
        direct_reclaims_total lru_crawler_starts_total lru_crawler_reclaimed_total
        lru_crawler_items_checked_total lru_crawler_moves_to_cold_total
        lru_crawler_moves_to_warm_total lru_crawler_moves_within_lru_total
        slab_items_crawler_reclaimed_total slab_items_evicted_total
        slab_items_evicted_nonzero_total slab_items_evicted_time_seconds
        slab_items_evicted_unfetched_total slab_items_expired_unfetched_total
        slab_items_outofmemory_total slab_items_reclaimed_total slab_items_tailrepairs_total
        slab_items_moves_to_cold slab_items_moves_to_warm slab_items_moves_within_lru
        slab_mem_requested_bytes slab_lru_hits_total slab_commands_total
    """,
    "gauge": """
        up version time_seconds current_connections max_connections current_bytes limit_bytes
        current_items malloced_bytes accepting_connections slab_current_items
        slab_items_age_seconds slab_hot_items slab_warm_items slab_cold_items
        slab_hot_age_seconds slab_warm_age_seconds slab_chunk_size_bytes slab_chunks_per_page
        slab_current_pages slab_current_chunks slab_chunks_used slab_chunks_free
        slab_chunks_free_end
    """,
}


def port_of(server):
    return int(re.search(r"metrics on 127\.0\.0\.1:(\d+)", server.log()).group(1))


def ask(port, path, host=None):
    """Status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers={"Host": host} if host else {})
    reply = connection.getresponse()
    body = reply.read().decode()
    connection.close()
    return reply.status, body


def samples_of(page):
    """name{labels} -> value, and name -> type."""
    samples, types = {}, {}
    for line in page.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            types[name] = kind
        elif line and line[0] != "#":
            name, value = line.rsplit(" ", 1)
            samples[name] = float(value)
    return samples, types


def monitored(*flags):
    """On one thread, so that what a client was told is counted before it asks again."""
    return Server(flags=["--metrics-port", "0", *flags], threads=1)


def some_requests(server):
    with server.connect() as client:
        client.set(b"a", b"1" * 100)
        client.set(b"b", b"2", ttl_s=100)
        for key in (b"a", b"a", b"b", b"none"):
            client.get(key)
        check_equal(client.command(b"delete none\r\n"), b"NOT_FOUND\r\n")
        check_equal(client.command(b"incr b 5\r\n"), b"7\r\n")
        check_equal(client.command(b"decr none 5\r\n"), b"NOT_FOUND\r\n")
        check_equal(client.command(b"touch a 0\r\n"), b"TOUCHED\r\n")
        check_equal(client.command(b"cas a 0 0 1 18446744073709551615\r\nx\r\n"), b"EXISTS\r\n")


def test_every_request_has_a_latency_of_its_class():
    with monitored() as server:
        before = server.stats(b"latency")
        some_requests(server)
        after = server.stats(b"latency")
        grown = {name: int(after[f"{name}:requests"]) - int(before[f"{name}:requests"])
                 for name in ("get", "set", "delete", "arithmetic", "touch", "other", "all")}
        # Others: the first `stats latency` itself, which is answered before it is counted.
        expected = {"get": 4, "set": 3, "delete": 1, "arithmetic": 2, "touch": 1, "other": 1}
        expected["all"] = sum(expected.values())
        check_equal(grown, expected)
        for name in ("get", "set", "all"):
            row = [float(after[f"{name}:{part}_us"])
                   for part in ("p50", "p90", "p99", "p999", "max")]
            check(row == sorted(row) and row[0] > 0, f"{name}: {row}")
        cells = server.stats(b"latency cells")
        got = sum(int(n) for name, n in cells.items() if name.startswith("get:ns:"))
        check_equal(got, int(after["get:requests"]))
        samples, types = samples_of(ask(port_of(server), "/metrics")[1])
        check_equal(types["weft_request_latency_seconds"], "histogram")
        check_equal(samples['weft_request_latency_seconds_count{command="get"}'], got)
        with server.connect() as client:
            check_equal(client.command(b"stats reset\r\n"), b"RESET\r\n")
        check_equal(server.stats(b"latency")["get:requests"], "0")
        samples, _ = samples_of(ask(port_of(server), "/metrics")[1])
        check_equal(samples['weft_request_latency_seconds_count{command="get"}'], got)


def test_what_the_disk_answers_has_a_latency():
    with tempfile.TemporaryDirectory() as folder:
        with monitored("--data", folder) as server:
            with server.connect() as client:
                client.set(b"a", b"1")
        with monitored("--data", folder) as server:
            with server.connect() as client:
                check_equal(client.get(b"a"), b"1")
                check_equal(client.get(b"b"), None)
            check(int(server.stats(b"data")["waits"]) > 0, "nobody waited")
            check_equal(server.stats(b"latency")["get:requests"], "2")


def test_what_a_device_answers_has_a_latency():
    plan = "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu"
    flags = ("--device", "cpu", "--plan", plan, "--device-batch-min", "1", "--steal", "off")
    with monitored(*flags) as server:
        with server.connect() as client:
            client.set(b"a", b"1")
            client.send(b"get a\r\n" * 200 + b"version\r\n")
            check(client.read_until(b"VERSION").count(b"VALUE") == 200)
        check(int(server.stats(b"pipeline")["device:queries"]) > 0, "the device had no part")
        check_equal(server.stats(b"latency")["get:requests"], "200")
        with server.connect() as client:  # what was sent last leaves before it is counted
            client.command(b"version\r\n")
        check_equal(server.stats(b"latency")["set:requests"], "1")


def test_the_exporters_series_are_there_with_its_names_and_types():
    with monitored("--metrics-memcached") as server:
        some_requests(server)
        samples, types = samples_of(ask(port_of(server), "/metrics")[1])
        stats, slabs, items = server.stats(), server.stats(b"slabs"), server.stats(b"items")
        settings = server.stats(b"settings")
    got = {name: kind for name, kind in types.items() if name.startswith("memcached_")}
    expected = {f"memcached_{name}": kind for kind, names in FAMILIES.items()
                for name in names.split()}
    check_equal(sorted(got.items()), sorted(expected.items()))

    def series(name, **labels):
        inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
        return samples[f"memcached_{name}" + (f"{{{inside}}}" if inside else "")]

    check_equal(series("up"), 1)
    check_equal(series("version", version=stats["version"]), 1)
    for command in ("get", "delete", "incr", "decr", "cas", "touch"):
        for status, word in (("hit", "hits"), ("miss", "misses")):
            check_equal(series("commands_total", command=command, status=status),
                        float(stats[f"{command}_{word}"]), command)
    check_equal(series("commands_total", command="cas", status="badval"), 1)
    check_equal(series("commands_total", command="set", status="hit"), 2)
    for name, line in (("current_items", "curr_items"), ("items_total", "total_items"),
                       ("current_bytes", "bytes"), ("limit_bytes", "limit_maxbytes"),
                       ("items_evicted_total", "evictions")):
        check_equal(series(name), float(stats[line]), name)
    check_equal(series("max_connections"), float(settings["maxconns"]))
    check_equal(series("malloced_bytes"), float(slabs["total_malloced"]))
    check_equal(series("slab_chunk_size_bytes", slab=1), float(slabs["1:chunk_size"]))
    check_equal(series("slab_current_items", slab=1), float(items["items:1:number"]))
    check_equal(series("slab_lru_hits_total", slab=1, lru="hot"),
                float(items["items:1:hits_to_hot"]))


def board_queries(value):
    """(title of the panel, query) of each in the board, and of its variables."""
    if isinstance(value, list):
        for each in value:
            yield from board_queries(each)
    elif isinstance(value, dict):
        for name in ("expr", "definition"):
            if name in value:
                yield value[name]
        for each in value.values():
            yield from board_queries(each)


def test_every_series_of_the_board_is_there():
    board = json.loads((ROOT / "packaging" / "grafana" / "weft.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        with monitored("--metrics-memcached", "--data", folder) as server:
            some_requests(server)
            page = ask(port_of(server), "/metrics")[1]
    samples, _ = samples_of(page)
    labels = {}
    for sample in samples:
        name, _, inside = sample.partition("{")
        labels.setdefault(name, set()).update(re.findall(r'(\w+)="', inside))
    of_prometheus = {"job", "instance"}
    queries = list(board_queries(board))
    check(len(queries) > 30, len(queries))
    for query in queries:
        series = re.findall(r"\b((?:weft|memcached)_\w+)(?:\{([^}]*)\})?", query)
        check(series, f"no series in {query}")
        for name, matchers in series:
            check(name in labels, f"{name} is on no page: {query}")
            asked = set(re.findall(r"(\w+)\s*=", matchers)) - of_prometheus
            check(asked <= labels[name], f"{name} has {labels[name]}, not {asked}: {query}")
        grouped = re.findall(r"\bby \(([^)]*)\)", query)
        known = of_prometheus.union(*(labels[name] for name, _ in series))
        for words in grouped:
            asked = set(re.findall(r"\w+", words))
            check(asked <= known, f"{query} groups by {asked - known}")


def test_they_are_there_only_if_asked_for():
    with monitored() as server:
        check("memcached_" not in ask(port_of(server), "/metrics")[1])


def test_the_pages_numbers_hold_no_key_and_no_value():
    with monitored() as server:
        with server.connect() as client:
            client.set(b"secretkey", b"secretvalue")
            check_equal(client.get(b"secretkey"), b"secretvalue")
        text = ask(port_of(server), "/live.json")[1]
        check("secret" not in text, text)
        live = json.loads(text)
        check_equal(live["counters"]["get_hits"], 1)
        check_equal(live["counters"]["sets"], 1)
        check_equal(live["levels"]["items"], 1)
        check(sum(cell[2] for cell in live["latency"]) >= 2, "no latency")
        check(live["plan"]["text"].startswith("[RV "), live["plan"])
        status, page = ask(port_of(server), "/")
        check_equal(status, 200)
        check("secret" not in page and "live.json" in page)


def test_it_answers_only_to_its_names():
    with monitored("--metrics-host", "cache.example") as server:
        port = port_of(server)
        for host in ("localhost", f"127.0.0.1:{port}", "[::1]", "cache.example", None):
            check_equal(ask(port, "/metrics", host)[0], 200, host)
        for path in ("/", "/live.json", "/metrics", "/healthz"):
            check_equal(ask(port, path, "rebound.example")[0], 403, path)


def test_silent_clients_hold_up_no_page():
    with monitored() as server:
        port = port_of(server)
        silent = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(48)]
        for each in silent[::2]:
            each.sendall(b"GET /live.json HTTP/1.1\r\nHost: localhost\r\nX: ")
        for path in ("/", "/live.json", "/healthz", "/readyz", "/metrics"):
            check_equal(ask(port, path)[0], 200, path)
        for each in silent:
            each.setblocking(False)
            try:
                check(each.recv(1) == b"never", "it was closed before the pages were there")
            except BlockingIOError:
                pass
            each.close()


def test_it_is_ready_while_it_serves():
    with monitored() as server:
        port = port_of(server)
        check_equal(ask(port, "/readyz"), (200, "ok\n"))
        check_equal(ask(port, "/healthz"), (200, "ok\n"))


if __name__ == "__main__":
    import harness

    harness.main(globals())

"""The metrics page of a whole server: who may hold it up, what it takes, how it fails to start."""

import re
import socket
import subprocess

import harness
from harness import Server, check, check_equal

PATIENCE_S = 20  # that nothing here is to need


class Scraper:
    """A connection to the metrics port."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)

    def send(self, data):
        self.socket.sendall(data)

    def waits(self):
        """The server has neither closed it nor said anything."""
        self.socket.setblocking(False)
        try:
            self.socket.recv(1)
            return False
        except BlockingIOError:
            return True
        except ConnectionError:
            return False

    def page(self):
        self.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        reply = b""
        while data := self.socket.recv(65536):
            reply += data
        check(reply.startswith(b"HTTP/1.1 200"), reply[:100])
        return reply

    def close(self):
        self.socket.close()


def _server(*flags, **options):
    return Server(flags=["--metrics-port", "0", *flags], **options)


def _port(server):
    return int(re.search(r"metrics on 127\.0\.0\.1:(\d+)", server.log()).group(1))


def _scrape(port):
    scraper = Scraper(port)
    page = scraper.page()
    scraper.close()
    return page


def test_silent_clients_hold_up_no_scrape_and_take_no_connections():
    with _server("-c", "8") as server:
        port = _port(server)
        silent = [Scraper(port) for _ in range(64)]
        for scraper in silent[:20]:
            scraper.send(b"GET /metrics HTTP/1.1\r\nHost: l")
        check(b"\nweft_items 0\n" in _scrape(port), "no items")
        check(all(scraper.waits() for scraper in silent), "somebody was closed before the scrape")
        clients = [server.connect() for _ in range(7)]
        for client in clients:
            check_equal(client.command(b"version\r\n")[:8], b"VERSION ")
        check_equal(server.stats()["curr_connections"], "8")
        for scraper in silent + clients:
            scraper.close()


def test_clients_that_read_nothing_are_bounded():
    with _server() as server:
        port = _port(server)
        _scrape(port)
        before = server.rss_kb()
        slow = []
        for _ in range(400):
            scraper = Scraper(port)
            scraper.send(b"GET /metrics HTTP/1.1\r\n\r\n")
            slow.append(scraper)
        _scrape(port)
        grown = server.rss_kb() - before
        check(grown < 24 << 10, f"{grown} KiB more")
        for scraper in slow:
            scraper.close()


def _refused(*flags):
    """What is said by a server that does not start."""
    binary = harness.subject_binary()
    if not binary.exists():
        raise harness.Skip(f"no server at {binary}")
    line = [str(binary), "serve", "-l", "127.0.0.1", "-p", str(harness.free_port()), *flags]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    check(done.returncode not in (0, -6, -11), f"status {done.returncode}: {done.stderr}")
    said = [each for each in done.stderr.splitlines() if "running as root" not in each]
    check_equal(len(said), 1, f"lines: {done.stderr}")
    check(" serves " not in said[0], said[0])
    return said[0]


def test_what_cannot_be_listened_on_is_one_line_before_it_serves():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        line = _refused("--metrics-port", port)
        check(f"metrics page on 127.0.0.1:{port}" in line, line)
        check("Address already in use" in line, line)
    line = _refused("--metrics-port", "0", "--metrics-address", "203.0.113.7")
    check("Cannot assign requested address" in line, line)
    check("no.such.invalid" in _refused("--metrics-port=0", "--metrics-address=no.such.invalid"))


if __name__ == "__main__":
    harness.main(globals())

"""The short day in production (tools/production-day): TLS, reloads and restarts under load."""

import os
import tempfile

import harness
from harness import Skip, check, check_equal
from package_kit import package
from production import Day, Plan
from production_load import Client, name_of, value_of, version_in
from production_machine import Tree
from tls_kit import Certificates


def test_a_short_day_has_no_wrong_reply():
    if not os.access("/dev/shm", os.W_OK):
        raise Skip("/dev/shm cannot be written to")
    harness.client_library("trustme")
    plan = Plan(seed=int(os.environ.get("WEFT_SEED", "1")), memory_mb=128, clients=2, keys=1000,
                shelf=4000, reloads=6, restarts=2, calm_s=0.3)
    with tempfile.TemporaryDirectory(prefix="weft-day-") as folder, \
            tempfile.TemporaryDirectory(prefix="weft-day-", dir="/dev/shm") as memory:
        machine = Tree(package()[0], folder, memory)
        group = machine.service_ids()[1] if os.geteuid() == 0 else None
        with Certificates(machine.inside("/etc/weft"), group) as certificates:
            day = Day(machine, certificates, plan)
            day.go()
    check_equal(day.faults, [], f"seed {plan.seed}")
    return f"seed {plan.seed}, {day.figures['requests']} requests, {day.figures['items']} items"


def test_the_load_knows_wrong_replies():
    client = Client(0, None, None, keys=10, seed=1)
    name, other = name_of(b"c0", 1), name_of(b"c0", 2)

    def faults(kind, version, line, value=None):
        before = client.report.fault_count
        client._judge(kind, name, version, line, value)
        return client.report.fault_count - before

    check_equal(faults("get", 1, b"END\r\n"), 0, "a miss of what nobody stored")
    check_equal(faults("add", 2, b"NOT_STORED\r\n"), 1)
    check_equal(faults("set", 3, b"SERVER_ERROR out of memory\r\n"), 1)
    check_equal(faults("set", 4, b"STORED\r\n"), 0)
    check_equal(faults("set", 5, b"STORED\r\n"), 0)
    head = b"VALUE " + name + b" 0 1\r\n"
    check_equal(faults("get", 6, head, value_of(name, 5)), 0)
    check_equal(faults("get", 7, head, value_of(name, 4)), 1, "an old value")
    check_equal(faults("get", 8, head, value_of(name, 5)[:-1]), 1, "a cut value")
    check_equal(faults("get", 9, head.replace(b":1", b":2"), value_of(name, 5)), 1)
    check_equal(faults("mg", 10, b"EN\r\n"), 1, "a lost item")
    check_equal(faults("delete", 11, b"NOT_FOUND\r\n"), 1)
    check_equal(version_in(name, value_of(other, 5)), None)
    # What was not answered may have been done, until a reply decides.
    client.pending.extend([("delete", name, 12), ("add", name, 13)])
    client._is_cut()
    check_equal(client.may_be[name], {0, 5, 13})
    check_equal(faults("mg", 14, b"VA 1\r\n", value_of(name, 13)), 0)
    check_equal(faults("mg", 15, b"VA 1\r\n", value_of(name, 5)), 1)
    check(client.report.faults, "faults have no text")


if __name__ == "__main__":
    harness.main(globals())

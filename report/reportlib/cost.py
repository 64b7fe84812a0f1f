"""Servers and dollars for a throughput: equations 5.1 to 5.3 of paper 002, as in bench/cost/cost.h.

Units are in the names: watts, years, dollars a kilowatt hour. The mean power of a run is what a
meter told over all of it, idle moments too, or the model of --server.
"""

import math

from reportlib.results import medians

HOURS_IN_YEAR = 365 * 24
ELECTRICITY = (0.07, 0.25)  # dollars a kilowatt hour: the paper's low and high price
LIFETIMES_YEARS = (3, 5)


def mean_power_w(utilization, busy_w, idle_w):
    return utilization * busy_w + (1 - utilization) * idle_w


def servers_needed(target_per_s, of_one_per_s):
    return math.ceil(target_per_s / of_one_per_s * (1 - 1e-12))


def energy_dollars_per_h(servers, power_w, dollars_per_kwh):
    """C_e of all servers."""
    return servers * dollars_per_kwh * power_w / 1000


def dollars_per_h(servers, price, years, power_w, dollars_per_kwh):
    """C_t of all servers over their lifetime, an hour."""
    energy = energy_dollars_per_h(servers, power_w, dollars_per_kwh)
    return servers * price / (years * HOURS_IN_YEAR) + energy


def with_power(table, powers):
    """The runs with power by the model of --server where their machine has one and no meter told
    it: `powers` is {machine: (idle, busy)}."""
    table = table.assign(power_source=table["energy_source"], power_modelled=table["modelled"])
    for machine, (idle, busy) in powers.items():
        of = ((table["machine"] == machine) & table["power_w"].isna()
              & table["utilization"].notna())
        power = mean_power_w(table.loc[of, "utilization"], busy, idle)
        table.loc[of, "power_w"], table.loc[of, "idle_w"] = power, idle
        table.loc[of, "power_source"] = f"model {idle:g} W idle, {busy:g} W busy"
        table.loc[of, "power_modelled"] = True
    return table


def evenly(rows):
    """Servers of which each workload has an even share of the operations. A workload that is twice
    as slow takes twice the servers: their throughput is the harmonic mean, and what a server draws
    counts by how many there are of it."""
    servers = [1 / row["per_s"] for row in rows]  # for one operation a second of each workload
    mean = {name: sum(row[name] * of for row, of in zip(rows, servers)) / sum(servers)
            for name in ("power_w", "idle_w", "utilization")}
    return mean | {"per_s": len(rows) / sum(servers),
                   "modelled": any(row["modelled"] for row in rows)}


def servers_table(best, target_per_s):
    """As the paper's table 5.2: of each workload and series its watts, the servers for the target
    and the dollars of their energy an hour, all of the medians. With several workloads a row of all
    as well, of series that have all (evenly). NaN: not known."""
    found = medians(best, ["workload", "series"])
    rows = [{"workload": row["workload"], "series": row["series"],
             "per_s": row["throughput_median"], "modelled": row["power_modelled"],
             "power_w": row["power_w_median"], "idle_w": row["idle_w_median"],
             "utilization": row["utilization_median"]} for _, row in found.iterrows()]
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    for series in dict.fromkeys(row["series"] for row in rows):
        of = [row for row in rows if row["series"] == series]
        if len(workloads) > 1 and len(of) == len(workloads):
            rows.append(evenly(of) | {"workload": "", "series": series})
    for row in rows:
        row["servers"] = servers_needed(target_per_s, row["per_s"])
        row["dollars_per_h"] = [energy_dollars_per_h(row["servers"], row["power_w"], price)
                                for price in ELECTRICITY]
    for row in rows:
        least = min((of["dollars_per_h"][0] for of in rows if of["workload"] == row["workload"]
                     and of["dollars_per_h"][0] == of["dollars_per_h"][0]), default=math.nan)
        row["over_least"] = row["dollars_per_h"][0] / least if least > 0 else math.nan
    order = [*workloads, ""]
    return sorted(rows, key=lambda row: order.index(row["workload"]))

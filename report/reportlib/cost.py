"""Servers and dollars for a throughput: equations 5.1 to 5.3 of paper 002, as in bench/cost/cost.h.

Units are in the names: watts, years, dollars a kilowatt hour.
"""

import math

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

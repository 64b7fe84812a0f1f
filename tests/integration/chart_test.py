"""The Helm chart: its settings, its templates' form, and, where helm is, what it renders."""

import re
import shutil
import subprocess

import harness
from harness import Skip, check, check_equal

CHART = harness.ROOT / "packaging/chart/weft"
ACTION = re.compile(r"{{-?\s*(.*?)\s*-?}}", re.S)


def _templates():
    return sorted((CHART / "templates").iterdir())


def _yaml():
    return harness.client_library("yaml")


def _values():
    return _yaml().safe_load((CHART / "values.yaml").read_text())


def _actions(text):
    return [action for action in ACTION.findall(text) if not action.startswith("/*")]


def test_the_chart_is_described():
    chart = _yaml().safe_load((CHART / "Chart.yaml").read_text())
    check_equal((chart["apiVersion"], chart["name"]), ("v2", "weft"))
    version = re.search(r"^project\(weft VERSION ([\d.]+)",
                        (harness.ROOT / "CMakeLists.txt").read_text(), re.M).group(1)
    check_equal(chart["appVersion"], version, "the version that it starts")


def test_settings_have_bitnamis_names_and_figures():
    values = _values()
    check_equal(values["architecture"], "standalone")
    check({"enabled", "username", "password", "existingPasswordSecret"} <= set(values["auth"]))
    probes = [[values[name][word] for word in ("initialDelaySeconds", "periodSeconds",
                                               "timeoutSeconds", "failureThreshold")]
              for name in ("livenessProbe", "readinessProbe")]
    check_equal(probes, [[30, 10, 5, 6], [5, 5, 3, 6]], "probes")
    check_equal(values["service"]["clusterIP"], "None", "each server has an address of its own")
    check_equal(values["containerSecurityContext"]["runAsUser"], 1001)
    check_equal(values["pdb"]["maxUnavailable"], 1)
    check(values["terminationGracePeriodSeconds"] > 60, "shorter than the wait of preStop")


def test_each_block_of_a_template_ends():
    for path in _templates():
        text = path.read_text()
        check_equal(text.count("{{"), text.count("}}"), path.name)
        depth = 0
        for action in _actions(text):
            word = action.split()[0]
            depth += word in ("if", "with", "range", "define")
            depth -= word == "end"
            check(depth >= 0 and (word != "else" or depth), f"{path.name}: {action}")
        check_equal(depth, 0, f"{path.name}: open blocks")


def test_templates_use_the_settings_there_are_and_all_of_them():
    values = _values()
    text = "\n".join(path.read_text() for path in _templates())
    used = set(re.findall(r"\.Values((?:\.\w+)+)", text))
    for path in used:
        at = values
        for word in path[1:].split("."):
            check(isinstance(at, dict) and word in at, f".Values{path} is not in values.yaml")
            at = at[word]

    def unused(at, path):
        if path in used:
            return []
        if not isinstance(at, dict) or not at:
            return [path]
        return [name for key in at for name in unused(at[key], f"{path}.{key}")]

    check_equal([name for key in values for name in unused(values[key], f".{key}")], [],
                "settings that no template reads")
    defined = re.findall(r'{{-? *define "([^"]+)"', text)
    check_equal(len(defined), len(set(defined)), "defined twice")
    check_equal(set(re.findall(r'include "([^"]+)"', text)), set(defined), "parts")


def test_the_environment_is_the_entrypoints():
    known = set(re.findall(r"^# (MEMCACHED_\w+)", (harness.ROOT / "packaging/image/entrypoint")
                           .read_text(), re.M)) | {"MEMCACHED_PASSWORD_FILE"}
    named = set(re.findall(r"name: (MEMCACHED_\w+)",
                           (CHART / "templates/_container.tpl").read_text()))
    check(len(named) >= 8 and named <= known, f"{named - known}")


def _rendered(*settings):
    if not shutil.which("helm"):
        raise Skip("helm is not installed (it is not in Debian)")
    words = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(["helm", "template", "r", CHART, *words], capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    parts = [part for part in _yaml().safe_load_all(done.stdout) if part]
    return {f"{part['kind']}/{part['metadata']['name']}": part for part in parts}


def test_what_is_rendered():
    alone = _rendered()
    check_equal(set(alone), {"Deployment/r-weft", "Service/r-weft", "ServiceAccount/r-weft"})
    row = _rendered("architecture=high-availability", "auth.enabled=true", "auth.password=x",
                    "metrics.enabled=true", "metrics.serviceMonitor.enabled=true",
                    "persistence.enabled=true")
    check_equal(set(row), {
        "PodDisruptionBudget/r-weft", "Secret/r-weft", "Service/r-weft", "Service/r-weft-metrics",
        "ServiceAccount/r-weft", "ServiceMonitor/r-weft", "StatefulSet/r-weft"})
    stateful = row["StatefulSet/r-weft"]["spec"]
    check_equal(stateful["podManagementPolicy"], "Parallel")
    container = stateful["template"]["spec"]["containers"][0]
    check("--memory-file=/cache-state/memory_file" in container["args"], container["args"])
    check_equal(container["livenessProbe"]["tcpSocket"], {"port": "memcached"})
    for settings in (["auth.enabled=true"], ["architecture=both"], ["persistence.enabled=true"]):
        check(isinstance(_rendered(*settings), str), f"{settings} is accepted")


if __name__ == "__main__":
    harness.main(globals())

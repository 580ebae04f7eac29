#!/usr/bin/env python3
"""Checks what promtool and kubernetes-validate do not: the links and tests of the alerts, and that every manifest was
validated.

    scripts/ops.sh check

kubernetes-validate only warns of a kind that it does not know, so a typing error in `apiVersion` would pass.
"""

import pathlib
import re
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of operators.
NOT_VALIDATED = {"cloudnativepg.yaml"}


def anchors(page):
    """Of the headings of a page, as forges make them."""
    for heading in re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def faults_of_alerts():
    folder = ROOT / "ops/prometheus"
    alerts = [rule for group in yaml.safe_load((folder / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
    tests = yaml.safe_load((folder / "alerts_test.yml").read_text())["tests"]
    for alert in alerts:
        name, notes = alert["alert"], alert.get("annotations", {})
        if alert["labels"].get("severity") not in ("critical", "warning"):
            yield f"{name}: its severity is neither critical nor warning"
        if not notes.get("summary") or not notes.get("description"):
            yield f"{name}: it has no summary or no description"
        page, _, anchor = notes.get("runbook_url", "").partition("#")
        if not (ROOT / page).is_file() or anchor not in anchors(ROOT / page):
            yield f"{name}: its runbook_url names no heading of a page: {page}#{anchor}"
        fires = rests = False
        for test in tests:
            samples = [case.get("exp_samples", []) for case in test["promql_expr_test"]]
            if any(f'alertname="{name}"' in sample["labels"] for case in samples for sample in case):
                fires, rests = True, any(not case for case in samples)
        if not fires or not rests:
            yield f"{name}: no test in which it fires at one time, and nothing does at another"


def faults_of_manifests(validate):
    for path in sorted((ROOT / "examples/kubernetes").glob("*.yaml")):
        documents = [document for document in yaml.safe_load_all(path.read_text()) if document]
        if path.name in NOT_VALIDATED:
            print(f"ops: {path.name} is not validated, because {documents[0]['kind']} is a kind of an operator")
            continue
        run = subprocess.run([validate, "--strict", path.name], cwd=path.parent, text=True, capture_output=True)
        passed = len(re.findall(r"^INFO .* passed ", run.stdout + run.stderr, re.MULTILINE))
        if run.returncode != 0 or passed != len(documents):
            yield f"{path.name}: {passed} of {len(documents)} documents are valid\n{run.stdout}{run.stderr}"
        else:
            print(f"ops: {path.name}: {passed} documents are valid")


def main():
    faults = [*faults_of_alerts(), *faults_of_manifests(sys.argv[1])]
    for fault in faults:
        print(f"ops: FAILED: {fault}", file=sys.stderr)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

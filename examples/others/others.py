#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""others.py fetch | check [DEVICE] | tune [DEVICE]

Kernels of other tuners, of which only the manifests are here. `fetch` downloads their sources to
sources/, by the repository, commit and path at the head of each manifest. `check` compiles each for
a GPU that need not be there. `tune` tunes each and prints the table of README.md. $AUTOTUNE names
the tool."""
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

HERE = pathlib.Path(__file__).parent
TOOL = os.environ.get("AUTOTUNE", "autotune")


def heads(manifest, word):
    return [line.split()[2:] for line in manifest.read_text().splitlines()
            if line.startswith(f"# {word} ")]


def fetch(manifest):
    for repository, commit, path in heads(manifest, "fetch"):
        file = HERE / "sources" / repository.split("/")[1] / path
        if file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        address = f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"
        file.write_bytes(urllib.request.urlopen(address, timeout=60).read())
        print(file.relative_to(HERE))


def run(*words):
    return subprocess.run([TOOL, *words], capture_output=True, text=True)


def name_of(manifest):
    return manifest.name.split(".")[0]


def check(manifest, device):
    ended = run("check", str(manifest), "--device", device)
    said = [line for line in ended.stdout.splitlines() + ended.stderr.splitlines()
            if " fine" in line or line.startswith("error")]
    print(f"{name_of(manifest):26} {said[-1] if said else ''}")
    return ended.returncode


def tune(manifest, device):
    size = heads(manifest, "size")[0][0]
    place = ["--target", str(manifest), "--device", device]
    ended = run("tune", *place, "--sizes", size)
    lines = sum(not line.startswith("#") for line in manifest.read_text().splitlines())
    row = [name_of(manifest), size, str(lines)]
    found = run("query", "--target", str(manifest), "--size", size, "--json")
    if ended.returncode == 0 and found.returncode == 0:
        answers = json.loads(found.stdout)
        best = answers[0] if isinstance(answers, list) else answers
        seconds, default = best["median_ns"], best["default"]["median_ns"]
        row += [f"{default / 1e3:.4g}", f"{seconds / 1e3:.4g}", f"{default / seconds:.2f}x"]
    else:
        row += ["", "", (ended.stderr.strip().splitlines() or ["failed"])[-1]]
    print("| " + " | ".join(row) + " |", flush=True)
    return ended.returncode


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("fetch", "check", "tune"):
        sys.exit(__doc__)
    manifests = sorted(HERE.glob("*.target.toml"))
    if sys.argv[1] == "fetch":
        for manifest in manifests:
            fetch(manifest)
        return
    device = sys.argv[2] if len(sys.argv) > 2 else {"check": "model:h100", "tune": "cuda:0"}[sys.argv[1]]
    each = {"check": check, "tune": tune}[sys.argv[1]]
    failed = sum(each(manifest, device) != 0 for manifest in manifests)
    sys.exit(f"{failed} of {len(manifests)} failed" if failed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""others.py fetch | check [DEVICE] | tune [DEVICE [OPTION …]]

Kernels of other tuners, of which only the manifests are here. `fetch` downloads their sources to
sources/, by the repository, commit and path at the head of each manifest. `check` compiles each for
a GPU that need not be there. `tune` tunes each, with these options of `autotune tune`, and writes
the table of README.md. $AUTOTUNE names the tool."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).parent
TOOL = os.environ.get("AUTOTUNE", "autotune")
README = HERE / "README.md"
HEAD = "| manifest | source | lines | size | default | best | gain | tuned in |"


def heads(manifest, word):
    return [line.split(maxsplit=4)[2:] for line in manifest.read_text().splitlines()
            if line.startswith(f"# {word} ")]


def sources(manifest):
    for repository, commit, path in heads(manifest, "fetch"):
        address = f"https://raw.githubusercontent.com/{repository}/{commit}/{urllib.parse.quote(path)}"
        yield HERE / "sources" / repository.split("/")[1] / path, address


def fetch(manifest):
    for file, address in sources(manifest):
        if file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(urllib.request.urlopen(address, timeout=60).read())
        print(file.relative_to(HERE))


def run(*words):
    return subprocess.run([TOOL, *words], capture_output=True, text=True)


def name_of(manifest):
    return manifest.name.split(".")[0]


def last_line(ended):
    return (ended.stderr.strip().splitlines() or ["failed"])[-1]


def check(manifest, device):
    ended = run("check", str(manifest), "--device", device)
    said = [line for line in ended.stdout.splitlines() + ended.stderr.splitlines()
            if " fine" in line or line.startswith("error")]
    print(f"{name_of(manifest):26} {said[-1] if said else ''}")
    return ended.returncode


def time_text(ns):
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= unit:
            return f"{ns / unit:.3g} {name}"
    return f"{ns:.3g} ns"


def measured(manifest, device, size, options):
    """Default, best, gain and the time that it took, or why there are none."""
    missing = [file.name for file, _ in sources(manifest) if not file.exists()]
    if missing:
        return ["", "", f"{missing[0]} is not fetched", ""]
    began = time.monotonic()
    ended = run("tune", "--target", str(manifest), "--device", device, "--sizes", size, *options)
    seconds = time.monotonic() - began
    found = run("query", "--target", str(manifest), "--size", size, "--device", device, "--json")
    if ended.returncode != 0 or found.returncode != 0:
        return ["", "", last_line(ended if ended.returncode else found), ""]
    best = json.loads(found.stdout)["results"][0]
    ns, default = best["median_ns"], best["default"]["median_ns"]
    return [time_text(default), time_text(ns), f"{default / ns:.2f}x", f"{seconds:.0f} s"]


def row(manifest, figures):
    lines = sum(not line.startswith("#") for line in manifest.read_text().splitlines())
    size = heads(manifest, "size")[0][0]
    source = f"`{pathlib.PurePath(heads(manifest, 'fetch')[0][2]).name}`"
    return "| " + " | ".join([f"`{name_of(manifest)}`", source, str(lines), size, *figures]) + " |"


def tune(manifests, device, options):
    rows = {}
    for manifest in manifests:
        figures = measured(manifest, device, heads(manifest, "size")[0][0], options)
        rows[name_of(manifest)] = row(manifest, figures)
        print(rows[name_of(manifest)], flush=True)
    write(list(rows.values()))
    return sum("x |" not in each for each in rows.values())


def write(rows):
    """Replaces the table of README.md."""
    table = "\n".join([HEAD, re.sub(r"[^|]+", "---", HEAD), *rows]) + "\n"
    text = README.read_text()
    README.write_text(re.sub(r"\| manifest \| source .*?\n(?=\n)", lambda _: table, text,
                             flags=re.DOTALL))


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("fetch", "check", "tune"):
        sys.exit(__doc__)
    manifests = sorted(HERE.glob("*.target.toml"))
    if sys.argv[1] == "fetch":
        for manifest in manifests:
            fetch(manifest)
        return
    if sys.argv[1] == "check":
        device = sys.argv[2] if len(sys.argv) > 2 else "model:h100"
        failed = sum(check(manifest, device) != 0 for manifest in manifests)
    else:
        device = sys.argv[2] if len(sys.argv) > 2 else "cuda:0"
        failed = tune(manifests, device, sys.argv[3:])
    sys.exit(f"{failed} of {len(manifests)} failed" if failed else 0)


if __name__ == "__main__":
    main()

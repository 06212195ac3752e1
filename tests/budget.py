#!/usr/bin/env python3
"""usage: tests/budget.py

Prints how many lines of code each folder has, without blank lines and comments, beside the most
that the table in CONTRIBUTING.md allows it; fails where a folder has more, or is not in the table.
Presets, documents and build files are not code. SPDX-License-Identifier: MIT
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
C_LIKE = set(".c .h .cc .cu .cuh .cpp .hpp .def .inc .js .css .frag .vert .glsl".split())
HASH = {".py", ".sh", ".html"}
NOT_COUNTED = {"tests", "examples", "docs", "packaging", "debian"}
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.S)


def count(path):
    text = path.read_text(errors="replace")
    if path.suffix in C_LIKE:
        text = COMMENT.sub(lambda m: m[1] or "\n" * m[0].count("\n"), text)
        return sum(1 for line in text.split("\n") if line.strip())
    return sum(1 for line in text.split("\n") if not re.match(r"\s*(#|$)", line))


def main():
    rows = re.findall(r"^\| (\w+)/ \| (\d+) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    allowed = {folder: int(most) for folder, most in rows}
    lines = {}
    for path in ROOT.glob("[a-z]*/**/*"):
        folder = path.relative_to(ROOT).parts[0]
        if path.suffix in C_LIKE | HASH and "presets" not in path.parts and \
                folder not in NOT_COUNTED and not folder.startswith("build"):
            lines[folder] = lines.get(folder, 0) + count(path)
    failed = False
    for folder, number in sorted(lines.items()):
        most = allowed.get(folder, 0)
        print("%-12s %6d of %6d%s" % (folder, number, most, "  TOO MANY" * (number > most)))
        failed |= number > most
    print("%-12s %6d" % ("shipped", sum(lines.values()) - lines.get("training", 0)))
    if failed:
        print("CONTRIBUTING.md has the table: take lines out, or say in the commit what leaves")
    return failed


sys.exit(main())

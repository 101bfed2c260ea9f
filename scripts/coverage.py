#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage.py BUILD LEAST: which lines of src/ ran, over all variants; fails below LEAST per cent.

A line counts once: it ran if it did in any variant that has it. By gcov alone, since gcovr cannot join variants that
define a function in different places.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))


def objects(build):
    for folder, _, names in os.walk(build):
        yield from (os.path.join(folder, name) for name in names if name.endswith(".gcda"))


def read(path, lines):
    """Adds what one object file knows: {file: {line: ran}}."""
    out = subprocess.run(["gcov", "--json-format", "--stdout", os.path.abspath(path)], check=True,
                         capture_output=True, text=True, cwd=os.path.dirname(path)).stdout
    data = json.loads(out)
    for file in data["files"]:
        name = os.path.relpath(os.path.realpath(os.path.join(data["current_working_directory"], file["file"])), ROOT)
        if name.startswith("src/"):
            of_file = lines.setdefault(name, {})
            for line in file["lines"]:
                of_file[line["line_number"]] = of_file.get(line["line_number"], False) or line["count"] > 0


def ranges(numbers, known):
    """Line numbers as "3,7-9"; lines without code do not end a range."""
    parts = []
    for number in numbers:
        if parts and not any(parts[-1][1] < other < number for other in known):
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def main():
    build, least = sys.argv[1], float(sys.argv[2])
    lines = {}
    for path in objects(build):
        read(path, lines)
    if not lines:
        sys.exit(f"coverage: {build} has no data of src/")
    ran = total = 0
    for name, of_file in sorted(lines.items()):
        missing = sorted(number for number, did in of_file.items() if not did)
        ran += len(of_file) - len(missing)
        total += len(of_file)
        if missing:
            print(f"{name:28} {len(of_file) - len(missing):4} of {len(of_file):4}  not {ranges(missing, of_file)}")
    rate = 100 * ran / total
    print(f"lines: {rate:.1f}% ({ran} out of {total})")
    if rate < least:
        sys.exit(f"coverage: less than {least:g} per cent")


main()

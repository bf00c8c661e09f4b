"""compare.py A B: prints how the results in folder A differ from those in B.

Files that are equal to the bit are counted; numbers in the others (fields of VTU, columns of
CSV, kinetic_energy of report.json) may differ by 1e-12 of the largest one of their field. Times
of the report are not results. Exit code 1 beyond that, or if nothing was compared.
"""

import csv
import json
import re
import struct
import sys
from pathlib import Path

LIMIT = 1e-12
NAMES = ("kinetic_energy", "divergence_max", "time_s", "steps", "cells", "faces")


def vtu(path):
    raw = path.read_bytes()
    head, tail = raw.split(b'<AppendedData encoding="raw">', 1)
    start = len(raw) - len(tail) + tail.index(b"_") + 1
    fields = {}
    for tag in re.findall(rb"<DataArray [^>]*Float64[^>]*>", head):
        name = re.search(rb'Name="([^"]*)"', tag)
        at = start + int(re.search(rb'offset="(\d+)"', tag)[1])
        (size,) = struct.unpack_from("<Q", raw, at)
        values = struct.unpack_from(f"<{size // 8}d", raw, at + 8)
        fields[name[1].decode() if name else "points"] = values
    return fields


def table(path):
    rows = list(csv.reader(path.open()))
    fields = {}
    for i, name in enumerate(rows[0]):
        # The components of a vector are one field: u_m_s and v_m_s.
        values = fields.setdefault(name.partition("_")[2], [])
        values.extend(float(r[i] or "nan") for r in rows[1:])
    return fields


def report(path):
    said = json.loads(path.read_text())
    return {name: [float(said[name])] for name in NAMES}


def distance(a, b):
    if len(a) != len(b):
        return float("inf")
    size = max((abs(x) for x in b if x == x), default=0.0) or 1.0
    pairs = [(x, y) for x, y in zip(a, b) if not (x != x and y != y)]
    worst = max((abs(x - y) for x, y in pairs), default=0.0)
    return worst / size if worst == worst else float("inf")


def main(a, b):
    equal, worst = 0, 0.0
    names = sorted(p.relative_to(b) for p in b.rglob("*") if p.suffix in (".vtu", ".csv", ".json"))
    for name in names:
        read = {".vtu": vtu, ".csv": table, ".json": report}[name.suffix]
        if name.suffix != ".json" and (a / name).read_bytes() == (b / name).read_bytes():
            equal += 1
            continue
        ours, theirs = read(a / name), read(b / name)
        if ours.keys() != theirs.keys():
            print(f"{name}: other fields: {sorted(ours)} and {sorted(theirs)}")
            return 1
        apart = max(distance(ours[field], theirs[field]) for field in theirs)
        equal += apart == 0
        worst = max(worst, apart)
    print(f"{equal} of {len(names)} files equal to the bit, the others within {worst:.1e}")
    return 0 if names and worst <= LIMIT else 1


sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))

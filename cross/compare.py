"""compare.py A B [LIMIT]: prints how the results in folder A differ from those in B.

Files that are equal to the bit are counted; numbers in the others (fields of VTU, columns of
CSV, kinetic_energy of report.json) may differ by 1e-12 of the largest one of their field. Times
of the report are not results. Exit code 1 beyond that, or if nothing was compared.

With a LIMIT in place of 1e-12, A is of several ranks: each writes fields of its own, sums are added in
another order, and what is left of the divergence is round-off; the rest is compared.
"""

import csv
import json
import re
import struct
import sys
from functools import partial
from pathlib import Path

LIMIT = 1e-12
SAME = ("kinetic_energy", "time_s", "steps", "cells", "faces")


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


def report(path, names):
    said = json.loads(path.read_text())
    return {name: [float(said[name])] for name in names}


def distance(a, b):
    if len(a) != len(b):
        return float("inf")
    size = max((abs(x) for x in b if x == x), default=0.0) or 1.0
    pairs = [(x, y) for x, y in zip(a, b) if not (x != x and y != y)]
    worst = max((abs(x - y) for x, y in pairs), default=0.0)
    return worst / size if worst == worst else float("inf")


def main(a, b, limit=None):
    equal, worst = 0, 0.0
    read_report = partial(report, names=SAME if limit else (*SAME, "divergence_max"))
    readers = {".csv": table, ".json": read_report} | ({} if limit else {".vtu": vtu})
    names = sorted(p.relative_to(b) for p in b.rglob("*") if p.suffix in readers)
    for name in names:
        read = readers[name.suffix]
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
    return 0 if names and worst <= (limit or LIMIT) else 1


sys.exit(main(*map(Path, sys.argv[1:3]), *map(float, sys.argv[3:])))

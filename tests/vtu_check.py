"""Reads what couloir wrote for ParaView with independent readers.

usage: vtu_check.py FOLDER

FOLDER holds series.pvd, the VTU files that it lists, and expected.json: for each file the
time, points, cells' points, VTK types, volumes, and arrays. Uses the vtk and meshio
packages, whichever are there; exit code 3 means that neither is.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree as xml

folder = pathlib.Path(sys.argv[1])
readers = []


def same(what, got, want, tolerance=0.0):
    got, want = list(got), list(want)
    if len(got) != len(want):
        sys.exit(f"{what}: {len(got)} values, not {len(want)}")
    for i, (g, w) in enumerate(zip(got, want)):
        if not abs(g - w) <= tolerance:
            sys.exit(f"{what}[{i}]: {g}, not {w}")


def flat(rows):
    return [x for row in rows for x in (row if hasattr(row, "__len__") else [row])]


def check_vtk(path, want):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    errors = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append("error"))
    reader.Update()
    grid = reader.GetOutput()
    if errors:
        sys.exit(f"vtk: {path} was not read")
    count = grid.GetNumberOfCells()
    same("vtk points", flat(grid.GetPoint(i) for i in range(grid.GetNumberOfPoints())), want["points"])
    same("vtk types", (grid.GetCellType(i) for i in range(count)), want["types"])
    ids = (grid.GetCell(i).GetPointIds() for i in range(count))
    same("vtk cells", flat([c.GetId(k) for k in range(c.GetNumberOfIds())] for c in ids), want["cells"])
    data = grid.GetCellData()
    if data.GetNumberOfArrays() != len(want["arrays"]):
        sys.exit(f"vtk: {data.GetNumberOfArrays()} arrays")
    for name, values in want["arrays"].items():
        array = data.GetArray(name)
        if array is None:
            sys.exit(f"vtk: no array {name!r}")
        same(f"vtk {name}", flat(array.GetTuple(i) for i in range(count)), values)
    size = vtk.vtkCellSizeFilter()
    size.SetInputData(grid)
    size.Update()
    volumes = size.GetOutput().GetCellData().GetArray("Volume")
    # VTK before 9.6 wants prisms the other way round: their sign is wrong there.
    got = [volumes.GetTuple1(i) for i in range(count)]
    if vtk.vtkVersion().GetVTKMajorVersion() * 100 + vtk.vtkVersion().GetVTKMinorVersion() < 906:
        got = [abs(v) for v in got]
    same("vtk volumes", got, want["volumes"], 1e-12)


def check_meshio(path, want):
    mesh = meshio.read(path)
    same("meshio points", flat(mesh.points.tolist()), want["points"])
    numbers = {"tetra": 10, "hexahedron": 12, "wedge": 13, "pyramid": 14}
    types = [numbers[block.type] for block in mesh.cells for _ in block.data]
    # meshio groups the cells by shape; so are the expected ones.
    same("meshio types", types, want["types"])
    cells = []
    for block in mesh.cells:
        # meshio turns the prisms of VTK before 9.6 round; back again.
        turn = [0, 2, 1, 3, 5, 4] if block.type == "wedge" else slice(None)
        cells += flat(block.data[:, turn].tolist())
    same("meshio cells", cells, want["cells"])
    for name, values in want["arrays"].items():
        same(f"meshio {name}", flat(flat(b.tolist()) for b in mesh.cell_data[name]), values)


try:
    import vtk

    readers.append(check_vtk)
except ImportError:
    pass
try:
    import meshio

    readers.append(check_meshio)
except ImportError:
    pass
if not readers:
    sys.exit(3)

expected = json.loads((folder / "expected.json").read_text())
listed = xml.parse(folder / "series.pvd").getroot().findall("./Collection/DataSet")
same("times", (float(d.get("timestep")) for d in listed), (e["time"] for e in expected))
for data_set, want in zip(listed, expected):
    for check in readers:
        check(folder / data_set.get("file"), want)
print(f"{len(listed)} files read by {', '.join(r.__name__[6:] for r in readers)}")

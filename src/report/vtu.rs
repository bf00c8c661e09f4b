//! Fields on the mesh for ParaView: one VTU file per time, and a PVD that lists them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::write::write_file;
use crate::mesh::{CellKind, Mesh};
use crate::{Error, Result};

/// Values of a field, one (or three) per cell, in the mesh's order of cells.
#[derive(Clone, Copy)]
pub enum Values<'a> {
    /// One number per cell.
    Scalar(&'a [f64]),
    /// Three numbers per cell, together.
    Vector(&'a [[f64; 3]]),
    /// Three numbers per cell, each component in its own array.
    Components([&'a [f64]; 3]),
}

/// A named cell field.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// As ParaView shows it.
    pub name: &'a str,
    /// Its values.
    pub values: Values<'a>,
}

impl Values<'_> {
    fn components(&self) -> usize {
        match self {
            Self::Scalar(_) => 1,
            Self::Vector(_) | Self::Components(_) => 3,
        }
    }

    /// Cells for which there are values; the shortest component counts.
    fn cells(&self) -> usize {
        match self {
            Self::Scalar(v) => v.len(),
            Self::Vector(v) => v.len(),
            Self::Components(c) => c.iter().map(|v| v.len()).min().unwrap_or(0),
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut put = |v: &f64| out.write_all(&v.to_le_bytes());
        match self {
            Self::Scalar(v) => v.iter().try_for_each(put),
            Self::Vector(v) => v.iter().flatten().try_for_each(put),
            Self::Components([x, y, z]) => {
                (x.iter().zip(*y).zip(*z)).try_for_each(|((x, y), z)| {
                    put(x)?;
                    put(y)?;
                    put(z)
                })
            }
        }
    }
}

/// VTK's number of a shape. The order of points is the mesh's: VTK's own for all shapes. For
/// prisms that holds from VTK 9.6 on; older ones wanted the triangles the other way round,
/// and show such prisms correctly but give them a negative volume.
fn vtk_type(kind: CellKind) -> u8 {
    match kind {
        CellKind::Tetrahedron => 10,
        CellKind::Hexahedron => 12,
        CellKind::Prism => 13,
        CellKind::Pyramid => 14,
    }
}

type Fill<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// One array of the file: its element in the header, and its bytes.
struct Block<'a> {
    attributes: String,
    bytes: usize,
    write: Box<Fill<'a>>,
}

/// Writes the mesh with cell fields as a VTU file (raw appended data, little endian, sizes
/// in 64 bits).
///
/// # Errors
/// [`Error::Failure`] for a field that has not one value per cell; [`Error::Io`].
pub fn write_vtu(path: &Path, mesh: &Mesh, fields: &[Field]) -> Result<()> {
    for field in fields {
        let (got, want) = (field.values.cells(), mesh.cells());
        if got != want {
            let what = format!(
                "field {:?} has values for {got} of {want} cells",
                field.name
            );
            return Err(Error::failure(what, "give one value per cell"));
        }
    }
    write_file(path, |out| write_all(out, mesh, fields))
}

fn write_all(out: &mut dyn Write, mesh: &Mesh, fields: &[Field]) -> io::Result<()> {
    let (points, cells) = (mesh.points.len(), mesh.cells());
    let topology = topology(mesh);
    let mut offset = 0;
    // Each block is its size in bytes, then the bytes.
    let mut element = |out: &mut dyn Write, block: &Block| {
        writeln!(
            out,
            "<DataArray {} format=\"appended\" offset=\"{offset}\"/>",
            block.attributes
        )?;
        offset += 8 + block.bytes;
        io::Result::Ok(())
    };

    writeln!(out, "<?xml version=\"1.0\"?>")?;
    writeln!(
        out,
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n<UnstructuredGrid>\n\
         <Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n<Points>"
    )?;
    let coordinates = vector_block("points", Values::Vector(&mesh.points));
    element(out, &coordinates)?;
    writeln!(out, "</Points>\n<Cells>")?;
    for block in &topology {
        element(out, block)?;
    }
    writeln!(out, "</Cells>\n<CellData>")?;
    let fields: Vec<Block> = fields
        .iter()
        .map(|f| vector_block(f.name, f.values))
        .collect();
    for block in &fields {
        element(out, block)?;
    }
    writeln!(out, "</CellData>\n</Piece>\n</UnstructuredGrid>")?;
    write!(out, "<AppendedData encoding=\"raw\">\n_")?;
    for block in [&coordinates].into_iter().chain(&topology).chain(&fields) {
        out.write_all(&(block.bytes as u64).to_le_bytes())?;
        (block.write)(out)?;
    }
    writeln!(out, "\n</AppendedData>\n</VTKFile>")
}

fn vector_block<'a>(name: &str, values: Values<'a>) -> Block<'a> {
    let components = values.components();
    Block {
        attributes: format!(
            "type=\"Float64\" Name=\"{}\" NumberOfComponents=\"{components}\"",
            escape(name)
        ),
        bytes: 8 * components * values.cells(),
        write: Box::new(move |out| values.write(out)),
    }
}

/// Points of all cells, where each cell's end, and the shapes.
fn topology(mesh: &Mesh) -> [Block<'_>; 3] {
    let block = |name: &str, kind: &str, bytes, write| Block {
        attributes: format!("type=\"{kind}\" Name=\"{name}\""),
        bytes,
        write,
    };
    let ends = mesh.cell_ptr.get(1..).unwrap_or_default();
    [
        block(
            "connectivity",
            "Int64",
            8 * mesh.cell_points.len(),
            Box::new(|out: &mut dyn Write| {
                (mesh.cell_points.iter())
                    .try_for_each(|&p| out.write_all(&i64::from(p).to_le_bytes()))
            }),
        ),
        block(
            "offsets",
            "Int64",
            8 * ends.len(),
            Box::new(|out: &mut dyn Write| {
                ends.iter()
                    .try_for_each(|&end| out.write_all(&(end as i64).to_le_bytes()))
            }),
        ),
        block(
            "types",
            "UInt8",
            mesh.cells(),
            Box::new(|out: &mut dyn Write| {
                (mesh.kinds.iter()).try_for_each(|&kind| out.write_all(&[vtk_type(kind)]))
            }),
        ),
    ]
}

/// Text for XML attributes and elements.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Other control characters are not allowed in XML, not even escaped.
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Writes the file that joins `pieces`, names in its folder, to one data set with these fields.
///
/// # Errors
/// [`Error::Io`].
pub fn write_pvtu(path: &Path, pieces: &[String], fields: &[Field]) -> Result<()> {
    write_file(path, |out| {
        writeln!(
            out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" \
             byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
             <PUnstructuredGrid GhostLevel=\"0\">\n<PPoints>\n\
             <PDataArray type=\"Float64\" Name=\"points\" NumberOfComponents=\"3\"/>\n\
             </PPoints>\n<PCellData>"
        )?;
        for field in fields {
            writeln!(
                out,
                "<PDataArray type=\"Float64\" Name=\"{}\" NumberOfComponents=\"{}\"/>",
                escape(field.name),
                field.values.components()
            )?;
        }
        writeln!(out, "</PCellData>")?;
        for piece in pieces {
            writeln!(out, "<Piece Source=\"{}\"/>", escape(piece))?;
        }
        writeln!(out, "</PUnstructuredGrid>\n</VTKFile>")
    })
}

/// A time series of VTU files: the PVD file that ParaView opens.
pub struct Collection {
    path: PathBuf,
    entries: Vec<(f64, String)>,
}

impl Collection {
    /// An empty series at `path`; nothing is written yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            entries: Vec::new(),
        }
    }

    /// Writes the series with the fields at time `time_s`, which are whole in `file`, a name in
    /// the series' folder.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn add(&mut self, time_s: f64, file: &str) -> Result<()> {
        self.entries.push((time_s, file.to_string()));
        write_file(&self.path, |out| {
            writeln!(
                out,
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" \
                 byte_order=\"LittleEndian\">\n<Collection>"
            )?;
            for (time_s, file) in &self.entries {
                let file = escape(file);
                writeln!(out, "<DataSet timestep=\"{time_s}\" file=\"{file}\"/>")?;
            }
            writeln!(out, "</Collection>\n</VTKFile>")
        })
    }
}

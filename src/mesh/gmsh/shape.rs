//! Element types of the MSH format.

use crate::mesh::CellKind;

/// What a first-order element is to a mesh of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A point or a line: of no use here.
    Ignored { nodes: usize },
    /// A triangle or quadrilateral.
    Surface { nodes: usize },
    /// A cell.
    Volume(CellKind),
}

impl Shape {
    pub fn nodes(self) -> usize {
        match self {
            Self::Ignored { nodes } | Self::Surface { nodes } => nodes,
            Self::Volume(kind) => kind.points(),
        }
    }

    /// Shape of an MSH element type, or its name if cells cannot have it.
    pub fn of(element_type: i32) -> Result<Self, String> {
        let name = match element_type {
            15 => return Ok(Self::Ignored { nodes: 1 }),
            1 => return Ok(Self::Ignored { nodes: 2 }),
            2 => return Ok(Self::Surface { nodes: 3 }),
            3 => return Ok(Self::Surface { nodes: 4 }),
            4 => return Ok(Self::Volume(CellKind::Tetrahedron)),
            5 => return Ok(Self::Volume(CellKind::Hexahedron)),
            6 => return Ok(Self::Volume(CellKind::Prism)),
            7 => return Ok(Self::Volume(CellKind::Pyramid)),
            8 => "3-node line",
            9 => "6-node triangle",
            10 => "9-node quadrilateral",
            11 => "10-node tetrahedron",
            12 => "27-node hexahedron",
            13 => "18-node prism",
            14 => "14-node pyramid",
            16 => "8-node quadrilateral",
            17 => "20-node hexahedron",
            18 => "15-node prism",
            19 => "13-node pyramid",
            20 => "9-node triangle",
            21 => "10-node triangle",
            22 => "12-node triangle",
            23 => "15-node triangle",
            24 => "incomplete 15-node triangle",
            25 => "21-node triangle",
            26 => "4-node line",
            27 => "5-node line",
            28 => "6-node line",
            29 => "20-node tetrahedron",
            30 => "35-node tetrahedron",
            31 => "56-node tetrahedron",
            _ => return Err(format!("of unknown type {element_type}")),
        };
        Err(format!("of type {element_type} ({name})"))
    }
}

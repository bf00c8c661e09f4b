//! `y <- A x` in compressed sparse rows on the device alone: the format that others use, to compare
//! with. No solver calls it.

use opencl3::kernel::Kernel as ClKernel;

use super::engine::Engine;
use super::launch::set_args;
use crate::kernel::Real;
use crate::node::program::Program;
use crate::node::{Buffer, Device};
use crate::sparse::Csr;
use crate::{Error, Result};

/// Work-items of a group.
const GROUP: usize = 128;
/// Most work-items of a row: those that a device runs in step.
const MOST_LANES: usize = 32;

/// A matrix, its vectors and the kernel that multiplies them.
pub struct CsrProduct<T: Real> {
    kernel: ClKernel,
    row_ptr: Buffer<u32>,
    col: Buffer<u32>,
    val: Buffer<T>,
    /// The vector that is multiplied.
    pub x: Buffer<T>,
    /// The product.
    pub y: Buffer<T>,
    rows: usize,
    lanes: usize,
}

impl<T: Real> Engine<T> {
    /// Copies `a` and compiles the product with `x` for rows of its mean length.
    ///
    /// # Errors
    /// There is no device; it is out of memory, or its compiler fails; 2^32 entries or more.
    pub fn csr(&self, a: &Csr, x: Buffer<T>) -> Result<CsrProduct<T>> {
        self.csr_by(a, x, lanes(a, self.csr_device()?.info.software))
    }

    /// As [`Engine::csr`], with so many work-items for each row, a power of two.
    fn csr_by(&self, a: &Csr, x: Buffer<T>, lanes: usize) -> Result<CsrProduct<T>> {
        let (node, device) = (&self.node, self.csr_device()?);
        let too_many = |_| {
            Error::input(
                "--format csr",
                format!("{} entries need wider row pointers", a.entries()),
                "use --format sell",
            )
        };
        let pointers = a.row_ptr.iter().map(|&at| u32::try_from(at));
        let row_ptr = pointers.collect::<std::result::Result<Vec<u32>, _>>();
        let row_ptr = row_ptr.map_err(too_many)?;
        let values: Vec<T> = a.val.iter().map(|&v| T::of(v)).collect();
        let double = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
        let double = if T::CL == "double" { double } else { "" };
        let source = format!("{double}{}", include_str!("../../cl/csr.cl"));
        let options = format!(
            "-w -D REAL={} -D GROUP={GROUP} -D LANES_OF_ROW={lanes}",
            T::CL
        );
        let program = Program::build(device, &source, &options, Self::kernel_cache().as_deref())?;
        Ok(CsrProduct {
            kernel: program.kernel("csr_kernel")?,
            row_ptr: node.buffer_from(&row_ptr)?,
            col: node.buffer_from(&a.col)?,
            val: node.buffer_from(&values)?,
            x,
            y: node.buffer(a.rows)?,
            rows: a.rows,
            lanes,
        })
    }

    /// Starts the product.
    ///
    /// # Errors
    /// The device failed.
    pub fn start_csr(&self, p: &mut CsrProduct<T>) -> Result<()> {
        let device = self.csr_device()?;
        let read = |b: &Buffer<u32>| b.share(usize::MAX, usize::MAX).map(|s| s.device);
        let numbers = |b: &Buffer<T>| b.share(usize::MAX, usize::MAX).map(|s| s.device);
        let args = [
            read(&p.row_ptr)?,
            read(&p.col)?,
            numbers(&p.val)?,
            numbers(&p.x)?,
        ];
        let y = p.y.split_at(usize::MAX, false)?.0.arg;
        let fail = |code| device.link.error("csr", code);
        device.link.queue.order().map_err(fail)?;
        let (kernel, rows) = (p.kernel.get(), [p.rows as u32]);
        let next = set_args::<u32>(kernel, 0, &[y], &[]).map_err(fail)?;
        set_args(kernel, next, &args, &rows).map_err(fail)?;
        let items = (p.rows * p.lanes).next_multiple_of(GROUP);
        device.link.queue.start(kernel, items, GROUP).map_err(fail)
    }

    fn csr_device(&self) -> Result<&Device> {
        self.node
            .device
            .as_deref()
            .ok_or_else(|| Error::input("--where device", "there is no device", "use --where cpu"))
    }
}

/// Work-items of a row: half as many as it has entries, on average; one where a work-item is a loop.
fn lanes(a: &Csr, software: bool) -> usize {
    if software {
        return 1;
    }
    let mean = a.entries() / a.rows.max(1);
    (mean.max(2) / 2).next_power_of_two().min(MOST_LANES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::spmv;
    use crate::node::opencl::devices;
    use crate::node::{BLOCK, Config, DeviceChoice};
    use crate::split::Policy;

    #[test]
    fn rows_of_any_length_by_any_number_of_work_items() {
        let usable = devices().unwrap_or_default().into_iter().filter(|d| d.fp64);
        let mut some = 0;
        for device in usable {
            some += 1;
            let config = Config {
                device: DeviceChoice::Index(device.index),
                threads: Some(1),
                ..Config::default()
            };
            let kernels = [spmv::kernel()];
            let engine = Engine::open_with(&config, Policy::Fixed(1.0), &kernels, None).unwrap();
            for rows in [1, 127, 2 * BLOCK + 31] {
                let cols = rows + 5;
                // Empty rows, short ones, and one with every column.
                let a = Csr::from_rows(rows, cols, |i, row| {
                    let count = if i == rows / 2 { cols } else { i % 4 * 3 };
                    let step = cols / count.max(1);
                    let value = |k: usize| 1.0 + (7 * i + 3 * k) as f64 / 64.0;
                    row.extend((0..count.min(cols)).map(|k| ((k * step.max(1)) as u32, value(k))));
                });
                let expected = a.apply(&(0..cols).map(|j| j as f64).collect::<Vec<_>>());
                for lanes in [1, 2, 8, 32] {
                    let mut x = engine.node.buffer(cols).unwrap();
                    for (j, x) in x.write().unwrap().iter_mut().take(cols).enumerate() {
                        *x = j as f64;
                    }
                    let mut product = engine.csr_by(&a, x, lanes).unwrap();
                    engine.start_csr(&mut product).unwrap();
                    let y = product.y.read().unwrap();
                    for (i, (y, e)) in y.iter().zip(&expected).enumerate() {
                        let near = (y - e).abs() <= 1e-12 * e.abs();
                        assert!(near, "row {i} of {rows}, {lanes} work-items: {y} for {e}");
                    }
                }
            }
        }
        if some == 0 {
            eprintln!("SKIPPED: no device with double precision");
        }
    }

    #[test]
    fn long_rows_get_many_work_items_and_loops_one() {
        let of = |entries: usize| {
            Csr::from_rows(9, 400, |_, row| {
                row.extend((0..entries).map(|j| (j as u32, 1.0)))
            })
        };
        let by = [0, 5, 7, 17, 300].map(|n| lanes(&of(n), false));
        assert_eq!(by, [1, 2, 4, 8, 32]);
        assert_eq!(lanes(&of(300), true), 1);
    }
}

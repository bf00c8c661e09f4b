//! One buffer type over every kind of memory.

use std::marker::PhantomData;
use std::rc::Rc;

use bytemuck::Pod;

use super::device::Device;
use super::memory::{Arg, Discrete, Host, Store, Svm, ZeroCopy};
use super::{MemoryKind, padded};
use crate::Result;

/// `len` values of `T` for CPU threads and device alike, padded with zeros to whole blocks; behind
/// them a halo, where one is asked for: copies of values that another process owns.
pub struct Buffer<T: Pod> {
    store: Box<dyn Store>,
    len: usize,
    halo: usize,
    _values: PhantomData<T>,
}

/// A buffer that both sides read: the host's view and the device's argument.
pub struct Shared<'a, T> {
    /// Values from row `first` on; empty if the host reads none.
    pub host: &'a [T],
    /// Row of `host[0]`.
    pub first: usize,
    /// The device's argument.
    pub device: Arg,
}

/// The device's rows `[0, cut)` of a split buffer.
pub struct DevicePart<'a> {
    /// The kernel's argument.
    pub arg: Arg,
    _borrow: PhantomData<&'a mut ()>,
}

/// The host's rows `[first, ..)` of a split buffer.
pub struct HostPart<'a, T> {
    /// The values.
    pub rows: &'a mut [T],
    /// Row of `rows[0]`.
    pub first: usize,
}

fn extent(len: usize, halo: usize) -> usize {
    padded(len.max(1)) + padded(halo)
}

impl<T: Pod> Buffer<T> {
    /// `len` zeros in the device's kind of memory.
    ///
    /// # Errors
    /// Out of memory on host or device.
    pub fn new(device: Option<&Rc<Device>>, len: usize) -> Result<Self> {
        Self::with_halo(device, len, 0)
    }

    /// As [`Buffer::new`], with `halo` zeros more, from row [`rows`](Self::rows) on.
    ///
    /// # Errors
    /// As [`Buffer::new`].
    pub fn with_halo(device: Option<&Rc<Device>>, len: usize, halo: usize) -> Result<Self> {
        let bytes = extent(len, halo) * size_of::<T>();
        let store: Box<dyn Store> = match device {
            None => Box::new(Host::new(bytes)?),
            Some(d) => match d.memory {
                MemoryKind::Host => Box::new(Host::new(bytes)?),
                MemoryKind::Svm => Box::new(Svm::new(&d.link, bytes)?),
                MemoryKind::ZeroCopy => Box::new(ZeroCopy::new(&d.link, bytes)?),
                MemoryKind::Discrete => {
                    let store = Discrete::new(&d.link, bytes)?;
                    if halo > 0 {
                        // A device that does all rows keeps the halo, too.
                        store.share(bytes, bytes)?;
                    }
                    Box::new(store)
                }
            },
        };
        Ok(Self {
            store,
            len,
            halo,
            _values: PhantomData,
        })
    }

    /// Values asked for.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No values?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Values with padding, without the halo: whole blocks.
    pub fn rows(&self) -> usize {
        padded(self.len.max(1))
    }

    /// Values with padding and halo: whole blocks.
    pub fn extent(&self) -> usize {
        extent(self.len, self.halo)
    }

    /// Lets the device read rows `[0, device_to)` and the host rows `[host_from, ..)`.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn share(&self, device_to: usize, host_from: usize) -> Result<Shared<'_, T>> {
        let (rows, size) = (self.extent(), size_of::<T>());
        let first = host_from.min(rows);
        self.store.share(device_to.min(rows) * size, first * size)?;
        Ok(self.view(first))
    }

    /// As [`Buffer::share`], for a host that finds its values by their rows: the view begins at row
    /// 0 and holds old values before `host_from`; it is empty if the host reads none.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub(crate) fn share_reach(&self, device_to: usize, host_from: usize) -> Result<&[T]> {
        let shared = self.share(device_to, host_from)?;
        if shared.host.is_empty() {
            return Ok(&[]);
        }
        // SAFETY: every store keeps all of its bytes, initialised, before those that the host is
        // given, or maps the whole; nobody writes them before the next `split`, which needs
        // `&mut self`, but a `share` that brings more of them, after which this view is not used.
        Ok(unsafe { std::slice::from_raw_parts(self.store.host().cast(), self.extent()) })
    }

    /// Lets the device read rows `[0, cut)` and the host rows `[cut, ..)`, without a hand-over
    /// where the buffer is already cut there.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    ///
    /// # Safety
    /// The view must not be used after another call of `share` on this buffer.
    pub unsafe fn share_parts(&self, cut: usize) -> Result<Shared<'_, T>> {
        let cut = cut.min(self.extent());
        self.store.share_parts(cut * size_of::<T>())?;
        Ok(self.view(cut))
    }

    /// All values, for the host, which shares them already: nothing waits for the device.
    ///
    /// # Safety
    /// The last hand-over was a [`share`](Self::share) with the host from row 0 on.
    pub(crate) unsafe fn shared_before(&self) -> &[T] {
        self.view(0).host
    }

    fn view(&self, first: usize) -> Shared<'_, T> {
        let rows = self.extent();
        let host = if first < rows {
            // SAFETY: the store has made the rows from `first` on readable by the host until the
            // next `split`, which needs `&mut self` (or the next `share`, see `share_parts`); any
            // bits are a valid T (Pod).
            unsafe {
                std::slice::from_raw_parts(
                    self.store.host().cast::<T>().wrapping_add(first),
                    rows - first,
                )
            }
        } else {
            &[]
        };
        Shared {
            host,
            first,
            device: self.store.whole(),
        }
    }

    /// Cuts the buffer: the device writes rows `[0, cut)`, the host rows `[cut, ..)`. Where
    /// `keep`, each side also finds the present values of its part.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn split_at(
        &mut self,
        cut: usize,
        keep: bool,
    ) -> Result<(DevicePart<'_>, HostPart<'_, T>)> {
        let (rows, size) = (self.extent(), size_of::<T>());
        let cut = cut.min(rows);
        self.store.split(cut * size, keep)?;
        let rows = if cut < rows {
            // SAFETY: the store has given bytes [cut * size, rows * size) to the host alone; the
            // device's part ends at the cut, and `&mut self` excludes every other view.
            unsafe {
                std::slice::from_raw_parts_mut(
                    self.store.host().cast::<T>().wrapping_add(cut),
                    rows - cut,
                )
            }
        } else {
            &mut []
        };
        let device = DevicePart {
            arg: self.store.part(),
            _borrow: PhantomData,
        };
        Ok((device, HostPart { rows, first: cut }))
    }

    /// The values, for the host.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn read(&self) -> Result<&[T]> {
        Ok(&self.share(0, 0)?.host[..self.len])
    }

    /// The values with their padding and halo, for the host to change. Padding must stay zero.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn write(&mut self) -> Result<&mut [T]> {
        Ok(self.split_at(0, true)?.1.rows)
    }

    /// The halo, for the host to change; owned values stay where they are.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn halo_mut(&mut self) -> Result<&mut [T]> {
        let (at, halo) = (self.rows(), self.halo);
        Ok(&mut self.split_at(at, true)?.1.rows[..halo])
    }

    /// Whether the device alone has the rows, in memory of its own.
    pub(crate) fn is_remote(&self) -> bool {
        self.store.is_remote(self.rows() * size_of::<T>())
    }

    /// Notes that the device has been given a command that writes values of the buffer, all of
    /// which it [shares](Self::share).
    ///
    /// # Safety
    /// No host's view of the buffer is in use from now on.
    pub(crate) unsafe fn device_wrote(&self) {
        self.store.device_wrote();
    }

    /// Notes that the device has been given a command that brings it the values, all of which the
    /// host has.
    pub(crate) fn brought(&self) {
        self.store.brought();
    }

    /// Notes that so many values of the buffer have been copied by way of another one.
    pub(crate) fn count(&self, values: usize) {
        self.store.count(values * size_of::<T>());
    }

    /// Whether the host may change the halo while both sides read the values before it.
    pub fn halo_is_open(&self) -> bool {
        self.store.open()
    }

    /// The halo, where the host may change it while both sides read the values before it.
    ///
    /// # Safety
    /// No other view of the halo is in use while this one is.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn open_halo(&self) -> Option<&mut [T]> {
        self.store.open().then(|| {
            let first = self.store.host().cast::<T>().wrapping_add(self.rows());
            // SAFETY: the store holds `extent` values at one place for good, of which these are the
            // ones behind the rows; unaliased by the caller's promise; any bits are a valid T.
            unsafe { std::slice::from_raw_parts_mut(first, self.halo) }
        })
    }

    /// What a kernel is given to read the whole buffer.
    pub(crate) fn arg(&self) -> Arg {
        self.store.whole()
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        self.store.copied_bytes()
    }
}

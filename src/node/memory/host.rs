//! Plain host memory: there is no device.

use super::{Arg, Store};
use crate::Result;
use crate::node::pages::Pages;

/// Zeroed pages.
pub struct Host(Pages);

impl Host {
    /// `bytes` zero bytes.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(bytes: usize) -> Result<Self> {
        Pages::new(bytes).map(Self)
    }
}

impl Store for Host {
    fn share(&self, _: usize, _: usize) -> Result<()> {
        Ok(())
    }
    fn split(&self, _: usize, _: bool) -> Result<()> {
        Ok(())
    }
    fn open(&self) -> bool {
        true
    }
    fn host(&self) -> *mut u8 {
        self.0.as_ptr()
    }
    fn whole(&self) -> Arg {
        Arg::None
    }
    fn part(&self) -> Arg {
        Arg::None
    }
    fn copied_bytes(&self) -> u64 {
        0
    }
}

//! Messages of a border whose values a device with memory of its own packs and places: which values,
//! for the device, and memory on the way, pinned on the host and the device's.

use std::rc::Rc;

use super::halo::Halo;
use super::link::{Link, Reach};
use crate::Result;
use crate::node::pinned::Pinned;
use crate::node::{Buffer, Device};

/// Values of messages, in their order: four words each. The row, or the place in the halo; the
/// number of the first value of its link's message, where a message has one vector; values of the
/// message of one vector; the number among these.
pub(crate) struct List {
    /// The words.
    pub words: Buffer<u32>,
    /// Values.
    pub count: usize,
}

impl List {
    fn new(device: &Rc<Device>, links: &[Vec<u32>]) -> Result<Self> {
        let (mut words, mut first) = (Vec::new(), 0);
        for link in links {
            let count = link.len() as u32;
            for (k, &at) in link.iter().enumerate() {
                words.extend([at, first, count, k as u32]);
            }
            first += count;
        }
        let mut buffer = Buffer::new(Some(device), words.len())?;
        buffer.write()?[..words.len()].copy_from_slice(&words);
        Ok(Self {
            words: buffer,
            count: first as usize,
        })
    }
}

/// Memory of messages one way.
pub(crate) struct Bag {
    /// Before that on the device, to which it copies.
    pub host: Pinned,
    /// Words, so that any number type fits.
    pub device: Buffer<u64>,
}

impl Bag {
    fn new(device: &Rc<Device>, words: usize) -> Result<Self> {
        Ok(Self {
            host: Pinned::new(&device.link, 8 * words)?,
            device: Buffer::new(Some(device), words)?,
        })
    }
}

/// See the module.
pub(crate) struct Mail {
    sent: [List; 2],
    received: [List; 2],
    /// Out and in.
    pub out: Bag,
    pub into: Bag,
}

impl Mail {
    /// For messages of `halo`.
    pub fn new(device: &Rc<Device>, halo: &Halo) -> Result<Self> {
        let lists = |values: &dyn Fn(&Link, Reach) -> Vec<u32>| -> Result<[List; 2]> {
            let of = |reach| {
                let links = halo.links().iter().map(|link| values(link, reach));
                List::new(device, &links.collect::<Vec<_>>())
            };
            Ok([of(Reach::Face)?, of(Reach::Node)?])
        };
        let places = |link: &Link, reach| {
            let places = link.places(reach).into_iter().flatten();
            places.map(|place| place as u32).collect()
        };
        Ok(Self {
            sent: lists(&|link, reach| link.sent(reach).to_vec())?,
            received: lists(&places)?,
            out: Bag::new(device, halo.sent(Reach::Face))?,
            into: Bag::new(device, halo.received(Reach::Face))?,
        })
    }

    /// What is sent.
    pub fn sent(&self, reach: Reach) -> &List {
        &self.sent[reach as usize]
    }

    /// What comes, and where it belongs.
    pub fn received(&self, reach: Reach) -> &List {
        &self.received[reach as usize]
    }

    /// Makes room for messages of `[out, in]` bytes. Nothing may be under way.
    pub fn fit(&mut self, device: &Rc<Device>, bytes: [usize; 2]) -> Result<()> {
        for (bag, bytes) in [&mut self.out, &mut self.into].into_iter().zip(bytes) {
            bag.host.wait()?;
            if bag.host.bytes() < bytes {
                *bag = Bag::new(device, bytes.div_ceil(8))?;
            }
        }
        Ok(())
    }

    /// Whether it is `device`'s.
    pub fn is_of(&self, device: &Device) -> bool {
        Rc::ptr_eq(self.out.host.link(), &device.link)
    }
}

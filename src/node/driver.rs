//! Starting a kernel and waiting for it.
//!
//! A real device takes the launch from the calling thread. A software device (PoCL's basic
//! driver) works inside the thread that waits for it, so it gets a thread of its own, pinned to
//! the device's core; the hand-over spins.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::thread::JoinHandle;

use opencl3::command_queue::{finish, flush};
use opencl3::error_codes::{CL_SUCCESS, DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::kernel::{release_kernel, retain_kernel};
use opencl3::types::{cl_command_queue, cl_kernel};

use super::patience::Patience;
use super::topology;

/// One launch: handles as numbers, so that they can cross threads.
#[derive(Clone, Copy)]
struct Launch {
    queue: usize,
    kernel: usize,
    first: usize,
    global: usize,
    local: usize,
}

impl Launch {
    /// Asks for no event, as opencl3 would: each that a GPU has to signal costs it time (an H200
    /// 2 us a kernel).
    fn enqueue(self) -> Result<(), i32> {
        let library = cl3::load_library();
        let library = library.as_ref().map_err(|_| DLOPEN_RUNTIME_LOAD_FAILED)?;
        // Queue and kernel are live handles of one context (their owner, the Device, waits for every
        // launch before it is dropped); sizes are one-dimensional.
        let code = library.clEnqueueNDRangeKernel(
            self.queue as cl_command_queue,
            self.kernel as cl_kernel,
            1,
            &raw const self.first,
            &raw const self.global,
            &raw const self.local,
            0,
            std::ptr::null(),
            std::ptr::null_mut(),
        );
        match code {
            Some(CL_SUCCESS) => Ok(()),
            Some(code) => Err(code),
            None => Err(DLOPEN_FUNCTION_NOT_AVAILABLE),
        }
    }
}

/// The way kernels reach a device.
pub enum Driver {
    /// From the calling thread.
    Inline {
        /// The driver may wait for more before it gives the device a kernel, unless it is told not to.
        flush: bool,
    },
    /// From a pinned thread.
    Thread(Box<Helper>),
}

impl Driver {
    /// A thread on `cores` for a software device, else the calling thread, which tells the driver to
    /// `flush`.
    pub fn new(software: bool, cores: &[usize], flush: bool) -> Self {
        match software.then(|| Helper::start(cores)).flatten() {
            Some(helper) => Self::Thread(Box::new(helper)),
            None => Self::Inline { flush },
        }
    }

    /// Starts `kernel` over `global` work-items from number `first` on, in groups of `local`. A software device's thread
    /// takes one kernel at a time, so this waits for the one before.
    pub fn start(
        &self,
        queue: cl_command_queue,
        kernel: cl_kernel,
        [first, global, local]: [usize; 3],
    ) -> Result<(), i32> {
        let launch = Launch {
            queue: queue as usize,
            kernel: kernel as usize,
            first,
            global,
            local,
        };
        match self {
            Self::Inline { flush: true } => {
                launch.enqueue()?;
                flush(queue)
            }
            Self::Inline { flush: false } => launch.enqueue(),
            Self::Thread(h) => {
                h.wait()?;
                h.post(launch)
            }
        }
    }

    /// Tells the driver to start what was given to the queue directly, where it has to be told.
    pub fn push(&self, queue: cl_command_queue) -> Result<(), i32> {
        match self {
            Self::Inline { flush: false } => Ok(()),
            _ => flush(queue),
        }
    }

    /// Waits for what was started.
    pub fn wait(&self, queue: cl_command_queue) -> Result<(), i32> {
        match self {
            Self::Inline { .. } => finish(queue),
            Self::Thread(h) => h.wait(),
        }
    }
}

#[derive(Default)]
struct Slot {
    queue: AtomicUsize,
    kernel: AtomicUsize,
    first: AtomicUsize,
    global: AtomicUsize,
    local: AtomicUsize,
    turn: AtomicUsize,
    done: AtomicUsize,
    code: AtomicI32,
    asleep: AtomicBool,
    stop: AtomicBool,
}

/// The pinned thread of a software device.
pub struct Helper {
    slot: Arc<Slot>,
    handle: Option<JoinHandle<()>>,
}

impl Helper {
    fn start(cores: &[usize]) -> Option<Self> {
        let slot = Arc::new(Slot::default());
        let (seen, cores) = (Arc::clone(&slot), cores.to_vec());
        let spawned = std::thread::Builder::new()
            .name("couloir-device".into())
            .spawn(move || {
                if !cores.is_empty() {
                    topology::pin(&cores);
                }
                serve(&seen);
            });
        match spawned {
            Ok(handle) => Some(Self {
                slot,
                handle: Some(handle),
            }),
            Err(e) => {
                log::warn!(
                    "could not start the device's thread: {e}; the device shares the caller's"
                );
                None
            }
        }
    }

    fn post(&self, l: Launch) -> Result<(), i32> {
        // SAFETY: a live handle, which the thread releases once: its owner may go before that.
        unsafe { retain_kernel(l.kernel as cl_kernel) }?;
        let s = &self.slot;
        s.queue.store(l.queue, Ordering::Relaxed);
        s.kernel.store(l.kernel, Ordering::Relaxed);
        s.first.store(l.first, Ordering::Relaxed);
        s.global.store(l.global, Ordering::Relaxed);
        s.local.store(l.local, Ordering::Relaxed);
        s.turn.fetch_add(1, Ordering::SeqCst);
        self.wake();
        Ok(())
    }

    fn wait(&self) -> Result<(), i32> {
        let s = &self.slot;
        let mut patience = Patience::default();
        while s.done.load(Ordering::Acquire) != s.turn.load(Ordering::Relaxed) {
            patience.wait();
        }
        match s.code.load(Ordering::Relaxed) {
            0 => Ok(()),
            code => Err(code),
        }
    }

    fn wake(&self) {
        if self.slot.asleep.load(Ordering::SeqCst)
            && let Some(h) = &self.handle
        {
            h.thread().unpark();
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.wait();
        self.slot.stop.store(true, Ordering::SeqCst);
        self.slot.turn.fetch_add(1, Ordering::SeqCst);
        if let Some(h) = self.handle.take() {
            h.thread().unpark();
            let _ = h.join();
        }
    }
}

/// Held for launches of the usual form by many at once, for others by one alone: PoCL 3.1 keeps forms of a kernel
/// by where its work-items begin, and whether they are many, but counts who uses them by its name and group alone.
/// Where two threads run two forms at once, the count of one falls below 0, and the process ends
/// (`pocl_release_dlhandle_cache: Assertion found->ref_count > 0`).
static FORMS: RwLock<()> = RwLock::new(());

/// Work-items from which PoCL takes another form.
const MANY_ITEMS: usize = 65_535;

fn serve(s: &Slot) {
    let mut done = 0;
    loop {
        let mut patience = Patience::default();
        while s.turn.load(Ordering::Acquire) == done {
            if patience.turn() {
                continue;
            }
            s.asleep.store(true, Ordering::SeqCst);
            if s.turn.load(Ordering::SeqCst) == done {
                std::thread::park();
            }
            s.asleep.store(false, Ordering::SeqCst);
        }
        done = s.turn.load(Ordering::Acquire);
        if s.stop.load(Ordering::SeqCst) {
            return;
        }
        let launch = Launch {
            queue: s.queue.load(Ordering::Relaxed),
            kernel: s.kernel.load(Ordering::Relaxed),
            first: s.first.load(Ordering::Relaxed),
            global: s.global.load(Ordering::Relaxed),
            local: s.local.load(Ordering::Relaxed),
        };
        let run = || {
            let started = launch.enqueue();
            started.and_then(|()| finish(launch.queue as cl_command_queue))
        };
        let ran = if launch.first == 0 && launch.global < MANY_ITEMS {
            let _others = FORMS.read();
            run()
        } else {
            let _alone = FORMS.write();
            run()
        };
        let code = ran.err().unwrap_or(0);
        // SAFETY: retained when it was posted.
        let _ = unsafe { release_kernel(launch.kernel as cl_kernel) };
        s.code.store(code, Ordering::Relaxed);
        s.done.store(done, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::Program;
    use super::super::{Device, opencl};

    /// Else the process ends: see [`FORMS`](super::FORMS).
    #[test]
    fn threads_start_forms_of_one_kernel_at_once() {
        let launches = |index: usize| {
            let info = opencl::devices().unwrap().swap_remove(index);
            let device = Device::open(info, None, &[]).unwrap();
            let source = "__kernel void nothing(void) {}";
            let program = Program::build(&device, source, "", None).unwrap();
            let kernel = program.kernel("nothing").unwrap();
            let queue = &device.link.queue;
            for k in 0..10_000 {
                let [first, global] = match k % 100 {
                    99 => [0, 1 << 16],
                    k => [k % 2 * 64, 64],
                };
                queue.start_from(kernel.get(), first, global, 64).unwrap();
            }
            queue.settle().unwrap();
        };
        match opencl::devices() {
            Err(why) => eprintln!("SKIPPED: {why}"),
            Ok(all) => all.iter().for_each(|info| {
                std::thread::scope(|s| (0..3).for_each(|_| drop(s.spawn(|| launches(info.index)))));
            }),
        }
    }
}

//! The device's in-order queue: kernels are started one after the other, and nobody waits before
//! the host needs what they leave. What a batch of them took is then shared among the calls.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use opencl3::command_queue::CommandQueue;
use opencl3::types::{cl_command_queue, cl_kernel};

use super::driver::Driver;

/// Time of calls that nobody measured, to be read by their owner.
#[derive(Debug, Default)]
pub struct Account {
    /// Their share of the batches that have ended.
    seconds_s: Cell<f64>,
    /// What they are expected to take of the batch that has not.
    open_s: Cell<f64>,
}

impl Account {
    /// Time of the batches that have ended.
    pub fn seconds_s(&self) -> f64 {
        self.seconds_s.get()
    }
}

/// The calls since somebody waited.
#[derive(Default)]
struct Batch {
    since: Option<Instant>,
    accounts: Vec<Rc<Account>>,
}

/// An in-order queue and the way to it.
pub struct Queue {
    /// Declared before the queue, so ended before it.
    driver: Driver,
    queue: CommandQueue,
    /// Kernels may be running.
    busy: Cell<bool>,
    batch: RefCell<Batch>,
}

impl Queue {
    /// Starts kernels on `queue` through `driver`.
    pub fn new(queue: CommandQueue, driver: Driver) -> Self {
        Self {
            driver,
            queue,
            busy: Cell::new(false),
            batch: RefCell::default(),
        }
    }

    /// OpenCL's handle, for commands that block or come after all that was started. See
    /// [`order`](Self::order).
    pub fn get(&self) -> cl_command_queue {
        self.queue.get()
    }

    /// Does starting a kernel leave the host free for the next?
    pub fn runs_ahead(&self) -> bool {
        matches!(self.driver, Driver::Inline { .. })
    }

    /// Starts `kernel` over `global` work-items in groups of `local`, after all that was started.
    ///
    /// # Errors
    /// The code of the OpenCL call that failed.
    pub fn start(&self, kernel: cl_kernel, global: usize, local: usize) -> Result<(), i32> {
        self.start_from(kernel, 0, global, local)
    }

    /// As [`Queue::start`]; the first work-item has the number `first`.
    ///
    /// # Errors
    /// As [`Queue::start`].
    pub fn start_from(
        &self,
        kernel: cl_kernel,
        first: usize,
        global: usize,
        local: usize,
    ) -> Result<(), i32> {
        self.busy.set(true);
        let mut batch = self.batch.borrow_mut();
        batch.since.get_or_insert_with(Instant::now);
        let items = [first, global, local];
        self.driver.start(self.get(), kernel, items)
    }

    /// Puts down to `account` a call of the running batch that is expected to take `expected_s`.
    pub fn put_down(&self, account: &Rc<Account>, expected_s: f64) {
        if account.open_s.get() == 0.0 {
            self.batch.borrow_mut().accounts.push(Rc::clone(account));
        }
        account.open_s.set(account.open_s.get() + expected_s);
    }

    /// Returns when a command given to the queue directly comes after all that was started.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub fn order(&self) -> Result<(), i32> {
        if self.busy.get() && !self.runs_ahead() {
            self.driver.wait(self.get())?;
        }
        Ok(())
    }

    /// Sees to it that what was given to the queue directly starts though nobody waits for it.
    ///
    /// # Errors
    /// The code of the OpenCL call that failed.
    pub fn push(&self) -> Result<(), i32> {
        self.driver.push(self.get())
    }

    /// Returns when all that was started has finished.
    ///
    /// # Errors
    /// The code of the OpenCL call that failed, of a kernel that did.
    pub fn settle(&self) -> Result<(), i32> {
        if self.busy.replace(false) {
            self.driver.wait(self.get())?;
        }
        self.settled();
        Ok(())
    }

    /// To be called when a blocking command has returned: all before it has finished, too.
    pub fn settled(&self) {
        self.busy.set(false);
        let mut batch = self.batch.borrow_mut();
        let Some(since) = batch.since.take() else {
            return;
        };
        let seconds_s = since.elapsed().as_secs_f64();
        let expected_s: f64 = batch.accounts.iter().map(|a| a.open_s.get()).sum();
        for a in batch.accounts.drain(..) {
            let share = a.open_s.replace(0.0) / expected_s;
            a.seconds_s.set(a.seconds_s.get() + share * seconds_s);
        }
    }
}

//! A process beside each rank, which outlives it and tells when it was killed: some launchers
//! (MPICH's) end the other ranks at once, so that none of them is left to say a word.
//!
//! The witness is forked before MPI starts. It waits for a robust lock that the rank holds as long
//! as it lives, and reads rank and step from the page that both share. Where the rank has not said
//! that its end is in order, the witness does the telling. One witness of a machine tells, the
//! first: the launcher kills the other ranks after the one that was lost. (The system gives up the
//! locks of a process before it closes its sockets, by which launchers learn of its end.)

use std::cell::{Cell, UnsafeCell};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a rank lets others know of itself.
pub struct Note {
    /// Its number.
    pub rank: AtomicUsize,
    /// The time step, from 1; 0 before the first.
    pub step: AtomicUsize,
    /// Whether the rank has told by itself why it ends, or ends as it should.
    told: AtomicBool,
    /// Whether the witness has been asked to keep the others of its machine silent, and does.
    hush: AtomicBool,
    /// Its answer: [`FIRST`], [`LATE`], or 0 for none so far.
    hushed: AtomicU8,
    /// Held by the rank's main thread.
    alive: UnsafeCell<libc::pthread_mutex_t>,
}

// SAFETY: all but the lock is atomic, and a lock is there to be shared.
unsafe impl Sync for Note {}

/// Answers of a witness: nobody of this machine had told why the job ends; another rank had.
const FIRST: u8 = 1;
const LATE: u8 = 2;

/// That of a process without a witness.
static ALONE: Note = Note {
    rank: AtomicUsize::new(0),
    step: AtomicUsize::new(0),
    told: AtomicBool::new(false),
    hush: AtomicBool::new(false),
    hushed: AtomicU8::new(0),
    alive: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
};
static SHARED: AtomicPtr<Note> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// The witness of this process.
    static WITNESS: Cell<Option<libc::pid_t>> = const { Cell::new(None) };
}

/// This process's.
pub fn note() -> &'static Note {
    // SAFETY: null, or a page that is never unmapped.
    unsafe { SHARED.load(Ordering::Acquire).as_ref() }.unwrap_or(&ALONE)
}

/// How long a witness keeps the others of its machine from telling, s: as long as the launcher lives,
/// but no longer than this. It may be slow to end them.
const HUSH_S: u32 = 10;
/// How long it may take to begin with it.
const ASKED: Duration = Duration::from_secs(5);

/// Starts the witness, before MPI does. Where that is not possible there is none.
pub fn stand_by(host: &str) {
    // SAFETY: new memory that nobody else knows, and the page is large enough for a note, whose
    // zeros are a valid value until the lock is made; the new process never returns.
    unsafe {
        let page = libc::mmap(
            std::ptr::null_mut(),
            size_of::<Note>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if page == libc::MAP_FAILED {
            return;
        }
        SHARED.store(page.cast(), Ordering::Release);
        let mut kind = std::mem::MaybeUninit::uninit();
        let made = libc::pthread_mutexattr_init(kind.as_mut_ptr()) == 0
            && libc::pthread_mutexattr_setpshared(kind.as_mut_ptr(), libc::PTHREAD_PROCESS_SHARED)
                == 0
            && libc::pthread_mutexattr_setrobust(kind.as_mut_ptr(), libc::PTHREAD_MUTEX_ROBUST)
                == 0
            && libc::pthread_mutex_init(note().alive.get(), kind.as_ptr()) == 0
            && libc::pthread_mutex_lock(note().alive.get()) == 0;
        if !made {
            return;
        }
        let launcher = libc::getppid();
        match libc::fork() {
            0 => watch(launcher, host),
            pid => WITNESS.set((pid > 0).then_some(pid)),
        }
    }
}

/// From now on the end of this process needs no witness.
pub fn told() {
    note().told.store(true, Ordering::Release);
}

/// Keeps the witnesses of this machine silent, too: this rank tells why all of them end. Its own
/// witness does so, since the others may be killed when this rank is gone. Returns whether this rank
/// is the first to do so; another one's word is enough otherwise. A second call changes nothing.
pub fn told_for_all() -> bool {
    told();
    let note = note();
    if !note.hush.swap(true, Ordering::AcqRel) {
        if WITNESS.get().is_some() {
            // SAFETY: the lock is held by this thread, which has made the witness; if it was let go
            // before, that is refused.
            unsafe { libc::pthread_mutex_unlock(note.alive.get()) };
        } else {
            // SAFETY: the socket is left open until the process ends.
            let first = unsafe { is_first(libc::getppid()) };
            note.hushed.store(answer(first), Ordering::Release);
        }
    }
    let asked = Instant::now();
    while note.hushed.load(Ordering::Acquire) == 0 && asked.elapsed() < ASKED {
        std::thread::sleep(Duration::from_millis(1));
    }
    note.hushed.load(Ordering::Acquire) != LATE
}

/// What [`is_first`] has found, for a [`Note`].
const fn answer(first: bool) -> u8 {
    if first { FIRST } else { LATE }
}

/// Sends the witness away.
pub fn dismiss() {
    told();
    if let Some(pid) = WITNESS.take() {
        // SAFETY: the lock is held by this thread, which has made the witness, and both are let go
        // once.
        unsafe {
            libc::pthread_mutex_unlock(note().alive.get());
            libc::waitpid(pid, std::ptr::null_mut(), 0);
        }
    }
}

/// The life of a witness.
///
/// # Safety
/// Called in a new process alone.
unsafe fn watch(launcher: libc::pid_t, host: &str) -> ! {
    // SAFETY: nothing here allocates or takes a lock but the one that is shared, so it may be
    // called in a process forked from any other; the buffers are live.
    unsafe {
        // A session of its own: the launcher's signals are for the rank.
        libc::setsid();
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            libc::signal(signal, libc::SIG_IGN);
        }
        // Standard error alone is kept: launchers wait until the others are closed.
        for fd in 0..libc::sysconf(libc::_SC_OPEN_MAX).clamp(64, 4096) as libc::c_int {
            if fd != libc::STDERR_FILENO {
                libc::close(fd);
            }
        }
        libc::pthread_mutex_lock(note().alive.get());
        let note = note();
        if note.hush.load(Ordering::Acquire) {
            let first = is_first(launcher);
            note.hushed.store(answer(first), Ordering::Release);
            libc::close(libc::STDERR_FILENO);
            if first {
                hush(launcher);
            }
            libc::_exit(0);
        }
        if !note.told.load(Ordering::Acquire) && is_first(launcher) {
            let mut text = [0u8; 512];
            let room = text.len();
            let mut rest = &mut text[..];
            // Formatting into an array allocates nothing.
            let rank = note.rank.load(Ordering::Relaxed);
            let _ = write!(rest, "error: rank {rank} on {host} was lost ");
            let _ = match note.step.load(Ordering::Relaxed) {
                0 => write!(rest, "before the first step"),
                step => write!(rest, "at step {step}"),
            };
            let _ = writeln!(
                rest,
                ": it was killed, or crashed; look at that host's system log, its memory and \
                 temperature"
            );
            let used = room - rest.len();
            libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), used);
            libc::close(libc::STDERR_FILENO);
            hush(launcher);
        }
        libc::_exit(0)
    }
}

/// Keeps what [`is_first`] has taken until the launcher has ended the others.
///
/// # Safety
/// As [`is_first`].
unsafe fn hush(launcher: libc::pid_t) {
    for second in 0..HUSH_S {
        // SAFETY: signal 0 is none, it asks whether the process is there; both may be called in a
        // new process.
        unsafe {
            if second > 2 && libc::kill(launcher, 0) != 0 {
                return;
            }
            libc::sleep(1);
        }
    }
}

/// Whether no other process below `launcher` on this machine has asked so recently.
///
/// # Safety
/// None but that of the calls in it; fit for a new process.
unsafe fn is_first(launcher: libc::pid_t) -> bool {
    // SAFETY: an all-zero address is a valid one; the length is within it.
    unsafe {
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        // A name that begins with zero is no file, and goes with its socket.
        let mut name = [0u8; 64];
        let mut rest = &mut name[1..];
        let _ = write!(rest, "couloir-lost-{launcher}");
        for (to, &from) in address.sun_path.iter_mut().zip(&name) {
            *to = from as libc::c_char;
        }
        let socket = libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        let length = size_of::<libc::sa_family_t>() + name.len();
        // Where there are no sockets, better two witnesses than none.
        socket < 0
            || libc::bind(
                socket,
                (&raw const address).cast(),
                length as libc::socklen_t,
            ) == 0
    }
}

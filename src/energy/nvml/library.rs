//! The few functions of NVIDIA's management library that a meter needs.
//!
//! Bindings of all of it would load four hundred functions to call eight.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::null_mut;

/// A card, as the library knows it: as long as the library is loaded.
type Handle = *mut c_void;
/// The library's answer: 0 if it did what it should.
type Code = c_int;

/// Longest name of a card, with its end.
const NAME: usize = 96;

/// A card of a library. To look it up takes as long as to read it, so it is kept.
#[derive(Clone, Copy)]
pub struct Card(Handle);

// SAFETY: the library may be called from any thread, and a handle is only its name for a card.
unsafe impl Send for Card {}

/// The library, initialised.
pub struct Nvml {
    count: unsafe extern "C" fn(*mut c_uint) -> Code,
    handle: unsafe extern "C" fn(c_uint, *mut Handle) -> Code,
    name: unsafe extern "C" fn(Handle, *mut c_char, c_uint) -> Code,
    /// Not in libraries before 2018.
    energy: Option<unsafe extern "C" fn(Handle, *mut c_ulonglong) -> Code>,
    power: unsafe extern "C" fn(Handle, *mut c_uint) -> Code,
    text: unsafe extern "C" fn(Code) -> *const c_char,
    end: unsafe extern "C" fn() -> Code,
    /// Last: the functions are in it.
    _library: libloading::Library,
}

impl Nvml {
    /// Loads the library called `name`, such as [`LIBRARY`](super::LIBRARY), and initialises it.
    ///
    /// # Errors
    /// A sentence on why it is of no use.
    pub fn open(name: &str) -> Result<Self, String> {
        macro_rules! function {
            ($library:ident, $name:literal) => {
                // SAFETY: the signature is that of NVIDIA's documentation, in all versions of the
                // library that have a function of this name.
                unsafe { $library.get($name) }
                    .map(|f| *f)
                    .map_err(|e| e.to_string())
            };
        }
        // SAFETY: NVIDIA's library may be loaded and unloaded at any time.
        let library = unsafe { libloading::Library::new(name) }.map_err(|e| e.to_string())?;
        let begin: unsafe extern "C" fn() -> Code = function!(library, b"nvmlInit_v2\0")?;
        let opened = Self {
            count: function!(library, b"nvmlDeviceGetCount_v2\0")?,
            handle: function!(library, b"nvmlDeviceGetHandleByIndex_v2\0")?,
            name: function!(library, b"nvmlDeviceGetName\0")?,
            energy: function!(library, b"nvmlDeviceGetTotalEnergyConsumption\0").ok(),
            power: function!(library, b"nvmlDeviceGetPowerUsage\0")?,
            text: function!(library, b"nvmlErrorString\0")?,
            end: function!(library, b"nvmlShutdown\0")?,
            _library: library,
        };
        // SAFETY: it takes nothing. Calls are counted, so that `drop` may end one that failed.
        opened.check(unsafe { begin() })?;
        Ok(opened)
    }

    /// How many cards there are.
    ///
    /// # Errors
    /// What the library says.
    pub fn cards(&self) -> Result<u32, String> {
        let mut count = 0;
        // SAFETY: the library writes one number there.
        self.check(unsafe { (self.count)(&raw mut count) })?;
        Ok(count)
    }

    /// The card of a number below [`Nvml::cards`].
    ///
    /// # Errors
    /// What the library says.
    pub fn card(&self, number: u32) -> Result<Card, String> {
        let mut handle = null_mut();
        // SAFETY: the library writes one handle there.
        self.check(unsafe { (self.handle)(number, &raw mut handle) })?;
        Ok(Card(handle))
    }

    /// What a card is called.
    ///
    /// # Errors
    /// What the library says.
    pub fn name(&self, Card(card): Card) -> Result<String, String> {
        let mut name = [0_u8; NAME];
        // SAFETY: the handle is the library's own, and it writes at most as many bytes.
        self.check(unsafe { (self.name)(card, name.as_mut_ptr().cast(), NAME as c_uint) })?;
        let name = CStr::from_bytes_until_nul(&name).map_err(|e| e.to_string())?;
        Ok(name.to_string_lossy().into_owned())
    }

    /// Energy of a card since the driver was loaded, mJ.
    ///
    /// # Errors
    /// What the library says: older cards count none.
    pub fn energy_mj(&self, Card(card): Card) -> Result<u64, String> {
        let energy = self.energy.ok_or("the library is too old")?;
        let mut mj = 0;
        // SAFETY: the handle is the library's own, and it writes one number there.
        self.check(unsafe { energy(card, &raw mut mj) })?;
        Ok(mj)
    }

    /// Power of a card, mW.
    ///
    /// # Errors
    /// What the library says.
    pub fn power_mw(&self, Card(card): Card) -> Result<u32, String> {
        let mut mw = 0;
        // SAFETY: the handle is the library's own, and it writes one number there.
        self.check(unsafe { (self.power)(card, &raw mut mw) })?;
        Ok(mw)
    }

    fn check(&self, code: Code) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the text of any code is the library's own and stays.
        let text = unsafe { (self.text)(code).as_ref().map(|t| CStr::from_ptr(t)) };
        Err(match text {
            Some(text) => text.to_string_lossy().into_owned(),
            None => format!("NVML's error {code}"),
        })
    }
}

impl Drop for Nvml {
    fn drop(&mut self) {
        // SAFETY: it takes nothing; after it nothing is called.
        unsafe { (self.end)() };
    }
}

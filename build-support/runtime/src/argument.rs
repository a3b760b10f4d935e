//! What may be passed for a kernel's pointers.
//!
//! [`Read`] is for `const T *`, [`Write`] for `T *`. Both go through cudarc's `DevicePtr`, so that launches on
//! several streams wait for each other as with cudarc's own launch builder.

use std::fmt;
use std::marker::PhantomData;
use std::mem::align_of;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice,
    MappedBuffer, SyncOnDrop, UnifiedSlice, UnifiedView, UnifiedViewMut,
};

/// A buffer that a kernel may read.
pub trait Read {
    /// What lies in the buffer.
    type Item;

    /// The address for a launch on `stream`. The launch comes before the argument is dropped.
    fn argument<'a>(&'a self, stream: &'a CudaStream) -> Argument<'a>;

    /// How much there is.
    fn length(&self) -> Length;
}

/// A buffer that a kernel may write.
pub trait Write {
    /// What lies in the buffer.
    type Item;

    /// The address for a launch on `stream`. The launch comes before the argument is dropped.
    fn argument_mut<'a>(&'a mut self, stream: &'a CudaStream) -> Argument<'a>;

    /// How much there is.
    fn length_mut(&self) -> Length;
}

/// How much there is in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// So many items.
    Items(usize),
    /// Nothing: it is the null pointer.
    Null,
    /// Only the caller knows.
    Unknown,
}

impl Length {
    /// Of a buffer of any items in bytes, for a parameter that points to `void`.
    #[must_use]
    pub fn bytes<B: Read>(buffer: &B) -> Self {
        buffer.length().of_size(size_of::<B::Item>())
    }

    /// As [`bytes`](Self::bytes), for a buffer that is written.
    #[must_use]
    pub fn bytes_mut<B: Write>(buffer: &B) -> Self {
        buffer.length_mut().of_size(size_of::<B::Item>())
    }

    fn of_size(self, size: usize) -> Self {
        match self {
            Self::Items(items) => Self::Items(items.saturating_mul(size)),
            other => other,
        }
    }
}

/// An address, ready to be passed. Dropping it after the launch marks the buffer as used by it.
#[derive(Debug)]
#[must_use]
pub struct Argument<'a> {
    pub(crate) address: CUdeviceptr,
    pub(crate) align: usize,
    /// The device of a buffer that belongs to another context than the stream.
    pub(crate) foreign: Option<usize>,
    _used: Option<SyncOnDrop<'a>>,
}

impl<'a> Argument<'a> {
    fn address<T>(address: CUdeviceptr) -> Self {
        Self {
            address,
            align: align_of::<T>(),
            foreign: None,
            _used: None,
        }
    }

    /// Not through [`DevicePtr`], whose event could not be recorded on the stream.
    fn foreign<T>(owner: &CudaStream) -> Self {
        Self {
            foreign: Some(owner.context().ordinal()),
            ..Self::address::<T>(0)
        }
    }

    fn used<T>((address, used): (CUdeviceptr, SyncOnDrop<'a>)) -> Self {
        Self {
            _used: Some(used),
            ..Self::address::<T>(address)
        }
    }

    fn read<T, B: DevicePtr<T>>(buffer: &'a B, stream: &'a CudaStream) -> Self {
        if buffer.stream().context() != stream.context() {
            return Self::foreign::<T>(buffer.stream());
        }
        Self::used::<T>(buffer.device_ptr(stream))
    }

    fn write<T, B: DevicePtrMut<T>>(buffer: &'a mut B, stream: &'a CudaStream) -> Self {
        if buffer.stream().context() != stream.context() {
            return Self::foreign::<T>(buffer.stream());
        }
        Self::used::<T>(buffer.device_ptr_mut(stream))
    }
}

/// A buffer behind any number of references.
const fn as_buffer<B>(buffer: &B) -> &B {
    buffer
}

macro_rules! readable {
    ($($passed:ty as $buffer:ty),* $(,)?) => {$(
        impl<T> Read for $passed {
            type Item = T;

            fn argument<'a>(&'a self, stream: &'a CudaStream) -> Argument<'a> {
                Argument::read::<T, $buffer>(self, stream)
            }

            fn length(&self) -> Length {
                Length::Items(DeviceSlice::<T>::len(as_buffer::<$buffer>(self)))
            }
        }
    )*};
}

readable! {
    &CudaSlice<T> as CudaSlice<T>,
    &mut CudaSlice<T> as CudaSlice<T>,
    CudaView<'_, T> as CudaView<'_, T>,
    &CudaView<'_, T> as CudaView<'_, T>,
    CudaViewMut<'_, T> as CudaViewMut<'_, T>,
    &CudaViewMut<'_, T> as CudaViewMut<'_, T>,
    &mut CudaViewMut<'_, T> as CudaViewMut<'_, T>,
    &UnifiedSlice<T> as UnifiedSlice<T>,
    &mut UnifiedSlice<T> as UnifiedSlice<T>,
    UnifiedView<'_, T> as UnifiedView<'_, T>,
    &UnifiedView<'_, T> as UnifiedView<'_, T>,
    UnifiedViewMut<'_, T> as UnifiedViewMut<'_, T>,
    &UnifiedViewMut<'_, T> as UnifiedViewMut<'_, T>,
    &mut UnifiedViewMut<'_, T> as UnifiedViewMut<'_, T>,
}

macro_rules! writable {
    ($($passed:ty as $buffer:ty),* $(,)?) => {$(
        impl<T> Write for $passed {
            type Item = T;

            fn argument_mut<'a>(&'a mut self, stream: &'a CudaStream) -> Argument<'a> {
                Argument::write::<T, $buffer>(self, stream)
            }

            fn length_mut(&self) -> Length {
                Length::Items(DeviceSlice::<T>::len(as_buffer::<$buffer>(self)))
            }
        }
    )*};
}

writable! {
    CudaSlice<T> as CudaSlice<T>,
    &mut CudaSlice<T> as CudaSlice<T>,
    CudaViewMut<'_, T> as CudaViewMut<'_, T>,
    &mut CudaViewMut<'_, T> as CudaViewMut<'_, T>,
    UnifiedSlice<T> as UnifiedSlice<T>,
    &mut UnifiedSlice<T> as UnifiedSlice<T>,
    UnifiedViewMut<'_, T> as UnifiedViewMut<'_, T>,
    &mut UnifiedViewMut<'_, T> as UnifiedViewMut<'_, T>,
}

impl Read for &MappedBuffer {
    type Item = u8;

    fn argument<'a>(&'a self, stream: &'a CudaStream) -> Argument<'a> {
        Argument::read::<u8, MappedBuffer>(self, stream)
    }

    fn length(&self) -> Length {
        Length::Items(DeviceSlice::<u8>::len(*self))
    }
}

/// A buffer or none; none is the null pointer.
impl<B: Read> Read for Option<B> {
    type Item = B::Item;

    fn argument<'a>(&'a self, stream: &'a CudaStream) -> Argument<'a> {
        match self {
            Some(buffer) => buffer.argument(stream),
            None => Argument::address::<B::Item>(0),
        }
    }

    fn length(&self) -> Length {
        self.as_ref().map_or(Length::Null, Read::length)
    }
}

/// A buffer or none; none is the null pointer.
impl<B: Write> Write for Option<B> {
    type Item = B::Item;

    fn argument_mut<'a>(&'a mut self, stream: &'a CudaStream) -> Argument<'a> {
        match self {
            Some(buffer) => buffer.argument_mut(stream),
            None => Argument::address::<B::Item>(0),
        }
    }

    fn length_mut(&self) -> Length {
        self.as_ref().map_or(Length::Null, Write::length_mut)
    }
}

/// A device address from elsewhere: another library's allocation, or one of a peer device.
///
/// Nothing is known about it: launches do not wait for each other because of it, and its context is not
/// compared. That it may be accessed is part of what the caller of a launch promises.
pub struct Address<T> {
    address: CUdeviceptr,
    length: Length,
    item: PhantomData<fn() -> T>,
}

impl<T> Address<T> {
    /// A pointer to `address` in device memory.
    #[must_use]
    pub const fn new(address: CUdeviceptr) -> Self {
        Self {
            address,
            length: Length::Unknown,
            item: PhantomData,
        }
    }

    /// Says how many items lie there, for kernels whose annotations need it.
    #[must_use]
    pub const fn items(mut self, items: usize) -> Self {
        self.length = Length::Items(items);
        self
    }
}

/// The null pointer.
pub struct Null<T>(PhantomData<fn() -> T>);

impl<T> Null<T> {
    /// The null pointer; a launch infers `T`.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Default for Null<T> {
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! untracked {
    ($($passed:ident, $value:ident => $address:expr, $length:expr;)*) => {$(
        impl<T> Read for $passed<T> {
            type Item = T;

            fn argument<'a>(&'a self, _: &'a CudaStream) -> Argument<'a> {
                let $value = self;
                Argument::address::<T>($address)
            }

            fn length(&self) -> Length {
                let $value = self;
                $length
            }
        }

        impl<T> Write for $passed<T> {
            type Item = T;

            fn argument_mut<'a>(&'a mut self, _: &'a CudaStream) -> Argument<'a> {
                let $value = self;
                Argument::address::<T>($address)
            }

            fn length_mut(&self) -> Length {
                let $value = self;
                $length
            }
        }

        impl<T> Clone for $passed<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $passed<T> {}

        impl<T> fmt::Debug for $passed<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $value = self;
                let address: CUdeviceptr = $address;
                write!(f, "{}({address:#x})", stringify!($passed))
            }
        }
    )*};
}

untracked! {
    Address, this => this.address, this.length;
    Null, _this => 0, Length::Null;
}

//! A graphics device: our own, or a window's.

use std::{
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use crate::error::RenderError;

/// A device, its queue and what it is. Clones share them.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// Makes buffers, textures and pipelines.
    pub device: wgpu::Device,
    /// Takes commands and uploads.
    pub queue: wgpu::Queue,
    /// Name, driver and backend.
    pub info: wgpu::AdapterInfo,
    /// The first fault that no call has reported yet.
    fault: Arc<Mutex<Option<RenderError>>>,
}

/// Which adapter to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuOptions {
    /// Among several adapters, the one that saves power or the fastest. Default: the fastest.
    pub power: wgpu::PowerPreference,
    /// Draw on the processor even if there is a graphics card. Default: no.
    pub software: bool,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            power: wgpu::PowerPreference::HighPerformance,
            software: false,
        }
    }
}

/// What to install when nothing answers.
const HINT: &str = if cfg!(target_os = "linux") {
    "install a Vulkan driver: mesa-vulkan-drivers (Debian, Ubuntu, Fedora) or vulkan-swrast (Arch) draws without a \
     graphics card"
} else if cfg!(target_os = "windows") {
    "install the graphics driver of the card's maker; Windows draws without one by WARP, from Windows 10 on"
} else {
    "macOS 10.15 or later with a Metal graphics card is needed"
};

impl Gpu {
    /// A device without a window. Any backend will do, also one that draws on the processor.
    ///
    /// `WGPU_BACKEND` in the environment narrows the choice to some backends, as in all programs that use wgpu.
    ///
    /// # Errors
    /// No adapter, with what to install; or none that has WebGPU's core limits.
    pub fn headless(options: GpuOptions) -> Result<Self, RenderError> {
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let wanted = wgpu::RequestAdapterOptions {
            power_preference: options.power,
            force_fallback_adapter: options.software,
            compatible_surface: None,
            apply_limit_buckets: false,
        };
        let no_adapter = |reason: String| RenderError::NoAdapter { reason, hint: HINT };
        let adapter = answer(instance.request_adapter(&wanted))
            .ok_or_else(|| no_adapter("the driver does not answer".to_owned()))?
            .map_err(|error| no_adapter(error.to_string()))?;
        let info = adapter.get_info();
        let limits = limits(&adapter.limits(), &info.name)?;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("render"),
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: limits,
            ..wgpu::DeviceDescriptor::default()
        };
        let no_device = |reason: String| RenderError::NoDevice {
            adapter: info.name.clone(),
            reason,
        };
        let (device, queue) = answer(adapter.request_device(&descriptor))
            .ok_or_else(|| no_device("the driver does not answer".to_owned()))?
            .map_err(|error| no_device(error.to_string()))?;
        let gpu = Self::from_parts(device, queue, info);
        // Without a handler, a fault outside of `checked` would end the program.
        let fault = Arc::clone(&gpu.fault);
        gpu.device
            .on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
                let mut first = fault.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert_with(|| refusal("a frame", error));
            }));
        Ok(gpu)
    }

    /// A window's device. Its owner keeps its own way of hearing of faults.
    pub fn from_parts(device: wgpu::Device, queue: wgpu::Queue, info: wgpu::AdapterInfo) -> Self {
        Self {
            device,
            queue,
            info,
            fault: Arc::default(),
        }
    }

    /// The first fault since the last call that no call's `Result` told. Always `None` on a window's device.
    pub fn take_fault(&self) -> Option<RenderError> {
        self.fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Whether frames are drawn on the processor.
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// Makes something on the device and reports what the driver says to it.
    pub(crate) fn checked<T>(
        &self,
        what: &'static str,
        make: impl FnOnce() -> T,
    ) -> Result<T, RenderError> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validity = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let made = make();
        // Scopes close in reverse order.
        let validity = answer(validity.pop()).flatten();
        let memory = answer(memory.pop()).flatten();
        match memory.or(validity) {
            Some(error) => Err(refusal(what, error)),
            None => Ok(made),
        }
    }

    /// Whether `bytes` fit into one storage buffer.
    pub(crate) fn check_storage(&self, what: &'static str, bytes: u64) -> Result<(), RenderError> {
        let limits = self.device.limits();
        let limit = limits
            .max_buffer_size
            .min(limits.max_storage_buffer_binding_size);
        if bytes > limit {
            return Err(RenderError::TooLarge {
                what,
                have: bytes,
                limit,
            });
        }
        Ok(())
    }
}

fn refusal(what: &'static str, error: wgpu::Error) -> RenderError {
    match error {
        wgpu::Error::OutOfMemory { .. } => RenderError::OutOfMemory { what },
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            RenderError::Refused {
                what,
                reason: description,
            }
        }
    }
}

/// WebGPU's core limits, with the adapter's own sizes of buffers and textures.
fn limits(adapter: &wgpu::Limits, name: &str) -> Result<wgpu::Limits, RenderError> {
    let core = wgpu::Limits::defaults();
    let mut lacking = None;
    core.check_limits_with_fail_fn(adapter, false, |limit, need, have| {
        lacking.get_or_insert((limit, need, have));
    });
    if let Some((limit, need, have)) = lacking {
        return Err(RenderError::Limit {
            adapter: name.to_owned(),
            limit,
            have,
            need,
        });
    }
    Ok(wgpu::Limits {
        max_buffer_size: adapter.max_buffer_size,
        max_storage_buffer_binding_size: adapter.max_storage_buffer_binding_size,
        max_texture_dimension_2d: adapter.max_texture_dimension_2d,
        ..core
    })
}

/// What a future of the GPU library says. On all backends that are compiled in it is known at once; `None` if it is not.
pub(crate) fn answer<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

//! The clients of the process, by the numbers that callers have instead of pointers.
//!
//! A handle has a place and how often that place was used before, so that one of a closed client
//! never means another one. Bound: [`MAX_CLIENTS`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard, const_mutex};

use crate::instance::Instance;
use crate::status::{Failure, Status};

/// More clients of one process are refused.
const MAX_CLIENTS: usize = 1_024;

/// A client that one thread at a time may call.
type SharedInstance = Arc<Mutex<Option<Instance>>>;

static PLACES: Mutex<Vec<ClientPlace>> = const_mutex(Vec::new());

#[derive(Default)]
struct ClientPlace {
    /// How often it was used; odd while a client is there.
    uses: u32,
    client: Option<SharedInstance>,
}

/// Adds a client; returns its handle, which is never 0.
pub(crate) fn add(instance: Instance) -> Result<u64, Failure> {
    let mut places = PLACES.lock();
    let free = places.iter().position(|place| place.client.is_none());
    let index = free.unwrap_or(places.len());
    if index >= MAX_CLIENTS {
        let message = format!("there are {MAX_CLIENTS} clients already; close some");
        return Err(Failure::new(Status::TooMany, message));
    }
    if free.is_none() {
        places.push(ClientPlace::default());
    }
    let place = &mut places[index];
    place.uses = place.uses.wrapping_add(1);
    place.client = Some(Arc::new(Mutex::new(Some(instance))));
    Ok(u64::from(place.uses) << 32 | index as u64)
}

/// Removes a client.
pub(crate) fn remove(handle: u64) -> Result<Instance, Failure> {
    let client = find(handle)?;
    // Another thread that is calling it goes on; its next call finds nothing.
    let mut locked = lock(&client)?;
    locked.as_ref().ok_or_else(closed)?.check_process()?;
    let instance = locked.take().ok_or_else(closed)?;
    let mut places = PLACES.lock();
    let place = &mut places[handle as u32 as usize];
    place.client = None;
    // Odd again with the next one.
    place.uses = place.uses.wrapping_add(1);
    Ok(instance)
}

/// Calls a client. A panic closes it, and is reported; it does not reach the caller.
pub(crate) fn with<R>(
    handle: u64,
    call: impl FnOnce(&mut Instance) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let client = find(handle)?;
    let mut locked = lock(&client)?;
    let instance = locked.as_mut().ok_or_else(closed)?;
    instance.check_process()?;
    match catch_unwind(AssertUnwindSafe(|| call(instance))) {
        Ok(result) => result,
        Err(panic) => {
            // Nothing is known of its state any more.
            drop(locked);
            let _ = catch_unwind(|| remove(handle));
            Err(panicked(panic.as_ref()))
        }
    }
}

/// Calls something that concerns no client.
pub(crate) fn guard<R>(call: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(panicked(panic.as_ref())))
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("without a message");
    Failure::new(Status::Panicked, format!("a fault of the library: {text}"))
}

fn find(handle: u64) -> Result<SharedInstance, Failure> {
    let places = PLACES.lock();
    let place = places.get(handle as u32 as usize);
    let place = place.filter(|place| u64::from(place.uses) == handle >> 32);
    place.and_then(|place| place.client.clone()).ok_or_else(closed)
}

fn closed() -> Failure {
    let message = "no client has this handle: it was closed, or never started";
    Failure::new(Status::NoClient, message)
}

fn lock(client: &SharedInstance) -> Result<MutexGuard<'_, Option<Instance>>, Failure> {
    client.try_lock().ok_or_else(|| {
        let message = "another thread, or a function that steers, is calling this client; call it \
                       from one thread at a time";
        Failure::new(Status::Busy, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_that_never_was_means_no_client() {
        for handle in [0, 1, u64::MAX, 1 << 32, u64::from(u32::MAX)] {
            let status = with(handle, |_| Ok(())).map_err(|failure| failure.status);
            assert_eq!(status, Err(Status::NoClient), "{handle:x}");
            assert_eq!(remove(handle).err().map(|failure| failure.status), Some(Status::NoClient));
        }
    }

    #[test]
    fn a_panic_is_an_error_with_its_text() {
        let failure = guard::<()>(|| panic!("the {}th of {}", 7, 9)).expect_err("it panics");
        assert_eq!(failure.status, Status::Panicked);
        assert!(failure.message.ends_with("the 7th of 9"), "{failure:?}");
    }
}

//! Calls the C interface as another language would.

#![expect(unsafe_code, reason = "it calls as another language would")]

use std::ptr::null;

use ambit_client_ffi::{
    AMBIT_CONTROL, AMBIT_INTERFACE_VERSION, AMBIT_NONE, AmbitEvent, AmbitFrame, AmbitOptions,
    AmbitText, Status, ambit_close, ambit_find, ambit_frame, ambit_hold, ambit_next_event,
    ambit_request, ambit_start,
};
use anyhow::{Result, ensure};

const NO_TEXT: AmbitText = AmbitText { text: null(), length: 0 };

/// A client, which is closed when this is dropped.
pub(crate) struct CClient(u64);

impl CClient {
    /// Dials `server`; `flags` and `settings` are those of [`AmbitOptions`].
    pub(crate) fn start(
        server: &str,
        known_hosts: &str,
        flags: u32,
        settings: &str,
    ) -> Result<Self> {
        let options = AmbitOptions {
            size: size_of::<AmbitOptions>() as u32,
            interface_version: AMBIT_INTERFACE_VERSION,
            flags,
            reserved: 0,
            server: text(server),
            settings: text(settings),
            certificate: null(),
            known_hosts: text(known_hosts),
            resume_token: null(),
            resume_token_length: 0,
        };
        let mut client = 0;
        let status = unsafe { ambit_start(&raw const options, &raw mut client) };
        ensure!(status == Status::Ok, "{status:?}");
        Ok(CClient(client))
    }

    /// The name of the next event.
    pub(crate) fn next_event(&self) -> Option<String> {
        let mut event = AmbitEvent {
            size: size_of::<AmbitEvent>() as u32,
            of: 0,
            request: 0,
            name: NO_TEXT,
            json: NO_TEXT,
        };
        let status = unsafe { ambit_next_event(self.0, &raw mut event) };
        let name = || unsafe {
            std::slice::from_raw_parts(event.name.text, event.name.length as usize).to_vec()
        };
        (status == Status::Ok).then(|| String::from_utf8(name()).expect("UTF-8"))
    }

    /// Sends a request in JSON.
    pub(crate) fn request(&self, json: &str) -> Result<()> {
        let mut number = 0;
        let (at, length) = (json.as_ptr(), json.len() as u64);
        let sent = unsafe { ambit_request(self.0, at, length, &raw mut number) };
        ensure!(sent == Status::Ok, "{json}: {sent:?}");
        Ok(())
    }

    /// The index of a control of the game.
    pub(crate) fn control(&self, name: &str) -> Result<u32> {
        let mut control = 0;
        let (at, length) = (name.as_ptr(), name.len() as u64);
        let found = unsafe { ambit_find(self.0, AMBIT_CONTROL, 0, at, length, &raw mut control) };
        ensure!(found == Status::Ok, "the control {name}: {found:?}");
        Ok(control)
    }

    /// Holds controls.
    pub(crate) fn hold(&self, keys: u32) -> Result<()> {
        let held = ambit_hold(self.0, keys);
        ensure!(held == Status::Ok, "{held:?}");
        Ok(())
    }

    /// What is in sight now.
    pub(crate) fn frame(&self) -> Result<AmbitFrame> {
        let mut frame = AmbitFrame {
            size: size_of::<AmbitFrame>() as u32,
            in_sight: 0,
            time_us: 0,
            objects: null(),
            values: null(),
            came: null(),
            went: null(),
            object_count: 0,
            value_count: 0,
            came_count: 0,
            went_count: 0,
            avatar: AMBIT_NONE,
            reserved: 0,
        };
        let status = unsafe { ambit_frame(self.0, 0, &raw mut frame) };
        ensure!(status == Status::Ok, "{status:?}");
        Ok(frame)
    }

    /// The rotation of the own avatar, if it is in sight.
    pub(crate) fn own_rotation(&self) -> Result<Option<[f32; 4]>> {
        let frame = self.frame()?;
        let own = (frame.avatar != AMBIT_NONE).then_some(frame.avatar as usize);
        // The row is the library's until the next frame.
        Ok(own.map(|index| unsafe { *frame.objects.add(index) }.rotation))
    }

    /// Leaves.
    pub(crate) fn close(self) -> Result<()> {
        let closed = ambit_close(self.0, 1_000);
        ensure!(closed == Status::Ok, "{closed:?}");
        Ok(())
    }
}

impl Drop for CClient {
    fn drop(&mut self) {
        // An error if it was closed already.
        ambit_close(self.0, 0);
    }
}

fn text(text: &str) -> AmbitText {
    AmbitText { text: text.as_ptr(), length: text.len() as u64 }
}

//! Calls the C interface as another language would.

#![expect(unsafe_code, reason = "it calls as another language would")]

use std::ptr::null;

use ambit_client_ffi::{
    AMBIT_INTERFACE_VERSION, AMBIT_NONE, AMBIT_SCHEMA, AmbitEvent, AmbitFrame, AmbitOptions,
    AmbitPlayer, AmbitText, ObjectRow, Status, ValueRow, ambit_close, ambit_describe, ambit_find,
    ambit_frame, ambit_hold, ambit_next_event, ambit_player, ambit_request, ambit_send,
    ambit_start, ambit_text,
};
use anyhow::{Result, ensure};
use serde_json::Value;

const NO_TEXT: AmbitText = AmbitText { text: null(), length: 0 };

/// What is shown of an object, but its id and age: kind, flags, position, values.
pub(crate) type Shown = (u32, u32, [f32; 3], Vec<u64>);

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

    /// The next event, if one has come.
    pub(crate) fn next_event(&self) -> Result<Option<Value>> {
        let mut event = AmbitEvent {
            size: size_of::<AmbitEvent>() as u32,
            of: 0,
            request: 0,
            name: NO_TEXT,
            json: NO_TEXT,
        };
        match unsafe { ambit_next_event(self.0, &raw mut event) } {
            Status::Ok => Ok(Some(json(event.json)?)),
            status => ensure_nothing(status).map(|()| None),
        }
    }

    /// On the way into a room of its own: creates it with this request, then starts it. Returns
    /// what has come.
    pub(crate) fn enter(&self, room: &str) -> Result<Vec<Value>> {
        let mut events = Vec::new();
        while let Some(event) = self.next_event()? {
            match event["ev"].as_str() {
                Some("welcome") => self.request(room)?,
                Some("created") => self.request("\"start_room\"")?,
                _ => {}
            }
            events.push(event);
        }
        Ok(events)
    }

    /// Sends a request in JSON.
    pub(crate) fn request(&self, json: &str) -> Result<()> {
        let mut number = 0;
        let (at, length) = (json.as_ptr(), json.len() as u64);
        let sent = unsafe { ambit_request(self.0, at, length, &raw mut number) };
        ensure!(sent == Status::Ok, "{json}: {sent:?}");
        Ok(())
    }

    /// The index of a name that the game declares: `what` is [`ambit_client_ffi::AMBIT_KIND`]...
    pub(crate) fn find(&self, what: u32, parent: u32, name: &str) -> Result<u32> {
        let mut index = 0;
        let (at, length) = (name.as_ptr(), name.len() as u64);
        let found = unsafe { ambit_find(self.0, what, parent, at, length, &raw mut index) };
        ensure!(found == Status::Ok, "{name}: {found:?}");
        Ok(index)
    }

    /// What the game declares, or how its room runs.
    pub(crate) fn describe(&self, what: u32) -> Result<Value> {
        let mut text = NO_TEXT;
        let status = unsafe { ambit_describe(self.0, what, &raw mut text) };
        ensure!(status == Status::Ok, "{status:?}");
        json(text)
    }

    /// Sends a command by its name, with its values in JSON.
    pub(crate) fn send(&self, name: &str, values: &str) -> Result<()> {
        let mut number = 0;
        let (at, length) = (name.as_ptr(), name.len() as u64);
        let (values_at, values_length) = (values.as_ptr(), values.len() as u64);
        let sent =
            unsafe { ambit_send(self.0, at, length, values_at, values_length, &raw mut number) };
        ensure!(sent == Status::Ok, "{name} {values}: {sent:?}");
        Ok(())
    }

    /// The room's number; 0 without one.
    pub(crate) fn room(&self) -> Result<u64> {
        let mut player = AmbitPlayer {
            size: size_of::<AmbitPlayer>() as u32,
            state: 0,
            player: 0,
            room: 0,
            name: NO_TEXT,
            resume_token: null(),
            resume_token_length: 0,
        };
        let status = unsafe { ambit_player(self.0, &raw mut player) };
        ensure!(status == Status::Ok, "{status:?}");
        Ok(player.room)
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

    /// The room-wide objects of a frame, with their values.
    pub(crate) fn rows(&self) -> Result<Vec<(ObjectRow, &[ValueRow])>> {
        let frame = self.frame()?;
        let count = frame.object_count as usize;
        // The arrays are the library's until the next frame.
        let rows = unsafe { array(frame.objects, count) };
        let values = unsafe { array(frame.values, frame.value_count as usize) };
        let rows = rows[frame.in_sight as usize..].iter();
        Ok(rows.map(|row| (*row, &values[row.first_value as usize..])).collect())
    }

    /// All objects of a frame: kind, flags, position, and the bits of their values
    /// (of a gauge that runs: of its rate).
    pub(crate) fn objects(&self) -> Result<Vec<Shown>> {
        let schema = self.describe(AMBIT_SCHEMA)?;
        let frame = self.frame()?;
        // The arrays are the library's until the next frame.
        let rows = unsafe { array(frame.objects, frame.object_count as usize) };
        let values = unsafe { array(frame.values, frame.value_count as usize) };
        Ok(rows
            .iter()
            .map(|row| {
                let components = schema["kinds"][row.kind as usize]["components"].as_array();
                let own = &values[row.first_value as usize..];
                let own = &own[..components.map_or(0, Vec::len)];
                // Of a gauge that runs, how fast it does.
                let runs = |value: &ValueRow| value.rate.abs() > 0.0;
                let shown = |value: &ValueRow| if runs(value) { value.rate } else { value.value };
                let bits = own.iter().map(|value| shown(value).to_bits()).collect();
                (row.kind, row.flags, row.position, bits)
            })
            .collect())
    }

    /// The text that a value stands for.
    pub(crate) fn text(&self, value: ValueRow) -> Result<String> {
        let mut text = NO_TEXT;
        let status = unsafe { ambit_text(self.0, value.value as u32, &raw mut text) };
        ensure!(status == Status::Ok, "{status:?}");
        Ok(String::from_utf8(unsafe { array(text.text, text.length as usize) }.to_vec())?)
    }

    /// The own avatar, if it is in sight.
    pub(crate) fn own(&self) -> Result<Option<ObjectRow>> {
        let frame = self.frame()?;
        let own = (frame.avatar != AMBIT_NONE).then_some(frame.avatar as usize);
        // The row is the library's until the next frame.
        Ok(own.map(|index| unsafe { *frame.objects.add(index) }))
    }

    /// The rotation of the own avatar, if it is in sight.
    pub(crate) fn own_rotation(&self) -> Result<Option<[f32; 4]>> {
        Ok(self.own()?.map(|own| own.rotation))
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

fn ensure_nothing(status: Status) -> Result<()> {
    ensure!(status == Status::Nothing, "{status:?}");
    Ok(())
}

/// JSON of the library.
fn json(text: AmbitText) -> Result<Value> {
    let bytes = unsafe { array(text.text, text.length as usize) };
    Ok(serde_json::from_slice(bytes)?)
}

/// An array of the library; one without items may have any pointer.
unsafe fn array<'c, T>(from: *const T, count: usize) -> &'c [T] {
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(from, count) } }
}

fn text(text: &str) -> AmbitText {
    AmbitText { text: text.as_ptr(), length: text.len() as u64 }
}

//! The settings of a client, from a dictionary.

use ambit_client_ffi::{Failure, Instance, Setup, Status};
use godot::classes::Os;
use godot::prelude::*;
use serde_json::{Map, Value as Json};

use crate::variants::dictionary_to_json;

/// Starts a client. `settings` has what all clients of the boundary have, and `certificate`,
/// `known_hosts`, `resume_token` and `object_events`.
pub(crate) fn start(server: &str, settings: &VarDictionary) -> Result<Instance, Failure> {
    let mut settings = dictionary_to_json(settings)
        .map_err(|value| bad_option(&format!("{value} cannot be a setting")))?;
    let certificate = take_bytes(&mut settings, "certificate")?;
    let certificate = match certificate.len() {
        0 => None,
        _ => Some(
            certificate
                .try_into()
                .map_err(|_| bad_option("certificate: expected the 32 bytes of its SHA-256"))?,
        ),
    };
    let resume_token = take_bytes(&mut settings, "resume_token")?;
    let mut known_hosts = take_text(&mut settings, "known_hosts")?;
    if let Some(file) = known_hosts.strip_prefix("user://") {
        known_hosts = format!("{}/{file}", Os::singleton().get_user_data_dir());
    }
    let has_object_events =
        settings.remove("object_events").is_some_and(|flag| flag == Json::Bool(true));
    Instance::start(&Setup {
        server,
        settings: &Json::Object(settings).to_string(),
        certificate,
        known_hosts: &known_hosts,
        resume_token: &resume_token,
        is_driven_by_caller: false,
        has_object_events,
    })
}

/// What is wrong with an argument of a script.
pub(crate) fn bad_option(message: &str) -> Failure {
    let message = message.to_owned().into();
    Failure { status: Status::BadOption, code: "bad_option".into(), message }
}

fn take_bytes(settings: &mut Map<String, Json>, key: &str) -> Result<Vec<u8>, Failure> {
    let Some(value) = settings.remove(key) else { return Ok(Vec::new()) };
    let list = value.as_array().into_iter().flatten();
    let bytes: Option<Vec<u8>> =
        list.map(|byte| byte.as_u64().and_then(|byte| byte.try_into().ok())).collect();
    let bytes = bytes.filter(|_| value.is_array());
    bytes.ok_or_else(|| bad_option(&format!("{key}: expected a PackedByteArray")))
}

fn take_text(settings: &mut Map<String, Json>, key: &str) -> Result<String, Failure> {
    match settings.remove(key) {
        None => Ok(String::new()),
        Some(Json::String(text)) => Ok(text),
        Some(_) => Err(bad_option(&format!("{key}: expected a text"))),
    }
}

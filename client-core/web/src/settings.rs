//! The settings of a client and of a new room, from a page's JSON. An error says what is wrong.

use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::request::NewRoom;
use serde_json::Value as Json;

/// Sets what `settings` has: the keys of [`WebClient::new`](crate::WebClient::new).
pub(crate) fn configure(config: &mut ClientConfig, settings: &Json) -> Result<(), String> {
    let text = |key: &str| settings[key].as_str();
    if let Some(name) = text("name") {
        name.clone_into(&mut config.name);
    }
    if let Some(time) = settings["reconnect_for_ms"].as_f64() {
        config.reconnect_for = Duration::try_from_secs_f64(time / 1_000.0)
            .map_err(|error| format!("reconnect_for_ms: {error}"))?;
    }
    if let Some(render) = text("render") {
        config.render = render.parse().map_err(|error| format!("render: {error}"))?;
    }
    if let Some(predict) = settings["predict"].as_bool() {
        config.predict = Some(predict);
    }
    if let Some(coding) = text("coding") {
        config.coding = coding.parse().map_err(|error| format!("coding: {error}"))?;
    }
    if let Some(rate) = settings["input_hz"].as_u64() {
        let rate = rate.to_string().parse();
        config.inputs = rate.map_err(|error| format!("input_hz: {error}"))?;
    }
    Ok(())
}

/// The room of [`WebClient::create_room`](crate::WebClient::create_room).
pub(crate) fn new_room(room: &str, key: &[u8]) -> Result<NewRoom, String> {
    let room: Json = serde_json::from_str(room).map_err(|error| error.to_string())?;
    let text = |key: &str| room[key].as_str().unwrap_or_default().to_owned();
    let parameters = room["parameters"].as_object().into_iter().flatten();
    let parameters = parameters.map(|(key, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (key.clone(), value)
    });
    Ok(NewRoom {
        name: text("name"),
        game: text("game"),
        capacity: room["capacity"].as_u64().unwrap_or(0).try_into().unwrap_or(u32::MAX),
        parameters: parameters.collect(),
        password: text("password"),
        key: key.try_into().map_err(|_| "a key has 16 bytes".to_owned())?,
    })
}

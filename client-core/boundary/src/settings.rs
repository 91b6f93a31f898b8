//! The settings of a client, from JSON.

use std::fmt::Display;
use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use serde_json::Value as Json;

use crate::calls::BoundaryError;

/// Sets what `settings` has: a JSON object; all keys are optional: `name`, `reconnect_for_ms`,
/// `render` (`room`, `100ms`, `adaptive`), `predict`, `coding`, `input_hz`. Anything else than an
/// object changes nothing.
pub fn configure(config: &mut ClientConfig, settings: &str) -> Result<(), BoundaryError> {
    let settings: Json = serde_json::from_str(settings).unwrap_or_default();
    let bad = |key: &str, why: &dyn Display| BoundaryError::bad_option(format!("{key}: {why}"));
    let text = |key: &str| settings[key].as_str();
    if let Some(name) = text("name") {
        name.clone_into(&mut config.name);
    }
    if let Some(time) = settings["reconnect_for_ms"].as_f64() {
        config.reconnect_for = Duration::try_from_secs_f64(time / 1_000.0)
            .map_err(|error| bad("reconnect_for_ms", &error))?;
    }
    if let Some(render) = text("render") {
        config.render = render.parse().map_err(|error| bad("render", &error))?;
    }
    if let Some(predict) = settings["predict"].as_bool() {
        config.predict = Some(predict);
    }
    if let Some(coding) = text("coding") {
        config.coding = coding.parse().map_err(|error| bad("coding", &error))?;
    }
    if let Some(rate) = settings["input_hz"].as_u64() {
        let rate = rate.to_string().parse();
        config.inputs = rate.map_err(|error| bad("input_hz", &error))?;
    }
    Ok(())
}

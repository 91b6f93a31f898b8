//! The settings of a client, from JSON.

use std::time::Duration;

use ambit_client_core::client::config::{ClientConfig, SignIn};
use ambit_proto::pose::UnknownCoding;
use serde_json::Value as Json;

use crate::calls::BoundaryError;

/// Sets what `settings` has: a JSON object; all keys are optional: `name`, `password` (`login`,
/// `password`, `is_new`), `token`, `reconnect_for_ms`, `render` (`room`, `100ms`, `adaptive`),
/// `predict`, `coding`, `input_hz`, `replay`.
pub fn configure(config: &mut ClientConfig, settings: &str) -> Result<(), BoundaryError> {
    let settings: Json = serde_json::from_str(settings).map_err(BoundaryError::bad_option)?;
    let Json::Object(settings) = settings else {
        return Err(BoundaryError::bad_option("expected an object of settings"));
    };
    for (key, value) in &settings {
        set(config, key, value).map_err(|why| {
            BoundaryError::bad_option(format!("{key}: {why}{}", shown(key, value)))
        })?;
    }
    Ok(())
}

/// The value for a message, unless it is a secret.
fn shown(key: &str, value: &Json) -> String {
    if matches!(key, "password" | "token") { String::new() } else { format!(", in {value}") }
}

fn set(config: &mut ClientConfig, key: &str, value: &Json) -> Result<(), String> {
    let text = || value.as_str().ok_or_else(|| "expected a text".to_owned());
    match key {
        "name" => text()?.clone_into(&mut config.name),
        "reconnect_for_ms" => {
            let ms = value.as_f64().ok_or("expected milliseconds")?;
            let time = Duration::try_from_secs_f64(ms / 1_000.0);
            config.reconnect_for = time.map_err(|error| error.to_string())?;
        }
        "password" => config.sign_in = password(value)?,
        "token" => config.sign_in = SignIn::Token(text()?.to_owned()),
        "render" => config.render = text()?.parse()?,
        "predict" => config.predict = Some(value.as_bool().ok_or("expected true or false")?),
        "replay" => config.is_replay = value.as_bool().ok_or("expected true or false")?,
        "coding" => {
            let coding = text()?.parse();
            config.coding = coding.map_err(|error: UnknownCoding| error.to_string())?;
        }
        "input_hz" => config.inputs = value.to_string().parse()?,
        _ => {
            return Err("no setting is called so; there are name, password, token, \
                        reconnect_for_ms, render, predict, coding, input_hz, replay"
                .to_owned());
        }
    }
    Ok(())
}

/// `{"login": "ann#48213", "password": "..", "is_new": false}`.
fn password(value: &Json) -> Result<SignIn, String> {
    let text = |name: &str| {
        let text = value.get(name).and_then(Json::as_str);
        text.map(str::to_owned).ok_or_else(|| format!("expected an object with a text {name}"))
    };
    let is_new = value.get("is_new").is_some_and(|is_new| *is_new == Json::Bool(true));
    Ok(SignIn::Password { login: text("login")?, password: text("password")?, is_new })
}

#[cfg(test)]
mod tests {
    use ambit_client_core::client::config::InputRate;

    use super::*;

    #[test]
    fn settings_are_read_and_a_wrong_one_is_named() {
        let mut config = ClientConfig::default();
        let all = r#"{"name": "ann", "reconnect_for_ms": 500, "render": "room", "predict": false,
            "coding": "plain", "input_hz": 60, "replay": true}"#;
        assert_eq!(configure(&mut config, all), Ok(()));
        assert_eq!((&*config.name, config.predict), ("ann", Some(false)));
        assert_eq!(config.reconnect_for, Duration::from_millis(500));
        assert_eq!((config.inputs, config.is_replay), (InputRate::Hz60, true));
        let new = r#"{"password": {"login": "ann", "password": "correct horse", "is_new": true}}"#;
        assert_eq!(configure(&mut config, new), Ok(()));
        let (login, password) = ("ann".to_owned(), "correct horse".to_owned());
        assert_eq!(config.sign_in, SignIn::Password { login, password, is_new: true });
        assert!(!format!("{config:?}").contains("horse"));
        assert_eq!(configure(&mut config, r#"{"token": "a.b.c"}"#), Ok(()));
        assert_eq!(config.sign_in, SignIn::Token("a.b.c".to_owned()));
        let wrong = configure(&mut config, r#"{"token": ["a.b.c"]}"#).expect_err("no text");
        assert_eq!(wrong.message, "token: expected a text");
        for (settings, why) in [
            ("", "EOF"),
            ("[]", "an object"),
            (r#"{"nmae": "ann"}"#, "nmae: no setting is called so"),
            (r#"{"name": 7}"#, "name: expected a text, in 7"),
            (r#"{"input_hz": -3}"#, "input_hz: expected 20 or 60, in -3"),
            (r#"{"render": "never"}"#, "render: "),
            (r#"{"reconnect_for_ms": -1}"#, "reconnect_for_ms: "),
            (r#"{"predict": "yes"}"#, "predict: expected true or false"),
            (
                r#"{"password": {"login": "ann#1"}}"#,
                "password: expected an object with a text password",
            ),
        ] {
            let error = configure(&mut config, settings).expect_err(settings);
            assert!(error.code == "bad_option" && error.message.contains(why), "{error:?}");
        }
    }
}

//! A profile or a seat, as bytes.

use ambit_room::logic::player_values::UnreadableProfile;
use ambit_room::saved::{self, BadState};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A profile or a seat: `Default`, `Serialize` and `Deserialize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept of a player",
    label = "no profile and no seat",
    note = "add `#[derive(Default, Serialize, Deserialize)]` to `{Self}`"
)]
pub trait PlayerValue: Default + Send + 'static {
    #[doc(hidden)]
    fn to_json(&self) -> Vec<u8>;

    #[doc(hidden)]
    fn from_json(stored: &[u8]) -> Result<Self, UnreadableProfile>;

    #[doc(hidden)]
    fn to_saved(&self) -> Vec<u8>;

    #[doc(hidden)]
    fn from_saved(saved: &[u8]) -> Result<Self, BadState>;
}

#[diagnostic::do_not_recommend]
impl<T: Default + Serialize + DeserializeOwned + Send + 'static> PlayerValue for T {
    fn to_json(&self) -> Vec<u8> {
        let name = std::any::type_name::<T>();
        serde_json::to_vec(self)
            .unwrap_or_else(|error| panic!("{name} cannot be stored as JSON: {error}"))
    }

    fn from_json(stored: &[u8]) -> Result<Self, UnreadableProfile> {
        serde_json::from_slice(stored).map_err(|error| UnreadableProfile(error.to_string()))
    }

    fn to_saved(&self) -> Vec<u8> {
        saved::of(self)
    }

    fn from_saved(saved: &[u8]) -> Result<Self, BadState> {
        // A game that keeps nothing in this build, or kept nothing in the last one.
        if size_of::<T>() == 0 || saved == saved::of(&()) {
            return Ok(T::default());
        }
        saved::all(saved)
    }
}

//! An answer of the store, as a game reads it.

use ambit_room::logic::store::{StoreAnswer, StoreKey, StoreNumber, StoreRequest};
use serde::de::DeserializeOwned;

/// What the store has answered to a request.
#[derive(Clone, Copy, Debug)]
pub struct StoreReply<'a> {
    number: StoreNumber,
    request: &'a StoreRequest,
    answer: &'a StoreAnswer,
}

/// A value that is stored is none of the type that was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored value {name:?} cannot be read as this type: {problem}")]
pub struct UnreadableValue {
    name: String,
    problem: String,
}

impl<'a> StoreReply<'a> {
    pub(crate) fn new(
        number: StoreNumber,
        request: &'a StoreRequest,
        answer: &'a StoreAnswer,
    ) -> Self {
        Self { number, request, answer }
    }

    /// As the request returned it.
    pub fn number(self) -> StoreNumber {
        self.number
    }

    /// The key, if a value was loaded or stored.
    pub fn key(self) -> Option<&'a StoreKey> {
        match self.request {
            StoreRequest::Load(key) | StoreRequest::Save(key, _) => Some(key),
            StoreRequest::AddResult(_)
            | StoreRequest::ClaimProfile(_)
            | StoreRequest::SaveProfiles(_) => None,
        }
    }

    /// Whether it was done: what was stored is on the disk. It never is if the server's store
    /// refuses such requests.
    pub fn is_done(self) -> bool {
        matches!(self.answer, StoreAnswer::Done(_))
    }

    /// After a load: the value, if there is one. `None` also after any other request.
    pub fn value<T: DeserializeOwned>(self) -> Result<Option<T>, UnreadableValue> {
        let (StoreRequest::Load(key), StoreAnswer::Done(Some(bytes))) = (self.request, self.answer)
        else {
            return Ok(None);
        };
        serde_json::from_slice(bytes)
            .map(Some)
            .map_err(|error| UnreadableValue { name: key.name.clone(), problem: error.to_string() })
    }
}

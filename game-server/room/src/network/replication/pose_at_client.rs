//! What a client has of an object's pose, for those who ask why.

use std::time::Duration;

use ambit_proto::space::Position;
use serde::{Deserialize, Serialize};

use super::freshness::FreshnessClass;

/// What a client has of an object's pose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoseAtClient {
    /// How long ago the last one was sent; `None` if none was.
    pub age: Option<Duration>,
    /// Whether the last one that was sent is acknowledged, as far as it was looked at.
    pub is_acked: bool,
    /// Where the object is by the newest pose that is acknowledged, and how old that is; `None` if
    /// there is none, or the room does not know it any more.
    pub known: Option<(Duration, Position)>,
    /// Whether the pose has changed since the last one that was sent.
    pub has_changed: bool,
    pub class: FreshnessClass,
    /// Its rank among those that wait if not all fit into the client's budget: it grows with the
    /// time that it has waited, faster in an urgent class.
    pub priority: f32,
}

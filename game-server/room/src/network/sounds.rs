//! Who hears which sound at a tick.
//!
//! Sounds are noted in the order of their events and sent at the end of the tick. Invariant: what a
//! client is sent depends only on the time, kind, direction and loudness of each sound that it
//! hears. So the order is by these, and not that of the events; and sounds that are equal in all of
//! them are one, which also bounds what a battle costs a client.

use ambit_proto::ids::{ClientId, ObjectId};
use ambit_proto::message::Notice;
use ambit_proto::time::GameTime;

use super::Network;
use super::apply::gets_event;
use crate::logic::sound::{EventSound, sound_fields};
use crate::logic::world::World;
use crate::stats::RoomStats;

/// What one client hears, in the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HeardSound {
    client: ClientId,
    effect: GameTime,
    kind: u8,
    direction: u8,
    loudness: u8,
}

impl Network {
    /// Notes who hears a sound: whose avatar is near, unless the client gets the event itself.
    pub(super) fn note_sound(
        &mut self,
        sound: &EventSound,
        about: ObjectId,
        effect: GameTime,
        world: &World,
    ) {
        let Network { viewers, sounds, .. } = self;
        world.visit_within(sound.at, sound.radius_m, |avatar| {
            let Some(viewer) = viewers.get_by_avatar_mut(avatar) else {
                return;
            };
            if !gets_event(viewer, about, effect) {
                let (direction, loudness) = sound.heard_at(world.position(avatar));
                let client = viewer.client;
                sounds.push(HeardSound { client, effect, kind: sound.kind, direction, loudness });
            }
        });
    }

    /// Sends the sounds of this tick.
    pub(super) fn send_sounds(&mut self, now: GameTime, stats: &mut RoomStats) {
        self.sounds.sort_unstable();
        self.sounds.dedup();
        let schema = &self.shared_state.schema;
        for HeardSound { client, effect, kind, direction, loudness } in self.sounds.drain(..) {
            let viewer = self.viewers.get_mut(client).expect("it has just heard the sound");
            let fields = sound_fields(direction, loudness);
            if viewer.send_notice(now, schema, &mut Notice::Event { kind, effect, fields }) {
                stats.events += 1;
            } else {
                stats.notices_dropped += 1;
            }
        }
    }
}

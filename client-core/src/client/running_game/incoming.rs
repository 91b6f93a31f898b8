//! What a datagram of the host contains: the events of the link, the map, records, poses and
//! messages.

use std::sync::Arc;

use ambit_proto::codes as protocol;
use ambit_proto::link::{ChunkProgress, LinkEvent};
use ambit_proto::map::StaticMap;
use ambit_proto::message::{BodyContext, Notice, Record, RefusalReason, read_body};
use ambit_proto::pose::{PoseCoding, SectionError};
use ambit_proto::time::{GameTime, LocalTime};
use ambit_proto::wire::{Reader, WireError};

use super::{RunningGame, emit, emit_game_event};
use crate::client::event::GameEvent;
use crate::client::game_results::GameResults;
use crate::client::held_events::ReceivedEvent;
use crate::replica::{ReceivedDatagram, RecordOutcome};

impl<V> RunningGame<V> {
    pub(super) fn poll_link(&mut self, now: LocalTime, out: &mut GameResults) {
        while let Some(event) = self.link.poll_event() {
            match event {
                LinkEvent::Pong { sent, received_by_peer, sent_by_peer, arrived } => {
                    self.clock.handle_pong(sent, received_by_peer, sent_by_peer, arrived);
                }
                LinkEvent::MessageAcked(message) => {
                    if let Some(number) = self.sent_commands.handle_acked(now, message) {
                        if let Some(own_walk) = &mut self.own_walk {
                            own_walk.handle_acked(self.clock.room_time(now), number);
                        }
                        out.note_confirmed(number);
                    }
                }
                LinkEvent::Message(message) => self.messages.push(message),
                LinkEvent::Acked(seq, ()) => self.uplinks.handle_acked(seq),
                LinkEvent::Lost(seq, ()) => self.uplinks.handle_lost(seq),
                LinkEvent::Block(block) => self.handle_map(now, &block, out),
                // Clients send no blocks.
                LinkEvent::BlockSent => {}
            }
        }
        self.report_map_progress(now, out);
    }

    /// Reports each per cent of the map at most once.
    fn report_map_progress(&mut self, now: LocalTime, out: &mut GameResults) {
        let Some(ChunkProgress { received, total }) = self.link.incoming_block_progress() else {
            return;
        };
        let per_cent = 100 * received / total.max(1);
        if self.map_progress_reported.replace(per_cent) != Some(per_cent) {
            emit(out, GameEvent::MapProgress { t: self.clock.room_time(now), received, total });
        }
    }

    fn handle_map(&mut self, now: LocalTime, block: &[u8], out: &mut GameResults) {
        match StaticMap::decode(block) {
            Ok(map) => {
                self.own_map = Arc::new(map);
                self.show_map(self.clock.room_time(now), block.len(), out);
            }
            Err(_) => out.stats.malformed += 1,
        }
    }

    /// The map has arrived, in a block of `bytes`, or objects have other obstacles.
    pub(super) fn show_map(&mut self, now: GameTime, bytes: usize, out: &mut GameResults) {
        let map = if self.placed.is_empty() {
            self.own_map.clone()
        } else {
            let obstacles = self.own_map.obstacles.iter().chain(&self.placed);
            Arc::new(StaticMap { obstacles: obstacles.copied().collect() })
        };
        self.map = Some(map.clone());
        self.simulated_objects.set_map(map.clone());
        if let Some(own_walk) = &mut self.own_walk {
            own_walk.set_map(&map);
        }
        emit(out, GameEvent::Map { t: now, map, bytes });
    }

    pub(super) fn handle_body(
        &mut self,
        now: LocalTime,
        room_now: GameTime,
        body: Reader<'_>,
        out: &mut GameResults,
    ) -> Result<(), WireError> {
        let number = self.link.last_received_number().expect("the link has received a datagram");
        self.arrivals.handle_number(number);
        let context = BodyContext {
            schema: &self.rules.schema,
            delay: self.rules.delay,
            approximate_now: room_now,
        };
        let Some(body) =
            read_body(body, &context).inspect_err(|_| self.handle_unreadable_body(number))?
        else {
            return Ok(());
        };
        self.arrivals.handle_stamp(now, body.stamp);
        if self.newest_stamp.is_none_or(|newest| body.stamp > newest) {
            self.newest_stamp = Some(body.stamp);
            out.note_fresh_data(now);
        }
        let datagram = ReceivedDatagram { number, stamp: body.stamp, now: room_now };
        for record in &body.records {
            if let Record::InputEffects(effects) = record {
                self.uplinks.inputs.handle_effects(effects);
                continue;
            }
            match self.replica.apply(datagram, record) {
                RecordOutcome::Nothing | RecordOutcome::Object => {}
                RecordOutcome::Update { late } => self.count_updates(1, u64::from(late), out),
                RecordOutcome::Refused => out.stats.malformed += 1,
            }
        }
        if !body.poses.is_empty() {
            self.handle_poses(datagram, &body.poses, out);
        }
        self.replica.finish_datagram(datagram);
        self.jitter_buffer.handle_datagram(
            room_now,
            datagram.number,
            body.stamp,
            !body.poses.is_empty(),
        );
        Ok(())
    }

    /// Treats the poses of an unreadable datagram as lost: it may have had some.
    fn handle_unreadable_body(&mut self, number: u64) {
        self.replica.note_unreadable_poses(number);
        self.uplinks.note_lost_track(number);
    }

    /// If poses cannot be read, the client notifies the host: the link has acknowledged the
    /// datagram, so the host would use its poses as baselines.
    fn handle_poses(&mut self, datagram: ReceivedDatagram, poses: &[u8], out: &mut GameResults) {
        out.stats.pose_datagrams += 1;
        let outcome = self.replica.apply_poses(datagram, poses);
        out.stats.poses += outcome.applied;
        out.stats.stale_poses += outcome.stale;
        self.count_updates(outcome.shown, outcome.late, out);
        match outcome.acked_set {
            // Such a section says nothing about what the host knows.
            Ok(_) if self.rules.coding == PoseCoding::Plain => {}
            Ok(acked) => self.uplinks.handle_poses(datagram.number, acked),
            Err(error) => {
                let malformed = matches!(error, SectionError::Wire(_));
                out.stats.malformed += u64::from(malformed);
                out.stats.lost_tracks += u64::from(!malformed);
                self.uplinks.note_lost_track(datagram.number);
            }
        }
    }

    pub(super) fn handle_message(
        &mut self,
        room_now: GameTime,
        message: &[u8],
        out: &mut GameResults,
    ) -> Result<(), WireError> {
        let notice = Notice::decode(message, &self.rules.schema, room_now)?;
        if let (Notice::Refused { command, .. }, Some(own_walk)) = (&notice, &mut self.own_walk) {
            own_walk.handle_refused(room_now, *command);
        }
        match notice {
            Notice::Event { kind, effect, fields } => {
                let late = effect < room_now;
                out.stats.events += 1;
                out.stats.late_events += u64::from(late);
                self.uplinks.count_received(1, u64::from(late));
                let received = ReceivedEvent { kind, effect, fields };
                let engaged = &mut self.engaged_objects;
                let own = self.replica.own_id();
                self.held_events.handle(room_now, received, &self.replica, |event| {
                    emit_game_event(engaged, own, event, out);
                });
            }
            // The player has given a newer command to move, which overtook this one.
            Notice::Refused { reason: RefusalReason::Code(code), .. }
                if i32::from(code) == protocol::ErrorCode::Outdated as i32 => {}
            Notice::Refused { command, reason } => {
                let (code, text) = match reason {
                    RefusalReason::Code(code) => {
                        let code = protocol::name_of_number(code.into());
                        let text = code.replace('_', " ");
                        (code, text)
                    }
                    RefusalReason::Game(index) => {
                        let refusal = self.rules.schema.refusal(index);
                        let refusal = refusal.expect("the notice fits the schema");
                        let shown = self.rules.schema.presentation.refusal(index.into());
                        (refusal.name.clone(), shown.text.clone())
                    }
                };
                self.emit_refusal(command, code, &text, out);
            }
        }
        Ok(())
    }

    fn count_updates(&mut self, updates: u64, late: u64, out: &mut GameResults) {
        out.stats.updates += updates;
        out.stats.late_updates += late;
        self.uplinks.count_received(updates, late);
    }
}

//! What clients send: each datagram becomes inputs of the room, or is counted as a fault.

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{Alias, ClientId, ObjectId, PlayerId};
use ambit_proto::message::{Command, FieldValue, RefusalReason};
use ambit_proto::time::GameTime;

use super::{Room, RoomInput, RoomOutput};
use crate::logic::game::{GameCommand, Refusal};
use crate::network::command_filter::CommandFault;
use crate::network::viewer::UplinkEvent;

impl Room {
    pub(super) fn receive(
        &mut self,
        now: GameTime,
        client: ClientId,
        at: GameTime,
        bytes: &[u8],
        outputs: &mut Vec<RoomOutput>,
    ) {
        let Some(&player) = self.players.get(&client) else {
            return;
        };
        self.stats.datagrams_in += 1;
        self.stats.bytes_in += bytes.len() as u64;
        let mut events = std::mem::take(&mut self.uplink_events);
        self.network.handle_datagram(client, at, bytes, &mut events);
        for item in events.drain(..) {
            match item {
                UplinkEvent::Command(command) => {
                    self.receive_command(now, client, player, command, outputs);
                }
                UplinkEvent::OverRate(report) => {
                    self.note_fault(now, client, CommandFault::OverRate, report);
                }
                UplinkEvent::MalformedCommand(code, report) => {
                    self.stats.commands_malformed += 1;
                    if let Some(number) = report {
                        self.refuse(now, client, number, Refusal::Code(code));
                    }
                }
                UplinkEvent::Malformed => self.stats.malformed += 1,
                UplinkEvent::Stale => self.stats.datagrams_stale += 1,
                UplinkEvent::Report(error) => outputs.push(RoomOutput::Report { client, error }),
                UplinkEvent::Input(input) => {
                    self.stats.inputs += 1;
                    for sample in input.samples(at) {
                        let input = RoomInput::Sample { player, at, sample };
                        let _ = self.execute(now, input, outputs);
                    }
                }
                UplinkEvent::LostTrack => self.stats.lost_tracks += 1,
            }
        }
        self.uplink_events = events;
    }

    fn receive_command(
        &mut self,
        now: GameTime,
        client: ClientId,
        player: PlayerId,
        command: Command,
        outputs: &mut Vec<RoomOutput>,
    ) {
        let Command { number, kind, fields } = command;
        let newest_only = self.is_newest_only(kind);
        if let Some(seat) = self.seats.get_mut(&player) {
            if seat.has_executed(now, number) {
                self.stats.commands_repeated += 1;
                return;
            }
            if newest_only && seat.receive_newest(now, kind, number) {
                let fault = CommandFault::Outdated;
                let may_report = self.network.may_report(now, client, fault);
                return self.note_fault(now, client, fault, may_report.then_some(number));
            }
        }
        let answer = self.resolve_fields(client, &fields).and_then(|fields| {
            let input =
                RoomInput::Command { player, number, command: GameCommand { kind, fields } };
            self.execute(now, input, outputs)
        });
        match answer {
            Ok(()) => self.stats.commands += 1,
            Err(refusal) => {
                self.stats.commands_refused += 1;
                self.refuse(now, client, number, refusal);
            }
        }
    }

    /// The fields of a command, with the objects that the client means. A client gets the same
    /// answer for an object that it does not follow and for one that does not exist.
    fn resolve_fields(
        &self,
        client: ClientId,
        fields: &[FieldValue<Alias>],
    ) -> Result<Vec<FieldValue<ObjectId>>, Refusal> {
        // An object that the client follows may have been removed at this tick.
        let followed = |alias: &Alias| {
            let object = self.network.followed_object(client, *alias);
            object.filter(|&object| self.world.contains(object))
        };
        let resolve = |field: &FieldValue<Alias>| match field {
            FieldValue::Position(position) if !self.world.grid().contains(*position) => {
                Err(Refusal::Code(ErrorCode::BadPosition))
            }
            field => field.rename_object(followed).ok_or(Refusal::Code(ErrorCode::NoSuchObject)),
        };
        fields.iter().map(resolve).collect()
    }

    /// Counts a command that the game does not get. `report` is its number if the client is to be
    /// notified.
    fn note_fault(
        &mut self,
        now: GameTime,
        client: ClientId,
        fault: CommandFault,
        report: Option<u32>,
    ) {
        match fault {
            CommandFault::OverRate => self.stats.commands_over_rate += 1,
            CommandFault::Outdated => self.stats.commands_outdated += 1,
        }
        if let Some(number) = report {
            self.refuse(now, client, number, Refusal::Code(fault.code()));
        }
    }

    pub(super) fn refuse(
        &mut self,
        now: GameTime,
        client: ClientId,
        command: u32,
        refusal: Refusal,
    ) {
        let reason = match refusal {
            Refusal::Code(code) => RefusalReason::Code(code as u16),
            Refusal::Game(index) => RefusalReason::Game(index),
        };
        self.network.refuse_command(now, client, command, reason, &mut self.stats);
    }
}

//! The commands that were sent in one game connection.
//!
//! Sent commands and acknowledgements go in; confirmed commands, those to send again and
//! descriptions come out. No I/O and no clock.
//!
//! Bounds: [`MAX_DESCRIPTIONS`]; the link's queue bounds the unconfirmed commands.

use std::collections::VecDeque;

use ambit_proto::link::MessageId;
use ambit_proto::message::{Command, FieldValue};
use ambit_proto::schema::{FieldType, Schema};
use ambit_proto::time::LocalTime;

/// Maximum number of remembered descriptions, for messages about refusals: more than a server
/// accepts in a second.
const MAX_DESCRIPTIONS: usize = 64;

/// The last commands that were sent.
#[derive(Debug, Default)]
pub(super) struct SentCommands {
    /// Descriptions by command number.
    descriptions: VecDeque<(u32, String)>,
    /// Oldest first. The link's queue holds those that have not expired.
    unconfirmed: VecDeque<SentCommand>,
}

/// A command and the link's message that contains it.
#[derive(Debug)]
pub(super) struct SentCommand {
    pub(super) message: MessageId,
    pub(super) command: Command,
    /// When the link gives it up.
    pub(super) expires_at: LocalTime,
}

impl SentCommands {
    /// A command was sent.
    pub(super) fn note_sent(&mut self, now: LocalTime, sent: SentCommand, schema: &Schema) {
        if self.descriptions.len() == MAX_DESCRIPTIONS {
            self.descriptions.pop_front();
        }
        let description = describe(&sent.command, schema);
        self.descriptions.push_back((sent.command.number, description));
        self.unconfirmed.retain(|sent| sent.expires_at > now);
        self.unconfirmed.push_back(sent);
    }

    /// The host has received the command in that message. Returns its number, unless the command
    /// has expired: the player may have given it up.
    pub(super) fn handle_acked(&mut self, now: LocalTime, message: MessageId) -> Option<u32> {
        let index = self.unconfirmed.iter().position(|sent| sent.message == message)?;
        let sent = self.unconfirmed.remove(index)?;
        (sent.expires_at > now).then_some(sent.command.number)
    }

    /// The commands that are neither confirmed nor expired, oldest first.
    pub(super) fn unconfirmed(&self, now: LocalTime) -> impl Iterator<Item = &Command> {
        self.unconfirmed.iter().filter(move |sent| sent.expires_at > now).map(|sent| &sent.command)
    }

    /// What a command does, for the player; `None` if it is not remembered.
    pub(super) fn description(&self, number: u32) -> Option<&str> {
        self.descriptions
            .iter()
            .find(|(sent, _)| *sent == number)
            .map(|(_, description)| description.as_str())
    }
}

/// The name of a command, and what was chosen in it: `cast bolt`.
fn describe(command: &Command, schema: &Schema) -> String {
    let Some(kind) = schema.command(command.kind) else {
        return format!("command {}", command.kind);
    };
    let chosen = command.fields.iter().zip(&kind.fields).filter_map(|pair| {
        let (FieldValue::Choice(index), FieldType::Choice(names)) = (pair.0, &pair.1.ty) else {
            return None;
        };
        names.get(usize::from(*index))
    });
    chosen.fold(kind.name.clone(), |text, name| format!("{text} {name}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ambit_proto::link::{Link, LinkConfig};
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_received_command_is_confirmed_once_unless_it_has_expired() {
        let mut commands = SentCommands::default();
        let [first, second, third] = send(&mut commands, [at(1_000), at(1_000), LocalTime::MAX]);
        assert_eq!(unconfirmed(&commands, at(999)), [1, 2, 3]);
        assert_eq!(commands.handle_acked(at(999), first), Some(1));
        assert_eq!(commands.handle_acked(at(999), first), None);
        assert_eq!(unconfirmed(&commands, at(999)), [2, 3]);
        assert_eq!(unconfirmed(&commands, at(1_000)), [3]);
        assert_eq!(commands.handle_acked(at(1_000), second), None);
        assert_eq!(commands.handle_acked(at(1_000), third), Some(3));
    }

    #[test]
    fn the_newest_descriptions_are_remembered() {
        let mut commands = SentCommands::default();
        send(&mut commands, [at(1_000); MAX_DESCRIPTIONS + 1]);
        let described = (1..=MAX_DESCRIPTIONS as u32 + 1)
            .filter(|number| commands.description(*number) == Some("walk-to"));
        assert!(described.eq(2..=MAX_DESCRIPTIONS as u32 + 1));
    }

    /// Sends commands that expire at these times; their numbers begin at 1.
    fn send<const COUNT: usize>(
        commands: &mut SentCommands,
        expire_at: [LocalTime; COUNT],
    ) -> [MessageId; COUNT] {
        let mut link: Link = Link::new(LinkConfig::client());
        let mut number = 0;
        expire_at.map(|expires_at| {
            number += 1;
            let message = link
                .send_reliable(LocalTime::ZERO, Bytes::new(), Some(expires_at))
                .expect("the queue has room");
            let sent = SentCommand {
                message,
                command: Command { number, ..Command::default() },
                expires_at,
            };
            commands.note_sent(LocalTime::ZERO, sent, &Schema::example());
            message
        })
    }

    fn unconfirmed(commands: &SentCommands, now: LocalTime) -> Vec<u32> {
        let unconfirmed = commands.unconfirmed(now);
        unconfirmed.map(|command| command.number).collect()
    }

    fn at(ms: u64) -> LocalTime {
        LocalTime::ZERO + Duration::from_millis(ms)
    }
}

//! The records of sessions in the directory.

use crate::directory as pb;
use ambit_proto::ids::{AccountId, PartyId, PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_proto::wishes::Wishes;
use ambit_store::BanTerm;
use ambit_transport::address::SourceNetwork;

use crate::config::LobbyConfig;
use crate::sessions::Sessions;
use crate::sessions::creations::{CreationKey, RecentCreations};
use crate::sessions::players::{LobbyPlayer, ResumeToken, SavedPlayer};
use crate::text::PlayerName;
use crate::timers::{LobbyTimers, Timer};

impl Sessions {
    pub(crate) fn record_of(&self, player: &LobbyPlayer) -> pb::Player {
        let creations = player.allowances.creations.entries().map(|(key, room)| pb::Creation {
            key: key.map(Vec::from).unwrap_or_default(),
            room: room.0,
        });
        let place_in_party = player.party.map(|party| self.parties.place(party, player.id));
        pb::Player {
            name: player.name().as_str().to_owned(),
            token: self.players.token(player.id).to_vec(),
            previous_token: self
                .players
                .previous_token(player.id)
                .map(Vec::from)
                .unwrap_or_default(),
            creations: creations.collect(),
            network: network_record(player.origin.network),
            account: AccountId::to_bytes(player.account),
            wishes: player.wishes.clone().into_map(),
            since: player.origin.since,
            mute: player
                .mute
                .as_ref()
                .map(|term| pb::Mute { reason: term.reason.clone(), ends_at: term.ends_at }),
            party: player.party.map_or(0, |party| party.0),
            place_in_party: place_in_party.unwrap_or_default(),
        }
    }

    /// Restores a session of another lobby, whose player is away.
    pub(crate) fn restore(
        &mut self,
        now: LocalTime,
        id: PlayerId,
        record: &pb::Player,
        config: &LobbyConfig,
        timers: &mut LobbyTimers,
    ) -> Option<()> {
        let token = |bytes: &[u8]| ResumeToken::try_from(bytes).ok();
        let mut creations = RecentCreations::default();
        for creation in &record.creations {
            creations.add(
                now,
                CreationKey::try_from(&creation.key[..]).ok(),
                RoomId(creation.room),
            );
        }
        let saved = SavedPlayer {
            name: PlayerName::parse(&record.name).ok()?,
            token: token(&record.token)?,
            previous_token: token(&record.previous_token),
            creations,
            network: network_from_record(&record.network),
            account: AccountId::from_bytes(&record.account),
            since: record.since,
            mute: record
                .mute
                .as_ref()
                .map(|mute| BanTerm { reason: mute.reason.clone(), ends_at: mute.ends_at }),
            wishes: Wishes::new(record.wishes.clone()).ok()?,
        };
        let network = saved.network;
        self.players.restore(id, saved, config)?;
        if record.party != 0 {
            let party = PartyId(record.party);
            self.players.at_mut(id).party = self.parties.restore(party, record.place_in_party, id);
        }
        if let Some(network) = network
            && !config.trusts(network.first_address())
        {
            self.players.count_at(id, network);
        }
        timers.set(Timer::Grace(id), now + config.grace);
        Some(())
    }

    /// Players up to this id may have existed.
    pub(crate) fn skip_to(&mut self, last_id: u64) {
        self.players.skip_to(last_id);
    }
}

/// Where something came from, as records have it.
pub(crate) fn network_record(network: Option<SourceNetwork>) -> String {
    network.map_or(String::new(), |network| network.first_address().to_string())
}

/// The same, read.
pub(crate) fn network_from_record(record: &str) -> Option<SourceNetwork> {
    record.parse().ok().map(SourceNetwork::of)
}

//! What operators read of sessions.

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::Channel;
use ambit_proto::ids::{AccountId, PlayerId};

use crate::effects::LobbyEffects;
use crate::operator_event::OperatorEvent;
use crate::output::ConnId;
use crate::sessions::Sessions;

impl Sessions {
    pub(super) fn report_came(&self, player: PlayerId, conn: ConnId, effects: &mut LobbyEffects) {
        let account = self.player(player).account.map(|account: AccountId| account.to_string());
        let (name, address) = (self.name_of(player), self.address_text(conn));
        effects.report(OperatorEvent::PlayerCame { player: player.0, name, account, address });
    }

    pub(super) fn report_back(&self, player: PlayerId, conn: ConnId, effects: &mut LobbyEffects) {
        let (name, address) = (self.name_of(player), self.address_text(conn));
        effects.report(OperatorEvent::PlayerBack { player: player.0, name, address });
    }

    pub(crate) fn report_away(&self, player: PlayerId, effects: &mut LobbyEffects) {
        let name = self.name_of(player);
        effects.report(OperatorEvent::PlayerAway { player: player.0, name });
    }

    pub(super) fn report_left(&self, player: PlayerId, why: ErrorCode, effects: &mut LobbyEffects) {
        let name = self.name_of(player);
        effects.report(OperatorEvent::PlayerLeft { player: player.0, name, why: codes::name(why) });
    }

    pub(crate) fn report_chat(
        &self,
        player: PlayerId,
        channel: Channel,
        text: String,
        effects: &mut LobbyEffects,
    ) {
        let channel = channel.as_str_name().trim_start_matches("CHANNEL_").to_lowercase();
        let room = self.player(player).room.map(|room| room.0);
        let name = self.name_of(player);
        effects.report(OperatorEvent::Chat { player: player.0, name, channel, room, text });
    }

    fn address_text(&self, conn: ConnId) -> String {
        self.address_of(conn).map_or_else(String::new, |address| address.to_string())
    }
}

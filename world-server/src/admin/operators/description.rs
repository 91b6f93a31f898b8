//! The description of `/admin/v1`, in the form of `OpenAPI` 3.1: made from the list of its
//! requests, which the routes are made from, too.

use ambit_proto::standing::OperatorRole;
use serde_json::{Map, Value as Json, json};

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdminAction {
    Describe,
    Events,
    Whoami,
    ShowServer,
    ShowHistory,
    ListPlayers,
    ListRooms,
    ListMaps,
    ListHosts,
    ListBans,
    ShowMap,
    ShowAbove,
    Why,
    Kick,
    Mute,
    Unmute,
    BanPlayer,
    Say,
    Ban,
    Unban,
    Lock,
    Unlock,
    CloseRoom,
    DrainHost,
    UndrainHost,
    Drain,
    CallOffDrain,
    Reload,
}

/// A member of a body or a query: name, type, whether it is needed, about.
pub(crate) type AdminMember = (&'static str, &'static str, bool, &'static str);

/// A request that operators may send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdminEndpoint {
    pub(crate) action: AdminAction,
    /// `get`, `post` or `delete`.
    pub(crate) method: &'static str,
    /// Below `/admin/v1`; what is in braces is a number or the target of a ban.
    pub(crate) path: &'static str,
    /// The least that a key has to have.
    pub(crate) role: OperatorRole,
    pub(crate) about: &'static str,
    /// Of the body, or of the query of a `get`.
    pub(crate) members: &'static [AdminMember],
    /// What the answer has.
    pub(crate) answer: &'static str,
}

impl AdminAction {
    /// Whether it shows what players may see, too.
    pub(crate) fn is_for_guests(self) -> bool {
        !matches!(self, Self::ShowMap | Self::ShowAbove | Self::Why)
    }

    /// The command of the subcommand `admin`.
    pub(crate) const fn command(self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Events => "events",
            Self::Whoami => "whoami",
            Self::ShowServer => "server",
            Self::ShowHistory => "history",
            Self::ListPlayers => "players",
            Self::ListRooms => "rooms",
            Self::ListMaps => "maps",
            Self::ListHosts => "hosts",
            Self::ListBans => "bans",
            Self::ShowMap => "map",
            Self::ShowAbove => "above",
            Self::Why => "why",
            Self::Kick => "kick",
            Self::Mute => "mute",
            Self::Unmute => "unmute",
            Self::BanPlayer => "ban-player",
            Self::Say => "say",
            Self::Ban => "ban",
            Self::Unban => "unban",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::CloseRoom => "close",
            Self::DrainHost => "drain-host",
            Self::UndrainHost => "undrain-host",
            Self::Drain => "drain",
            Self::CallOffDrain => "call-off-drain",
            Self::Reload => "reload",
        }
    }
}

impl AdminEndpoint {
    /// The members of the body.
    pub(crate) fn body(&self) -> &'static [AdminMember] {
        if self.method == "get" { &[] } else { self.members }
    }

    /// The members of the query.
    pub(crate) fn query(&self) -> &'static [AdminMember] {
        if self.method == "get" { self.members } else { &[] }
    }

    /// The path with this in the place of its braces.
    pub(crate) fn path_with(&self, parameter: &str) -> String {
        match self.braces() {
            Some((open, close)) => {
                format!("{}{parameter}{}", &self.path[..open], &self.path[close + 1..])
            }
            None => self.path.to_owned(),
        }
    }

    /// What the braces of the path name.
    pub(crate) fn parameter(&self) -> Option<&'static str> {
        self.braces().map(|(open, close)| &self.path[open + 1..close])
    }

    fn braces(&self) -> Option<(usize, usize)> {
        Some((self.path.find('{')?, self.path.find('}')?))
    }
}

const LOOK: OperatorRole = OperatorRole::Look;
const MODERATE: OperatorRole = OperatorRole::Moderate;
const OPERATE: OperatorRole = OperatorRole::Operate;
const REASON: AdminMember = ("reason", "string", false, "for the players");
const ONLY: AdminMember = ("only", "string", false, "`play` or `chat`: the ban from that alone");
const HOURS: AdminMember = ("hours", "integer", false, "for how long; without it there is no end");

/// All requests.
pub(crate) const ENDPOINTS: &[AdminEndpoint] = &[
    AdminEndpoint {
        action: AdminAction::Describe,
        method: "get",
        path: "/openapi.json",
        role: LOOK,
        about: "This description.",
        members: &[],
        answer: "OpenAPI 3.1",
    },
    AdminEndpoint {
        action: AdminAction::Events,
        method: "get",
        path: "/events",
        role: LOOK,
        about: "The newest events after the number of the query `after`; as a stream of all that \
            follow, if `text/event-stream` is accepted.",
        members: &[("after", "integer", false, "the number of the last known event")],
        answer: "`events`, a list; `newest`, the number of the last one; `missed`, how many are \
            forgotten",
    },
    AdminEndpoint {
        action: AdminAction::Whoami,
        method: "get",
        path: "/whoami",
        role: LOOK,
        about: "Whose key this is: name, role, guest (whether it is one without a key).",
        members: &[],
        answer: "these members",
    },
    AdminEndpoint {
        action: AdminAction::ShowServer,
        method: "get",
        path: "/server",
        role: LOOK,
        about: "The server: version, uptime_s, draining, connections, players, players_away, \
            rooms, rooms_running, shutdown (null, or in_s and reason), waiting_rooms (the builds \
            of those that wait for a host, by id).",
        members: &[],
        answer: "these members",
    },
    AdminEndpoint {
        action: AdminAction::ShowHistory,
        method: "get",
        path: "/history",
        role: LOOK,
        about: "The last hour, a sample each 10 s, as lists of one length: at (seconds since \
            1970), players, rooms, hosts, cores (what hosts use), lateness_ms (of ticks, 99th \
            percentile), in and out (bytes of datagrams a second), refused (requests a second).",
        members: &[],
        answer: "these lists",
    },
    AdminEndpoint {
        action: AdminAction::ListPlayers,
        method: "get",
        path: "/players",
        role: LOOK,
        about: "All players: id, name, account, address (none while away), round_trip_ms and \
            loss of the lobby connection, client, since (seconds since 1970), room, map, host, \
            role, mute.",
        members: &[],
        answer: "`players`, a list",
    },
    AdminEndpoint {
        action: AdminAction::ListRooms,
        method: "get",
        path: "/rooms",
        role: LOOK,
        about: "All rooms: id, name, game, players, capacity, running, has_password, locked, \
            host, maps.",
        members: &[],
        answer: "`rooms`, a list",
    },
    AdminEndpoint {
        action: AdminAction::ListMaps,
        method: "get",
        path: "/maps",
        role: LOOK,
        about: "All maps: id (as in logs and metrics), room, map (its number in the room), \
            players, host, running.",
        members: &[],
        answer: "`maps`, a list",
    },
    AdminEndpoint {
        action: AdminAction::ListHosts,
        method: "get",
        path: "/hosts",
        role: LOOK,
        about: "All hosts: id, label, address, build, capacity, rooms, players, leaving, drained, \
            cores (what it uses), lateness_ms (of ticks, 99th percentile), late_rooms.",
        members: &[],
        answer: "`hosts`, a list",
    },
    AdminEndpoint {
        action: AdminAction::ListBans,
        method: "get",
        path: "/bans",
        role: LOOK,
        about: "All bans: target, player (its name then), from (`play` or `chat`), reason; \
            ends_at, made_at in seconds since 1970; made_by, the name of the key, empty from a \
            shell.",
        members: &[],
        answer: "`bans`, a list",
    },
    AdminEndpoint {
        action: AdminAction::ShowMap,
        method: "get",
        path: "/maps/{map}",
        role: LOOK,
        about: "What does not change on a map: size (metres), cell (metres), kinds (name, colour, \
            size in metres, inner and outer zone in cells), obstacles (each x, y, half extents, \
            turn in radians, whether it is round).",
        members: &[],
        answer: "these members",
    },
    AdminEndpoint {
        action: AdminAction::ShowAbove,
        method: "get",
        path: "/maps/{map}/above",
        role: LOOK,
        about: "A map from above, now: at_ms (the room's time), objects (each id, kind, x, y, yaw, \
            owner), left_out, clients, bytes_by_kind (a second), regions (columns, rows, \
            edge_cells, and of each objects, players, changes in 4 s); view: what the client of \
            `player` has (objects, each id, the newest confirmed x and y and their age, the age \
            of what was sent last, urgency, whether it waits for room, bytes a second), or null, \
            and no_view: why.",
        members: &[("player", "integer", false, "the id of a player")],
        answer: "these members",
    },
    AdminEndpoint {
        action: AdminAction::Why,
        method: "get",
        path: "/maps/{map}/why",
        role: LOOK,
        about: "Why the client of a player has an object, or has it not: rule, shows, distance \
            and zones in cells, and what the client has of it.",
        members: &[
            ("player", "integer", true, "the id of a player"),
            ("object", "integer", true, "the id of an object"),
        ],
        answer: "these members",
    },
    AdminEndpoint {
        action: AdminAction::Kick,
        method: "post",
        path: "/players/{player}/kick",
        role: MODERATE,
        about: "Ends the session of a player, who may come back.",
        members: &[REASON],
        answer: "`reached`, 1",
    },
    AdminEndpoint {
        action: AdminAction::Mute,
        method: "post",
        path: "/players/{player}/mute",
        role: MODERATE,
        about: "Refuses what a player says in chat: by its account, or for this session.",
        members: &[REASON, HOURS],
        answer: "`reached`, 1",
    },
    AdminEndpoint {
        action: AdminAction::Unmute,
        method: "delete",
        path: "/players/{player}/mute",
        role: MODERATE,
        about: "Lets a player chat again.",
        members: &[],
        answer: "`reached`, 1",
    },
    AdminEndpoint {
        action: AdminAction::BanPlayer,
        method: "post",
        path: "/players/{player}/ban",
        role: MODERATE,
        about: "Bans the account of a player, and the address that it comes from.",
        members: &[REASON, HOURS],
        answer: "`targets`, what is banned; `reached`, how many players that concerns now",
    },
    AdminEndpoint {
        action: AdminAction::Say,
        method: "post",
        path: "/messages",
        role: MODERATE,
        about: "Sends a line of chat: to all, to a room, or to a player.",
        members: &[
            ("text", "string", true, "1 to 500 characters"),
            ("room", "integer", false, "the id of a room"),
            ("player", "integer", false, "the id of a player"),
        ],
        answer: "`reached`, the number of players",
    },
    AdminEndpoint {
        action: AdminAction::Ban,
        method: "post",
        path: "/bans",
        role: MODERATE,
        about: "Bans an account, a name or an address: players are put out, and come in no more.",
        members: &[
            ("account", "string", false, "32 hexadecimal digits"),
            ("name", "string", false, "a name; those that look like it are banned, too"),
            ("address", "string", false, "an address or a network; of IPv6 the /64"),
            ("only", "string", false, "`chat`: bars from chat alone"),
            REASON,
            HOURS,
        ],
        answer: "`targets`, what is banned; `reached`, how many players that concerns now",
    },
    AdminEndpoint {
        action: AdminAction::Unban,
        method: "delete",
        path: "/bans/{target}",
        role: MODERATE,
        about: "Ends the bans of a target, as the list of bans shows it (`/` is `%2F`), and of \
            names that look like it.",
        members: &[ONLY],
        answer: "`targets`, what is banned no more",
    },
    AdminEndpoint {
        action: AdminAction::Lock,
        method: "post",
        path: "/rooms/{room}/lock",
        role: MODERATE,
        about: "Lets no more players into a room; those with a seat may come back.",
        members: &[],
        answer: "`reached`, the number of its members",
    },
    AdminEndpoint {
        action: AdminAction::Unlock,
        method: "delete",
        path: "/rooms/{room}/lock",
        role: MODERATE,
        about: "Lets players into a room again.",
        members: &[],
        answer: "`reached`, the number of its members",
    },
    AdminEndpoint {
        action: AdminAction::CloseRoom,
        method: "post",
        path: "/rooms/{room}/close",
        role: OPERATE,
        about: "Closes a room: its members are in the lobby.",
        members: &[REASON],
        answer: "`reached`, the number of its members",
    },
    AdminEndpoint {
        action: AdminAction::DrainHost,
        method: "post",
        path: "/hosts/{host}/drain",
        role: OPERATE,
        about: "Gives a host no more rooms, and moves its rooms to hosts of the same build.",
        members: &[],
        answer: "`reached`, the number of its rooms",
    },
    AdminEndpoint {
        action: AdminAction::UndrainHost,
        method: "delete",
        path: "/hosts/{host}/drain",
        role: OPERATE,
        about: "Gives a host rooms again.",
        members: &[],
        answer: "`reached`, the number of its rooms",
    },
    AdminEndpoint {
        action: AdminAction::Drain,
        method: "post",
        path: "/drain",
        role: OPERATE,
        about: "Shuts the server down after a time, of which players read how much is left.",
        members: &[("minutes", "integer", true, "0 to 1440"), REASON],
        answer: "`reached`, the number of players",
    },
    AdminEndpoint {
        action: AdminAction::CallOffDrain,
        method: "delete",
        path: "/drain",
        role: OPERATE,
        about: "Calls the shutdown off.",
        members: &[],
        answer: "`reached`, the number of players",
    },
    AdminEndpoint {
        action: AdminAction::Reload,
        method: "post",
        path: "/reload",
        role: OPERATE,
        about: "Reads keys of operators, the certificate of `--cert` and bans again; as SIGHUP.",
        members: &[("log", "string", false, "a log filter from now on, as of `AMBIT_LOG`")],
        answer: "`reloaded`, true",
    },
];

/// The description as a document.
pub(crate) fn openapi() -> Json {
    let mut paths = Map::new();
    for endpoint in ENDPOINTS {
        let path = paths.entry(format!("/admin/v1{}", endpoint.path)).or_insert_with(|| json!({}));
        path[endpoint.method] = operation(endpoint);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Ambit: operators",
            "version": "1",
            "description": "For the private port of `--http`. Each request has a key."
        },
        "security": [{ "key": [] }],
        "components": { "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } } },
        "paths": paths,
    })
}

fn operation(endpoint: &AdminEndpoint) -> Json {
    let answers = json!({
        "200": { "description": format!("JSON with {}", endpoint.answer) },
        "400": { "description": "the body or an id is wrong; `error` says what was expected" },
        "401": { "description": "no key, or an unknown one" },
        "403": { "description": "the key has a lower role" },
        "404": {
            "description": "there is no such path, player, room, host, ban, mute or shutdown",
        },
        "405": {
            "description": "the path takes other methods, which `error` and `allow` list",
        },
        "409": { "description": "another server of the cluster leads" },
        "413": { "description": "the body is longer than 65,536 bytes" },
        "429": { "description": "too many wrong keys; `retry-after` says how long to wait" },
        "503": { "description": "the lobby or the store does not answer, or there are no keys" },
    });
    let mut operation = json!({
        "summary": endpoint.about,
        "description": format!("Needs the role `{}`.", endpoint.role),
        "responses": answers,
    });
    let path = endpoint.parameter().map(|name| {
        let kind = if name == "target" { "string" } else { "integer" };
        json!({ "name": name, "in": "path", "required": true, "schema": { "type": kind } })
    });
    let query = endpoint.query().iter().map(|(name, kind, is_needed, about)| {
        json!({
            "name": name, "in": "query", "required": is_needed, "schema": { "type": kind },
            "description": about,
        })
    });
    let parameters: Vec<Json> = path.into_iter().chain(query).collect();
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if !endpoint.body().is_empty() {
        let member = |&(name, kind, _, about): &AdminMember| {
            (name.to_owned(), json!({ "type": kind, "description": about }))
        };
        let members: Map<String, Json> = endpoint.body().iter().map(member).collect();
        let needed = endpoint.body().iter().filter(|(_, _, is_needed, _)| *is_needed);
        let needed: Vec<&str> = needed.map(|(name, ..)| *name).collect();
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": members,
            "required": needed,
        });
        operation["requestBody"] =
            json!({ "content": { "application/json": { "schema": schema } } });
    }
    operation
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_description_in_the_docs_is_what_this_build_serves() {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/data/operators.openapi.json");
        let text = format!("{:#}\n", openapi());
        if std::env::var_os("AMBIT_RENEW_OPENAPI").is_some() {
            fs::write(&file, &text).expect("the file can be written");
        }
        let known = fs::read_to_string(&file).unwrap_or_default();
        assert!(known == text, "renew {} with AMBIT_RENEW_OPENAPI=1", file.display());
    }

    #[test]
    fn each_request_stands_once_and_names_its_parameter() {
        let document = openapi();
        let paths = document["paths"].as_object().expect("an object");
        let count: usize = paths.values().filter_map(Json::as_object).map(Map::len).sum();
        assert_eq!(count, ENDPOINTS.len());
        let kick = &document["paths"]["/admin/v1/players/{player}/kick"]["post"];
        assert_eq!(kick["parameters"][0]["name"], "player");
        assert_eq!(kick["description"], "Needs the role `moderate`.");
    }
}

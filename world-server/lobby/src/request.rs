//! Requests, parsed.
//!
//! Decoded messages go in; a [`PlayerRequest`] comes out, in which every value is valid by itself:
//! names follow the rules of `text`, numbers their ranges, maps their bounds. The lobby decides
//! whether the request is possible.

use std::collections::BTreeMap;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::world::{self, client_to_world::Body};
use ambit_proto::ids::{PartyId, PlayerId, RoomId};
use ambit_proto::wishes::Wishes;
use ambit_room::config::MAX_CAPACITY;
use ambit_transport::account_proof::KEY_BYTES;
use prost::bytes::Buf;
use prost::encoding::{DecodeContext, decode_key, skip_field};

use crate::refusal::LobbyRefusal;
use crate::sessions::account_job::{AccountJob, AccountWay, Secret};
use crate::sessions::creations::CreationKey;
use crate::text::{ChatText, LobbyRoomName, Password, PlayerName};

/// Characters of what a client calls itself that are kept.
const MAX_AGENT: usize = 64;
/// Seats of a room.
pub(super) const DEFAULT_CAPACITY: u32 = 64;
/// Bounds for a room's parameters, so that a list of rooms stays small.
const MAX_PARAMETERS: usize = 32;
const MAX_PARAMETER_NAME_BYTES: usize = 32;
const MAX_PARAMETER_VALUE_BYTES: usize = 128;
/// Characters of the password of an account.
const MIN_ACCOUNT_PASSWORD: usize = 8;
const MAX_ACCOUNT_PASSWORD: usize = 128;
/// More than a name with `#` and a number has.
const MAX_LOGIN_BYTES: usize = 160;
/// More of a key than this is not shown.
const MAX_SHOWN_KEY_CHARS: usize = 40;

/// The requests that a client may send after its hello.
#[derive(Debug)]
pub(super) enum PlayerRequest {
    ListRooms {
        subscribe: bool,
    },
    CreateRoom(CreateRoomRequest),
    JoinRoom(JoinRoomRequest),
    QuickJoin(QuickJoinRequest),
    LeaveRoom,
    StartRoom,
    SetReady {
        ready: bool,
    },
    SetWishes(Wishes),
    Invite {
        player: String,
    },
    JoinParty(PartyId),
    /// Of another member, or of oneself.
    LeaveParty(Option<PlayerId>),
    ListPlayers {
        everybody: bool,
    },
    SetName(PlayerName),
    Say(ChatRequest),
    Kick {
        player: PlayerId,
    },
    RequestTicket,
    DescribeGame {
        game: String,
    },
    ReadAccount,
    EraseAccount,
    /// The password and the new one.
    SetPassword(Secret, Secret),
}

impl PlayerRequest {
    /// Whether the answer is a list, or has one.
    pub(super) fn has_list(&self) -> bool {
        matches!(
            self,
            Self::ListRooms { .. }
                | Self::ListPlayers { .. }
                | Self::JoinRoom(_)
                | Self::QuickJoin(_)
                | Self::DescribeGame { .. }
        )
    }
}

/// The request that opens a session.
#[derive(Debug)]
pub(super) struct HelloRequest {
    /// `None` for a name chosen by the server.
    pub(super) name: Option<PlayerName>,
    /// Any bytes: an unknown token starts a new session.
    pub(super) resume_token: Vec<u8>,
    /// The name and version of the client's program, as it says; for operators.
    pub(super) agent: String,
    pub(super) account: HelloAccount,
}

/// The account that the player says to have.
#[derive(Debug)]
pub(super) enum HelloAccount {
    None,
    /// Its public key.
    Key([u8; KEY_BYTES]),
    /// A password or a token to check, or an account to make.
    Job(AccountWay, AccountJob),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CreateRoomRequest {
    pub(super) name: LobbyRoomName,
    pub(super) game: String,
    pub(super) capacity: u32,
    pub(super) parameters: BTreeMap<String, String>,
    pub(super) password: Option<Password>,
    pub(super) key: Option<CreationKey>,
}

#[derive(Debug)]
pub(super) struct JoinRoomRequest {
    pub(super) room: RoomId,
    pub(super) password: Option<Password>,
}

#[derive(Debug)]
pub(super) struct QuickJoinRequest {
    pub(super) game: String,
    pub(super) parameters: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(super) struct ChatRequest {
    pub(super) text: ChatText,
    pub(super) to: ChatTarget,
}

/// The receivers of a chat message.
#[derive(Debug)]
pub(super) enum ChatTarget {
    Lobby,
    Room,
    Party,
    Player(PlayerId),
    PlayerNamed(String),
}

/// A request's field name in the `.proto` file, for error messages.
pub(super) fn name_of(body: &Body) -> &'static str {
    match body {
        Body::Hello(_) => "hello",
        Body::ListRooms(_) => "list_rooms",
        Body::CreateRoom(_) => "create_room",
        Body::JoinRoom(_) => "join_room",
        Body::LeaveRoom(_) => "leave_room",
        Body::StartRoom(_) => "start_room",
        Body::SetReady(_) => "set_ready",
        Body::ListPlayers(_) => "list_players",
        Body::SetName(_) => "set_name",
        Body::Say(_) => "say",
        Body::Kick(_) => "kick",
        Body::RequestTicket(_) => "request_ticket",
        Body::DescribeGame(_) => "describe_game",
        Body::ProveAccount(_) => "prove_account",
        Body::ReadAccount(_) => "read_account",
        Body::EraseAccount(_) => "erase_account",
        Body::SetPassword(_) => "set_password",
        Body::SetWishes(_) => "set_wishes",
        Body::QuickJoin(_) => "quick_join",
        Body::Invite(_) => "invite",
        Body::JoinParty(_) => "join_party",
        Body::LeaveParty(_) => "leave_party",
    }
}

/// The number of the last field of an encoded `ClientToWorld` that is not `request`: the body of a
/// message without a known body.
pub(super) fn unknown_body_field(mut message: &[u8]) -> Option<u32> {
    let mut found = None;
    while message.has_remaining() {
        let (field, wire_type) = decode_key(&mut message).ok()?;
        skip_field(wire_type, field, &mut message, DecodeContext::default()).ok()?;
        if field != 1 {
            found = Some(field);
        }
    }
    found
}

impl TryFrom<Body> for PlayerRequest {
    type Error = LobbyRefusal;

    fn try_from(body: Body) -> Result<Self, LobbyRefusal> {
        Ok(match body {
            Body::Hello(_) | Body::ProveAccount(_) => {
                let message = format!("{} comes once, before all others", name_of(&body));
                return Err(LobbyRefusal::new(ErrorCode::OutOfState, message));
            }
            Body::ListRooms(list) => Self::ListRooms { subscribe: list.subscribe },
            Body::CreateRoom(create) => Self::CreateRoom(create.try_into()?),
            Body::JoinRoom(join) => Self::JoinRoom(join.try_into()?),
            Body::QuickJoin(join) => {
                check_parameter_bounds(&join.parameters)?;
                let world::QuickJoin { game, parameters } = join;
                Self::QuickJoin(QuickJoinRequest { game, parameters })
            }
            Body::SetWishes(set) => Self::SetWishes(
                Wishes::new(set.wishes)
                    .map_err(|error| LobbyRefusal::new(ErrorCode::BadText, error.to_string()))?,
            ),
            Body::Invite(invite) => Self::Invite { player: invite.player },
            Body::JoinParty(join) => Self::JoinParty(PartyId(join.party)),
            Body::LeaveParty(leave) => {
                Self::LeaveParty(Some(PlayerId(leave.player)).filter(|member| member.0 != 0))
            }
            Body::LeaveRoom(world::LeaveRoom {}) => Self::LeaveRoom,
            Body::StartRoom(world::StartRoom {}) => Self::StartRoom,
            Body::SetReady(set) => Self::SetReady { ready: set.ready },
            Body::ListPlayers(list) => Self::ListPlayers { everybody: list.everybody },
            Body::SetName(set) => Self::SetName(PlayerName::parse(&set.name)?),
            Body::Say(say) => Self::Say(say.try_into()?),
            Body::Kick(kick) => Self::Kick { player: PlayerId(kick.player) },
            Body::RequestTicket(world::RequestTicket {}) => Self::RequestTicket,
            Body::DescribeGame(describe) => Self::DescribeGame { game: describe.game },
            Body::ReadAccount(world::ReadAccount {}) => Self::ReadAccount,
            Body::EraseAccount(world::EraseAccount {}) => Self::EraseAccount,
            Body::SetPassword(set) => {
                Self::SetPassword(old_password(set.password)?, new_password(set.new_password)?)
            }
        })
    }
}

impl TryFrom<world::Hello> for HelloRequest {
    type Error = LobbyRefusal;

    /// The version is checked first: the other fields may mean something else in another version.
    fn try_from(hello: world::Hello) -> Result<Self, LobbyRefusal> {
        if hello.version != WORLD_VERSION {
            let message = format!(
                "this server speaks version {WORLD_VERSION} of the protocol, the client version \
                 {}; use a client of the server's version",
                hello.version
            );
            return Err(LobbyRefusal::new(ErrorCode::VersionMismatch, message));
        }
        let name = if hello.name.is_empty() { None } else { Some(PlayerName::parse(&hello.name)?) };
        let account = parse_account(hello.account_key, hello.password, hello.account_token)?;
        let agent = hello.agent.chars().filter(|c| !c.is_control()).take(MAX_AGENT).collect();
        Ok(Self { name, resume_token: hello.resume_token, agent, account })
    }
}

fn parse_account(
    key: Vec<u8>,
    password: Option<world::PasswordSignIn>,
    token: String,
) -> Result<HelloAccount, LobbyRefusal> {
    match (key.len(), password, token.is_empty()) {
        (0, None, true) => Ok(HelloAccount::None),
        (0, None, false) => {
            let job = AccountJob::CheckToken { token: Secret(token) };
            Ok(HelloAccount::Job(AccountWay::Token, job))
        }
        (0, Some(sign_in), true) => {
            Ok(HelloAccount::Job(AccountWay::Password, parse_sign_in(sign_in)?))
        }
        (KEY_BYTES, None, true) => {
            Ok(HelloAccount::Key(key.try_into().expect("it has this length")))
        }
        (length, None, true) => {
            Err(bad_account(format!("the key of an account has {KEY_BYTES} bytes, not {length}")))
        }
        _ => Err(bad_account(
            "a hello has a key, a password or a token of an account, not several of them",
        )),
    }
}

fn parse_sign_in(sign_in: world::PasswordSignIn) -> Result<AccountJob, LobbyRefusal> {
    let world::PasswordSignIn { login, password, is_new } = sign_in;
    if is_new {
        let name = PlayerName::parse(&login)?.as_str().to_owned();
        if name.contains('#') {
            let message = "the name of a new account has no #: the server adds it with a number";
            return Err(bad_account(message));
        }
        return Ok(AccountJob::Register { name, password: new_password(password)? });
    }
    if login.len() > MAX_LOGIN_BYTES {
        return Err(bad_account("this is no name to sign in with: they look like ann#48213"));
    }
    Ok(AccountJob::CheckPassword { login, password: old_password(password)? })
}

/// A password that may be the right one.
fn old_password(password: String) -> Result<Secret, LobbyRefusal> {
    if password.chars().count() > MAX_ACCOUNT_PASSWORD {
        let message = format!("a password has at most {MAX_ACCOUNT_PASSWORD} characters");
        return Err(LobbyRefusal::new(ErrorCode::BadText, message));
    }
    Ok(Secret(password))
}

fn new_password(password: String) -> Result<Secret, LobbyRefusal> {
    if password.chars().count() < MIN_ACCOUNT_PASSWORD {
        let message = format!(
            "a password has at least {MIN_ACCOUNT_PASSWORD} characters: choose a longer one"
        );
        return Err(LobbyRefusal::new(ErrorCode::BadText, message));
    }
    old_password(password)
}

fn bad_account(message: impl Into<String>) -> LobbyRefusal {
    LobbyRefusal::new(ErrorCode::BadAccount, message)
}

impl TryFrom<world::CreateRoom> for CreateRoomRequest {
    type Error = LobbyRefusal;

    fn try_from(create: world::CreateRoom) -> Result<Self, LobbyRefusal> {
        check_parameter_bounds(&create.parameters)?;
        Ok(Self {
            name: LobbyRoomName::parse(&create.name)?,
            game: create.game,
            capacity: parse_capacity(create.capacity)?,
            parameters: create.parameters,
            password: Password::parse(&create.password)?,
            key: parse_key(&create.key)?,
        })
    }
}

impl TryFrom<world::JoinRoom> for JoinRoomRequest {
    type Error = LobbyRefusal;

    fn try_from(join: world::JoinRoom) -> Result<Self, LobbyRefusal> {
        Ok(Self { room: RoomId(join.room), password: Password::parse(&join.password)? })
    }
}

impl TryFrom<world::Say> for ChatRequest {
    type Error = LobbyRefusal;

    fn try_from(say: world::Say) -> Result<Self, LobbyRefusal> {
        let to = match world::Channel::try_from(say.channel) {
            Ok(world::Channel::Lobby) => ChatTarget::Lobby,
            Ok(world::Channel::Room) => ChatTarget::Room,
            Ok(world::Channel::Party) => ChatTarget::Party,
            Ok(world::Channel::Whisper) if say.to == 0 => ChatTarget::PlayerNamed(say.to_name),
            Ok(world::Channel::Whisper) => ChatTarget::Player(PlayerId(say.to)),
            Err(_) => {
                let message = format!(
                    "there is no channel {}; 0 is the lobby, 1 the room, 2 a whisper, 3 the \
                     party",
                    say.channel
                );
                return Err(LobbyRefusal::new(ErrorCode::Malformed, message));
            }
        };
        Ok(Self { text: ChatText::parse(&say.text)?, to })
    }
}

pub(super) fn parse_capacity(asked: u32) -> Result<u32, LobbyRefusal> {
    match asked {
        0 => Ok(DEFAULT_CAPACITY),
        1..=MAX_CAPACITY => Ok(asked),
        _ => Err(bad_parameter(format!(
            "capacity {asked} is over the limit; a room has 1 to {MAX_CAPACITY} seats"
        ))),
    }
}

fn parse_key(key: &[u8]) -> Result<Option<CreationKey>, LobbyRefusal> {
    if key.is_empty() {
        return Ok(None);
    }
    let refusal = || {
        LobbyRefusal::new(
            ErrorCode::Malformed,
            format!("a key has 16 bytes; this one has {}", key.len()),
        )
    };
    key.try_into().map(Some).map_err(|_| refusal())
}

fn check_parameter_bounds(parameters: &BTreeMap<String, String>) -> Result<(), LobbyRefusal> {
    if parameters.len() > MAX_PARAMETERS {
        let count = parameters.len();
        return Err(bad_parameter(format!(
            "{count} parameters are too many; a room takes up to {MAX_PARAMETERS}"
        )));
    }
    for (name, value) in parameters {
        let key = || shown_key(name);
        if name.len() > MAX_PARAMETER_NAME_BYTES {
            let bytes = name.len();
            return Err(bad_parameter(format!(
                "{}= is too long, with {bytes} bytes: the name of a parameter may have \
                 {MAX_PARAMETER_NAME_BYTES}",
                key()
            )));
        }
        if value.len() > MAX_PARAMETER_VALUE_BYTES {
            let bytes = value.len();
            return Err(bad_parameter(format!(
                "the value of {}= is too long, with {bytes} bytes: it may have \
                 {MAX_PARAMETER_VALUE_BYTES}",
                key()
            )));
        }
        if name.chars().chain(value.chars()).any(char::is_control) {
            return Err(bad_parameter(format!("{}= may not hold control characters", key())));
        }
    }
    Ok(())
}

/// As much of a key as a message shows, without control characters.
fn shown_key(name: &str) -> String {
    let is_long = name.chars().count() > MAX_SHOWN_KEY_CHARS;
    let shown = name.chars().filter(|c| !c.is_control()).take(MAX_SHOWN_KEY_CHARS);
    shown.chain(is_long.then_some('…')).collect()
}

fn bad_parameter(message: String) -> LobbyRefusal {
    LobbyRefusal::new(ErrorCode::BadParameter, message)
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    #[test]
    fn the_version_of_a_hello_is_checked_first() {
        let hello = world::Hello { version: 9, name: "\n".into(), ..world::Hello::default() };
        let refusal = HelloRequest::try_from(hello).expect_err("a refusal");
        assert_eq!(refusal.code, ErrorCode::VersionMismatch);
        assert!(
            refusal.message.contains("version 2") && refusal.message.contains("version 9"),
            "{}",
            refusal.message
        );
    }

    #[test]
    fn a_room_has_1_to_4096_seats_and_64_by_default() {
        for (asked, given) in
            [(0, Some(64)), (1, Some(1)), (4_096, Some(4_096)), (4_097, None), (u32::MAX, None)]
        {
            let create = world::CreateRoom { capacity: asked, ..create() };
            assert_eq!(
                CreateRoomRequest::try_from(create).ok().map(|create| create.capacity),
                given,
                "{asked}"
            );
        }
    }

    #[test]
    fn a_key_is_16_bytes_or_none() {
        let key_of = |key: Vec<u8>| {
            CreateRoomRequest::try_from(world::CreateRoom { key, ..create() })
                .map(|create| create.key)
        };
        assert_eq!(key_of(vec![]), Ok(None));
        assert_eq!(key_of(vec![7; 16]), Ok(Some([7; 16])));
        for length in [1, 15, 17, 1_000] {
            assert_eq!(key_of(vec![7; length]).expect_err("a refusal").code, ErrorCode::Malformed);
        }
    }

    #[test]
    fn parameters_are_bounded_in_number_and_length() {
        let create_with = |parameters: Vec<(String, String)>| {
            let create =
                world::CreateRoom { parameters: parameters.into_iter().collect(), ..create() };
            CreateRoomRequest::try_from(create).map(|_| ()).map_err(|refusal| refusal.code)
        };
        let numbered =
            |count: usize| (0..count).map(|number| (number.to_string(), String::new())).collect();
        assert_eq!(create_with(numbered(32)), Ok(()));
        assert_eq!(create_with(numbered(33)), Err(ErrorCode::BadParameter));
        for (name, value) in [
            ("n".repeat(33), String::new()),
            ("n".into(), "v".repeat(129)),
            ("n".into(), "\n".into()),
        ] {
            assert_eq!(create_with(vec![(name, value)]), Err(ErrorCode::BadParameter));
        }
    }

    #[test]
    fn a_parameter_that_is_too_long_or_unreadable_is_named() {
        let problem = |name: &str, value: &str| {
            let parameters = [("size".into(), "20x20".into()), (name.into(), value.into())].into();
            let create = world::CreateRoom { parameters, ..create() };
            CreateRoomRequest::try_from(create).expect_err("a refusal").message
        };
        let long = problem("content", &"v".repeat(129));
        assert_eq!(long, "the value of content= is too long, with 129 bytes: it may have 128");
        let long = problem(&"n".repeat(60), "");
        let shown = "n".repeat(40);
        assert_eq!(
            long,
            format!("{shown}…= is too long, with 60 bytes: the name of a parameter may have 32")
        );
        assert_eq!(problem("npcs", "1\n"), "npcs= may not hold control characters");
        assert_eq!(problem("np\ncs", "1"), "npcs= may not hold control characters");
    }

    #[test]
    fn a_channel_that_does_not_exist_is_malformed() {
        let say = world::Say { channel: 4, text: "hello".into(), ..world::Say::default() };
        assert_eq!(refusal_of(Body::Say(say)).code, ErrorCode::Malformed);
    }

    #[test]
    fn the_field_of_an_unknown_body_is_found() {
        let known =
            world::ClientToWorld { request: 300, body: Some(Body::LeaveRoom(world::LeaveRoom {})) };
        assert_eq!(unknown_body_field(&known.encode_to_vec()), Some(6));
        assert_eq!(
            unknown_body_field(&world::ClientToWorld { request: 300, body: None }.encode_to_vec()),
            None
        );
        // Request 1, then field 99 with 2 bytes in it.
        assert_eq!(unknown_body_field(&[0x08, 0x01, 0x9a, 0x06, 0x02, 0xab, 0xcd]), Some(99));
        assert_eq!(unknown_body_field(&[0x9a, 0x06, 0x7f]), None);
    }

    fn refusal_of(body: Body) -> LobbyRefusal {
        PlayerRequest::try_from(body).expect_err("a refusal")
    }

    fn create() -> world::CreateRoom {
        world::CreateRoom {
            name: "den".into(),
            game: "field".into(),
            ..world::CreateRoom::default()
        }
    }
}

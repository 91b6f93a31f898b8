//! What a room counts about itself, since it began. Plain numbers; the shells turn them into metrics.

/// Counters of one room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomStats {
    /// Ticks run.
    pub ticks: u64,
    /// Datagrams that arrived, and their bytes.
    pub datagrams_in: u64,
    /// Bytes that arrived.
    pub bytes_in: u64,
    /// Datagrams handed to the sockets.
    pub datagrams_out: u64,
    /// Bytes handed to the sockets.
    pub bytes_out: u64,
    /// Objects that came into some client's view.
    pub enters: u64,
    /// Objects that left some client's view.
    pub leaves: u64,
    /// Events told, counted once for each client.
    pub events: u64,
    /// Events and updates that came after their effect time, as the clients report.
    pub late_events: u64,
    /// Commands carried out.
    pub commands: u64,
    /// Commands refused by the game.
    pub refused: u64,
    /// Commands to go somewhere that came after a newer one, and were ignored.
    pub commands_outdated: u64,
    /// Commands over a client's allowance; answered with `rate_limited`.
    pub commands_over_rate: u64,
    /// Datagrams that could not be decoded.
    pub malformed: u64,
    /// Events dropped since a client's queue of unconfirmed messages was full.
    pub notices_dropped: u64,
    /// Players in the room, those within the grace period included.
    pub players: u32,
    /// Game connections.
    pub clients: u32,
    /// Objects in the world.
    pub objects: u32,
    /// Bytes sent over bytes received, times 1,000, of the client for which that is highest; brought up to date once a second.
    pub amplification_permille: u32,
}

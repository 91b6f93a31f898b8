//! The seats of a room: the only place where they are counted.
//!
//! Invariants:
//! 1. At most `capacity` seats are taken, and a player has at most one of them.
//! 2. Seats are in the order in which they were taken; the order decides who becomes host next.
//!
//! Cost: proportional to the seats, at most 4,096.

use ambit_proto::ids::PlayerId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoomSeat {
    pub(crate) player: PlayerId,
    pub(crate) ready: bool,
    /// Whether the player is away.
    pub(crate) waiting: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Seats {
    capacity: u32,
    taken: Vec<RoomSeat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoFreeSeat;

impl Seats {
    pub(crate) fn new(capacity: u32) -> Self {
        Self { capacity, taken: Vec::new() }
    }

    /// Gives `player` a seat; a player who has one keeps it.
    pub(crate) fn take(&mut self, player: PlayerId) -> Result<(), NoFreeSeat> {
        if self.contains(player) {
            return Ok(());
        }
        if self.taken() >= self.capacity {
            return Err(NoFreeSeat);
        }
        self.taken.push(RoomSeat { player, ready: false, waiting: false });
        Ok(())
    }

    /// Frees the player's seat. Returns whether it had one.
    pub(crate) fn free(&mut self, player: PlayerId) -> bool {
        let before = self.taken.len();
        self.taken.retain(|seat| seat.player != player);
        self.taken.len() < before
    }

    pub(crate) fn contains(&self, player: PlayerId) -> bool {
        self.taken.iter().any(|seat| seat.player == player)
    }

    pub(crate) fn set_ready(&mut self, player: PlayerId, ready: bool) {
        if let Some(seat) = self.taken.iter_mut().find(|seat| seat.player == player) {
            seat.ready = ready;
        }
    }

    pub(crate) fn set_waiting(&mut self, player: PlayerId, waiting: bool) {
        if let Some(seat) = self.taken.iter_mut().find(|seat| seat.player == player) {
            seat.waiting = waiting;
        }
    }

    /// The players who are away.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = PlayerId> + '_ {
        self.taken.iter().filter(|seat| seat.waiting).map(|seat| seat.player)
    }

    /// The taken seats in the order in which they were taken.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RoomSeat> + '_ {
        self.taken.iter().copied()
    }

    pub(crate) fn players(&self) -> impl Iterator<Item = PlayerId> + '_ {
        self.taken.iter().map(|seat| seat.player)
    }

    pub(crate) fn taken(&self) -> u32 {
        self.taken.len() as u32
    }

    pub(crate) fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(crate) fn free_count(&self) -> u32 {
        self.capacity - self.taken()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_never_oversold() {
        let mut seats = Seats::new(2);
        assert_eq!(seats.take(PlayerId(1)), Ok(()));
        assert_eq!(seats.take(PlayerId(2)), Ok(()));
        assert_eq!(seats.take(PlayerId(3)), Err(NoFreeSeat));
        assert_eq!(seats.take(PlayerId(1)), Ok(()));
        assert_eq!(seats.taken(), 2);
    }

    #[test]
    fn a_seat_is_freed_once() {
        let mut seats = Seats::new(1);
        seats.take(PlayerId(1)).expect("a seat");
        assert!(seats.free(PlayerId(1)));
        assert!(!seats.free(PlayerId(1)));
        assert_eq!(seats.take(PlayerId(2)), Ok(()));
    }

    #[test]
    fn seats_keep_the_order_in_which_they_were_taken() {
        let mut seats = Seats::new(4);
        for player in [3, 1, 2] {
            seats.take(PlayerId(player)).expect("a seat");
        }
        seats.free(PlayerId(3));
        seats.take(PlayerId(3)).expect("a seat");
        assert_eq!(seats.players().collect::<Vec<_>>(), [1, 2, 3].map(PlayerId));
    }
}

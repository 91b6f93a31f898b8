//! Games whose players keep what they have, under everything that can die: bots trade, gather,
//! craft, pass gates, leave and come back, while hosts, the WorldServer and the store come and go.
//! Everything that a player or a world has is counted at the end, and exists once.

mod crowd;
mod heroes;
mod results;
mod villagers;

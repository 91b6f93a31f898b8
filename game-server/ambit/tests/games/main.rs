//! Games on the facade, in rooms with clients on virtual time.

mod accounts;
mod avatars;
mod bags;
mod controls;
mod decimals;
mod extremes;
mod kept_from_clients;
mod lists;
mod macro_made;
mod offered;
mod orbits;
mod parameters;
mod parties;
mod poses;
mod profiles;
mod releases;
mod room_wide;
mod ships;
mod sight;
mod sleepers;
mod stored;
mod stroll;
mod surroundings;
mod told;
mod typed_reads;

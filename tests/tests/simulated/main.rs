//! Scenarios on the simulated system ([`ambit_tests::sim`]): one thread, virtual time. The interest
//! oracle checks every tick of every room. A failure names its seed.

mod balls;
mod border_crossing;
mod budget;
mod connections;
mod conservation;
mod copies;
mod cubes;
mod cubes_players;
mod dark_line;
mod dense_crowd;
mod determinism;
mod fuzz_corpora;
mod hiding;
mod host_faults;
mod inputs;
mod interest;
mod late_join;
mod lobby;
mod loss;
mod month;
mod own_walk;
mod prediction;
mod quic;
mod quiet;
mod reckoning;
mod releases;
mod replayed;
mod script;
mod shots;
mod steering;
mod walking_crowd;
mod waves;
mod worlds;

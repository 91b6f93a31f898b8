//! Tests of the lobby through its clients and hosts: one test for each behaviour, then random runs
//! that check the invariants.

mod accounts;
mod chat;
mod harness;
mod hosts;
mod lasting;
mod limits;
mod listing;
mod moving;
mod operators;
mod parties;
mod pool;
mod quick_join;
mod random;
mod records;
mod releases;
mod reports;
mod rooms;
mod running;
mod sessions;
mod sign_in;
mod stored;
mod strangers;
mod vanished_machines;
mod waiting;
mod worlds;

//! One row of the table: a scheme at one loss rate.

use std::fmt;
use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::replica::jitter_buffer::RenderTiming;
use ambit_cubes_physics::Arena;
use ambit_tests::physics_sync::ambit_scheme::{AmbitScenario, RunningScenario};
use ambit_tests::physics_sync::{ErrorSummary, reference_schemes};
use ambit_transport::impair::Impairment;

/// In per cent.
pub(crate) const LOSSES: [f32; 11] =
    [0.0, 5.0, 13.0, 20.0, 30.0, 37.0, 45.0, 52.0, 60.0, 65.0, 70.0];
pub(crate) const FEW_LOSSES: [f32; 3] = [0.0, 30.0, 60.0];
const SEED: u64 = 5;
const CUBES: usize = 100;
const PLAYERS: usize = 4;
const ARENA: Arena = Arena { width_m: 32.0, height_m: 32.0 };
const DELAY: Duration = Duration::from_millis(50);

pub(crate) const TABLE_HEAD: &str = "\
| loss % | scheme | e p50 cm | e p99 cm | J p99.9 cm | wrong at rest % | longest s | behind ms \
| kB/s | visible |\n\
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

/// The scheme, with its send rate in hertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    ReferenceStates(u32),
    ReferenceSnapshots,
    Simulated(u32),
    Interpolated(u32),
}

impl Scheme {
    pub(crate) const ALL: [Self; 7] = [
        Self::ReferenceStates(20),
        Self::ReferenceStates(60),
        Self::ReferenceSnapshots,
        Self::Simulated(20),
        Self::Simulated(60),
        Self::Interpolated(20),
        Self::Interpolated(60),
    ];
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReferenceStates(hz) => write!(f, "state sync, {hz} Hz"),
            Self::ReferenceSnapshots => write!(f, "snapshots, 10 Hz"),
            Self::Simulated(hz) => write!(f, "ambit simulated, {hz} Hz"),
            Self::Interpolated(hz) => write!(f, "ambit interpolated, {hz} Hz"),
        }
    }
}

/// Result of one scheme at one loss rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) loss: f32,
    pub(crate) scheme: Scheme,
    pub(crate) figures: ErrorSummary,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { loss, scheme, figures } = self;
        let cm = |metres: f32| format!("{:.2}", metres * 100.0);
        writeln!(
            f,
            "| {loss} | {scheme} | {} | {} | {} | {:.2} | {:.1} | {:.0} | {:.1} | {} |",
            cm(figures.error_p50),
            cm(figures.error_p99),
            cm(figures.jump_p999),
            figures.wrong_at_rest_share * 100.0,
            figures.longest_wrong_s,
            figures.behind_p50_ms,
            figures.bytes_per_s / 1_000.0,
            if figures.has_visible_problem() { "yes" } else { "no" },
        )
    }
}

/// Measures all schemes at one loss rate.
pub(crate) fn measure(loss: f32, jitter_ms: u64, seconds: u64) -> Vec<Row> {
    let play = |tick: u32, sync: &str| scenario(loss, jitter_ms, tick, sync, seconds);
    let row = |scheme, figures| Row { loss, scheme, figures };
    let mut simulated = play(60, "simulated").start();
    let truth = simulated.ground_truth();
    let reference = simulated.reference_scenario(&truth);
    let mut rows = vec![
        row(Scheme::ReferenceStates(20), reference_schemes::state_sync(&reference, 20)),
        row(Scheme::ReferenceStates(60), reference_schemes::state_sync(&reference, 60)),
        row(Scheme::ReferenceSnapshots, reference_schemes::snapshots(&reference)),
    ];
    let ambit = |mut watched: RunningScenario| {
        let truth = watched.ground_truth();
        watched.measure(&truth)
    };
    rows.push(row(Scheme::Simulated(20), ambit(play(20, "simulated").start())));
    rows.push(row(Scheme::Simulated(60), simulated.measure(&truth)));
    rows.push(row(Scheme::Interpolated(20), ambit(play(20, "interpolated").start())));
    rows.push(row(Scheme::Interpolated(60), ambit(play(60, "interpolated").start())));
    rows
}

fn scenario(loss: f32, jitter_ms: u64, tick: u32, sync: &str, seconds: u64) -> AmbitScenario {
    let network = Impairment {
        loss,
        delay: DELAY,
        jitter: Duration::from_millis(jitter_ms),
        seed: SEED,
        ..Impairment::default()
    };
    AmbitScenario {
        seed: SEED,
        parameters: vec![("tick", tick.to_string()), ("sync", sync.to_owned())],
        client: ClientConfig { render: RenderTiming::Adaptive, ..ClientConfig::default() },
        players: PLAYERS,
        cubes: CUBES,
        arena: ARENA,
        delay: DELAY,
        network,
        duration: Duration::from_secs(seconds),
    }
}

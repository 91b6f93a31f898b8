//! A world-server that also offers test games, for benchmarks and tests with real processes.

use std::process::ExitCode;

use ambit::Game as _;
use ambit::Typed;
use ambit_tests::aborting_game::AbortingGame;
use ambit_tests::counting_game::CountingGame;
use ambit_tests::greeting_game::GreetingGame;
use ambit_tests::hoarding_game::HoardingGame;
use ambit_tests::levers_game::LeversGame;
use ambit_tests::looping_game::LoopingGame;
use ambit_tests::slow_game::SlowGame;
use ambit_tests::walking_crowd::WalkingCrowd;
use ambit_tests::wallet_game::WalletGame;

fn main() -> ExitCode {
    let registry = ambit_game_server::standard()
        .with(WalkingCrowd::INFO, WalkingCrowd::create)
        .with(CountingGame::INFO, CountingGame::create)
        .with(GreetingGame::INFO, Typed::<GreetingGame>::make)
        .with(WalletGame::INFO, Typed::<WalletGame>::make)
        .with(AbortingGame::INFO, Typed::<AbortingGame>::make)
        .with(HoardingGame::INFO, Typed::<HoardingGame>::make)
        .with(LeversGame::INFO, Typed::<LeversGame>::make)
        .with(LoopingGame::INFO, Typed::<LoopingGame>::make)
        .with(SlowGame::INFO, Typed::<SlowGame>::make);
    ambit::serve_all(registry.into())
}

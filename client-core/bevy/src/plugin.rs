//! The plugin: what of it runs when.

use ambit_client::{Connect, TypedEvent};
use bevy_app::{App, Plugin, PreUpdate};
use bevy_ecs::schedule::{IntoScheduleConfigs, SystemSet};

use crate::axes::WorldAxes;
use crate::client::{AmbitClient, receive};
use crate::events::{GameMessage, Happened, LobbyMessage, SessionMessage, announce};
use crate::kinds::{KindComponent, read_kind};
use crate::objects::show;

/// Connects to a server, and keeps entities in step with what the player sees.
#[derive(Clone, Debug, Default)]
pub struct AmbitPlugin {
    connect: Option<Connect>,
    axes: WorldAxes,
}

/// The steps of the plugin, one after the other in `PreUpdate`.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AmbitSystems {
    /// Answers and messages arrive.
    Receive,
    /// A frame is taken: entities come, move and go.
    Show,
    /// Components and events of the game's own types follow.
    Read,
}

impl AmbitPlugin {
    /// Connects when the app starts. Without it (`AmbitPlugin::default()`),
    /// [`AmbitClient::connect`] does it later.
    pub fn connect(connect: Connect) -> Self {
        AmbitPlugin { connect: Some(connect), axes: WorldAxes::default() }
    }

    /// Which way is up; without a choice y, as in Bevy's 3D worlds.
    #[must_use]
    pub fn axes(mut self, axes: WorldAxes) -> Self {
        self.axes = axes;
        self
    }
}

impl Plugin for AmbitPlugin {
    /// Panics if the system has no thread or no socket left.
    fn build(&self, app: &mut App) {
        let client = AmbitClient::start(self.axes).expect("a thread with a network");
        if let Some(connect) = &self.connect {
            client.connect(connect.clone());
        }
        app.insert_resource(client)
            .add_message::<LobbyMessage>()
            .add_message::<GameMessage>()
            .add_message::<SessionMessage>()
            .configure_sets(
                PreUpdate,
                (AmbitSystems::Receive, AmbitSystems::Show, AmbitSystems::Read).chain(),
            )
            .add_systems(
                PreUpdate,
                (receive.in_set(AmbitSystems::Receive), show.in_set(AmbitSystems::Show)),
            );
    }
}

/// What a program adds for a game that it knows.
pub trait AmbitAppExt {
    /// Objects of a kind get a component.
    fn add_ambit_kind<C: KindComponent>(&mut self) -> &mut Self;

    /// An event of the game becomes the message [`Happened<E>`].
    fn add_ambit_event<E: TypedEvent + Send + Sync + 'static>(&mut self) -> &mut Self;
}

impl AmbitAppExt for App {
    fn add_ambit_kind<C: KindComponent>(&mut self) -> &mut Self {
        self.add_systems(PreUpdate, read_kind::<C>.in_set(AmbitSystems::Read))
    }

    fn add_ambit_event<E: TypedEvent + Send + Sync + 'static>(&mut self) -> &mut Self {
        self.add_message::<Happened<E>>()
            .add_systems(PreUpdate, announce::<E>.in_set(AmbitSystems::Read))
    }
}

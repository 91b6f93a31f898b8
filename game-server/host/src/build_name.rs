//! The name of a build of games: which hosts can go on with a saved room.
//!
//! It is made of Ambit's version and a hash of the version of saved rooms and of the games: their
//! names, their versions (with what a new game saves, see `GameInfo::version`) and their schemas.
//! So two programs have the same name if and only if nothing of that differs. `--build` sets
//! another name.

use ambit_proto::control::game as pb;
use ambit_room::logic::registry::Registry;
use ambit_room::recording;
use prost::Message as _;
use ring::digest::{Context, SHA256};

/// The name of the build that has these games.
pub fn build_name(registry: &Registry) -> String {
    let mut context = Context::new(&SHA256);
    // Lengths in front, so that no name reads like another one with its neighbours.
    let mut add = |part: &[u8]| {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    };
    add(&recording::VERSION.to_be_bytes());
    for info in registry.games() {
        add(info.name.as_bytes());
        add(info.version.as_bytes());
        let schema = registry.schema(info.name).unwrap_or_default();
        add(&pb::Schema::from(&schema).encode_to_vec());
    }
    let digest = context.finish();
    let first = digest.as_ref().first_chunk().copied().unwrap_or_default();
    format!("{}-{:016x}", env!("CARGO_PKG_VERSION"), u64::from_be_bytes(first))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ambit_proto::ids::{ObjectId, PlayerId};
    use ambit_proto::schema::{ObjectKind, Schema};
    use ambit_room::logic::game::{Game, GameCommand, GameInfo, Left, Refusal};
    use ambit_room::logic::world::World;

    use super::*;

    #[test]
    fn a_build_is_named_by_its_games_with_their_versions_and_schemas() {
        let name = |info, make| build_name(&Registry::default().with(info, make));
        let info = GameInfo::new("walk", "Walk.").version("1");
        let walk = name(info, |_| Ok(Box::new(Walk(""))));
        assert_eq!(name(info, |_| Ok(Box::new(Walk("")))), walk, "always the same");
        assert!(walk.starts_with(env!("CARGO_PKG_VERSION")), "{walk}");
        let others = [
            name(info.version("2"), |_| Ok(Box::new(Walk("")))),
            name(info, |_| Ok(Box::new(Walk("stone")))),
            name(GameInfo { name: "run", ..info }, |_| Ok(Box::new(Walk("")))),
            build_name(&Registry::default()),
        ];
        for other in &others {
            assert_ne!(*other, walk);
            assert_eq!(others.iter().filter(|name| *name == other).count(), 1, "{others:?}");
        }
        let described = GameInfo { description: "Walk about.", ..info };
        assert_eq!(name(described, |_| Ok(Box::new(Walk("")))), walk, "no state depends on it");
    }

    /// A game with a kind of that name.
    struct Walk(&'static str);

    impl Game for Walk {
        fn schema(&self) -> Schema {
            let kind = ObjectKind { name: self.0.into(), ..ObjectKind::default() };
            Schema { kinds: vec![kind], ..Schema::default() }
        }

        fn start(&mut self, _: &mut World) {}

        fn join(&mut self, _: &mut World, _: PlayerId, _: &str) -> ObjectId {
            unreachable!("no room runs")
        }

        fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

        fn command(&mut self, _: &mut World, _: PlayerId, _: &GameCommand) -> Result<(), Refusal> {
            Ok(())
        }

        fn step(&mut self, _: &mut World, _: Duration) {}
    }
}

//! The hamlet over releases: what the next builds of the game could be.

use ambit::prelude::*;
use ambit::test::{Line, TestClient};

use super::{ANN, Room, hamlet, put};
use crate::{Goods, Hut, Tree};

/// What any of these builds has.
macro_rules! rules {
    () => {
        const INFO: GameInfo = GameInfo::new("hamlet", "Stays.").lasting();
        type Avatar = Villager;
        no_commands!();
        type Refusal = NoRefusal;

        fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Villager> {
            let path = Path::at(world.centre());
            world.spawn(Villager { path, ..Villager::default() })
        }

        fn timer(&mut self, _: &mut World<Self>, _: HamletTimer, _: GameTime) {}
    };
}

/// There are wells, villagers are known for something, and the game counts feasts.
mod wells {
    use std::collections::BTreeMap;

    use ambit::prelude::*;

    use crate::{Goods, HamletSettings, HamletTimer, Hut, Offer, Shop, Sky, Tree};

    #[derive(Kind, Default)]
    pub(super) struct Villager {
        pub(super) path: Path,
        pub(super) name: Text<96>,
        pub(super) renown: Number<0, 99>,
        pub(super) coins: Number<0, 99_999>,
    }

    #[derive(Kind)]
    pub(super) struct Well {
        path: Path,
        water: Gauge<50>,
    }

    #[derive(Debug, Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Well, Hut, Villager, Tree, Sky, Offer), parameters = HamletSettings)]
    #[declare(timer = HamletTimer, profile = Goods, version = 1)]
    pub(super) struct Hamlet {
        pub(super) shop: Shop,
        pub(super) huts: BTreeMap<AccountId, (Id<Hut>, usize)>,
        #[serde(default)]
        pub(super) feasts: u32,
    }

    impl Game for Hamlet {
        rules!();

        fn upgraded(&mut self, world: &mut World<Self>, from: u32) {
            assert_eq!(from, 0);
            let path = Path::at(world.centre());
            world.spawn(Well { path, water: Gauge::full() });
        }
    }
}

/// Of each hut it is known who has built it, and when: the type has changed.
mod builders {
    use std::collections::BTreeMap;

    use ambit::prelude::*;
    use ambit::saved::{BadState, Saved};

    pub(super) use super::wells::{Villager, Well};
    use crate::{Goods, HamletSettings, HamletTimer, Hut};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    pub(super) struct Building {
        pub(super) hut: Id<Hut>,
        pub(super) stage: String,
    }

    #[derive(Debug, Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Hut, Villager, Well), parameters = HamletSettings)]
    #[declare(timer = HamletTimer, profile = Goods, version = 2)]
    pub(super) struct Hamlet {
        pub(super) buildings: BTreeMap<AccountId, Building>,
    }

    /// Before version 2.
    #[derive(Deserialize)]
    struct WithHuts {
        huts: BTreeMap<AccountId, (Id<Hut>, usize)>,
    }

    impl Game for Hamlet {
        rules!();

        fn upgrade(version: u32, saved: Saved<'_>) -> Result<Self, BadState> {
            if version >= 2 {
                return saved.read();
            }
            let WithHuts { huts } = saved.read()?;
            let building = |(account, (hut, stage)): (AccountId, (Id<Hut>, usize))| {
                let (stage, _) = crate::STAGES[stage.min(crate::STAGES.len() - 1)];
                (account, Building { hut, stage: stage.to_owned() })
            };
            Ok(Self { buildings: huts.into_iter().map(building).collect() })
        }
    }
}

/// It cannot read the shop.
mod broken {
    use ambit::prelude::*;

    pub(super) use super::wells::Villager;
    use crate::{Goods, HamletSettings, HamletTimer};

    #[derive(Debug, Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Villager), parameters = HamletSettings)]
    #[declare(timer = HamletTimer, profile = Goods, version = 1)]
    pub(super) struct Hamlet {
        shop: String,
    }

    impl Game for Hamlet {
        rules!();
    }
}

/// Ann has a plot.
fn settled() -> (Room, TestClient) {
    let mut room = hamlet();
    let ann = room.join_with_account("ann", ANN, Line::default());
    super::set_goods(&mut room, ann, Goods { coins: 5, wood: 9, ..Goods::NONE });
    put(&mut room, ann, Position::on_ground(20.0, 40.0));
    super::give(&mut room, ann, "build");
    assert_eq!(room.errors(ann), Vec::<String>::new());
    (room, ann)
}

#[test]
fn the_hamlet_goes_on_in_builds_with_more_and_with_other_types() {
    let (room, ann) = settled();
    let hut = room.world().find::<Hut>();
    let mut room = room.release::<wells::Hamlet>();
    room.run(2.secs());
    let villager = room.avatar(ann).expect("she is there");
    assert_eq!((villager.number("renown"), villager.number("coins")), (Some(0), Some(5)));
    assert_eq!(room.world().find::<wells::Well>().len(), 1);
    assert_eq!((room.world().find::<Hut>(), room.world().find::<Tree>().len()), (hut.clone(), 8));
    room.edit(|_, hamlet| {
        assert_eq!((hamlet.huts[&ANN], hamlet.feasts), ((hut[0], 0), 0));
        assert!(hamlet.shop.goods.coins > 0);
        hamlet.feasts = 3;
    });
    room.move_to_another_host();
    room.edit(|_, hamlet| assert_eq!(hamlet.feasts, 3));
    // The trees are gone in the next one, and the wells stay.
    let mut room = room.release::<builders::Hamlet>();
    room.run(2.secs());
    let building = builders::Building { hut: hut[0], stage: "plot".to_owned() };
    room.edit(|_, hamlet| assert_eq!(hamlet.buildings, [(ANN, building)].into()));
    assert_eq!((room.world().len(), room.world().find::<builders::Well>().len()), (3, 1));
    assert_eq!(room.errors(ann), Vec::<String>::new());
}

#[test]
fn a_hamlet_that_a_release_cannot_read_goes_on_in_the_old_build() {
    let (mut room, ann) = settled();
    let why = room.check_release::<broken::Hamlet>().expect_err("the shop is no text").to_string();
    assert!(why.contains("does not fit this build") && why.contains("string"), "{why}");
    room.move_to_another_host();
    room.run(1.secs());
    let coins = room.avatar(ann).expect("she is there").number("coins");
    assert_eq!((room.world().find::<Hut>().len(), coins), (1, Some(5)));
}

/// All objects of a kind.
trait Find<G: Game> {
    fn find<K: ambit::KindOf<G>>(&self) -> Vec<Id<K>>;
}

impl<G: Game> Find<G> for World<G> {
    fn find<K: ambit::KindOf<G>>(&self) -> Vec<Id<K>> {
        let mut found = Vec::new();
        self.find_all(&mut found);
        found
    }
}

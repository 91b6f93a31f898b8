//! What the next builds of `hamlet` could be: all that is not about their state is left out.

/// What any of these builds has.
macro_rules! rules {
    () => {
        const INFO: GameInfo = GameInfo::new("hamlet", "Stays.").lasting();
        type Avatar = Villager;
        no_commands!();
        type Refusal = NoRefusal;

        fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Villager> {
            let coins = world.profile(newcomer).map_or(0_i64, |goods| goods.coins.into());
            let path = Path::at(world.centre());
            world.spawn(Villager { path, coins: coins.into(), ..Villager::default() })
        }

        fn timer(&mut self, _: &mut World<Self>, _: HamletTimer, _: GameTime) {}

        fn wake(&mut self, _: &mut World<Self>, _: Duration) {
            self.feasts += 1;
        }
    };
}

/// The game has a field more: each waking is a feast.
pub(super) mod feasts {
    use std::collections::BTreeMap;

    use ambit::prelude::*;
    use ambit_hamlet::{
        Goods, HamletSettings, HamletTimer, Hut, Offer, Rock, Shop, Sky, Stall, Tree, Villager,
    };

    #[derive(Debug, Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Villager, Tree, Rock, Stall, Hut, Sky, Offer), parameters = HamletSettings)]
    #[declare(timer = HamletTimer, profile = Goods)]
    pub(in super::super) struct Hamlet {
        shop: Shop,
        huts: BTreeMap<AccountId, (Id<Hut>, usize)>,
        #[serde(default)]
        feasts: u32,
    }

    impl Game for Hamlet {
        rules!();
    }
}

/// There are wells, which no map has had from its start.
pub(super) mod wells {
    use std::collections::BTreeMap;

    use ambit::prelude::*;
    use ambit_hamlet::{
        Goods, HamletSettings, HamletTimer, Hut, Offer, Rock, Shop, Sky, Stall, Tree, Villager,
    };

    #[derive(Kind)]
    pub(in super::super) struct Well {
        path: Path,
        water: Gauge<50>,
    }

    #[derive(Debug, Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Well, Hut, Villager, Tree, Rock, Stall, Sky, Offer))]
    #[declare(parameters = HamletSettings, timer = HamletTimer, profile = Goods, version = 1)]
    pub(in super::super) struct Hamlet {
        shop: Shop,
        huts: BTreeMap<AccountId, (Id<Hut>, usize)>,
        #[serde(default)]
        feasts: u32,
    }

    impl Game for Hamlet {
        rules!();

        fn upgraded(&mut self, world: &mut World<Self>, _: u32) {
            let path = Path::at(world.centre());
            world.spawn(Well { path, water: Gauge::full() });
        }
    }
}

/// A hut has the name of its stage: the type of the field has changed.
pub(super) mod stages {
    use std::collections::BTreeMap;

    use ambit::prelude::*;
    use ambit::saved::{BadState, Saved};
    use ambit_hamlet::{
        Goods, HamletSettings, HamletTimer, Hut, Offer, Rock, STAGES, Shop, Sky, Stall, Tree,
        Villager,
    };

    use super::wells::Well;

    #[derive(Debug, Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Well, Hut, Villager, Tree, Rock, Stall, Sky, Offer))]
    #[declare(parameters = HamletSettings, timer = HamletTimer, profile = Goods, version = 2)]
    pub(in super::super) struct Hamlet {
        shop: Shop,
        huts: BTreeMap<AccountId, (Id<Hut>, String)>,
        feasts: u32,
    }

    /// Before version 2.
    #[derive(Deserialize)]
    struct WithNumbers {
        shop: Shop,
        huts: BTreeMap<AccountId, (Id<Hut>, usize)>,
        feasts: u32,
    }

    impl Game for Hamlet {
        rules!();

        fn upgrade(version: u32, saved: Saved<'_>) -> Result<Self, BadState> {
            if version >= 2 {
                return saved.read();
            }
            let WithNumbers { shop, huts, feasts } = saved.read()?;
            let named = |(account, (hut, stage)): (AccountId, (Id<Hut>, usize))| {
                (account, (hut, STAGES[stage.min(STAGES.len() - 1)].0.to_owned()))
            };
            Ok(Self { shop, huts: huts.into_iter().map(named).collect(), feasts })
        }
    }
}

/// It takes the huts for a number, without an upgrade.
pub(super) mod broken {
    use ambit::prelude::*;
    use ambit_hamlet::{Goods, HamletSettings, HamletTimer, Villager};

    #[derive(Debug, Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Villager), parameters = HamletSettings)]
    #[declare(timer = HamletTimer, profile = Goods, version = 2)]
    pub(in super::super) struct Hamlet {
        huts: u32,
        feasts: u32,
    }

    impl Game for Hamlet {
        rules!();
    }
}

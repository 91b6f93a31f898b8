//! A test game for axes: all players see what a player's lever and pointer say.

use ambit::prelude::*;

#[derive(Clone, Copy, Controls)]
pub enum LeverControl {
    /// Push forwards, or backwards.
    #[key("w", "s")]
    #[control(axis)]
    Throttle,
    /// Turn towards a place.
    #[control(angle)]
    Aim,
}

#[derive(Kind)]
#[look(label = name)]
pub struct Turret {
    path: Path,
    name: Text<24>,
    /// In per cent.
    throttle: Number<-100, 100>,
    /// In degrees, counter-clockwise from the east.
    aim: Number<-180, 180>,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Turret), controls = LeverControl)]
pub struct LeversGame;

impl Game for LeversGame {
    const INFO: GameInfo = GameInfo::new("levers", "Move levers.");
    const SCENERY: Scenery = Scenery::new().camera(Camera::Above);
    type Avatar = Turret;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer) -> Id<Turret> {
        let path = Path::at(world.centre());
        let name = newcomer.name.into();
        world.spawn(Turret { path, name, throttle: 0.into(), aim: 0.into() })
    }

    fn input(&mut self, world: &mut World<Self>, player: Player<Self>) {
        let throttle = 100.0 * world.axis(player, LeverControl::Throttle);
        let aim = world.axis(player, LeverControl::Aim).to_degrees();
        let mut turret = world.avatar(player);
        turret.throttle().set(throttle.round() as i64);
        turret.aim().set(aim.round() as i64);
    }
}

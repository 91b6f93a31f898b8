//! Players who change their avatars: what they see, what others see, and what is saved.

use ambit::prelude::*;
use ambit::test::{Line, TestClient, TestRoom};

#[derive(Kind)]
struct Body {
    path: Path,
    #[audience(owner)]
    hunger: Number<0, 100>,
}

#[derive(Command)]
enum Order {
    /// Get on the nearest free body.
    Mount,
    /// The same, and leave nothing behind.
    Become,
    /// Walk 10 m to the east.
    Walk,
}

#[derive(Refusal)]
enum No {
    #[text("there is none near")]
    NoneNear,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Body))]
struct Riders;

impl Game for Riders {
    const INFO: GameInfo = GameInfo::new("riders", "Change bodies.");
    type Avatar = Body;
    type Command = Order;
    type Refusal = No;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Body> {
        let at = Position::on_ground(100.0 + 5.0 * newcomer.id.0 as f32, 100.0);
        world.spawn(body(at))
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        order: Order,
    ) -> Result<(), No> {
        let here = world.position(player.avatar()).unwrap_or_default();
        match order {
            Order::Mount | Order::Become => {
                let mut near: Vec<Id<Body>> = Vec::new();
                world.find_within(here, 2_000.0, &mut near);
                let free = near.into_iter().find(|body| world.owner(*body).is_none());
                let free = free.ok_or(No::NoneNear)?;
                let old = player.avatar();
                world.change_avatar(player, free).then_some(()).ok_or(No::NoneNear)?;
                if matches!(order, Order::Become) {
                    world.despawn(old);
                }
                Ok(())
            }
            Order::Walk => {
                let to = Position { x: here.x + 10.0, ..here };
                world.avatar(player).path().walk_to(to, 5.0);
                Ok(())
            }
        }
    }
}

fn body(at: Position) -> Body {
    Body { path: Path::at(at), hunger: 50.into() }
}

fn avatar_at(room: &TestRoom<Riders>, client: TestClient) -> f32 {
    room.avatar(client).expect("it is in the game").position.x
}

#[test]
fn a_player_sees_the_world_from_its_new_avatar_and_others_see_both() {
    let mut room = TestRoom::<Riders>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default().loss(10.0)));
    let horse = room.edit(|world, _| world.spawn(body(Position::on_ground(110.0, 110.0))));
    room.edit(|world, _| world.spawn(body(Position::on_ground(900.0, 900.0))));
    room.run(1.secs());
    let old = avatar_at(&room, ann);
    assert_eq!((room.sees(ann).len(), room.sees(bob).len()), (3, 3));
    room.command(ann, "mount");
    room.run(1.secs());
    assert_eq!(avatar_at(&room, ann), 110.0);
    assert_eq!(room.sees(ann).iter().filter(|seen| seen.own).count(), 1);
    let hungers = |room: &TestRoom<Riders>, client| {
        let seen = room.sees(client);
        let known = |seen: &ambit::test::Seen| {
            let body = seen.get::<Body>().expect("all are bodies");
            (seen.position.x, body.hunger.is_some())
        };
        seen.iter().map(known).collect::<Vec<_>>()
    };
    // She knows of her new body what only its owner knows, and no longer of the old one.
    assert!(hungers(&room, ann).contains(&(110.0, true)));
    assert!(hungers(&room, ann).contains(&(old, false)));
    assert!(hungers(&room, bob).contains(&(110.0, false)));
    room.command(ann, "walk");
    room.run(3.secs());
    assert_eq!(avatar_at(&room, ann), 120.0);
    // At the next host, and with a new connection, she still has it.
    room.move_to_another_host();
    room.run(1.secs());
    room.disconnect(ann);
    room.run(3.secs());
    assert_eq!(avatar_at(&room, ann), 120.0);
    let player = room.player(ann);
    assert_eq!(room.world().player(player).map(Player::avatar), Some(horse));
    // When she leaves, the body that she left behind stays.
    room.leave(ann);
    room.run(1.secs());
    assert!(!room.world().contains(horse));
    assert!(room.sees(bob).iter().any(|seen| seen.position.x == old));
    assert_eq!(room.errors(ann), Vec::<String>::new());
}

#[test]
fn a_new_avatar_far_away_takes_the_area_of_interest_along() {
    let mut room = TestRoom::<Riders>::new();
    let ann = room.join("ann", Line::default());
    for x in [900.0, 905.0] {
        room.edit(|world, _| world.spawn(body(Position::on_ground(x, 900.0))));
    }
    room.run(1.secs());
    assert_eq!(room.sees(ann).len(), 1);
    room.command(ann, "mount");
    room.run(1.secs());
    assert_eq!(avatar_at(&room, ann), 900.0);
    assert_eq!(room.sees(ann).len(), 2);
}

#[test]
fn the_avatar_before_may_be_despawned_at_once() {
    let mut room = TestRoom::<Riders>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    let horse = room.edit(|world, _| world.spawn(body(Position::on_ground(110.0, 110.0))));
    room.run(1.secs());
    room.command(ann, "become");
    room.run(1.secs());
    assert_eq!(avatar_at(&room, ann), 110.0);
    assert_eq!((room.world().len(), room.sees(bob).len()), (2, 2));
    room.move_to_another_host();
    room.run(1.secs());
    let player = room.player(ann);
    assert_eq!(room.world().player(player).map(Player::avatar), Some(horse));
}

#[test]
fn what_belongs_to_a_player_is_no_new_avatar() {
    let mut room = TestRoom::<Riders>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    room.run(1.secs());
    let [ann, bob] = [ann, bob].map(|client| room.player(client));
    room.edit(|world, _| {
        let [own, other] =
            [ann, bob].map(|player| world.player(player).map(Player::avatar).expect("it plays"));
        assert!(!world.change_avatar(ann, other));
        assert!(!world.change_avatar(ann, own));
        let horse = world.spawn(body(Position::on_ground(10.0, 10.0)));
        assert!(world.change_avatar(ann, horse) && !world.change_avatar(bob, horse));
        // What she has left is free.
        assert!(world.change_avatar(bob, own) && world.change_avatar(ann, other));
        world.despawn(horse);
        assert!(!world.change_avatar(bob, horse) && !world.contains(horse));
    });
    room.run(1.secs());
    assert_eq!(room.world().len(), 2);
}

//! What each of the spells does, and what talents add.

use ambit::Typed;
use ambit::message::TypedCommand as _;
use ambit::prelude::*;
use ambit::presentation::{
    ChoicePresentation, Condition, Element, Figure, Presentation, Rarity, Sign, Thing, Variant,
};
use ambit::schema::Schema;
use ambit::test::TestClient;

use super::monsters::Scene;
use crate::content::SharedContent;
use crate::schema::{BoltFlies, HeroCast, HeroRow, LevelUp, Monster, Relief};
use crate::{Deus, DeusCommand, DeusWorld, Hero, texts};

impl Scene {
    /// Health in points.
    fn health(&mut self, id: Id<Monster>) -> f32 {
        self.room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            let per_cent = world.get(id).map_or(0.0, |monster| monster.health().value());
            game.monsters.get(&id).map_or(0.0, |monster| monster.health * per_cent / 100.0)
        })
    }

    /// Casts with enough mana, and without a cool-down.
    fn cast(&mut self, spell: &str) {
        let hero = self.hero;
        self.room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            game.heroes.get_mut(&hero).expect("a hero").ready_at.clear();
            world.edit(hero).expect("a hero").mana().set(100.0);
        });
        self.room.command(self.ann, &format!("cast {spell}"));
        self.room.run(1_500.millis());
    }

    /// Whether Bob's client shows Ann's hero.
    fn is_seen(&self) -> bool {
        let (bob, _) = self.bob.expect("bob");
        let seen = self.room.sees(bob);
        seen.iter().any(|seen| seen.is::<Hero>() && seen.text("name") == Some("ann"))
    }

    fn set_health(&mut self, hero: Id<Hero>, per_cent: f32) {
        self.room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            game.heroes.get_mut(&hero).expect("a hero").bonus.health = 0.0;
            world.edit(hero).expect("a hero").health().set(per_cent);
            game.plan_hero(world, hero);
        });
    }

    fn hero_health(&self, hero: Id<Hero>) -> f32 {
        self.room.world().get(hero).expect("a hero").health().value()
    }
}

#[test]
fn a_hidden_hero_is_seen_by_nobody_until_it_attacks() {
    let mut scene = Scene::of("archer", Some("warrior"));
    let goblin = scene.add("goblin", 38.0, 30.0);
    scene.room.run(1.secs());
    assert!(scene.is_seen() && scene.has_target(goblin));
    scene.cast("vanish");
    let hero = scene.hero;
    let target =
        scene.room.edit(|_: &mut DeusWorld, game: &mut Deus| game.monsters[&goblin].target);
    assert!(!scene.is_seen() && target != Some(hero));
    let own = scene.room.avatar(scene.ann).expect("an avatar");
    assert_eq!(own.flag("hidden"), Some(true));
    scene.cast("shot 30 20");
    assert!(scene.is_seen(), "a shot is an attack");
    // It ends by itself, too.
    scene.cast("vanish");
    scene.room.run(6.secs());
    assert!(!scene.is_seen());
    scene.room.run(2.secs());
    assert!(scene.is_seen());
}

#[test]
fn the_walk_of_a_hidden_hero_changes_no_byte_for_others() {
    let run = |way: &str| {
        let mut scene = Scene::of("archer", Some("warrior"));
        let (client, bob) = scene.bob.expect("bob");
        scene.put(bob, 34.0, 30.0);
        scene.add("goblin", 40.0, 34.0);
        scene.add("archer", 24.0, 40.0);
        scene.cast("vanish");
        let before = scene.room.datagrams(client).len();
        scene.room.command(scene.ann, way);
        scene.room.run(6.secs());
        let datagrams = scene.room.datagrams(client).to_vec();
        assert!(datagrams.len() > before + 20 && !scene.is_seen());
        (datagrams, scene.at(scene.hero).x)
    };
    let ((one, here), (other, there)) = (run("move 38 34"), run("move 10 12"));
    assert!(one == other, "bob's bytes tell where ann walks");
    assert!((here - there).abs() > 5.0);
}

#[test]
fn a_bolt_is_told_with_its_end_and_that_of_a_hidden_hero_to_nobody() {
    let mut scene = Scene::of("archer", Some("warrior"));
    let (client, bob) = scene.bob.expect("bob");
    scene.put(bob, 30.0, 34.0);
    let bolts = |scene: &Scene, client: TestClient| {
        let events = scene.room.events(client).iter();
        let bolts = events.filter_map(|event| {
            let bolt = event.get::<BoltFlies>()?;
            Some((bolt.at, bolt.due))
        });
        bolts.collect::<Vec<_>>()
    };
    let brute = scene.add("brute", 38.0, 30.0);
    scene.cast("shot 50 30");
    let [(at, due)] = bolts(&scene, client)[..] else { panic!("one bolt") };
    assert!((36.0..37.5).contains(&at.x) && (250..350).contains(&due), "{at:?}, {due} ms");
    scene.hurt(brute, 1_000.0);
    // It flies when its caster is hidden again.
    scene.room.command(scene.ann, "cast pierce 10 30");
    scene.room.run(150.millis());
    scene.room.command(scene.ann, "cast vanish");
    scene.room.run(1.secs());
    assert_eq!((bolts(&scene, scene.ann).len(), bolts(&scene, client).len()), (2, 1));
}

#[test]
fn a_piercing_bolt_hits_all_on_its_way() {
    let mut scene = Scene::with("archer");
    let all = [34.0, 37.0, 40.0].map(|x| scene.add("brute", x, 30.0));
    scene.cast("shot 50 30");
    assert_eq!(all.map(|id| scene.health(id) < 109.0), [true, false, false]);
    scene.cast("pierce 50 30");
    assert_eq!(all.map(|id| scene.health(id) < 90.0), [true; 3]);
    // Once each: a brute resists a quarter of 28.
    assert!((scene.health(all[2]) - 89.0).abs() < 0.2, "{}", scene.health(all[2]));
}

#[test]
fn monsters_are_pushed_away() {
    for (class, spell) in [("warrior", "repel"), ("healer", "banish")] {
        let mut scene = Scene::with(class);
        let goblin = scene.add("goblin", 31.5, 30.0);
        scene.room.command(scene.ann, &format!("cast {spell}"));
        scene.room.run(600.millis());
        let distance = scene.distance(goblin);
        assert!(distance > 6.0, "{spell}: {distance} m");
        scene.room.run(5.secs());
        assert!(scene.distance(goblin) < 2.0, "it comes back");
    }
}

#[test]
fn an_area_is_healed_after_it_was_announced() {
    let mut scene = Scene::of("healer", Some("warrior"));
    let (client, bob) = scene.bob.expect("bob");
    scene.put(bob, 36.0, 30.0);
    scene.set_health(scene.hero, 30.0);
    scene.set_health(bob, 30.0);
    scene.room.command(scene.ann, "cast sanctuary 36 31");
    scene.room.run(700.millis());
    let casts = |scene: &Scene| {
        let events = scene.room.events(client).iter();
        events.filter_map(|event| Some(event.get::<HeroCast>()?.due)).collect::<Vec<_>>()
    };
    assert_eq!(casts(&scene), [800]);
    assert!(scene.hero_health(bob) < 32.0, "not yet");
    scene.room.run(400.millis());
    let healed = scene.hero_health(bob);
    assert!(healed > 48.0 && scene.hero_health(scene.hero) < 33.0, "20 of 160 points: {healed}");
    let told = scene.room.events(client).iter().filter(|it| it.get::<Relief>().is_some());
    assert_eq!(told.count(), 1);
    // Then 4 points a second for 6 s, beside the 1.5 of a warrior.
    let later = scene.room.world().now() + 10.secs();
    let known = scene.room.world().get(bob).expect("bob").health().at(later);
    scene.room.run(10.secs());
    assert!((scene.hero_health(bob) - known).abs() < 0.3 && known > healed + 20.0, "{known}");
    // The one who has lost most is healed.
    scene.set_health(scene.hero, 80.0);
    scene.set_health(bob, 50.0);
    scene.cast("mend");
    assert!(scene.hero_health(bob) > 70.0 && scene.hero_health(scene.hero) < 85.0);
}

#[test]
fn companions_fight_and_are_bounded_in_number_and_time() {
    let mut scene = Scene::with("mage");
    let count = |scene: &mut Scene| {
        scene.room.edit(|_: &mut DeusWorld, game: &mut Deus| game.companions.len())
    };
    for expected in [1, 2, 2] {
        scene.cast("ember");
        assert_eq!(count(&mut scene), expected);
    }
    let seen = scene.room.sees(scene.ann);
    assert_eq!(seen.iter().filter(|seen| seen.is::<crate::Companion>()).count(), 2);
    scene.add("rat", 37.0, 30.0);
    scene.room.run(6.secs());
    assert_eq!(scene.count_all(), 0, "they have killed it");
    scene.room.command(scene.ann, "move 45 30");
    scene.room.run(5.secs());
    let companions: Vec<_> = scene
        .room
        .edit(|_: &mut DeusWorld, game: &mut Deus| game.companions.keys().copied().collect());
    for id in companions {
        assert!(scene.at(id).ground_distance(scene.at(scene.hero)) < 4.0, "it follows");
    }
    scene.room.run(16.secs());
    assert_eq!(count(&mut scene), 0);
}

#[test]
fn poison_is_known_before_it_works_and_may_kill() {
    let mut scene = Scene::with("archer");
    let brute = scene.add("brute", 36.0, 30.0);
    scene.cast("venom 36 30");
    let later = scene.room.world().now() + 12.secs();
    let known = scene.room.world().get(brute).expect("a brute").health().at(later);
    // 6 points, and 5 a second for 8 s, of 110.
    assert!((known - 100.0 * 64.0 / 110.0).abs() < 0.5, "{known}");
    scene.room.run(12.secs());
    assert!((scene.health(brute) - 64.0).abs() < 0.5, "{}", scene.health(brute));
    scene.hurt(brute, 1_000.0);
    let rat = scene.add("rat", 37.0, 30.0);
    let at = scene.at(rat);
    scene.cast(&format!("venom {} {}", at.x, at.y));
    assert!(scene.health(rat) > 5.0);
    scene.room.move_to_another_host();
    scene.room.run(4.secs());
    assert_eq!(scene.count_all(), 0);
    let row = scene.room.world().row::<HeroRow>(scene.room.player(scene.ann)).expect("a row");
    assert_eq!(row.kills(), 2);
}

#[test]
fn monsters_resist_kinds_of_damage_and_may_be_slowed() {
    let mut scene = Scene::with("archer");
    let spitter = scene.add("spitter", 36.0, 30.0);
    scene.cast("venom 36 30");
    scene.room.run(9.secs());
    let left = scene.health(spitter);
    assert!((left - (46.0 - 0.2 * 46.0)).abs() < 0.3, "a fifth of 46: {left}");
    scene.hurt(spitter, 1_000.0);
    let goblin = scene.add("goblin", 42.0, 30.0);
    scene.room.run(1.secs());
    let way = |scene: &mut Scene| {
        let before = scene.at(goblin);
        scene.room.run(500.millis());
        2.0 * before.ground_distance(scene.at(goblin))
    };
    let fast = way(&mut scene);
    let at = scene.at(goblin);
    scene.room.command(scene.ann, &format!("cast snare {} {}", at.x, at.y));
    scene.room.run(900.millis());
    let slow = way(&mut scene);
    assert!((3.2..3.6).contains(&fast) && (0.9..1.2).contains(&slow), "{fast}, {slow} m/s");
    scene.put(scene.hero, 20.0, 30.0);
    scene.room.run(5_500.millis());
    assert!((3.2..3.6).contains(&way(&mut scene)), "it ends");
}

#[test]
fn experience_gives_levels_and_levels_talents() {
    let mut scene = Scene::of("archer", Some("warrior"));
    let (_, bob) = scene.bob.expect("bob");
    scene.put(bob, 2.0, 2.0);
    let own = |scene: &Scene| {
        let own = scene.room.avatar(scene.ann).expect("an avatar");
        ["level", "experience", "points"].map(|name| own.number(name).expect("a number"))
    };
    scene.room.command(scene.ann, "learn keen-eye");
    for _ in 0..7 {
        let goblin = scene.add("goblin", 40.0, 30.0);
        scene.hurt(goblin, 1_000.0);
        scene.room.run(300.millis());
    }
    assert_eq!(own(&scene), [2, 42, 1]);
    let world = scene.room.world();
    assert_eq!(world.get(bob).expect("bob").experience(), 0, "he is too far away");
    let told = scene.room.events(scene.ann).iter().filter(|it| it.get::<LevelUp>().is_some());
    assert_eq!(told.count(), 1);
    let damage = |scene: &mut Scene| {
        let goblin = scene.add("goblin", 40.0, 30.0);
        scene.cast("shot 45 30");
        let lost = 40.0 - scene.health(goblin);
        scene.room.edit(|world: &mut DeusWorld, game: &mut Deus| game.clear_fight(world));
        lost
    };
    let before = damage(&mut scene);
    for talent in ["dead-eye", "kindling", "keen-eye", "keen-eye", "dead-eye"] {
        scene.room.command(scene.ann, &format!("learn {talent}"));
        scene.room.run(300.millis());
    }
    let errors = scene.room.errors(scene.ann).to_vec();
    let expected = ["no_points", "not_yet", "other_class", "learned_already", "no_points"];
    assert_eq!(errors.len(), expected.len(), "{errors:?}");
    for (error, code) in errors.iter().zip(expected) {
        assert!(error.contains(code), "{error}, not {code}");
    }
    let after = damage(&mut scene);
    assert!((after / before - 1.08).abs() < 0.01, "{before}, then {after}");
    assert_eq!(own(&scene)[2], 0);
}

#[test]
fn a_talent_of_a_spell_raises_that_spell_alone() {
    let mut scene = Scene::with("mage");
    let hero = scene.hero;
    let goblin = scene.add("goblin", 40.0, 30.0);
    scene.room.edit(|_: &mut DeusWorld, game: &mut Deus| {
        let content = game.content.clone();
        let hero = game.heroes.get_mut(&hero).expect("a hero");
        for name in ["wide-blast", "quick-blast", "ward"] {
            let index = content.talents.iter().position(|it| it.name == name).expect("a talent");
            hero.learned.insert(index as u8);
        }
        let spell = |name: &str| content.spells.iter().position(|it| it.name == name);
        let of = |name: &str| spell(name).map(|index| index as u8);
        assert_eq!(hero.talents(&content, of("blast"), |it| it.haste).to_bits(), 25_f32.to_bits());
        assert_eq!(hero.talents(&content, of("frost"), |it| it.haste).to_bits(), 0_f32.to_bits());
        assert_eq!(hero.talents(&content, None, |it| it.armour).to_bits(), 12_f32.to_bits());
    });
    // 3.5 m, a fifth more, and half a body.
    let at = Position::on_ground(44.4, 30.0);
    scene.room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let found = game.content.spells.iter().position(|it| it.name == "blast");
        game.take_effect(world, hero, found.expect("a spell") as u8, at);
    });
    assert!(scene.health(goblin) < 39.0);
}

#[test]
fn content_says_what_classes_monsters_talents_and_items_look_like() {
    let mut schema = Typed::<Deus>::declared_schema();
    Deus::default().schema(&mut schema);
    let variants = |kind: &str| {
        let index = schema.kind_index(kind).expect("a kind");
        &schema.presentation.kind(index.into()).variants
    };
    let figures: Vec<_> = variants("hero").iter().map(|it| it.figure).collect();
    assert_eq!(figures, [Figure::Knight, Figure::Mage, Figure::Archer, Figure::Healer].map(Some));
    let lich = Variant { of: "lich".into(), figure: Some(Figure::Robed), size: 1.75, boss: true };
    assert!(variants("monster").contains(&lich));
    let about = |command: &str, choice: &str| {
        let index = usize::from(schema.command_index(command).expect("a command"));
        let place = schema.commands[index].fields[0].ty.choice_index(choice).expect("a choice");
        &schema.presentation.command(index).field(0).choices[usize::from(place)]
    };
    let long_reach = about("learn", "long-reach");
    assert_eq!((long_reach.sign, long_reach.raises), (Some(Sign::Whirl), Some(Sign::Burst)));
    let ring = about("buy", "iron-ring");
    assert_eq!((ring.thing, ring.tint), (Some(Thing::Ring), Some(0x7f_8c99)));
    assert_eq!((&*ring.help, ring.rarity), ("Ring. Raises armour by 10 %.", Some(Rarity::Common)));
    let wine = about("use", "wine-skin");
    assert_eq!((&*wine.help, wine.cooldown_ms), ("Used up. Gives 40 % of the health.", 15_000));
    let loot = usize::from(schema.event_index("loot").expect("an event"));
    let of_loot = &schema.presentation.event(loot).field(1).choices;
    let blade = of_loot.iter().find(|about| about.label == "Giant blade").expect("an item");
    assert_eq!(blade.rarity, Some(Rarity::Epic), "also in the log");
}

#[test]
fn players_read_what_content_does() {
    let (commands, shown) = DeusCommand::declarations().into_iter().unzip();
    let presentation = Presentation { commands: shown, ..Presentation::default() };
    let mut schema = Schema { commands, presentation, ..Schema::default() };
    texts::list_choices(&SharedContent::default(), &mut schema);
    let field = |command: &str| {
        let index = usize::from(schema.command_index(command).expect("a command"));
        (&schema.commands[index].fields[0], &schema.presentation.commands[index].fields[0])
    };
    let about = |command: &str, choice: &str| {
        let (field, shown) = field(command);
        let index = field.ty.choice_index(choice).expect("a choice");
        shown.choices[usize::from(index)].clone()
    };
    let firebolt = ChoicePresentation {
        label: "Firebolt".into(),
        help: "14 mana, every 1.2 s. Flies 18 m and takes 35 health from the first monster.".into(),
        cooldown_ms: 1_200,
        only_for: Some(Condition::text("class", "mage")),
        alone: false,
        reach_cm: 0,
        sign: Some(Sign::Fire),
        made_of: Some(Element::Fire),
        ..ChoicePresentation::default()
    };
    assert_eq!(about("cast", "firebolt"), firebolt);
    let mage = about("choose", "mage");
    assert_eq!(mage.label, "Mage");
    assert_eq!(mage.only_for, Some(Condition::text("class", "newcomer")));
    // The bars are in per cent: this is what of.
    let help = "Burns and freezes many from afar; frail. 90 health, ";
    assert!(mage.help.starts_with(help), "{}", mage.help);
    let frost = "20 mana, every 9 s. Takes 10 health from all monsters within 5 m, slows them by \
                 50 % for 5 s.";
    assert_eq!(about("cast", "frost").help, frost);
    // It is around the mage: no place is asked for.
    assert!(about("cast", "frost").alone);
    let dead_eye = about("learn", "dead-eye");
    assert_eq!((&*dead_eye.help, &*dead_eye.needs), ("Damage +14 %.", &["keen-eye".into()][..]));
    for command in ["cast", "choose", "learn"] {
        let longest = field(command).1.choices.iter().map(|it| it.help.len()).max();
        assert!(longest < Some(190), "{command}: {longest:?} bytes");
    }
}

//! A bot with the profile `deus`: it chooses a class, fights what comes near, and goes to chests.
//!
//! What the client shows goes in, a command comes out now and then. So a bot knows what a player
//! knows. No clock and no I/O; random decisions follow from the seed.

use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::event::ComponentValue;
use ambit_client_core::command_words;
use ambit_client_core::replica::VisibleObject;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::GameCommand;
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};

/// The game.
pub(crate) const GAME: &str = "deus";
const CLASSES: [&str; 2] = ["warrior", "mage"];

/// Pauses between two casts, two walks and two choices.
const CAST: Duration = Duration::from_millis(750);
const WALK: Duration = Duration::from_millis(400);
const CHOOSE: Duration = Duration::from_secs(3);
/// How long it walks to one place while it sees nothing to fight.
const ROAM: Duration = Duration::from_secs(6);
/// A warrior strikes what is nearer, and whirls if so many are within the other distance.
const STRIKE_M: f32 = 2.1;
const WHIRL_M: f32 = 3.0;
/// A mage shoots what is nearer than the first, and keeps the second away.
const SHOOT_M: f32 = 15.0;
const KEEP_AWAY_M: f32 = 4.5;
/// At what is nearer it cannot aim.
const LEAST_AIM_M: f32 = 0.2;
/// So many together are worth a spell that costs more, in percent of the mana.
const CROWD: usize = 3;
const CROWD_MANA: f32 = 45.0;
/// It keeps so far from the map's edge.
const EDGE_M: f32 = 4.0;

/// The decisions of one bot.
#[derive(Debug)]
pub(crate) struct DeusBot {
    rng: fastrand::Rng,
    class: &'static str,
    cast_at: LocalTime,
    walk_at: LocalTime,
}

/// What a client shows of the game.
#[derive(Clone, Debug)]
pub(crate) struct DeusView {
    own: Position,
    class: String,
    is_alive: bool,
    mana: f32,
    monsters: Vec<Position>,
    chest: Option<Position>,
    map: (f32, f32),
}

impl DeusView {
    /// `None` without an own hero, or in another game.
    pub(crate) fn of(client: &Client, now: LocalTime) -> Option<Self> {
        let (t, game) = (client.room_time(now)?, client.running_game()?);
        let hero = client.avatar().filter(|own| &**own.kind() == "hero")?;
        let places = |kind: &'static str| {
            let of_kind = client.objects().filter(move |object| &**object.kind() == kind);
            of_kind.filter_map(move |object| object.position(t))
        };
        let map = &game.rules().map;
        Some(Self {
            own: hero.position(t)?,
            class: text(&hero, "class", t),
            is_alive: hero.value("alive", t) == Some(ComponentValue::Flag(true)),
            mana: match hero.value("mana", t) {
                Some(ComponentValue::Gauge(gauge)) => gauge.value,
                _ => 0.0,
            },
            monsters: places("monster").collect(),
            chest: places("chest").next(),
            map: (map.width_m, map.height_m),
        })
    }
}

fn text(object: &VisibleObject<'_, ()>, component: &str, t: GameTime) -> String {
    match object.value(component, t) {
        Some(ComponentValue::Text(text)) => text,
        _ => String::new(),
    }
}

impl DeusBot {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let class = CLASSES[rng.usize(..CLASSES.len())];
        Self { rng, class, cast_at: LocalTime::ZERO, walk_at: LocalTime::ZERO }
    }

    /// The words of a command to give now.
    pub(crate) fn decide(&mut self, now: LocalTime, view: &DeusView) -> Option<String> {
        if view.class.is_empty() {
            let is_due = now >= self.cast_at;
            return is_due.then(|| {
                self.cast_at = now + CHOOSE;
                format!("choose {}", self.class)
            });
        }
        if !view.is_alive {
            return None;
        }
        let near = view.monsters.iter().min_by(|one, other| {
            view.own.ground_distance(**one).total_cmp(&view.own.ground_distance(**other))
        });
        if let Some(&near) = near
            && now >= self.cast_at
            && let Some(spell) = Self::spell(view, near)
        {
            self.cast_at = now + CAST;
            return Some(format!("cast {spell}"));
        }
        if now < self.walk_at {
            return None;
        }
        let (goal, pause) = match near.copied().or(view.chest) {
            Some(place) => (Self::stand(view, place)?, WALK),
            None => (self.somewhere(view), ROAM),
        };
        self.walk_at = now + pause;
        let (width, height) = view.map;
        let (x, y) = (goal.x.clamp(1.0, width - 1.0), goal.y.clamp(1.0, height - 1.0));
        Some(format!("move {x:.1} {y:.1}"))
    }

    /// What to cast at the nearest monster.
    fn spell(view: &DeusView, near: Position) -> Option<String> {
        let around = |centre: Position, radius_m: f32| {
            let is_in = |at: &&Position| at.ground_distance(centre) <= radius_m;
            view.monsters.iter().filter(is_in).count()
        };
        let distance = view.own.ground_distance(near);
        let is_rich = view.mana >= CROWD_MANA;
        if view.class == CLASSES[0] {
            if is_rich && around(view.own, WHIRL_M) >= CROWD {
                return Some("whirl".to_owned());
            }
            return (distance < STRIKE_M).then(|| "strike".to_owned());
        }
        if !(LEAST_AIM_M..=SHOOT_M).contains(&distance) {
            return None;
        }
        let is_crowd = is_rich && around(near, WHIRL_M) >= CROWD;
        let spell = if is_crowd { "blast" } else { "firebolt" };
        Some(format!("{spell} {:.1} {:.1}", near.x, near.y))
    }

    /// Where to stand because of a monster or a chest; `None` to stay.
    fn stand(view: &DeusView, place: Position) -> Option<Position> {
        let distance = view.own.ground_distance(place);
        let is_monster = !view.monsters.is_empty();
        if is_monster && view.class != CLASSES[0] {
            if distance < KEEP_AWAY_M {
                // Away from it, and a little towards the middle, so that no corner is the end.
                let away = view.own.lerp(place, -2.0);
                let middle = Position::on_ground(view.map.0 / 2.0, view.map.1 / 2.0);
                return Some(away.lerp(middle, 0.2));
            }
            return (distance > SHOOT_M - 3.0).then_some(place);
        }
        (distance > 1.2).then_some(place)
    }

    fn somewhere(&mut self, view: &DeusView) -> Position {
        let mut within = |size: f32| EDGE_M + self.rng.f32() * (size - 2.0 * EDGE_M).max(0.0);
        let (x, y) = (within(view.map.0), within(view.map.1));
        Position::on_ground(x, y)
    }
}

/// The command of these words.
pub(crate) fn command(client: &Client, words: &str) -> Option<GameCommand<ClientObjectId>> {
    let words: Vec<&str> = words.split(' ').collect();
    command_words::parse(client.schema()?, &words).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(class: &str, monsters: &[(f32, f32)]) -> DeusView {
        DeusView {
            own: Position::on_ground(30.0, 30.0),
            class: class.to_owned(),
            is_alive: true,
            mana: 100.0,
            monsters: monsters.iter().map(|(x, y)| Position::on_ground(*x, *y)).collect(),
            chest: None,
            map: (60.0, 60.0),
        }
    }

    #[test]
    fn a_bot_chooses_and_then_fights_as_its_class_does() {
        let now = LocalTime::from_millis(10_000);
        let mut bot = DeusBot::new(7);
        let chosen = bot.decide(now, &view("", &[])).expect("a choice");
        assert!(chosen.starts_with("choose "), "{chosen}");
        assert_eq!(bot.decide(now + WALK, &view("", &[])), None, "it waits for the answer");
        let later = now + CHOOSE;
        let says = |class: &str, monsters: &[(f32, f32)]| {
            DeusBot::new(7).decide(later, &view(class, monsters)).unwrap_or_default()
        };
        assert_eq!(says("warrior", &[(31.0, 30.0)]), "cast strike");
        assert_eq!(says("warrior", &[(31.0, 30.0), (30.0, 31.0), (29.0, 30.0)]), "cast whirl");
        assert_eq!(says("warrior", &[(40.0, 30.0)]), "move 40.0 30.0");
        assert_eq!(says("mage", &[(40.0, 30.0)]), "cast firebolt 40.0 30.0");
        assert!(
            says("mage", &[(40.0, 30.0), (41.0, 30.0), (40.0, 31.0)]).starts_with("cast blast")
        );
        assert!(says("mage", &[]).starts_with("move "));
        let mut bot = DeusBot::new(7);
        bot.cast_at = later + CAST;
        let away = bot.decide(later, &view("mage", &[(31.0, 30.0)])).expect("a walk");
        assert!(away.starts_with("move 2"), "away from it: {away}");
        let dead = DeusView { is_alive: false, ..view("mage", &[(31.0, 30.0)]) };
        assert_eq!(bot.decide(later + CHOOSE, &dead), None);
    }
}

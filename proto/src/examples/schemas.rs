//! A game with one of everything: for tests, benches and the list of formats.

use crate::pose::{PoseFormat, Turning};
use crate::presentation::{
    Camera, ChoicePresentation, CommandPresentation, ComponentPresentation, ControlPresentation,
    Cost, Direction, Effect, EffectForm, Element, EventPresentation, FieldPresentation, Figure,
    Ground, KindPresentation, Look, Material, ObstacleLook, Presentation, Rarity,
    RefusalPresentation, ScenerySpec, Shape, Sign, Thing, Variant, WalkSpec, WalkSpeed,
};
use crate::presentation::{Condition, Outcome, TextRole, Word};
use crate::schema::{
    Codec, CommandKind, ComponentSpec, ControlSpec, DecimalFormat, EventKind, FieldSpec, FieldType,
    Freshness, InterestRadii, ObjectKind, RefusalKind, RowFormat, Schema,
};

impl Schema {
    /// Kinds `avatar` (all codecs but poses and decimals; only the owner receives mana) and `stone`
    /// (a path, followed from 3 cells away), the event `hit`, the commands `walk-to`, `rest`,
    /// `cast` and `shout` (all types of fields but decimals), the refusal `tired`, the controls
    /// `left` and `jump`, a scenery with one look of obstacles. There are effects of `hit`, of an
    /// avatar that comes into sight, and of one that is veiled; and labels of stones, mana,
    /// `walk-to`, `jump` and a spell.
    pub fn example() -> Self {
        let fields = [
            ("who", FieldType::Object),
            ("where", FieldType::Position),
            ("damage", FieldType::NUMBER),
        ];
        let fields = fields.map(|(name, ty)| FieldSpec::new(name, ty));
        let far = InterestRadii { inner: 0, outer: 3 };
        Self {
            game: "example".into(),
            kinds: vec![
                avatar(),
                ObjectKind {
                    name: "stone".into(),
                    components: vec![path()],
                    interest_radii: Some(far),
                    ..ObjectKind::default()
                },
            ],
            events: vec![EventKind { name: "hit".into(), fields: fields.into() }],
            commands: commands(),
            refusals: vec![RefusalKind { name: "tired".into() }],
            controls: controls(),
            presentation: presentation(),
        }
    }
}

fn controls() -> Vec<ControlSpec> {
    let left = ControlSpec { name: "left".into(), ..ControlSpec::default() };
    let jump = ControlSpec { name: "jump".into(), is_tapped: true, ..ControlSpec::default() };
    vec![left, jump]
}

fn commands() -> Vec<CommandKind> {
    let command = |name: &str, fields| CommandKind {
        name: name.into(),
        newest_only: name == "walk-to",
        fields,
    };
    let spells = FieldType::choice(["bolt", "heal"]);
    vec![
        command("walk-to", vec![FieldSpec::new("to", FieldType::Position)]),
        command("rest", Vec::new()),
        command(
            "cast",
            vec![
                FieldSpec::new("spell", spells),
                FieldSpec::new("at", FieldType::Position).optional(),
                FieldSpec::new("target", FieldType::Object).optional(),
            ],
        ),
        command(
            "shout",
            vec![
                FieldSpec::new("times", FieldType::Number { min: 1, max: 9 }),
                FieldSpec::new("words", FieldType::Text { max_bytes: 100 }),
            ],
        ),
    ]
}

fn avatar() -> ObjectKind {
    let components = vec![
        path(),
        ComponentSpec::public("health", Codec::Gauge { max: 100.0 }),
        ComponentSpec::owner("mana", Codec::Gauge { max: 62.5 }),
        ComponentSpec::public("veiled", Codec::Flag),
        ComponentSpec::public("level", Codec::Number { min: 1, max: 99 }),
        ComponentSpec::public("name", Codec::Text { max_bytes: 96 }),
    ];
    ObjectKind { name: "avatar".into(), components, ..ObjectKind::default() }
}

fn presentation() -> Presentation {
    let stone = KindPresentation { label: "Big stones".into(), ..KindPresentation::default() };
    let hit = Effect {
        form: EffectForm::Beam,
        colour: 0xff_4020,
        size_m: 1.5,
        at: Some(1),
        from: Some(0),
        reach: Some(2),
        due: Some(2),
    };
    let text = "{who} loses {damage} points".into();
    Presentation {
        kinds: vec![shown_avatar(), stone],
        events: vec![EventPresentation { text, effect: Some(hit), ..EventPresentation::default() }],
        commands: shown_commands(),
        refusals: vec![RefusalPresentation { text: "you are too tired".into() }],
        controls: vec![
            ControlPresentation {
                keys: vec!["a".into(), "arrowleft".into()],
                direction: Some(Direction::West),
                ..ControlPresentation::default()
            },
            ControlPresentation {
                label: "Leap".into(),
                help: "Jump.".into(),
                keys: vec!["space".into()],
                direction: None,
            },
        ],
        scenery: ScenerySpec {
            camera: Camera::Above,
            place: Ground::Halls,
            ground: Some(0x20_4020),
            is_without_grid: true,
            has_party: true,
            obstacles: vec![ObstacleLook::new('%', 0x80_6040)],
        },
        gates: Vec::new(),
        avatar: Some(0),
    }
}

fn shown_avatar() -> KindPresentation {
    let veil = Effect { form: EffectForm::Ring, size_m: 0.8, ..Effect::default() };
    let plain = ComponentPresentation::default;
    let mana = ComponentPresentation { label: "Zauberkräfte".into(), unit: "%".into(), ..plain() };
    KindPresentation {
        look: Look {
            glyph: '@',
            shape: Shape::Arrow,
            colour: 0x30_80ff,
            material: Material::Metal,
            size_m: 0.8,
            bar: Some(1),
            label: Some(5),
            figure: Some(Figure::Mage),
            by: Some(5),
        },
        variants: vec![Variant {
            of: "Merlin".into(),
            figure: Some(Figure::Robed),
            size: 1.5,
            boss: true,
        }],
        effect: Some(Effect { form: EffectForm::Arrival, ..Effect::default() }),
        components: vec![
            plain(),
            plain(),
            mana,
            ComponentPresentation { effect: Some(veil), sign: Some(Sign::Hide), ..plain() },
            plain(),
            ComponentPresentation {
                role: Some(TextRole::Player),
                words: vec![Word {
                    is: "mage".into(),
                    label: "Mage".into(),
                    outcome: Some(Outcome::Won),
                }],
                ..plain()
            },
        ],
        ..KindPresentation::default()
    }
}

fn shown_commands() -> Vec<CommandPresentation> {
    let bolt = ChoicePresentation {
        label: "Bolt of fire".into(),
        help: "Flies straight on.".into(),
        cooldown_ms: 600,
        only_for: Some(Condition::text("name", "mage")),
        outcome: Some(Outcome::Won),
        reach_cm: 1_500,
        cost: Some(Cost { of: "mana".into(), amount: 8 }),
        sign: Some(Sign::Fire),
        made_of: Some(Element::Fire),
        thing: Some(Thing::Scroll),
        tint: Some(0x80_4020),
        raises: Some(Sign::Clock),
        rarity: Some(Rarity::Rare),
        ..ChoicePresentation::default()
    };
    let needs = vec!["bolt".into()];
    let heal = ChoicePresentation { alone: true, needs, ..ChoicePresentation::default() };
    let spell = FieldPresentation {
        label: "Which spell".into(),
        choices: vec![bolt, heal],
        listed_in: "book".into(),
        marked_in: "known".into(),
        sets: "name".into(),
    };
    let with_help =
        |help: &str| CommandPresentation { help: help.into(), ..CommandPresentation::default() };
    vec![
        CommandPresentation {
            label: "Walk there".into(),
            help: "Walk to a point.".into(),
            key: Some("click".into()),
            only_for: Some(Condition::set("veiled")),
            walk: Some(WalkSpec { speed: WalkSpeed::Constant(5.0), radius_m: 0.4 }),
            sign: Some(Sign::Dash),
            fields: Vec::new(),
        },
        CommandPresentation::default(),
        CommandPresentation { fields: vec![spell], ..with_help("Cast a spell.") },
        with_help("Say something, a number of times."),
    ]
}

impl Schema {
    /// [`Schema::example`] with further kinds that have poses: `walker` (a yaw of 8 bits, 100 units
    /// a metre; a name for its team), `cube` (free, 9 bits, 512 units a metre), `ball` (fixed, 16
    /// units a metre; lower target ages than the others); `vane` (an angle and a half), `chest`
    /// (room-wide: rows with a field of each type, and bytes), and the command `aim` with fields of
    /// an angle and a half.
    pub fn example_with_poses() -> Self {
        let mut schema = Self::example();
        let pose = |per_metre, turn| {
            ComponentSpec::public("pose", Codec::Pose(PoseFormat { per_metre, turn, motion: None }))
        };
        let kind = |name: &str, components| ObjectKind {
            name: name.into(),
            components,
            ..ObjectKind::default()
        };
        let name = ComponentSpec::team("name", Codec::Text { max_bytes: 32 });
        let fresher = Freshness { engaged_ms: 20, near_m: 5.5, near_ms: 30, far_ms: 40 };
        schema.kinds.extend([
            kind("walker", vec![pose(100, Turning::Yaw { bits: 8 }), name]),
            kind("cube", vec![pose(512, Turning::Free { bits: 9 })]),
            ObjectKind { freshness: fresher, ..kind("ball", vec![pose(16, Turning::Fixed)]) },
            vane(),
            chest(),
        ]);
        schema.commands.push(CommandKind {
            name: "aim".into(),
            fields: vec![
                FieldSpec::new("heading", FieldType::Decimal(DecimalFormat::Angle)),
                FieldSpec::new("power", FieldType::Decimal(DecimalFormat::Half)).optional(),
            ],
            ..CommandKind::default()
        });
        let help = "Aim, with a power.".into();
        let aim = CommandPresentation { help, ..CommandPresentation::default() };
        schema.presentation.commands.push(aim);
        schema
    }
}

fn vane() -> ObjectKind {
    let components = vec![
        path(),
        ComponentSpec::public("heading", Codec::Decimal(DecimalFormat::Angle)),
        ComponentSpec::public("wind", Codec::Decimal(DecimalFormat::Half)),
    ];
    ObjectKind { name: "vane".into(), components, ..ObjectKind::default() }
}

fn chest() -> ObjectKind {
    let fields = [
        FieldSpec::new("ware", FieldType::choice(["rope", "lamp", "oil"])),
        FieldSpec::new("count", FieldType::Number { min: 1, max: 99 }),
        FieldSpec::new("owner", FieldType::Text { max_bytes: 12 }).optional(),
        FieldSpec::new("weight", FieldType::Decimal(DecimalFormat::Half)),
        FieldSpec::new("found", FieldType::Position).optional(),
    ];
    let components = vec![
        ComponentSpec::public("wares", Codec::Rows(RowFormat::new(fields, 20))),
        ComponentSpec::public("seal", Codec::Bytes { max_bytes: 64 }),
        ComponentSpec::public("walls", Codec::Rows(RowFormat::of_obstacles(3))),
    ];
    ObjectKind { name: "chest".into(), components, ..ObjectKind::default() }
}

fn path() -> ComponentSpec {
    ComponentSpec::public("path", Codec::Path)
}

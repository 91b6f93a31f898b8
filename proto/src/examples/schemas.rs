//! A game with one of everything: for tests, benches and the list of formats.

use crate::pose::{PoseFormat, Turning};
use crate::schema::{
    Camera, ChoiceAbout, Codec, CommandKind, ComponentSpec, ControlSpec, Cost, DecimalFormat,
    Direction, Effect, EffectForm, EventKind, FieldSpec, FieldType, Freshness, InterestRadii, Look,
    Material, ObjectKind, ObstacleLook, RefusalKind, ScenerySpec, Schema, Shape, WalkSpec,
    WalkSpeed,
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
                    label: "Big stones".into(),
                    components: vec![path()],
                    interest_radii: Some(far),
                    ..ObjectKind::default()
                },
            ],
            events: vec![EventKind {
                name: "hit".into(),
                fields: fields.into(),
                effect: Some(Effect {
                    form: EffectForm::Beam,
                    colour: 0xff_4020,
                    size_m: 1.5,
                    at: Some(1),
                    from: Some(0),
                    reach: Some(2),
                    due: Some(2),
                }),
                text: "{who} loses {damage} points".into(),
            }],
            commands: commands(),
            refusals: vec![RefusalKind { name: "tired".into(), text: "you are too tired".into() }],
            controls: controls(),
            scenery: ScenerySpec {
                camera: Camera::Above,
                ground: Some(0x20_4020),
                has_grid: false,
                has_party: true,
                obstacles: vec![ObstacleLook::new('%', 0x80_6040)],
            },
        }
    }
}

fn controls() -> Vec<ControlSpec> {
    let left = ControlSpec {
        name: "left".into(),
        keys: vec!["a".into(), "arrowleft".into()],
        direction: Some(Direction::West),
        ..ControlSpec::default()
    };
    let jump = ControlSpec {
        name: "jump".into(),
        label: "Leap".into(),
        help: "Jump.".into(),
        keys: vec!["space".into()],
        is_tapped: true,
        ..ControlSpec::default()
    };
    vec![left, jump]
}

fn commands() -> Vec<CommandKind> {
    let spells = FieldType::choice(["bolt", "heal"]);
    let bolt = ChoiceAbout {
        label: "Bolt of fire".into(),
        help: "Flies straight on.".into(),
        cooldown_ms: 600,
        only_for: "mage".into(),
        reach_cm: 1_500,
        cost: Some(Cost { of: "mana".into(), amount: 8 }),
        ..ChoiceAbout::default()
    };
    let heal = ChoiceAbout { alone: true, ..ChoiceAbout::default() };
    let walk_to = CommandKind {
        name: "walk-to".into(),
        label: "Walk there".into(),
        help: "Walk to a point.".into(),
        key: Some("click".into()),
        newest_only: true,
        only_for: "alive".into(),
        walk: Some(WalkSpec { speed: WalkSpeed::Constant(5.0), radius_m: 0.4 }),
        fields: vec![FieldSpec::new("to", FieldType::Position)],
    };
    let rest = CommandKind { name: "rest".into(), ..CommandKind::default() };
    let cast = CommandKind {
        name: "cast".into(),
        help: "Cast a spell.".into(),
        fields: vec![
            FieldSpec {
                listed_in: "book".into(),
                ..FieldSpec::new("spell", spells).about("Which spell", vec![bolt, heal])
            },
            FieldSpec::new("at", FieldType::Position).optional(),
            FieldSpec::new("target", FieldType::Object).optional(),
        ],
        ..CommandKind::default()
    };
    let shout = CommandKind {
        name: "shout".into(),
        help: "Say something, so many times.".into(),
        fields: vec![
            FieldSpec::new("times", FieldType::Number { min: 1, max: 9 }),
            FieldSpec::new("words", FieldType::Text { max_bytes: 100 }),
        ],
        ..CommandKind::default()
    };
    vec![walk_to, rest, cast, shout]
}

fn avatar() -> ObjectKind {
    let veil = Effect { form: EffectForm::Ring, size_m: 0.8, ..Effect::default() };
    let mana = ComponentSpec::owner("mana", Codec::Gauge { max: 62.5 });
    let components = vec![
        path(),
        ComponentSpec::public("health", Codec::Gauge { max: 100.0 }),
        ComponentSpec { label: "Zauberkräfte".into(), unit: "%".into(), ..mana },
        ComponentSpec { effect: Some(veil), ..ComponentSpec::public("veiled", Codec::Flag) },
        ComponentSpec::public("level", Codec::Number { min: 1, max: 99 }),
        ComponentSpec::public("name", Codec::Text { max_bytes: 96 }),
    ];
    let look = Look {
        glyph: '@',
        shape: Shape::Arrow,
        colour: 0x30_80ff,
        material: Material::Metal,
        size_m: 0.8,
        bar: Some(1),
        label: Some(5),
    };
    let effect = Some(Effect { form: EffectForm::Arrival, ..Effect::default() });
    ObjectKind { name: "avatar".into(), components, look, effect, ..ObjectKind::default() }
}

impl Schema {
    /// [`Schema::example`] with further kinds that have poses: `walker` (a yaw of 8 bits, 100 units
    /// a metre; a name for its team), `cube` (free, 9 bits, 512 units a metre), `ball` (fixed, 16
    /// units a metre; lower target ages than the others); `vane` (an angle and a half), and the
    /// command `aim` with such fields.
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
        ]);
        schema.commands.push(CommandKind {
            name: "aim".into(),
            help: "Aim, with so much power.".into(),
            fields: vec![
                FieldSpec::new("heading", FieldType::Decimal(DecimalFormat::Angle)),
                FieldSpec::new("power", FieldType::Decimal(DecimalFormat::Half)).optional(),
            ],
            ..CommandKind::default()
        });
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

fn path() -> ComponentSpec {
    ComponentSpec::public("path", Codec::Path)
}

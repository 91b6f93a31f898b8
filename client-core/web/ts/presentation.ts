/**
 * What a game tells players about itself. Made from `ambit_proto::presentation` by its test
 * `the_types_for_typescript_are_those_of_the_structs`, with `AMBIT_RENEW_TYPES=1`.
 */

/**
 * What a game tells players about itself.
 */
export type Presentation = {
  /**
   * Of the kinds.
   */
  kinds: Array<KindPresentation>;
  /**
   * Of the events.
   */
  events: Array<EventPresentation>;
  /**
   * Of the commands.
   */
  commands: Array<CommandPresentation>;
  /**
   * Of the refusals.
   */
  refusals: Array<RefusalPresentation>;
  /**
   * Of the controls.
   */
  controls: Array<ControlPresentation>;
  /**
   * Index of the kind of the players' avatars.
   */
  avatar: number | null;
  /**
   * How a simple viewer draws the map.
   */
  scenery: ScenerySpec;
  /**
   * Where this map leads to others. A description of the game has none.
   */
  gates: Array<GateArea>;
};

/**
 * A kind of object.
 */
export type KindPresentation = {
  /**
   * What players read instead of the name; may be empty.
   */
  label: string;
  /**
   * How a simple viewer draws it.
   */
  look: Look;
  /**
   * What objects look like whose component [`Look::by`] has one of these values.
   */
  variants: Array<Variant>;
  /**
   * What a simple viewer shows when one comes into sight.
   */
  effect: Effect | null;
  /**
   * Of its components.
   */
  components: Array<ComponentPresentation>;
};

/**
 * A component of a kind.
 */
export type ComponentPresentation = {
  /**
   * What players read instead of the name; may be empty.
   */
  label: string;
  /**
   * What a number of it counts: `s`, `ms`, `%`; empty for a plain number. Viewers show seconds
   * as minutes and seconds.
   */
  unit: string;
  /**
   * What a flag means for the object that has it: `hide` if others do not see it.
   */
  sign: Sign | null;
  /**
   * What a text is about.
   */
  role: TextRole | null;
  /**
   * What a text may be, where that is one of some words.
   */
  words: Array<Word>;
  /**
   * What a simple viewer shows as long as a flag is set, or when a gauge falls at once.
   */
  effect: Effect | null;
};

/**
 * A kind of event.
 */
export type EventPresentation = {
  /**
   * One line for players, in which `{FIELD}` stands for the value of a field. Empty for an event
   * that is not shown in words.
   */
  text: string;
  /**
   * What stands above the line where it is announced to all, such as `Wave {wave}`; may be
   * empty.
   */
  lead: string;
  /**
   * How a simple viewer shows it.
   */
  effect: Effect | null;
  /**
   * Of its fields.
   */
  fields: Array<FieldPresentation>;
};

/**
 * A kind of command.
 */
export type CommandPresentation = {
  /**
   * What players read instead of the name; may be empty.
   */
  label: string;
  /**
   * One line for users; may be empty.
   */
  help: string;
  /**
   * The suggested input: the name of a key, or `click` for a point on the map.
   */
  key: string | null;
  /**
   * When it is offered; null for always.
   */
  only_for: Condition | null;
  /**
   * How it walks the avatar, if it does: to the place in its first field of that type.
   */
  walk: WalkSpec | null;
  /**
   * The sign on its button.
   */
  sign: Sign | null;
  /**
   * Of its fields.
   */
  fields: Array<FieldPresentation>;
};

/**
 * How a command walks the avatar along its path: straight, up to the first obstacle. Clients draw
 * the player's own avatar by it before the host answers; where the host decides otherwise, they
 * correct that.
 */
export type WalkSpec = {
  /**
   * How fast.
   */
  speed: WalkSpeed;
  /**
   * Radius of the body for obstacles, in metres.
   */
  radius_m: number;
};

/**
 * The speed of a walk, in metres a second.
 */
export type WalkSpeed =
  | { "constant": number }
  | { "component": string };

/**
 * A field of an event or a command.
 */
export type FieldPresentation = {
  /**
   * What players read instead of the name; may be empty.
   */
  label: string;
  /**
   * Of the names of a choice. The values mean the same to clients that know other texts.
   */
  choices: Array<ChoicePresentation>;
  /**
   * Of a choice: the name of the component that counts the names that there are now; of the
   * avatar, of the player's own row or of the game's state. Empty for all, always.
   */
  listed_in: string;
  /**
   * Of a choice: the name of the component that counts those of the names that viewers mark,
   * with its label: what the player has learned, or wears. Empty for none.
   */
  marked_in: string;
  /**
   * Of a choice: the name of the text of the avatar that it sets, such as a class. As long as
   * the text is none of the names, players are asked to choose one.
   */
  sets: string;
};

/**
 * One of the names of a choice.
 */
export type ChoicePresentation = {
  /**
   * What players read instead of the name; may be empty.
   */
  label: string;
  /**
   * One line; may be empty.
   */
  help: string;
  /**
   * After a command with this choice that was not refused, the next one is refused for this
   * time, in milliseconds.
   */
  cooldown_ms: number;
  /**
   * When it is offered, such as to a class or in a phase; null for always.
   */
  only_for: Condition | null;
  /**
   * How the game has ended for its players when a text or a field has this value.
   */
  outcome: Outcome | null;
  /**
   * Whether this choice needs no other field: clients ask for no optional one, such as a place.
   * The host takes them all the same.
   */
  alone: boolean;
  /**
   * How far from the avatar a place of the command may be, in centimetres; 0 for any distance.
   * The game refuses what is farther; clients show it, and choose the nearest place within.
   */
  reach_cm: number;
  /**
   * What a command with this choice costs, if anything.
   */
  cost: Cost | null;
  /**
   * The sign on its button.
   */
  sign: Sign | null;
  /**
   * What it is made of, in the hand and in flight.
   */
  made_of: Element | null;
  /**
   * The thing that is chosen, where it is one: what its card shows.
   */
  thing: Thing | null;
  /**
   * The colour of the thing, 0xRRGGBB, and `#rrggbb` in the block; without it the usual one.
   */
  tint: string | null;
  /**
   * What it raises, of a skill.
   */
  raises: Sign | null;
  /**
   * How rare it is, of a thing: the colour of its name.
   */
  rarity: Rarity | null;
  /**
   * The choices of the same field that come first, by their names. Viewers draw choices that
   * need others as a tree; the game refuses what comes too early.
   */
  needs: Array<string>;
};

/**
 * What a choice costs. The game refuses who has less of it; clients show who can pay.
 */
export type Cost = {
  /**
   * The name of a gauge or a number of the avatar or of the player's own row, such as `mana`.
   */
  of: string;
  /**
   * In its units; negative for what the choice gives.
   */
  amount: number;
};

/**
 * A component has a value: something is offered only as long as that is so.
 */
export type Condition = {
  /**
   * The name of a flag of the avatar, or of a text of the avatar, of the player's own row or of
   * the only object of a room-wide kind.
   */
  of: string;
  /**
   * What the text is; empty for a flag, which is set.
   */
  is: string;
};

/**
 * What a text is about, where viewers do more than show it.
 */
export type TextRole = "player" | "winner" | "reason";

/**
 * A value that a text may have.
 */
export type Word = {
  /**
   * The value.
   */
  is: string;
  /**
   * What players read instead; may be empty.
   */
  label: string;
  /**
   * How the game has ended for its players when the text has this value; null while it runs.
   */
  outcome: Outcome | null;
};

/**
 * How a game ends for its players.
 */
export type Outcome = "won" | "lost" | "over";

/**
 * A reason of the game for refusing a command.
 */
export type RefusalPresentation = {
  /**
   * One line for users.
   */
  text: string;
};

/**
 * A control.
 */
export type ControlPresentation = {
  /**
   * What players read instead of the name; may be empty.
   */
  label: string;
  /**
   * One line for users; may be empty.
   */
  help: string;
  /**
   * The default keys of a keyboard, at most [`MAX_KEYS`], each of one control only: the `key` of
   * a browser's `KeyboardEvent` in lower case, with `space` for the space bar. Those of a linear
   * axis come in pairs: the first moves it to 1, the second to -1. An angle has none: a client
   * with a pointer takes the direction from the own avatar to it.
   */
  keys: Array<string>;
  /**
   * The way on the map that it stands for. A client whose picture is turned gives players the
   * ways that they see.
   */
  direction: Direction | null;
};

/**
 * A way on the map.
 */
export type Direction = "east" | "north" | "west" | "south";

/**
 * An area on the ground that leads to another map, in metres.
 */
export type GateArea = {
  /**
   * The corner with the lowest x and y.
   */
  low: [number, number];
  /**
   * The corner with the highest x and y.
   */
  high: [number, number];
  /**
   * Index of the map behind it, from 0.
   */
  map: number;
};

/**
 * How a simple viewer draws the objects of a kind: hints, which a viewer may ignore.
 */
export type Look = {
  /**
   * For displays of text.
   */
  glyph: string;
  /**
   * For displays of shapes.
   */
  shape: Shape;
  /**
   * 0xRRGGBB, and `#rrggbb` in the block.
   */
  colour: string;
  /**
   * What it is made of.
   */
  material: Material;
  /**
   * Diameter or edge, in metres: 0.01 to 1,000.
   */
  size: number;
  /**
   * Index of the component that is shown as a bar: a gauge.
   */
  bar: number | null;
  /**
   * Index of the component that is shown as text beside the object: a text.
   */
  label: number | null;
  /**
   * What it represents, if it is more than its shape.
   */
  figure: Figure | null;
  /**
   * Index of the text, the number or the flag that says which variant of its kind an object is.
   */
  by: number | null;
};

/**
 * The shape of an object, as seen from above.
 */
export type Shape = "disc" | "box" | "arrow" | "point";

/**
 * What an object seems to be made of.
 */
export type Material = "matte" | "metal" | "glow";

/**
 * How a simple viewer shows that something happens: a hint, which a viewer may ignore.
 *
 * An event, a kind (when an object comes into sight) and a component (as long as a flag is
 * set, when a gauge falls at once) can have one.
 */
export type Effect = {
  /**
   * What is seen, and what is heard of it.
   */
  form: EffectForm;
  /**
   * 0xRRGGBB, and `#rrggbb` in the block.
   */
  colour: string;
  /**
   * How far it reaches, in metres: 0.01 to 100.
   */
  size: number;
  /**
   * Of an event: the index of the field that says where, an object or a position. Otherwise the
   * first position, and in an event without one the first object.
   */
  at: number | null;
  /**
   * Of a beam: the index of the field from where it comes, an object or a position. Otherwise
   * the first object.
   */
  from: number | null;
  /**
   * Of an event: the index of a number that is how far it reaches, in decimetres, instead of
   * `size_m`.
   */
  reach: number | null;
  /**
   * Of a warning: the index of a number that is the milliseconds until it happens.
   */
  due: number | null;
};

/**
 * What a viewer can show of what happens.
 */
export type EffectForm = "cast" | "hit" | "heal" | "arrival" | "death" | "blast" | "ring" | "beam" | "warning";

/**
 * How a simple viewer draws the map: hints, which a viewer may ignore.
 */
export type ScenerySpec = {
  /**
   * Where it looks from.
   */
  camera: Camera;
  /**
   * What kind of ground it is.
   */
  place: Ground;
  /**
   * The colour of the ground, as 0xRRGGBB, and `#rrggbb` in the block; without it the viewer's
   * own.
   */
  ground: string | null;
  /**
   * Whether the ground is without lines.
   */
  no_grid: boolean;
  /**
   * Whether players are on one side: those of the avatar's kind in sight are listed with bar and
   * name.
   */
  party: boolean;
  /**
   * Looks that obstacles name by their index: at most [`MAX_OBSTACLE_LOOKS`].
   */
  obstacles: Array<ObstacleLook>;
};

/**
 * Where a simple viewer looks from. It always follows the player's avatar.
 */
export type Camera = "around" | "above";

/**
 * How a simple viewer draws an obstacle. The map has its shape and its size.
 */
export type ObstacleLook = {
  /**
   * For displays of text.
   */
  glyph: string;
  /**
   * 0xRRGGBB, and `#rrggbb` in the block.
   */
  colour: string;
};

/**
 * What kind of ground a map is.
 */
export type Ground = "open" | "court" | "halls" | "space";

/**
 * What an object represents. A viewer that has no model for it draws its shape.
 */
export type Figure = "knight" | "mage" | "archer" | "healer" | "trader" | "round" | "horned" | "beast" | "robed" | "chest" | "trap" | "toy";

/**
 * What objects of a kind look like whose text has a value.
 */
export type Variant = {
  /**
   * The value: a text, `3` for a number, `true` or `false` for a flag.
   */
  of: string;
  /**
   * What it represents instead of the kind's figure.
   */
  figure: Figure | null;
  /**
   * How large it is, in sizes of its kind: 0.1 to 10.
   */
  size: number;
  /**
   * Whether it is one of a few that all players watch: viewers show its gauge to all.
   */
  boss: boolean;
};

/**
 * A sign for a command, a choice or a flag. A viewer that has no picture for it shows letters.
 */
export type Sign = "fire" | "burst" | "frost" | "heal" | "renew" | "shield" | "hide" | "dash" | "sword" | "arrow" | "bolt" | "call" | "trap" | "roar" | "light" | "ready" | "share" | "drop" | "whirl" | "push" | "hourglass" | "clock";

/**
 * What something is made of: how it flies, and in which colour.
 */
export type Element = "fire" | "ice" | "venom" | "life" | "light" | "arrow" | "storm" | "shadow" | "force";

/**
 * A thing that players own.
 */
export type Thing = "whetstone" | "ring" | "amulet" | "crown" | "helm" | "gloves" | "belt" | "cloak" | "armour" | "shield" | "winged_boots" | "boots" | "dagger" | "axe" | "hammer" | "spear" | "staff" | "bow" | "sword" | "potion" | "scroll" | "book" | "orb" | "coin" | "leaf" | "fang" | "charm" | "gem" | "pouch" | "relic" | "box";

/**
 * How rare a thing is, as players of many games know it by its colour.
 */
export type Rarity = "common" | "uncommon" | "rare" | "epic" | "legendary";

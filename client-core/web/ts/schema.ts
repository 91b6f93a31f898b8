/** What a game declares: the keys are those of `client-core/web/src/schema_json.rs`. */

export interface Schema {
  /** The name of the game. */
  game: string;
  kinds: Kind[];
  events: EventKind[];
  commands: CommandKind[];
  refusals: Refusal[];
  /** What players hold, press and move: `Game.hold`, `Game.setAxis`. Places are bits. */
  controls: Control[];
  /** How a simple viewer draws the map. */
  scenery: Scenery;
}

/** How a simple viewer draws the map. */
export interface Scenery {
  /** Where players look from: around the avatar as they like, or from above. */
  camera: "around" | "above";
  /** The colour of the ground, `#rrggbb`; null for the viewer's own. */
  ground: string | null;
  /** Whether there are lines on the ground. */
  grid: boolean;
  /** Players are on one side: whoever of the avatar's kind is in sight is listed. */
  party: boolean;
  /** Looks of obstacles, which name them by their places. */
  obstacles: ObstacleLook[];
}

export interface ObstacleLook {
  /** One character. */
  glyph: string;
  /** `#rrggbb`. */
  colour: string;
}

/** Something that a player holds down, presses or moves. */
export interface Control {
  name: string;
  /** What players read instead of the name; may be empty. */
  label: string;
  /** One line for players; may be empty. */
  help: string;
  /**
   * Default keys: `KeyboardEvent.key` in lower case, with `space` for the space bar. Those of a
   * linear axis come in pairs: the first moves it to 1, the second to -1.
   */
  keys: string[];
  /** Whether only the press counts, not how long it is held. */
  tapped: boolean;
  /** The way on the map that it stands for: east is towards larger x, north towards larger y. */
  direction: Direction | null;
  /** A number from -1 to 1, or an angle; null for what is held or pressed. */
  axis: "linear" | "angle" | null;
}

export type Direction = "east" | "north" | "west" | "south";

/** A kind of object. */
export interface Kind {
  name: string;
  /** What players read instead of the name; may be empty. */
  label: string;
  /** The first one is the position. */
  components: Component[];
  look: Look;
  /** Whether clients should simulate its objects, by the physics of the game. */
  simulated: boolean;
  /** What to show when an object comes into sight. */
  effect: Effect | null;
}

/**
 * The label of a component is what players read instead of the name; may be empty. Its effect: as
 * long as a flag is set, when a gauge falls at once.
 */
export type Component = {
  name: string;
  label: string;
  /** What a number of it counts: `s`, `ms`, `%`; empty for a plain number. */
  unit: string;
  effect: Effect | null;
} & (
  | { type: "path" }
  /** It turns not at all, about the vertical, or freely. */
  | { type: "pose"; turn: "fixed" | "yaw" | "free" }
  | { type: "gauge"; max: number }
  | { type: "flag" }
  | { type: "number"; min: number; max: number }
  /** A number of three digits, from -65,504 to 65,504. */
  | { type: "half" }
  /** In radians counter-clockwise from the east. */
  | { type: "angle" }
  | { type: "text"; max_bytes: number }
);

/** How a simple viewer draws the objects of a kind. */
export interface Look {
  /** One character. */
  glyph: string;
  shape: "disc" | "box" | "arrow" | "point";
  /** `#rrggbb`. */
  colour: string;
  /** What it seems to be made of. */
  material: "matte" | "metal" | "glow";
  /** Diameter or edge, in metres. */
  size: number;
  /** The index of the component to show as a bar: a gauge. */
  bar: number | null;
  /** The index of the component to show as a text beside the object. */
  label: number | null;
}

/** How a simple viewer shows that something happens. */
export interface Effect {
  /**
   * Warning: something will happen here, and a ring fills until it does. Cast: a ring closes. Hit: sparks. Heal: sparks rise. Arrival: a column of light. Death: debris.
   * Blast: a flash, a ring and sparks. Ring: on the ground. Beam: from one place to another.
   */
  form: "cast" | "hit" | "heal" | "arrival" | "death" | "blast" | "ring" | "beam"
    | "warning";
  /** `#rrggbb`. */
  colour: string;
  /** How far it reaches, in metres. */
  size: number;
  /**
   * The index of the event's field that says where: an object or a position. Otherwise the first
   * position, and without one the first object.
   */
  at: number | null;
  /** Of a beam: the index of the field from where it comes; otherwise the first object. */
  from: number | null;
  /** The index of a number that is how far it reaches in decimetres, instead of `size`. */
  reach: number | null;
  /** Of a warning: the index of a number that is the milliseconds until it happens. */
  due: number | null;
}

export type Field = {
  name: string;
  /** What players read instead of the name; may be empty. */
  label: string;
  optional: boolean;
} & (
  | { type: "object" }
  | { type: "position" }
  | { type: "number"; min: number; max: number }
  /** A number of three digits, from -65,504 to 65,504. */
  | { type: "half" }
  /** In radians counter-clockwise from the east. */
  | { type: "angle" }
  /**
   * `about` has what players are told about each of the choices. `listed_in` is the name of a text
   * of the avatar, of the player's own row or of the game's state that lists those that there are
   * now, as `2 whetstone, red-stone`; empty for all.
   */
  | { type: "choice"; choices: string[]; about: Choice[]; listed_in: string }
  | { type: "text"; max_bytes: number }
);

/** What players are told about a choice. */
export interface Choice {
  /** What players read instead of the name; may be empty. */
  label: string;
  /** One line; may be empty. */
  help: string;
  /** A command with this choice is refused for so long after one that was not. */
  cooldown_ms: number;
  /**
   * Only as long as a text of the avatar or of the game's state is this, or a flag of the avatar
   * has this name and is set; empty for always.
   */
  only_for: string;
  /** It needs no other field of its command: no optional one, such as a place, is to be asked for. */
  alone: boolean;
  /** A place of the command may be so far from the avatar, in centimetres; 0 for any distance. */
  reach_cm: number;
  /** What a command with this choice costs; null for nothing. */
  cost: Cost | null;
}

/** A command is refused while its player has less of it. */
export interface Cost {
  /** The name of a gauge or a number of the avatar or of the player's own row. */
  of: string;
  /** Negative for what the choice gives. */
  amount: number;
}

/** A kind of event: something that happens at one moment. */
export interface EventKind {
  name: string;
  fields: Field[];
  effect: Effect | null;
  /** One line for players, in which `{FIELD}` stands for what is in a field; may be empty. */
  text: string;
}

/** Something that a player can do. */
export interface CommandKind {
  name: string;
  /** What players read instead of the name; may be empty. */
  label: string;
  /** The form: `cast SPELL [X Y]`. */
  usage: string;
  /** One line for users. */
  help: string;
  /** The suggested input: the name of a key, or `click` for a point on the map. */
  key: string | null;
  /** Only the newest command of this kind counts. */
  newest_only: boolean;
  /** As that of a choice. */
  only_for: string;
  /** It walks the avatar, which the client draws on its way at once. */
  walks: boolean;
  fields: Field[];
}

/** A reason of the game for refusing a command. */
export interface Refusal {
  name: string;
  text: string;
}

/**
 * What a game declares: what decides bytes, each item with what the game tells players about it.
 * The keys are those of `client-core/text/src/schema_json.rs`.
 */

import type {
  ChoicePresentation,
  CommandPresentation,
  ComponentPresentation,
  ControlPresentation,
  EventPresentation,
  FieldPresentation,
  KindPresentation,
  RefusalPresentation,
  ScenerySpec,
} from "./presentation.js";

export type {
  ChoicePresentation as Choice,
  Condition,
  Cost,
  Direction,
  Effect,
  GateArea,
  Look,
  ObstacleLook,
  Outcome,
  ScenerySpec as Scenery,
  Variant,
} from "./presentation.js";

export interface Schema {
  /** The name of the game. */
  game: string;
  kinds: Kind[];
  events: EventKind[];
  commands: CommandKind[];
  refusals: Refusal[];
  /** What players hold, press and move: `Game.hold`, `Game.setAxis`. Places are bits. */
  controls: Control[];
  /** Which of the kinds is that of the players' avatars. */
  avatar: number | null;
  /** How a simple viewer draws the map. */
  scenery: ScenerySpec;
}

/** Something that a player holds down, presses or moves. */
export interface Control extends ControlPresentation {
  name: string;
  /** Whether only the press counts, not how long it is held. */
  tapped: boolean;
  /** A number from -1 to 1, or an angle; null for what is held or pressed. */
  axis: "linear" | "angle" | null;
}

/** A kind of object. */
export interface Kind extends Omit<KindPresentation, "components"> {
  name: string;
  /** The first one is the position. */
  components: Component[];
  /** Whether clients should simulate its objects, by the physics of the game. */
  simulated: boolean;
}

export type Component = ComponentPresentation & { name: string } & (
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
  /** How many there are of each of these names. */
  | { type: "counts"; max: number; names: string[] }
  /** Bytes that mean something to the game alone. */
  | { type: "bytes"; max_bytes: number }
  /** Rows of these fields; `obstacles` are on the map, too, while their object is in sight. */
  | { type: "list"; max: number; fields: Field[]; obstacles: boolean }
);

export type Field = Pick<FieldPresentation, "label"> & { name: string; optional: boolean } & (
  | { type: "object" }
  | { type: "position" }
  | { type: "number"; min: number; max: number }
  /** A number of three digits, from -65,504 to 65,504. */
  | { type: "half" }
  /** In radians counter-clockwise from the east. */
  | { type: "angle" }
  /** `about` has what players read about each of the choices, in their order. */
  | {
      type: "choice"; choices: string[]; about: ChoicePresentation[]; listed_in: string;
      marked_in: string; sets: string;
    }
  | { type: "text"; max_bytes: number }
);

/** A kind of event: something that happens at one moment. */
export interface EventKind extends Omit<EventPresentation, "fields"> {
  name: string;
  fields: Field[];
}

/** Something that a player can do. */
export interface CommandKind extends Omit<CommandPresentation, "fields"> {
  name: string;
  /** The form: `cast SPELL [X Y]`. */
  usage: string;
  /** Only the newest command of this kind counts. */
  newest_only: boolean;
  fields: Field[];
}

/** A reason of the game for refusing a command. */
export interface Refusal extends RefusalPresentation {
  name: string;
}

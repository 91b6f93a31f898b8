/**
 * What the picture on a card shows, by the words of what is chosen: a thing such as a ring, in the
 * colour or the material of its name, or the emblem of what a skill raises. No game is known here.
 *
 * A name without a known word gets a neutral picture, the same one each time.
 */

import { signOf, type TileSign } from "./action_tile.js";
import { type Action, choiceOf } from "./actions.js";
import { elementOf, lookOf } from "./elements.js";
import { hashOf } from "./roles.js";
import { asWords } from "./words.js";

export type ThingShape =
  | "whetstone" | "ring" | "amulet" | "crown" | "helm" | "gloves" | "belt" | "cloak" | "armour"
  | "shield" | "winged_boots" | "boots" | "dagger" | "axe" | "hammer" | "spear" | "staff" | "bow"
  | "sword" | "potion" | "scroll" | "book" | "orb" | "coin" | "leaf" | "fang" | "charm" | "gem"
  | "pouch" | "relic" | "box" | "nothing";

/** What is raised, as a sign of its own. */
export type RaisedSign = TileSign | "hourglass" | "clock";

export interface ThingPicture {
  what: "thing";
  shape: ThingShape;
  /** As in CSS. */
  tint: string;
}

export interface EmblemPicture {
  what: "emblem";
  /** Undefined if no word is known: then letters are shown. */
  sign: RaisedSign | undefined;
  letters: string;
  colour: string;
  /** Beside the sign of a spell: what of it is raised. */
  raises: RaisedSign | undefined;
}

export type CardPicture = ThingPicture | EmblemPicture;

/** The first shape with a word in the name, and its colour unless the name has one. */
const SHAPES: readonly (readonly [ThingShape, RegExp, string])[] = [
  ["whetstone", /whetstone|grindstone/, "#9aa7b0"],
  ["amulet", /amulet|necklace|pendant|talisman/, "#4fc0a0"],
  ["ring", /\bring\b|signet|\bband\b/, "#f0b840"],
  ["crown", /crown|circlet|tiara|diadem/, "#f0b840"],
  ["helm", /helm|\bhat\b|\bcap\b|hood|mask/, "#aab6c2"],
  ["gloves", /glove|gauntlet|bracer|grip/, "#9c6b42"],
  ["belt", /belt|girdle|sash/, "#8a5a36"],
  ["cloak", /cloak|\bcape\b|robe|mantle|shroud/, "#7a3f8f"],
  ["shield", /shield|buckler|aegis/, "#6f8fb8"],
  ["armour", /armou?r|\bmail\b|plate|cuirass|vest|tunic|jerkin|hauberk/, "#9aa7b4"],
  ["winged_boots", /(light|swift|wing|feather|wind|quick).*(boot|shoe|sandal)/, "#a8794a"],
  ["boots", /boot|shoe|sandal|greave/, "#8d5c38"],
  ["dagger", /dagger|knife|dirk|\bkris\b|stiletto/, "#c4ced8"],
  ["axe", /\baxe|hatchet|cleaver/, "#b8c4cf"],
  ["hammer", /hammer|\bmace\b|\bmaul\b|\bclub\b/, "#a8b2bc"],
  ["spear", /spear|lance|halberd|\bpike\b|javelin|trident/, "#c4ced8"],
  ["staff", /staff|\bwand\b|\brod\b|sceptre|scepter/, "#6fb7ff"],
  ["bow", /bow\b|quiver|arrow/, "#a06a38"],
  ["sword", /sword|blade|sabre|saber|rapier|scimitar|\bedge\b/, "#c9d3dc"],
  ["potion", /potion|elixir|flask|vial|tonic|brew|draught|philt/, "#e0485a"],
  ["scroll", /scroll|\bmap\b|parchment|letter/, "#b5793f"],
  ["book", /book|tome|grimoire|codex|\bmanual\b/, "#8c3b3b"],
  ["orb", /\borb\b|globe|sphere|crystal ball|\beye\b/, "#7a6cf0"],
  ["coin", /coin|\bpenny\b|ducat|doubloon/, "#f0b840"],
  ["leaf", /leaf|herb|root|flower|moss|clover/, "#5fae4c"],
  ["fang", /fang|tooth|claw|\bhorn\b|\btusk\b/, "#e6dcc0"],
  ["charm", /charm|rune|\bstar\b|sigil|totem|token/, "#ffcf5a"],
  ["gem", /gem|stone|ruby|sapphire|emerald|diamond|jewel|crystal|opal|amethyst|topaz|pearl/, ""],
];
/** Of what has no known word. */
const NEUTRAL: readonly ThingShape[] = ["pouch", "relic", "box"];

/** Colours and materials; of a name, the first one in this order counts. */
const TINTS: readonly (readonly [RegExp, string])[] = [
  [/\bred\b|ruby|blood|crimson|scarlet|garnet/, "#e23b3b"],
  [/\bblue\b|sapphire|azure|cobalt|\bsea\b|water/, "#3d7cf0"],
  [/green|emerald|jade|poison|venom|forest/, "#3fb85a"],
  [/purple|violet|amethyst|arcane|royal/, "#9a55e0"],
  [/yellow|topaz|amber|\bsun\b|honey/, "#f5c542"],
  [/orange|fire|flame|ember|lava|burning/, "#f2792a"],
  [/\bice\b|icy|frost|frozen|diamond|crystal/, "#8fdcff"],
  [/black|obsidian|shadow|night|onyx|dark/, "#4a4658"],
  [/white|pearl|ivory|holy|moon/, "#f1ecdf"],
  [/\bgold(en)?\b/, "#f0b840"],
  [/silver|mithril|platinum/, "#d5dde6"],
  [/steel|chain/, "#aebbc8"],
  [/\biron\b/, "#7f8c99"],
  [/bronze|copper|brass/, "#c5804a"],
  [/\bbone\b|skull/, "#e6dcc0"],
  [/\bash(es|en)?\b|stone\b|granite/, "#9b9c9c"],
  [/wood(en)?|\boak\b|\byew\b|\belm\b/, "#96663a"],
  [/leather|hide\b|\bfur\b/, "#8d5c38"],
  [/rose|pink|coral/, "#ee7fa6"],
];

/** What is raised, and how it looks where nothing else gives a colour. */
const RAISED: readonly (readonly [RaisedSign, string, RegExp])[] = [
  ["heal", "#4fcf77", /healing|heals/],
  ["renew", "#e2465a", /health|life|vitality|stamina/],
  ["drop", "#3f86f0", /mana|energy|spirit|magic/],
  ["shield", "#8ea4ba", /armou?r|defen[cs]e|block|resist/],
  ["clock", "#b98cf0", /haste|cool-?down|every/],
  ["hourglass", "#e0b45c", /duration|lasts|longer/],
  ["burst", "#f29a3c", /radius|area|reach|range/],
  ["dash", "#5fc98f", /speed|faster|walk/],
  ["sword", "#f0763c", /damage|attack|strength|power|crit/],
];

/** What is owned is a thing, and so is what is bought. */
const OF_THINGS = /item|gear|loot|good|ware|weapon|equipment|potion/;

export function cardPictureOf(action: Action): CardPicture {
  const choice = choiceOf(action);
  if (choice === "") return { what: "thing", shape: "nothing", tint: "#8b95a0" };
  const field = action.command.fields[0]?.name ?? "";
  const isThing = action.cost !== null || OF_THINGS.test(field);
  return isThing ? thingOf(choice) : emblemOf(choice, action.help);
}

export function thingOf(name: string): ThingPicture {
  const words = asWords(name).toLowerCase();
  const [shape, , usual = ""] = SHAPES.find(([, word]) => word.test(words)) ?? [];
  // The stone in the name of a gem is no material.
  const rest = shape === "gem" || shape === "whetstone" ? words.replace(/\w*stone/, "") : words;
  const tint = TINTS.find(([word]) => word.test(rest))?.[1] ?? usual;
  const hash = hashOf(words);
  return {
    what: "thing",
    shape: shape ?? (NEUTRAL[hash % NEUTRAL.length] as ThingShape),
    tint: tint || hueOf(hash),
  };
}

/** `help` is such as `Frost: duration +40 %.`: whose it is, and what it raises. */
export function emblemOf(name: string, help: string): EmblemPicture {
  // What else one needs first says nothing about it.
  const words = help.toLowerCase().replace(/\bneeds .*$/, "");
  const [, of] = /^([a-z -]+):/.exec(words) ?? [];
  const raised = RAISED.find(([, , word]) => word.test(of ? words.slice(of.length) : words));
  const letters = asWords(name).slice(0, 2);
  const own = asWords(name).toLowerCase();
  const spell = of === undefined ? undefined : signOf(of);
  const element = elementOf(of ?? "") ?? elementOf(own);
  const colour = of === undefined ? undefined : element && lookOf(element).colour;
  const sign = spell ?? raised?.[0] ?? signOf(own);
  return {
    what: "emblem",
    sign,
    letters: letters.charAt(0).toUpperCase() + letters.slice(1),
    colour: colour ?? raised?.[1] ?? hueOf(hashOf(own)),
    raises: spell && raised?.[0] !== spell ? raised?.[0] : undefined,
  };
}

function hueOf(hash: number): string {
  return `hsl(${hash % 360} 48% 56%)`;
}

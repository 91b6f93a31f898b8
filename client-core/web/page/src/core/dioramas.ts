/**
 * What stands where in the picture of a game, for the lobby.
 *
 * The lobby does not know what a room looks like: a game tells its scenery and the looks of its
 * objects to those who join. So the games that are shipped have a scene here, with the looks that
 * they declare, and any other game has one that is made from its name. The name of the room moves
 * what lies about, so that rooms of a game can be told apart. The same names always give the same
 * scene.
 */

import { type Diorama, heading, kindOf, type Place, Stage, type Units } from "./diorama_stage.js";
import { type Figure, hashOf } from "./roles.js";
import { seededUnits } from "./seeded.js";

/** The scene of a game; `room` is the name of the room. */
export function dioramaOf(game: string, room: string): Diorama {
  const random = seededUnits(hashOf(`${game}/${room}`) & 0xffff);
  switch (game) {
    case "field":
      return field(random);
    case "cubes":
      return cubes(random);
    case "shooter":
      return shooter(random);
    case "deus":
      return cellar(random);
    default:
      return unknown(game, random);
  }
}

const variant = (of: Figure | "ogre", figure: Figure, size = 1) => ({ of, figure, size, boss: false });
const HEROES = (["knight", "mage", "archer", "healer"] as const).map((of) => variant(of, of));
const MONSTERS = [
  variant("horned", "horned"), variant("beast", "beast", 0.85), variant("robed", "robed"),
  variant("ogre", "horned", 1.3),
];

/** On a meadow: a bolt on its way, somebody who heals, and wanderers about. */
function field(random: Units): Diorama {
  const kinds = [
    kindOf("avatar", "path", { shape: "arrow", colour: "#3080ff", size: 1 }),
    kindOf("npc", "path", { shape: "disc", colour: "#c06030", size: 1, figure: "round" }),
  ];
  const stage = new Stage(random, "open", null, kinds);
  stage.see({ distance: 14.5, pitch: 0.19, fog: [20, 95] });
  stage.wall(-5.5, 9, 3.2, 0.9, 1.5, 0.15);
  stage.wall(5.5, 11.5, 1.4, 1.4, 1.5, 0.5);
  stage.wall(9.5, 3.5, 0.9, 2.2, 1.5, -0.2);
  stage.wall(-13, 2.5, 1.2, 1.2, 1.5, 0.3);
  for (const [x, y] of SURROUNDINGS) stage.boulder(x, y);
  stage.walker(0, -2.2, -0.9, 0.35, { isOwn: true });
  stage.walker(0, -5.4, 1.6, 0.2, { label: "bea" });
  stage.walker(0, 1.2, 5.2, -1.2, { label: "cuno" });
  for (const [x, y] of [[3.1, 1], [4.9, -1.5], [4.6, 4.4], [-7, -3], [-1.6, 8.2], [7.2, 0.8],
    [-9.4, 5], [13, 8]] as const) {
    stage.walker(1, x, y, Math.atan2(-0.4 - y, -2.6 - x), {});
  }
  stage.bolt([-1.6, -0.7, 1.4], [2.6, 0.9, 1], "#ffd020", 0.34);
  stage.happen("hit", "#ffd020", 1.6, [3.1, 1, 0.9], 140);
  stage.happen("heal", "#60e090", 1.7, [-5.4, 1.6, 0.4], 380);
  stage.happen("cast", "#60b0ff", 1.8, [1.2, 5.2, 0.4], 240);
  return stage.diorama();
}

/** A leap into a tower of small cubes, which fly in all directions, on a court in the sea. */
function cubes(random: Units): Diorama {
  const kinds = [
    // What has a name has a face.
    kindOf("player", "pose", { shape: "box", colour: "#3080ff", size: 1.9, label: 0, figure: "toy" }),
    kindOf("cube", "pose", { shape: "box", colour: "#d09040", size: 0.8 }),
  ];
  const stage = new Stage(random, "court", "#dce6ee", kinds);
  stage.see({ distance: 16, pitch: 0.24, fog: [30, 240] });
  stage.tumbler(0, [-1.9, -0.5, 2], 0.5, { isOwn: true });
  stage.tumbler(0, [-5.4, 3.2, 1.05], 0.18, { label: "bea" });
  stage.tumbler(0, [6, 5.6, 1.1], 0.3, { label: "bot-2" });
  stage.tumbler(0, [3.9, -3.4, 1.05], 0.12, { label: "dan" });
  for (let level = 0; level < 4; level += 1) {
    for (let row = 0; row < 4 - level; row += 1) {
      for (let column = 0; column < 4 - level; column += 1) {
        // Those at the side of the leap are already on their way.
        if (level > 1 && column === 0) continue;
        const from = 0.42 * level;
        const at = [1.2 + 0.84 * column + from, 0.4 + 0.84 * row + from, 0.4 + 0.81 * level];
        stage.tumbler(1, at as unknown as Place, level > 1 ? 0.14 : 0.02, {});
      }
    }
  }
  for (const at of [[0.5, 0.3, 2.9], [1.5, -0.6, 3.6], [2.7, 0.9, 4.3], [0.2, 1.9, 3.9],
    [-0.2, -1.4, 1.5], [4.2, 1.8, 3.2], [-0.6, 2.8, 2.6]] as const) {
    stage.tumbler(1, at, 1, {});
  }
  for (let at = 0; at < 34; at += 1) {
    const [x, y] = [44 * (random() - 0.5), 18 * random() - 3];
    // Not before the tower.
    if (Math.abs(x) > 4 || y > 4) stage.tumbler(1, [x, y, 0.42], 0.05, {});
  }
  stage.happen("hit", "#ffb050", 1.9, [0.4, 0.4, 1.8], 120);
  stage.happen("ring", "#ffa040", 2.6, [0.2, 0.3, 0], 260);
  return stage.diorama();
}

/** A chase between rocks, over a planet. */
function shooter(random: Units): Diorama {
  const kinds = [
    kindOf("ship", "pose", { shape: "arrow", colour: "#60c0ff", size: 3, material: "metal" }),
    kindOf("missile", "pose", { shape: "disc", colour: "#ffc040", size: 0.7, material: "glow" }),
  ];
  const looks = ["#907860"];
  const stage = new Stage(random, "space", "#181c26", kinds, looks);
  stage.see({ distance: 33, pitch: 0.56, fog: [70, 260] });
  stage.rock(-11, 9, 3.4);
  stage.rock(14.5, 11.5, 4.6);
  stage.rock(-15, -6, 2.2);
  stage.rock(3, 17, 2);
  for (const [x, y, radius] of [[-28, 16, 5], [29, -2, 3], [-34, -4, 3], [34, 24, 6]] as const) {
    stage.rock(x, y, radius);
  }
  stage.ship(-4.4, -3, 0.5, 0.3, { isOwn: true });
  stage.ship(8, 4.4, 0.75, -0.45, { label: "bot-2" });
  stage.ship(-10.5, 1.4, 0.1, 0.1, { label: "bea" });
  stage.ship(11.5, -6, 2.5, 0.35, { label: "eve" });
  stage.missile(-0.2, -0.7, 0.52, 1);
  stage.missile(4.2, 1.8, 0.52, 1);
  stage.missile(6, -1.6, 2.5, 1);
  stage.happen("blast", "#ff9030", 3.4, [9.4, 5.3, 0.6], 170);
  stage.happen("hit", "#ffd080", 2.4, [8.2, 4.2, 0.8], 150);
  stage.happen("blast", "#60a0ff", 2.6, [-9.4, 8, 3], 230);
  return stage.diorama();
}

/** Four heroes of different classes against what lives in a cellar, by the light of torches. */
function cellar(random: Units): Diorama {
  const chest = { shape: "box", colour: "#d0a030", size: 1.2, material: "metal" } as const;
  const kinds = [
    kindOf("hero", "path", { shape: "arrow", colour: "#4090ff", size: 1 }, HEROES),
    kindOf("monster", "path", { shape: "disc", colour: "#509040", size: 0.9 }, MONSTERS),
    kindOf("chest", "path", { ...chest, figure: "chest" }),
    kindOf("boss", "path", { shape: "disc", colour: "#509040", size: 1.7 }, MONSTERS),
  ];
  const stage = new Stage(random, "halls", "#5a5046", kinds);
  stage.see({ distance: 18.2, pitch: 0.42, fog: [22, 58] });
  stage.wall(-6.2, 8.4, 4.6, 0.6, 1.5, 0);
  stage.wall(6.6, 8.8, 3.4, 0.6, 1.5, 0);
  stage.wall(-10.6, 2, 0.6, 2.6, 1.5, 0);
  stage.wall(11, 3.4, 0.6, 2.8, 1.5, 0);
  stage.wall(-3, 16, 5.2, 0.6, 1.5, 0.1);
  for (const [x, y] of [[-17, 9], [17, 11], [-16, -5], [16, -6], [8, 19], [-24, 3]] as const) {
    stage.wall(x, y, 3.4, 0.6, 1.5, 0.5 * (random() - 0.5));
  }
  stage.walker(0, -1.6, 0.4, 0.25, { label: "bea", role: "knight" });
  stage.walker(0, -4.3, -1.2, 0.35, { role: "mage", isOwn: true });
  stage.walker(0, -5.2, 2.5, 0, { label: "cuno", role: "archer" });
  stage.walker(0, -7.2, 0.2, 0.1, { label: "dora", role: "healer" });
  stage.walker(1, 1.2, 0.9, 3.3, { label: "goblin", role: "horned" });
  stage.walker(1, 0.5, 2.8, 3.9, { label: "rat", role: "beast" });
  stage.walker(3, 4.5, 2.4, 3.4, { label: "brute", role: "ogre" });
  stage.walker(1, 3.2, -1.4, 2.7, { label: "goblin", role: "horned" });
  stage.walker(1, 7.2, 0.6, 3, { label: "shaman", role: "robed" });
  stage.walker(1, 5.9, 4.9, 3.6, { label: "rat", role: "beast" });
  stage.walker(1, 6, -2.4, 2.8, { label: "rat", role: "beast" });
  stage.object(2, [-2.4, 6.4, 0], heading(0.4), {});
  stage.bolt([-3.6, -0.9, 1.4], [2.7, -1.3, 0.9], "#ff9040", 0.42);
  stage.bolt([-4.5, 2.5, 1.2], [3.6, 2.4, 1.3], "#ffe0a0", 0.16);
  stage.happen("blast", "#ff7020", 1.5, [3.2, -1.4, 0.9], 420);
  stage.happen("hit", "#ffe080", 1.1, [0.4, 0.8, 1], 120);
  stage.happen("heal", "#70e090", 1.5, [-1.6, 0.4, 0.3], 420);
  stage.happen("cast", "#b070ff", 1.6, [7.2, 0.6, 0.3], 240);
  return stage.diorama();
}

/** What a game may be like of which only the name is known: players of all sorts on some land. */
function unknown(game: string, random: Units): Diorama {
  const own = seededUnits(hashOf(game) & 0xffff);
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(own() * choices.length)] as T;
  const ground = pick([null, "#c2a878", "#8fa6a0", "#5a5046", "#a8b38a", "#b59a8c"]);
  const colour = pick(["#3080ff", "#e0503c", "#9a5be0", "#20a890", "#e08a20"]);
  const kinds = [
    kindOf("player", "path", { shape: "arrow", colour, size: 1 }, HEROES),
    kindOf("thing", "path", { shape: "disc", colour: pick(["#509040", "#c06030"]), size: 1 }),
    kindOf("block", "pose", { shape: "box", colour: pick(["#d0a030", "#60c0a0"]), size: 1 }),
  ];
  const place = ground === "#5a5046" ? "halls" : "open";
  const stage = new Stage(random, place, ground, kinds);
  stage.see({ distance: 16.5, pitch: 0.22, fog: [20, 95] });
  const column = pick([true, false]);
  for (let at = 0; at < 7; at += 1) {
    const way = Math.PI * (0.05 + at / 6.6);
    const [x, y] = [11 * Math.cos(way), 2 + 9 * Math.sin(way)];
    if (column) stage.pillar(x, y, 0.9, 1 + own());
    else stage.wall(x, y, 1.3, 0.8, 0.8 + own(), way);
  }
  for (const [x, y] of SURROUNDINGS) stage.boulder(x, y);
  const figures = HEROES.map(({ of }) => of);
  const roles = [pick(figures), pick(figures), pick(figures)];
  stage.walker(0, -2.2, -0.6, 0.4, { isOwn: true, role: roles[0] });
  stage.walker(0, -4.6, 2.8, 0, { label: "bea", role: roles[1] });
  stage.walker(0, 4.6, 3.4, -2.4, { label: "cuno", role: roles[2] });
  for (const [x, y] of [[2.6, -0.4], [1.8, 4.6], [6.6, 0.4]] as const) {
    stage.walker(1, x, y, Math.atan2(-y, -x), { label: game || "thing" });
  }
  for (const at of [[-7, -1, 0.5], [-7.4, 0.3, 0.5], [-7.2, -0.4, 1.5]] as const) {
    stage.tumbler(2, at, 0.03, {});
  }
  stage.happen("ring", colour, 1.6, [-2.2, -0.6, 0], 300);
  stage.bolt([-1.4, -0.5, 1.3], [2, -0.4, 1], "#ffe08a", 0.3);
  return stage.diorama();
}

/** Where stones lie that are only seen in wide pictures. */
const SURROUNDINGS = [
  [-19, 5], [-24, 12], [-15, 16], [17, 17], [22, 7], [-21, -5], [28, 20], [-30, 3], [2, 24],
] as const;

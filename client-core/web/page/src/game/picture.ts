/** All that is drawn on the canvas: what a frame shows, where objects go, rings on the ground. */

import type { Frame, GateArea, Kind, Schema, StaticObstacle } from "../ambit/ambit.js";
import { KEPT_M, type Point, set, ViewCamera } from "../core/camera.js";
import { knownM } from "../core/interest.js";
import { type Colour, colourOf, type EffectForm } from "../core/effects.js";
import { GaugeChanges, SHOWN_MS } from "../core/gauge_changes.js";
import { describeMesh, nameOfKind } from "../core/look.js";
import { outfitOf, variantOf } from "../core/roles.js";
import { LabelLayout, scaleToFit, SharedNames } from "../core/label_layout.js";
import type { PlannedPaths } from "../core/planned_paths.js";
import { extentOf, type RoomSettings } from "../core/room_settings.js";
import { CanvasSize } from "../core/stillness.js";
import { shotWidths, Trails } from "../core/trails.js";
import { forPlayers } from "../core/words.js";
import { el } from "../dom.js";
import { InterestLines } from "../overlay/interest_lines.js";
import type { Overlay } from "../overlay/overlay.js";
import { texts } from "../texts.js";
import type { ScreenPlace } from "./aim.js";
import { Billboards } from "./billboards.js";
import { Happenings } from "./happenings.js";
import { GateMeshes, topOf } from "./gate_meshes.js";
import { LineSet } from "./line_set.js";
import { Markers } from "./markers.js";
import { ObjectMeshes, OWN_RING } from "./object_meshes.js";
import { portraitOf } from "./portraits.js";
import { Scene } from "./scene.js";

/** Lines in the ground would flicker. */
const PATH_HEIGHT_M = 0.1;
/** How far a number rises while it is shown. */
const RISE_M = 1.6;
/** A bar that is fuller looks full. */
const FULL = 0.995;
/** The room that names and bars take on the screen, and how far they are above their place. */
const NAME_PX = { wide: 14, letter: 9, high: 18, up: 26 };
const BAR_PX = { wide: 44, high: 7, up: 10 };
/** So close to the pointer, names are shown that several objects have. */
const NEAR_PX = 70;
/** The ring around the own avatar is no smaller than this share of the camera's distance. */
const OWN_RING_SHARE = 1 / 30;
/** For this time after the start the camera looks for others. */
const LOOK_AROUND_MS = 1_500;
/** The number of frames that are measured together. */
const MEASURED_FRAMES = 30;
/** The longest trail of a shot: in its sizes, and in widths of the trail. */
const LONGEST = { sizes: 10, widths: 14 } as const;
/** Points of light along a trail, and how large the first one is beside the head. */
const BEADS = { count: 4, first: 0.62 } as const;
/** Of ships, in their lengths: where the engines are, how long and wide their flames are. */
const ENGINE = { back: 0.5, longest: 1.25, wide: 0.2, glow: 0.42 } as const;
const FLAME: Colour = { red: 0.45, green: 0.75, blue: 1 };
/** As {@link OWN_RING}. */
const OWN_LIGHT = "#ffc94d";
/** Of an effect that no event declares. */
const NO_FIELDS = { at: null, from: null, reach: null, due: null };
/** A ring of this share of the camera's distance is well visible. */
const RING_SHARE = 1 / 26;

export class Picture {
  readonly canvas = el("canvas", {
    class: "picture",
    tabindex: "0",
    role: "application",
    "aria-label": texts.game_picture,
  });
  readonly camera: ViewCamera;
  readonly markers = new Markers();
  readonly happenings: Happenings;
  readonly interest = new InterestLines();
  /** What the player points at, for names. */
  pointer: ScreenPlace = { x: Infinity, y: Infinity, isKnown: false };
  readonly #scene: Scene;
  readonly #objects: ObjectMeshes;
  readonly #billboards = new Billboards();
  readonly #gates = new GateMeshes();
  #gateNames: readonly (Point & { name: string })[] = [];
  readonly #pathLines = new LineSet(0xffe08a, 0.45);
  readonly #trails = new Trails();
  readonly #kinds: readonly ShownKind[];
  readonly #changes = new GaugeChanges();
  readonly #labels = new LabelLayout();
  readonly #shared = new SharedNames();
  readonly #onScreen: Point = { x: 0, y: 0, z: 0 };
  readonly #pathEnd: Point = { x: 0, y: 0, z: 0 };
  readonly #size = new CanvasSize();
  readonly #resizes = new ResizeObserver(() => this.#size.change());
  /** The own avatar, while the player watches another one. */
  #leftOut = -1;
  #hasMap = false;
  #looksAroundUntil = 0;
  #drawnAt = 0;
  #spentMs = 0;
  #frames = 0;

  constructor(schema: Schema) {
    const { scenery } = schema;
    this.camera = new ViewCamera(scenery.camera, scenery.place === "court");
    this.canvas.dataset.camera = scenery.camera;
    this.#scene = new Scene(this.canvas, scenery);
    this.#objects = new ObjectMeshes(schema);
    this.happenings = new Happenings(schema, this.camera);
    this.#kinds = schema.kinds.map(shownKind);
    this.#scene.scene.add(
      this.#objects.group,
      this.#billboards.group,
      this.#gates.group,
      this.markers.mesh,
      this.markers.reach,
      this.happenings.lights.mesh,
      this.#pathLines.lines,
      this.interest.group,
    );
    this.#resizes.observe(this.canvas);
  }

  /** What a player is after a choice: drawn if figures of a kind have a variant of this name. */
  portraitOf(schema: Schema, choice: string): HTMLElement | undefined {
    for (const kind of schema.kinds) {
      const variant = describeMesh(kind).form === "figure" ? variantOf(kind, choice) : undefined;
      if (!variant) continue;
      return portraitOf(this.#scene.renderer, outfitOf(variant.figure), kind.look.colour);
    }
    return undefined;
  }

  /** A radius in metres that is well visible. */
  get ringSize(): number {
    return this.camera.distance * RING_SHARE;
  }

  setMap(settings: RoomSettings, obstacles: readonly StaticObstacle[]): void {
    const { gates } = settings;
    const extent = extentOf(settings);
    const nameOf = (gate: GateArea) => ({ ...topOf(gate), name: texts.gate_to(gate.map) });
    this.#gateNames = gates.map(nameOf);
    this.#gates.show(gates);
    this.camera.setKnown(knownM(settings, extent));
    if (!this.#hasMap) {
      this.camera.startFor(settings.inner * settings.cell);
      this.#looksAroundUntil = performance.now() + LOOK_AROUND_MS;
    }
    this.happenings.restart();
    this.#hasMap = true;
    this.#scene.setExtent(extent);
    this.camera.setExtent(extent);
    this.#scene.setObstacles(obstacles);
    this.interest.setSettings(settings);
  }

  /** At the start, from above: steps back until another named object is in the picture. */
  #lookAround(frame: Frame): void {
    const { avatar } = frame;
    if (avatar < 0 || performance.now() > this.#looksAroundUntil) return;
    if (this.camera.mode !== "above") return;
    let nearest = Infinity;
    for (let index = 0; index < frame.count; index += 1) {
      if (index === avatar || frame.label(index) === undefined) continue;
      const [x, y, z] = [frame.x(index), frame.y(index), frame.z(index)];
      nearest = Math.min(nearest, this.camera.distanceToShow(x, y, z));
    }
    if (nearest < Infinity) this.camera.stepBack(nearest);
  }

  /** Ships meet from far away: the nearest other one with a name stays in the picture. */
  #keepShipShown(frame: Frame, seconds: number): void {
    const { avatar } = frame;
    if (this.camera.mode !== "above") return;
    let [nearest, found] = [KEPT_M, -1];
    for (let index = 0; index < frame.count; index += 1) {
      if (index === avatar || !this.#kindOf(frame, index).length) continue;
      if (frame.label(index) === undefined) continue;
      const [dx, dy] = [frame.x(index) - frame.x(avatar), frame.y(index) - frame.y(avatar)];
      const away = Math.hypot(dx, dy, frame.z(index) - frame.z(avatar));
      if (away < nearest) [nearest, found] = [away, index];
    }
    const at = this.#pathEnd;
    if (found >= 0) set(at, frame.x(found), frame.y(found), frame.z(found));
    this.camera.keepShown(found >= 0 ? at : undefined, seconds);
  }

  /** Light at an object, with sizes in shares of {@link ringSize}. It stays with `object`. */
  #light(
    now: number,
    frame: Frame,
    index: number,
    forms: readonly (readonly [form: EffectForm, sizes: number])[],
    colour = OWN_LIGHT,
    object = frame.id(index),
  ): void {
    if (index < 0) return;
    const at = { x: frame.x(index), y: frame.y(index), z: frame.z(index) };
    for (const [form, sizes] of forms) {
      const effect = { form, colour, size: sizes * this.ringSize, ...NO_FIELDS };
      this.happenings.effects.play(now, effect, at, object);
    }
  }

  /** The own avatar is back, perhaps elsewhere: light shows where. */
  markArrival(now: number, frame: Frame): void {
    this.#light(now, frame, frame.avatar, [["arrival", 1.2], ["ring", 2.4]]);
  }

  /** How full of life the own avatar is; undefined for one that has none to lose. */
  ownLife(frame: Frame): number | undefined {
    return frame.avatar < 0 ? undefined : this.#objects.wrecks.lifeOf(frame, frame.avatar);
  }

  /** Whom the own avatar has felled goes down in light. */
  markFelled(now: number, frame: Frame, object: number): void {
    const index = frame.indexOf(object);
    this.#light(now, frame, index, [["blast", 1.6], ["ring", 2.2]], OWN_LIGHT, -1);
  }

  ownIsWreck(frame: Frame): boolean {
    return frame.avatar >= 0 && this.#isWreck(frame, frame.avatar);
  }

  /** A ring around the own avatar: a command was given, or was refused. */
  markDeed(now: number, frame: Frame, colour: string): void {
    this.#light(now, frame, frame.avatar, [["ring", 1]], colour);
  }

  /** Before {@link draw}: lets the camera follow the own avatar, or whom its player watches. */
  follow(frame: Frame, seconds: number, watched: number): void {
    if (this.#size.take()) this.#resize();
    const own = frame.avatar;
    this.#leftOut = watched === own ? -1 : own;
    if (own >= 0) {
      const wreck = this.#objects.wrecks.transformOf(frame.id(watched));
      // What has happened is seen where it was.
      const x = wreck?.[0] ?? frame.x(watched);
      const y = wreck?.[1] ?? frame.y(watched);
      const z = wreck?.[2] ?? frame.z(watched);
      this.camera.follow(x, y, z, seconds);
      this.#scene.obstacles.openTowards(x, y, z + 0.5);
      this.interest.follow(frame.x(own), frame.y(own));
      if (!this.#kindOf(frame, own).length) this.#lookAround(frame);
      else if (!wreck) this.#keepShipShown(frame, seconds);
    }
    this.camera.update();
  }

  /** The own figure is raised by `ownRise` of its height. */
  draw(
    now: number,
    frame: Frame,
    paths: PlannedPaths,
    overlay: Pick<Overlay, "isOpen" | "showsAges">,
    ownRise: number,
  ): void {
    const begunAt = performance.now();
    this.#scene.renderer.info.reset();
    this.#objects.update(frame, this.camera, overlay.showsAges, this.#leftOut, ownRise);
    this.happenings.update(now, frame);
    this.#markOwn(frame);
    this.#drawTrails(frame);
    this.happenings.lights.update();
    this.#drawBillboards(now, frame);
    this.#drawPaths(frame, paths, overlay.isOpen);
    this.#scene.render(this.camera);
    if (this.#scene.notePace(now - this.#drawnAt)) this.#size.change();
    this.#drawnAt = now;
    this.#measure(performance.now() - begunAt);
  }

  dispose(): void {
    this.#resizes.disconnect();
    this.happenings.sounds.dispose();
    this.#scene.dispose();
  }

  /** For tests and developers: the draw calls of a frame, and how long its script takes. */
  #measure(ms: number): void {
    this.#spentMs += ms;
    this.#frames += 1;
    if (this.#frames < MEASURED_FRAMES) return;
    const { dataset } = this.canvas;
    dataset["drawCalls"] = String(this.#scene.renderer.info.render.calls);
    dataset["frameMs"] = (this.#spentMs / this.#frames).toFixed(2);
    this.#spentMs = this.#frames = 0;
  }

  /** Marks the own avatar, so that it stands out. */
  #markOwn(frame: Frame): void {
    const { avatar } = frame;
    if (avatar < 0 || avatar === this.#leftOut || this.#isWreck(frame, avatar)) return;
    const { radius, foot } = this.#objects.footOf(frame.kindIndex(avatar));
    // Not in the ground, where the middle of a ship may be.
    const z = Math.max(frame.z(avatar) - foot, Math.min(frame.z(avatar), 0));
    const wide = Math.max(radius, OWN_RING_SHARE * this.camera.distance);
    const { effects } = this.happenings;
    effects.ringAround(frame.x(avatar), frame.y(avatar), z, wide, OWN_RING);
  }

  /** The own name is shown first, so it is never left out; bars are before all names. */
  #drawBillboards(now: number, frame: Frame): void {
    const { avatar } = frame;
    this.#billboards.begin();
    this.#changes.begin(now);
    this.#labels.begin();
    this.#shared.count(now, frame);
    for (let index = 0; index < frame.count; index += 1) {
      if (index !== this.#leftOut) this.#drawBar(now, frame, index);
    }
    this.#changes.end();
    if (avatar >= 0 && avatar !== this.#leftOut) this.#drawName(now, frame, avatar);
    // Then the kinds with a single object: the others are many.
    for (const isOne of [true, false]) {
      for (let index = 0; index < frame.count; index += 1) {
        const isNamedByKind = this.#kindOf(frame, index).name !== undefined;
        if (index !== avatar && isNamedByKind === isOne) this.#drawName(now, frame, index);
      }
    }
    for (const { text, x, y, z, at } of this.#changes.numbers) {
      this.#billboards.addNumber(x, y, z + (RISE_M * (now - at)) / SHOWN_MS, text);
    }
    for (const { x, y, z, name } of this.#gateNames) {
      if (this.#project(x, y, z)) this.#addName(x, y, z, name);
    }
    this.#billboards.end();
  }

  #drawBar(now: number, frame: Frame, index: number): void {
    const bar = frame.bar(index);
    if (bar === undefined) return;
    const x = frame.x(index);
    const y = frame.y(index);
    const z = this.#topOf(frame, index);
    const value = frame.component(index, frame.kind(index).look.bar ?? -1);
    // Of what has no name, the bar is no health: nothing hurts it.
    const isNamed = frame.kind(index).look.label !== null;
    if (isNamed && typeof value === "number") {
      this.#changes.note(now, frame.id(index), value, x, y, z);
    }
    // A full bar says nothing, and many of them hide the picture.
    if ((bar >= FULL && index !== frame.avatar) || !this.#project(x, y, z)) return;
    this.#billboards.bars.add(x, y, z, bar);
    const at = this.#onScreen;
    this.#labels.reserve(at.x, at.y + BAR_PX.up, BAR_PX.wide, BAR_PX.high);
  }

  /** A name that other creatures in sight have, too, is shown of what matters now. */
  #drawName(now: number, frame: Frame, index: number): void {
    const kind = this.#kindOf(frame, index);
    const label = frame.label(index) ?? kind.name;
    if (label === undefined || this.#isWreck(frame, index)) return;
    const x = frame.x(index);
    const y = frame.y(index);
    const z = this.#topOf(frame, index);
    if (!this.#project(x, y, z)) return;
    const scale = index === frame.avatar ? this.#ownNameScale(kind, label) : 1;
    if (scale === 0) return;
    // Creatures of a sort have one name. A player's is shown, even if seen twice for a moment.
    const isTold = !kind.isCreature || !this.#shared.has(label);
    if (isTold || this.#changes.isRecent(now, frame.id(index)) || this.#isNearPointer()) {
      this.#addName(x, y, z, kind.isCreature ? forPlayers(label) : label, scale);
    }
  }

  /** Players know who they are: the name of the own ship is no wider than the ship. */
  #ownNameScale({ length }: ShownKind, name: string): number {
    if (length === undefined) return 1;
    const metre = this.camera.pixelsPerMetre(this.#onScreen.z, this.canvas.clientHeight);
    return scaleToFit(this.#billboards.widthOf(name), length * metre);
  }

  #kindOf(frame: Frame, index: number): ShownKind {
    return this.#kinds[frame.kindIndex(index)] as ShownKind;
  }

  #isWreck(frame: Frame, index: number): boolean {
    return this.#objects.wrecks.isWreck(frame, index);
  }

  #topOf(frame: Frame, index: number): number {
    return frame.z(index) + this.#objects.topOf(frame.kindIndex(index), frame.label(index));
  }

  /** Into `#onScreen`, in pixels from the middle. False if it is behind the camera. */
  #project(x: number, y: number, z: number): boolean {
    const { canvas } = this;
    const at = this.#onScreen;
    if (!this.camera.project(x, y, z, at)) return false;
    at.x *= canvas.clientWidth / 2;
    at.y *= canvas.clientHeight / 2;
    return true;
  }

  #isNearPointer(): boolean {
    const { canvas, pointer } = this;
    const { x, y } = this.#onScreen;
    const across = x - (pointer.x * canvas.clientWidth) / 2;
    return Math.hypot(across, y - (pointer.y * canvas.clientHeight) / 2) < NEAR_PX;
  }

  /** At the place that was projected last. */
  #addName(x: number, y: number, z: number, name: string, scale = 1): void {
    const { x: across, y: up, z: depth } = this.#onScreen;
    const width = scale * (NAME_PX.wide + NAME_PX.letter * name.length);
    const line = this.#labels.lineFor(across, up + NAME_PX.up, width, NAME_PX.high);
    if (line < 0) return;
    const risen = line * NAME_PX.high * this.camera.metresUp(depth, this.canvas.clientHeight);
    this.#billboards.addName(x, y, z + risen, name, scale);
  }

  /** Behind what glows, which are shots, and behind ships. */
  #drawTrails(frame: Frame): void {
    this.#trails.begin();
    for (let index = 0; index < frame.count; index += 1) {
      const { trail, length } = this.#kindOf(frame, index);
      if ((!trail && !length) || this.#isWreck(frame, index)) continue;
      const kind = frame.kindIndex(index);
      this.#trails.note(frame.id(index), kind, frame.x(index), frame.y(index), frame.z(index));
    }
    this.#trails.end(this.#addTrail);
  }

  readonly #addTrail = (places: Float32Array, oldest: number, kind: number): void => {
    const [x, y, z] = [places[0] as number, places[1] as number, places[2] as number];
    const [dx, dy] = [(places[oldest] as number) - x, (places[oldest + 1] as number) - y];
    const dz = (places[oldest + 2] as number) - z;
    const { effects } = this.happenings;
    const { length, trail: colour, size, hasBar } = this.#kinds[kind] as ShownKind;
    const at = this.#pathEnd;
    if (length !== undefined) {
      const way = Math.hypot(dx, dy, dz);
      if (way < 0.02) return;
      const back = (ENGINE.back * length) / way;
      const flame = Math.min(way, ENGINE.longest * length) / way;
      set(at, x + back * dx, y + back * dy, z + back * dz);
      effects.trail(at, flame * dx, flame * dy, flame * dz, ENGINE.wide * length, FLAME);
      effects.glow(at, ENGINE.glow * length, FLAME);
    } else if (colour) {
      const { trail, glow } = shotWidths(size, this.camera.distance);
      const longest = Math.max(LONGEST.sizes * size, LONGEST.widths * trail);
      const share = Math.min(1, longest / Math.max(Math.hypot(dx, dy, dz), 0.01));
      const high = z + this.#objects.topOf(kind) / 2;
      set(at, x, y, high);
      if (oldest === 0 || hasBar) return effects.glow(at, glow, colour);
      effects.trail(at, share * dx, share * dy, share * dz, trail, colour);
      for (let bead = 1; bead <= BEADS.count; bead += 1) {
        const behind = (share * bead) / (BEADS.count + 1);
        set(at, x + behind * dx, y + behind * dy, high + behind * dz);
        effects.glow(at, glow * BEADS.first * (1 - bead / (BEADS.count + 1)), colour);
      }
      set(at, x, y, high);
      effects.glow(at, glow, colour);
    }
  };

  /** The way of the own avatar; of others it is about the network. */
  #drawPaths(frame: Frame, paths: PlannedPaths, ofAll: boolean): void {
    this.#pathLines.begin();
    for (let index = 0; index < frame.count; index += 1) {
      if (!ofAll && index !== frame.avatar) continue;
      // Shots have trails; where they end is for others to find out.
      if (this.#kindOf(frame, index).trail) continue;
      const to = this.#pathEnd;
      const x = (to.x = frame.x(index));
      const y = (to.y = frame.y(index));
      const z = (to.z = frame.z(index) + PATH_HEIGHT_M);
      if (!paths.ahead(frame.id(index), frame.time, index === frame.avatar, to)) continue;
      this.#pathLines.add(x, y, z, to.x, to.y, z);
    }
    this.#pathLines.end();
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.camera.aspect = width / height;
    this.#scene.resize(width, height);
    this.#billboards.resize(width, height, this.#scene.pixelRatio);
  }
}

type ShownKind = ReturnType<typeof shownKind>;

function shownKind(kind: Kind) {
  const { look } = kind;
  const { material, form, scale } = describeMesh(kind);
  return {
    /** The colour of what it leaves behind. */
    trail: material === "glow" ? colourOf(look.colour) : undefined,
    /** Of what flies by engines. */
    length: form === "ship" ? scale[0] : undefined,
    size: look.size,
    /** Of those without names of their own. */
    name: nameOfKind(kind),
    isCreature: form === "creature",
    /** What glows and has a bar is no shot. */
    hasBar: look.bar !== null,
  };
}

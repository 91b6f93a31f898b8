/**
 * Pictures of games for the lobby, drawn by the same parts that draw a game, one after the other
 * on one hidden canvas. Whoever has enough pictures disposes of it: browsers allow a page some
 * contexts only.
 */

import * as THREE from "three";
import { OBJECT_NUMBERS } from "../ambit/ambit.js";
import type { Point } from "../core/camera.js";
import {
  type Diorama,
  DIORAMA_FIELD_OF_VIEW,
  type Framing,
  shotOf,
} from "../core/diorama_stage.js";
import { Effects } from "../core/effects.js";
import { seededUnits } from "../core/seeded.js";
import { EffectLights } from "./effect_lights.js";
import { isCheap } from "./graphics.js";
import { ObjectMeshes, OWN_RING, type ShownObjects } from "./object_meshes.js";
import { Scene } from "./scene.js";

/** Light of a low sun from behind, by which shapes are seen against the ground. */
const RIM = { colour: 0xffb877, intensity: 1.5, from: [26, 34, 13] } as const;
/** Over open land: the sun is low. */
const SKIES = {
  day: { horizon: 0xffe2b4, zenith: 0x5b9fe0, land: 0xb9b98c, hasStars: false },
  dusk: { horizon: 0x7d5560, zenith: 0x141a38, land: 0x2c2a24, hasStars: false },
} as const;
/** Hills at the horizon of open land, those farther away in the colour of the air. */
const HILLS = { day: [0xcfc79a, 0xe6d3a6], dusk: [0x3d3341, 0x5c4350] } as const;
/** On land at dusk there is a light above what happens, too. */
const LANTERN = { colour: 0xffd6a0, candelas: 70, m: 34, decay: 1.5, height: 5 } as const;
/** How often it is asked whether a picture is drawn; then for how long at most. */
const ASK_MS = 12;
const MOST_MS = 8_000;
/** Anything later than the beginning of all effects. */
const NOW_MS = 10_000;
/** How old the effects in the picture are. */
const SINCE_MS = 260;

export class DioramaPainter {
  readonly #renderer: THREE.WebGLRenderer;
  readonly #canvas: OffscreenCanvas;
  readonly #dark = matchMedia("(prefers-color-scheme: dark)");
  /** Disposes of the last scene: only after the next one, which needs many of the same shaders. */
  #clear = (): void => {};

  /** Throws if there is no WebGL. */
  constructor() {
    // Its picture can be taken away before it is finished: nobody waits for the graphics.
    const canvas = new OffscreenCanvas(1, 1);
    // The processor has to draw each sample by itself; most pictures are shown smaller anyway.
    this.#renderer = new THREE.WebGLRenderer({ antialias: !isCheap(), canvas });
    this.#canvas = canvas;
    // To ask for errors is to wait for the compiler.
    this.#renderer.debug.checkShaderErrors = false;
  }

  /**
   * Draws over all of a canvas, which then has this size. The page goes on meanwhile: one picture
   * at a time.
   */
  async paint(
    diorama: Diorama,
    framing: Framing,
    { width, height }: { width: number; height: number },
    canvas: HTMLCanvasElement,
  ): Promise<void> {
    const scene = new Scene(this.#renderer.domElement, diorama.schema.scenery, this.#renderer);
    const effects = new Effects();
    const lights = new EffectLights(effects);
    const rim = new THREE.DirectionalLight(RIM.colour, RIM.intensity);
    const disposeOfLast = this.#clear;
    this.#clear = () => scene.dispose();
    try {
      await pause();
      scene.setExtent(diorama.view.extent);
      scene.setObstacles(diorama.obstacles);
      scene.resize(width, height, DIORAMA_FIELD_OF_VIEW);
      const { eye, target } = shotOf(diorama, width / height, framing);
      const centre = pointOf(target);
      rim.position.set(centre.x + RIM.from[0], centre.y + RIM.from[1], RIM.from[2]);
      rim.target.position.set(centre.x, centre.y, 0);
      scene.scene.add(lights.mesh, rim, rim.target);
      const time = this.#dark.matches ? "dusk" : "day";
      scene.setAir(...diorama.view.fog, SKIES[time]);
      const { place } = diorama.schema.scenery;
      if (place === "open") scene.scene.add(hillsOf(HILLS[time], centre));
      if (place === "open" && time === "dusk") scene.scene.add(lanternAt(target));
      await pause();
      const objects = new ObjectMeshes(diorama.schema);
      scene.scene.add(objects.group);
      objects.update(shownOf(diorama), { eye: pointOf(eye) }, false);
      shine(diorama, effects);
      lights.update();
      const view = { eye: pointOf(eye), centre, target: centre, up: { x: 0, y: 0, z: 1 } };
      await pause();
      await scene.compile(view);
      await this.#finish();
      scene.render(view);
      const picture = this.#canvas.transferToImageBitmap();
      await this.#finish();
      [canvas.width, canvas.height] = [width, height];
      canvas.getContext("2d")?.drawImage(picture, 0, 0);
      picture.close();
    } finally {
      disposeOfLast();
    }
  }

  /** Until the graphics have done what they were told: to read the picture would be to wait. */
  async #finish(): Promise<void> {
    const context = this.#renderer.getContext() as WebGL2RenderingContext;
    const sync = context.fenceSync(context.SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!sync) return;
    context.flush();
    const end = performance.now() + MOST_MS;
    do await pause();
    while (context.clientWaitSync(sync, 0, 0) === context.TIMEOUT_EXPIRED
      && performance.now() < end);
    context.deleteSync(sync);
  }

  dispose(): void {
    this.#clear();
    this.#renderer.dispose();
    this.#renderer.forceContextLoss();
  }
}

/** For what the page has to do otherwise. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ASK_MS));
}

function lanternAt([x, y]: readonly [number, number, number]): THREE.PointLight {
  const lantern = new THREE.PointLight(LANTERN.colour, LANTERN.candelas, LANTERN.m, LANTERN.decay);
  lantern.position.set(x, y, LANTERN.height);
  return lantern;
}

/** Two rows, the nearer one lower; they go with the context of the renderer. */
function hillsOf(colours: readonly [number, number], { x, y }: Point): THREE.Group {
  const unit = seededUnits(3);
  const hills = new THREE.Group();
  const ball = new THREE.SphereGeometry(1, 24, 12);
  for (const [row, colour] of colours.entries()) {
    const material = new THREE.MeshBasicMaterial({ color: colour, fog: false });
    for (let at = -9; at <= 9; at += 1) {
      const hill = new THREE.Mesh(ball, material);
      const [way, far] = [(at + unit()) * 0.13, 230 + 90 * row];
      hill.position.set(x + far * Math.sin(way), y + far * Math.cos(way), -4);
      const high = (7 + 10 * unit()) * (1 + 0.7 * row);
      hill.scale.set(24 + 44 * unit(), 20, high);
      hills.add(hill);
    }
  }
  return hills;
}

function pointOf([x, y, z]: readonly [number, number, number]): Point {
  return { x, y, z };
}

/** The objects of a scene as those of a frame. */
function shownOf({ objects, schema }: Diorama): ShownObjects {
  const transforms = new Float32Array(OBJECT_NUMBERS * objects.length);
  for (const [index, { at, turn }] of objects.entries()) {
    transforms.set([...at, ...turn], OBJECT_NUMBERS * index);
  }
  return {
    count: objects.length,
    time: 0,
    transforms,
    kindIndex: (index) => objects[index]?.kind ?? 0,
    age: () => 0,
    id: (index) => index,
    isOwn: (index) => objects[index]?.isOwn ?? false,
    label: (index) => objects[index]?.label,
    moves: () => false,
    component: (index, component) => {
      const object = objects[index];
      return object && schema.kinds[object.kind]?.look.by === component ? object.role : undefined;
    },
  };
}

/** What happens, the ring around the own avatar, and shots. */
function shine({ objects, happenings, streaks, schema }: Diorama, effects: Effects): void {
  for (const { effect, at, from } of happenings) {
    effects.play(NOW_MS - SINCE_MS, effect, pointOf(at), -1, from && pointOf(from), 1);
  }
  effects.update(NOW_MS, () => false);
  for (const { isOwn, at, kind } of objects) {
    const size = schema.kinds[kind]?.look.size ?? 1;
    if (isOwn) effects.ringAround(at[0], at[1], 0, 1.25 * size, OWN_RING);
  }
  for (const { at, behind, wide, glow, colour } of streaks) {
    effects.trail(pointOf(at), ...behind, wide, colour);
    effects.glow(pointOf(at), glow, colour);
  }
}

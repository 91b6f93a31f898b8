/** The picture: ground, static map, light, and what the other parts of the game add. */

import * as THREE from "three";
import type { Scenery, StaticObstacle } from "../ambit/ambit.js";
import { FIELD_OF_VIEW, type ViewCamera } from "../core/camera.js";
import type { Extent } from "../core/map_view.js";
import { parseColour } from "../core/look.js";
import { BEARABLE, Resolution, SMOOTH } from "../core/resolution.js";
import { lineColour, mixed } from "../core/scenery.js";
import { Backdrop, type SkyColours } from "./backdrop.js";
import { DeepSpace } from "./deep_space.js";
import { isCheap, wantsAll } from "./graphics.js";
import { GROUNDS, varyByPlace } from "./ground_patterns.js";
import { LineSet } from "./line_set.js";
import { Meadow } from "./meadow.js";
import { ObstacleMeshes } from "./obstacle_meshes.js";
import { Parapet } from "./parapet.js";
import { Plants } from "./plants.js";
import { disposeOf } from "./three_parts.js";
import { Torches } from "./torches.js";

type SceneView = Pick<ViewCamera, "centre" | "eye" | "target" | "up">;

interface Palette extends SkyColours {
  ground: number;
  grid: number;
  obstacle: number;
}

/** The border of the map: lines at these heights. */
const BORDER_M = [0.05, 0.5, 1, 1.5];
const BORDER = 0xffb454;

const LIGHT: Palette = {
  horizon: 0xe8eff2,
  zenith: 0x6fa8dc,
  land: 0x86a864,
  hasStars: false,
  ground: 0x8fab68,
  grid: 0x7d9a66,
  obstacle: 0xb3a894,
};
const DARK: Palette = {
  horizon: 0x2b3a4a,
  zenith: 0x0a1018,
  land: 0x2c4232,
  hasStars: false,
  ground: 0x5c7a5c,
  grid: 0x40524a,
  obstacle: 0x79808a,
};
/** Around a court there is the sea. */
const SEA = { light: 0x4fa3c7, dark: 0x12303f } as const;
/** Around a map whose ground is a floor: what is outside is not seen. */
const HALL: SkyColours = { horizon: 0x15110e, zenith: 0x0b0908, land: 0x120e0b, hasStars: false };
/** Around a map whose game declares a dark ground. */
const SPACE: SkyColours = { horizon: 0x0b1022, zenith: 0x05070f, land: 0, hasStars: true };
/** Where the air begins to be seen, and where it hides all: the map's edge is no cut. */
const FOG_M = [70, 520] as const;
/** The light, what obstacles are made of, and where the sun is, seen from the camera's target. */
const PLACES = {
  open: {
    light: { sun: 2.7, sky: 1.25, above: 0xe4efff, below: 0x7a7350 },
    surface: "ruin", sunM: [-58, -46, 82],
  },
  court: {
    light: { sun: 2.5, sky: 1.35, above: 0xe8f2ff, below: 0x8a8f98 },
    surface: "plain", sunM: [-52, -40, 88],
  },
  halls: {
    light: { sun: 1.5, sky: 1.5, above: 0xfff0dd, below: 0x665544 },
    surface: "stone", sunM: [-30, -44, 96],
  },
  // Low, for shades on rocks.
  space: {
    light: { sun: 3, sky: 1.5, above: 0x9fb4f0, below: 0x6a5090 },
    surface: "plates", sunM: [-80, 34, 62],
  },
} as const;
/** A floor between walls is not as dark as its colour: torches shine on it. */
const FLOOR_LIGHT = 1.55;
/** Some of its colour is that of stone, on which figures of all colours are seen. */
const FLOOR_STONE = 0x7c7a77;
const FLOOR_SHARE = 0.6;
/** The player's avatar carries a light there. */
const LAMP = { colour: 0xffc890, candelas: 42, m: 26, height: 4.5, decay: 1.4 } as const;
/** A finer grid on a larger map would be a grey surface. */
const MAX_GRID_LINES = 120;
/** How opaque lines are where the ground has a pattern of its own, or is none. */
const FAINT_LINES = 0.14;
/** How much lighter walls are than their floor. */
const WALL_LIGHT = 0.34;
/** Half of the extent in which there are shadows around the target, and their pixels. */
const SHADOWS = { around: { m: 24, pixels: 1_024 }, above: { m: 60, pixels: 2_048 } };
/** The most plants of each sort that are drawn. */
const PLANTS = 420;
const CHEAP_PLANTS = 40;
/** Of the screen's pixels in CSS at first, where each one is drawn by the processor. */
const CHEAP_PIXEL_RATIO = 0.5;
const MOST_PIXEL_RATIO = 2;

export class Scene {
  readonly scene = new THREE.Scene();
  readonly renderer: THREE.WebGLRenderer;
  readonly #camera = new THREE.PerspectiveCamera((FIELD_OF_VIEW * 180) / Math.PI, 1, 0.5, 2_000);
  readonly #sun = new THREE.DirectionalLight(0xffffff, 2.2);
  readonly #sky = new THREE.HemisphereLight();
  readonly #ground: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshStandardMaterial>;
  readonly #pattern: THREE.CanvasTexture;
  readonly #backdrop = new Backdrop();
  readonly obstacles = new ObstacleMeshes();
  /** Where the game is: by the ground that it declares. */
  readonly #place: Scenery["place"];
  /** What grows on open land. */
  readonly #meadow: Meadow | undefined;
  readonly #plants: Plants | undefined;
  readonly #space: DeepSpace | undefined;
  readonly #parapet: Parapet | undefined;
  readonly #torches: Torches | undefined;
  readonly #lamp: THREE.PointLight | undefined;
  #grid: LineSet | undefined;
  readonly #dark = matchMedia("(prefers-color-scheme: dark)");
  readonly #isCheap: boolean;
  /** Undefined for a single picture, which has the pixels that it is asked for. */
  readonly #resolution: Resolution | undefined;

  /** With a shared renderer, all is drawn: a single picture is worth its time. */
  constructor(
    canvas: HTMLCanvasElement,
    private readonly scenery: Scenery,
    shared?: THREE.WebGLRenderer,
  ) {
    this.#isCheap = !shared && isCheap();
    if (!shared) this.#resolution = resolutionOf(this.#isCheap);
    this.#place = scenery.place;
    this.#pattern = GROUNDS[this.#place].pattern();
    const shadows = !this.#isCheap;
    try {
      this.renderer =
        shared ?? new THREE.WebGLRenderer({ canvas, antialias: !this.#isCheap });
    } catch (thrown) {
      throw Object.assign(new Error(String(thrown)), { code: "no_webgl" });
    }
    // Counted by `Picture`, with those of the shadows.
    this.renderer.info.autoReset = false;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.shadowMap.enabled = shadows;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    // Lines on the ground are drawn over it, whatever the depth buffer's precision.
    const material = new THREE.MeshStandardMaterial({
      roughness: 1,
      map: this.#pattern,
      polygonOffset: true,
      polygonOffsetFactor: 2,
      polygonOffsetUnits: 8,
    });
    if (this.#place === "open" && !this.#isCheap) varyByPlace(material);
    this.#ground = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), material);
    this.#ground.receiveShadow = true;
    this.#sun.castShadow = shadows;
    const { camera, mapSize } = this.#sun.shadow;
    const { m, pixels } = SHADOWS[scenery.camera];
    mapSize.set(pixels, pixels);
    camera.left = camera.bottom = -m;
    camera.right = camera.top = m;
    camera.near = 1;
    camera.far = 200;
    // Seen from nearby, figures would have stripes of their own shadow.
    this.#sun.shadow.normalBias = shared ? 0.08 : 0.02;
    const { sun, sky, above, below } = PLACES[this.#place].light;
    this.#sun.intensity = sun;
    this.#sky.intensity = sky;
    this.#sky.color.set(above);
    this.#sky.groundColor.set(below);
    // The hemisphere's axis is the light's position.
    this.#sky.position.set(0, 0, 1);
    this.scene.add(this.#backdrop.group, this.#ground, this.#sky);
    this.scene.add(this.#sun, this.#sun.target, this.obstacles.group);
    if (this.#place === "open") {
      this.#meadow = new Meadow(this.#isCheap);
      this.#plants = new Plants(this.#isCheap ? CHEAP_PLANTS : PLANTS);
      this.scene.add(this.#meadow.group, this.#plants.group);
    }
    if (this.#place === "court") {
      this.#parapet = new Parapet();
      this.scene.add(this.#parapet.mesh);
    }
    if (this.#place === "space") {
      this.#space = new DeepSpace(this.#isCheap);
      this.scene.add(this.#space.group);
    }
    // There is nothing to stand on.
    this.#ground.visible = this.#place !== "space";
    if (this.#place === "halls") {
      this.#torches = new Torches();
      this.scene.add(this.#torches.group);
    }
    if (this.#place === "halls" && !this.#isCheap) {
      this.#lamp = new THREE.PointLight(LAMP.colour, LAMP.candelas, LAMP.m, LAMP.decay);
      this.scene.add(this.#lamp);
    }
    this.#dark.addEventListener("change", this.#paint);
    this.setExtent({ west: 0, south: 0, width: 50, height: 50 });
  }

  /** Drawn pixels for each of CSS. */
  get pixelRatio(): number {
    if (!this.#resolution) return 1;
    return wantsAll() ? Math.min(devicePixelRatio, MOST_PIXEL_RATIO) : this.#resolution.ratio;
  }

  /** The size of the map. */
  setExtent(extent: Extent): void {
    const { west, south, width, height } = extent;
    this.#ground.scale.set(width, height, 1);
    const { metres } = GROUNDS[this.#place];
    this.#pattern.repeat.set(width / metres, height / metres);
    this.#space?.setExtent(extent);
    this.#ground.position.set(west + width / 2, south + height / 2, -0.03);
    if (!this.scenery.no_grid) this.#layGrid(extent);
    this.#extent = extent;
    this.#parapet?.setExtent(extent);
    this.#border.begin();
    // A single picture is of a place, and not of a map.
    const border = this.#parapet || !this.#resolution ? [] : BORDER_M;
    for (const z of border) this.#border.addSquare(west, south, width, height, z);
    this.#border.end();
    this.scene.add(this.#border.lines);
    this.#paint();
  }

  #extent: Extent = { west: 0, south: 0, width: 0, height: 0 };
  /** Where the map ends. */
  readonly #border = new LineSet(BORDER, 0.8);

  #layGrid({ west, south, width, height }: Extent): void {
    this.#grid?.dispose();
    const grid = new LineSet(LIGHT.grid, 0.5);
    let step = 5;
    while (Math.max(width, height) / step > MAX_GRID_LINES) step *= 2;
    grid.begin();
    grid.addGrid(west, south, width, height, step, 0);
    grid.end();
    this.#grid = grid;
    this.scene.add(grid.lines);
  }

  setObstacles(obstacles: readonly StaticObstacle[]): void {
    this.obstacles.show(obstacles, PLACES[this.#place].surface);
    this.#torches?.show(obstacles);
    this.#plants?.show(this.#extent, obstacles);
    this.#paint();
  }

  /** Another sky than the page's own where there is one, and where the air begins and hides all. */
  setAir(near: number, far: number, sky: SkyColours): void {
    const { fog } = this.scene;
    if (fog instanceof THREE.Fog) [fog.near, fog.far] = [near, far];
    if (this.#place !== "open" && this.#place !== "court") return;
    const sea = this.#dark.matches ? SEA.dark : SEA.light;
    this.#backdrop.paint(this.#place === "court" ? { ...sky, land: sea } : sky);
    fog?.color.set(sky.horizon);
  }

  resize(width: number, height: number, fieldOfView = FIELD_OF_VIEW): void {
    this.#camera.fov = (fieldOfView * 180) / Math.PI;
    this.renderer.setPixelRatio(this.pixelRatio);
    this.renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    this.#camera.updateProjectionMatrix();
  }

  /** After each frame, with the time since the last one. True if the canvas is to be resized. */
  notePace(intervalMs: number): boolean {
    return (this.#resolution?.note(intervalMs) ?? false) && !wantsAll();
  }

  render(view: SceneView): void {
    this.#aim(view);
    this.renderer.render(this.scene, this.#camera);
  }

  /** Prepares all materials; the browser does other things meanwhile. */
  async compile(view: SceneView): Promise<void> {
    this.#aim(view);
    await this.renderer.compileAsync(this.scene, this.#camera);
  }

  #aim(view: SceneView): void {
    const { eye, up, centre, target } = view;
    this.#camera.position.set(eye.x, eye.y, eye.z);
    this.#camera.up.set(up.x, up.y, up.z);
    this.#camera.lookAt(centre.x, centre.y, centre.z);
    this.#backdrop.follow(eye.x, eye.y, eye.z);
    this.#meadow?.follow(centre.x, centre.y);
    this.#plants?.follow(centre.x, centre.y);
    this.#sun.target.position.set(centre.x, centre.y, centre.z);
    const [x, y, z] = PLACES[this.#place].sunM;
    this.#sun.position.set(centre.x + x, centre.y + y, centre.z + z);
    this.#space?.follow(eye.x, eye.y, this.pixelRatio);
    this.#lamp?.position.set(target.x, target.y, target.z + LAMP.height);
    const seconds = performance.now() / 1_000;
    this.obstacles.update(seconds);
    this.#torches?.follow(centre.x, centre.y);
    this.#torches?.update(seconds);
  }

  dispose(): void {
    this.#dark.removeEventListener("change", this.#paint);
    disposeOf(this.scene);
    if (this.#resolution) this.renderer.dispose();
  }

  readonly #paint = (): void => {
    const palette = this.#dark.matches ? DARK : LIGHT;
    const declared = this.scenery.ground === null ? undefined : parseColour(this.scenery.ground);
    const land = this.#dark.matches ? SEA.dark : SEA.light;
    const court = { ...palette, land };
    const around = { open: palette, court, halls: HALL, space: SPACE }[this.#place];
    this.#backdrop.paint(around);
    this.scene.fog = new THREE.Fog(around.horizon, ...FOG_M);
    this.#ground.material.color.set(declared ?? palette.ground);
    if (this.#place === "halls" && declared !== undefined) {
      const stone = mixed(declared, FLOOR_STONE, FLOOR_SHARE);
      this.#ground.material.color.set(stone).multiplyScalar(FLOOR_LIGHT);
    }
    this.#meadow?.show(this.#dark.matches);
    this.#plants?.paint(this.#dark.matches);
    const grid = declared === undefined ? palette.grid : lineColour(declared);
    const lines = this.#grid?.lines.material;
    lines?.color.set(grid);
    // The ground shows distances already, and in space there is nothing that lines could be on.
    if (lines) lines.opacity = FAINT_LINES;
    // Walls are of the stone of their floor.
    const isFloor = this.#place === "halls" && declared !== undefined;
    const stone = isFloor ? mixed(declared, 0xffffff, WALL_LIGHT) : palette.obstacle;
    this.obstacles.paint(this.scenery, stone);
  };
}

function resolutionOf(isCheap: boolean): Resolution {
  const most = Math.min(devicePixelRatio, isCheap ? 1 : MOST_PIXEL_RATIO);
  return isCheap
    ? new Resolution(CHEAP_PIXEL_RATIO, most, BEARABLE)
    : new Resolution(devicePixelRatio, most, SMOOTH);
}

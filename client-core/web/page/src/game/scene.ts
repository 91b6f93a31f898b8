/** The picture: ground, static map, light, and what the other parts of the game add. */

import * as THREE from "three";
import type { Scenery, StaticObstacle } from "../ambit/ambit.js";
import { FIELD_OF_VIEW, type ViewCamera } from "../core/camera.js";
import type { Extent } from "../core/map_view.js";
import { parseColour } from "../core/look.js";
import { seededUnits } from "../core/seeded.js";
import { lineColour, obstacleColour } from "../core/scenery.js";
import { Backdrop, type SkyColours } from "./backdrop.js";
import { isCheap } from "./graphics.js";
import { Meadow } from "./meadow.js";
import { LineSet } from "./line_set.js";

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
  land: 0xa9bb98,
  hasStars: false,
  ground: 0x9dbb7d,
  grid: 0x7d9a66,
  obstacle: 0xa79c8c,
};
const DARK: Palette = {
  horizon: 0x2b3a4a,
  zenith: 0x0a1018,
  land: 0x1a2420,
  hasStars: false,
  ground: 0x3a4d40,
  grid: 0x40524a,
  obstacle: 0x6b7480,
};
/** Around a map whose game declares a dark ground. */
const SPACE: SkyColours = { horizon: 0x0b1022, zenith: 0x05070f, land: 0, hasStars: true };
/** Where the air begins to be seen, and where it hides all: the map's edge is no cut. */
const FOG_M = [70, 520] as const;
/** Of a colour from 0 to 1. */
const DARK_GROUND = 0.12;
/** The pattern of the ground repeats after so much. */
const PATTERN_M = 9;
const PATTERN_PIXELS = 128;
/** A finer grid on a larger map would be a grey surface. */
const MAX_GRID_LINES = 120;
/** Half of the extent in which there are shadows around the target, and their pixels. */
const SHADOWS = { around: { m: 24, pixels: 1_024 }, above: { m: 60, pixels: 2_048 } };
/** Of the screen's pixels in CSS, where each one is drawn by the processor. */
const CHEAP_PIXEL_RATIO = 0.5;

export class Scene {
  readonly scene = new THREE.Scene();
  readonly renderer: THREE.WebGLRenderer;
  readonly #camera = new THREE.PerspectiveCamera((FIELD_OF_VIEW * 180) / Math.PI, 1, 0.5, 2_000);
  readonly #sun = new THREE.DirectionalLight(0xffffff, 2.2);
  readonly #ground: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshStandardMaterial>;
  readonly #pattern = patternOfGround();
  readonly #backdrop = new Backdrop();
  readonly #meadow = new Meadow();
  readonly #scenery: Scenery;
  readonly #obstacles = [
    new ObstacleMeshes("box", new THREE.BoxGeometry(2, 2, 2)),
    // Its axis is upright.
    new ObstacleMeshes("cylinder", new THREE.CylinderGeometry(1, 1, 2, 32).rotateX(Math.PI / 2)),
  ];
  #grid: LineSet | undefined;
  readonly #dark = matchMedia("(prefers-color-scheme: dark)");
  readonly #isCheap = isCheap();

  constructor(canvas: HTMLCanvasElement, scenery: Scenery) {
    this.#scenery = scenery;
    const shadows = !this.#isCheap;
    try {
      this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !this.#isCheap });
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
    this.#sun.shadow.normalBias = 0.02;
    const sky = new THREE.HemisphereLight(0xffffff, 0x887766, 1.4);
    // The hemisphere's axis is the light's position.
    sky.position.set(0, 0, 1);
    this.scene.add(this.#backdrop.group, this.#ground, this.#meadow.mesh, sky);
    this.scene.add(this.#sun, this.#sun.target);
    this.#dark.addEventListener("change", this.#paint);
    this.setExtent({ west: 0, south: 0, width: 50, height: 50 });
  }

  /** Drawn pixels for each of CSS. */
  get pixelRatio(): number {
    return this.#isCheap ? CHEAP_PIXEL_RATIO : Math.min(devicePixelRatio, 2);
  }

  /** The size of the map. */
  setExtent(extent: Extent): void {
    const { west, south, width, height } = extent;
    this.#ground.scale.set(width, height, 1);
    this.#pattern.repeat.set(width / PATTERN_M, height / PATTERN_M);
    this.#ground.position.set(west + width / 2, south + height / 2, -0.03);
    if (this.#scenery.grid) this.#layGrid(extent);
    this.#border.begin();
    for (const z of BORDER_M) this.#border.addSquare(west, south, width, height, z);
    this.#border.end();
    this.scene.add(this.#border.lines);
    this.#paint();
  }

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
    for (const meshes of this.#obstacles) this.scene.add(meshes.show(obstacles));
    this.#paint();
  }

  resize(width: number, height: number): void {
    this.renderer.setPixelRatio(this.pixelRatio);
    this.renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    this.#camera.updateProjectionMatrix();
  }

  render(view: ViewCamera): void {
    const { eye, up, centre } = view;
    this.#camera.position.set(eye.x, eye.y, eye.z);
    this.#camera.up.set(up.x, up.y, up.z);
    this.#camera.lookAt(centre.x, centre.y, centre.z);
    this.#backdrop.follow(eye.x, eye.y, eye.z);
    this.#meadow.follow(centre.x, centre.y);
    this.#sun.target.position.set(centre.x, centre.y, centre.z);
    this.#sun.position.set(centre.x - 36, centre.y - 52, centre.z + 96);
    this.renderer.render(this.scene, this.#camera);
  }

  dispose(): void {
    this.#dark.removeEventListener("change", this.#paint);
    this.#grid?.dispose();
    this.#pattern.dispose();
    this.#backdrop.dispose();
    this.#meadow.dispose();
    for (const meshes of this.#obstacles) meshes.dispose();
    this.renderer.dispose();
  }

  readonly #paint = (): void => {
    const palette = this.#dark.matches ? DARK : LIGHT;
    const declared = this.#scenery.ground === null ? undefined : parseColour(this.#scenery.ground);
    const isSpace = declared !== undefined && luminance(declared) < DARK_GROUND;
    this.#backdrop.paint(isSpace ? SPACE : palette);
    this.scene.fog = new THREE.Fog((isSpace ? SPACE : palette).horizon, ...FOG_M);
    this.#ground.material.color.set(declared ?? palette.ground);
    if (declared === undefined && !this.#isCheap) this.#meadow.show(this.#dark.matches);
    const grid = declared === undefined ? palette.grid : lineColour(declared);
    this.#grid?.lines.material.color.set(grid);
    for (const meshes of this.#obstacles) meshes.paint(this.#scenery, palette.obstacle);
  };
}

/** From 0 to 1. */
function luminance(colour: number): number {
  const [red, green, blue] = [colour >> 16, (colour >> 8) & 0xff, colour & 0xff];
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}

/** Soft patches of light and shade, the same everywhere: what moves over them is seen to move. */
function patternOfGround(): THREE.CanvasTexture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = PATTERN_PIXELS;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.fillStyle = "#e9e9e9";
  context.fillRect(0, 0, PATTERN_PIXELS, PATTERN_PIXELS);
  const unit = seededUnits(7);
  for (let patch = 0; patch < 240; patch += 1) {
    const [x, y] = [unit() * PATTERN_PIXELS, unit() * PATTERN_PIXELS];
    const radius = 1 + 6 * unit() * unit();
    const isLight = unit() < 0.5;
    context.fillStyle = isLight ? "rgba(255, 255, 255, 0.12)" : "rgba(130, 130, 130, 0.07)";
    // It repeats, so what goes over an edge comes in at the other one.
    for (const dx of [-PATTERN_PIXELS, 0, PATTERN_PIXELS]) {
      for (const dy of [-PATTERN_PIXELS, 0, PATTERN_PIXELS]) {
        context.beginPath();
        context.ellipse(x + dx, y + dy, radius, 0.6 * radius, 0, 0, 2 * Math.PI);
        context.fill();
      }
    }
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.anisotropy = 4;
  return texture;
}

/** All obstacles of a shape, in one draw call. */
class ObstacleMeshes {
  readonly #shape: StaticObstacle["shape"];
  readonly #geometry: THREE.BufferGeometry;
  readonly #material = new THREE.MeshStandardMaterial({ roughness: 0.9 });
  #mesh: THREE.InstancedMesh | undefined;
  #shown: readonly StaticObstacle[] = [];

  /** The geometry reaches from -1 to 1 along each axis. */
  constructor(shape: StaticObstacle["shape"], geometry: THREE.BufferGeometry) {
    this.#shape = shape;
    this.#geometry = geometry;
  }

  /** The mesh of those that have this shape. */
  show(obstacles: readonly StaticObstacle[]): THREE.InstancedMesh {
    this.#mesh?.removeFromParent();
    this.#mesh?.dispose();
    this.#shown = obstacles.filter(({ shape }) => shape === this.#shape);
    const mesh = new THREE.InstancedMesh(this.#geometry, this.#material, this.#shown.length);
    const [matrix, scale] = [new THREE.Matrix4(), new THREE.Vector3()];
    this.#shown.forEach(({ centre, half, yaw }, index) => {
      matrix.makeRotationZ(yaw).scale(scale.set(...half)).setPosition(...centre);
      mesh.setMatrixAt(index, matrix);
    });
    mesh.castShadow = true;
    mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    this.#mesh = mesh;
    return mesh;
  }

  /** Gives each the colour of its look, or the page's own. */
  paint(scenery: Scenery, own: number): void {
    const colour = new THREE.Color();
    this.#shown.forEach((obstacle, index) => {
      this.#mesh?.setColorAt(index, colour.set(obstacleColour(scenery, obstacle) ?? own));
    });
    if (this.#mesh?.instanceColor) this.#mesh.instanceColor.needsUpdate = true;
  }

  dispose(): void {
    this.#mesh?.dispose();
    this.#geometry.dispose();
    this.#material.dispose();
  }
}

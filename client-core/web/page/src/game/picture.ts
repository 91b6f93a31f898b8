/** All that is drawn on the canvas: what a frame shows, where objects go, rings on the ground. */

import type { Frame, Schema, StaticObstacle } from "../ambit/ambit.js";
import { type Point, ViewCamera } from "../core/camera.js";
import type { InterestSettings } from "../core/interest.js";
import type { Extent } from "../core/map_view.js";
import type { PlannedPaths } from "../core/planned_paths.js";
import { el } from "../dom.js";
import { InterestLines } from "../overlay/interest_lines.js";
import { texts } from "../texts.js";
import { Billboards } from "./billboards.js";
import { LineSet } from "./line_set.js";
import { Markers } from "./markers.js";
import { ObjectMeshes } from "./object_meshes.js";
import { Scene } from "./scene.js";

/** Lines in the ground would flicker. */
const PATH_HEIGHT_M = 0.1;
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
  readonly interest = new InterestLines();
  readonly #scene: Scene;
  readonly #objects = new ObjectMeshes();
  readonly #billboards = new Billboards();
  readonly #pathLines = new LineSet(0xffe08a, 0.7);
  readonly #pathEnd: Point = { x: 0, y: 0, z: 0 };
  readonly #resizes = new ResizeObserver(() => this.#resize());
  #hasMap = false;

  constructor(schema: Schema) {
    const { scenery } = schema;
    this.camera = new ViewCamera(scenery.camera);
    this.canvas.dataset.camera = scenery.camera;
    this.#scene = new Scene(this.canvas, scenery);
    this.#objects.setSchema(schema);
    this.#scene.scene.add(
      this.#objects.group,
      this.#billboards.group,
      this.markers.mesh,
      this.#pathLines.lines,
      this.interest.group,
    );
    this.#resizes.observe(this.canvas);
  }

  /** A radius in metres that is well visible. */
  get ringSize(): number {
    return this.camera.distance * RING_SHARE;
  }

  setMap(
    extent: Extent,
    obstacles: readonly StaticObstacle[],
    settings: InterestSettings,
  ): void {
    if (!this.#hasMap) this.camera.startFor(settings.inner * settings.cellM);
    this.#hasMap = true;
    this.#scene.setExtent(extent);
    this.#scene.setObstacles(obstacles);
    this.interest.setSettings(settings);
  }

  /** Lets the camera follow the own avatar. */
  follow(frame: Frame, seconds: number): void {
    const own = frame.avatar;
    if (own >= 0) {
      this.camera.follow(frame.x(own), frame.y(own), frame.z(own), seconds);
      this.interest.follow(frame.x(own), frame.y(own));
    }
    this.camera.update();
  }

  draw(frame: Frame, paths: PlannedPaths, showsAges: boolean): void {
    this.#objects.update(frame, this.camera, showsAges);
    this.#drawBillboards(frame);
    this.#drawPaths(frame, paths);
    this.#scene.render(this.camera);
  }

  dispose(): void {
    this.#resizes.disconnect();
    this.interest.dispose();
    this.#pathLines.dispose();
    this.markers.dispose();
    this.#billboards.dispose();
    this.#objects.dispose();
    this.#scene.dispose();
  }

  #drawBillboards(frame: Frame): void {
    const { kinds } = frame;
    this.#billboards.begin();
    for (let index = 0; index < frame.count; index += 1) {
      const bar = frame.bar(index);
      const label = frame.label(index);
      if (bar === undefined && label === undefined) continue;
      const z = frame.z(index) + this.#objects.topOf(kinds[index] as number);
      const x = frame.x(index);
      const y = frame.y(index);
      if (bar !== undefined) this.#billboards.addBar(x, y, z, bar);
      if (label !== undefined) this.#billboards.addName(x, y, z, label);
    }
    this.#billboards.end();
  }

  #drawPaths(frame: Frame, paths: PlannedPaths): void {
    this.#pathLines.begin();
    for (let index = 0; index < frame.count; index += 1) {
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

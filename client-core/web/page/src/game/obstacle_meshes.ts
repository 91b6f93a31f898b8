/** The obstacles of a map: walls and pillars of stone, plates of metal, and rocks in space. */

import * as THREE from "three";
import type { Scenery, StaticObstacle } from "../ambit/ambit.js";
import { obstacleColour } from "../core/scenery.js";
import { Rocks } from "./rocks.js";
import { instances, noteChange } from "./three_parts.js";

/** Courses of stones, those with moss, or plates with seams; how large they are in metres. */
const PATTERNS = { stone: [1.25, 0.5], ruin: [0.9, 0.42], plates: [4, 2] } as const;
export type Surface = keyof typeof PATTERNS | "plain";

/** So near to the line from the eye to whom the player watches, walls let see what is behind. */
const OPEN_M = 2.4;
/** Gives the place in the world, and the place along a side, to the fragment shader. */
const VERTEX = `
  #include <begin_vertex>
  vec4 inWorld = modelMatrix * instanceMatrix * vec4(transformed, 1.0);
  place = inWorld.xyz;
  float along = abs(normal.x) > abs(normal.y)
    ? position.y * length(instanceMatrix[1].xyz)
    : position.x * length(instanceMatrix[0].xyz);
  bool isTop = abs(normal.z) > 0.5;
  surface = isTop ? inWorld.xy : vec2(along, inWorld.z);
  upwards = isTop ? 1.0 : 0.0;
  share = position.z * 0.5 + 0.5;
`;
const FRAGMENT = `
  #include <color_fragment>
  vec3 line = watched.xyz - cameraPosition;
  float before = dot(place - cameraPosition, line) / dot(line, line);
  float beside = length(place - cameraPosition - before * line);
  // Fewer and fewer pixels of a wall are left towards the line; that needs no order of drawing.
  float open = (before < 0.99 ? 1.0 : 0.0) * (1.0 - smoothstep(0.5, 1.0, beside / watched.w));
  vec2 dot4 = mod(floor(gl_FragCoord.xy), 2.0);
  if (open * 1.05 > 0.2 + 0.25 * (2.0 * abs(dot4.x - dot4.y) + dot4.y)) discard;
  vec2 cell = surface / (upwards > 0.5 ? vec2(tile.x) : tile);
  // Stones are shifted against those below them, plates are not.
  cell.x += (tile.x < 2.0 ? 0.5 : 0.0) * mod(floor(cell.y), 2.0);
  vec2 inside = abs(fract(cell) - 0.5) * 2.0;
  vec2 size = upwards > 0.5 ? vec2(tile.x) : tile;
  vec2 edge = (1.0 - inside) * size * 0.5;
  float seam = smoothstep(0.02, 0.09, min(edge.x, edge.y));
  float chance = fract(sin(dot(floor(cell), vec2(12.9898, 78.233))) * 43758.5453);
  float stone = mix(0.62, 0.86 + 0.28 * chance, seam);
  vec3 mossy = vec3(0.44, 0.66, 0.2) * diffuseColor.g;
  // Tops are in the light; walls are darker towards the ground.
  diffuseColor.rgb *= stone * (upwards > 0.5 ? 1.3 : mix(0.42, 0.95, share));
  // Moss grows on tops, and down from them and up from the ground here and there.
  float creep = upwards > 0.5 ? 0.75 : max(smoothstep(0.75, 1.0, share), 1.0 - 5.0 * share);
  float grown = smoothstep(0.5, 0.8, moss * (creep + 0.45 * chance));
  diffuseColor.rgb = mix(diffuseColor.rgb, mossy * (0.7 + 0.5 * chance), 0.85 * grown);
`;

export class ObstacleMeshes {
  readonly group = new THREE.Group();
  /** Whom the player watches, and how wide walls before that are open. */
  readonly #watched = { value: new THREE.Vector4(0, 0, 0, 1e-3) };
  readonly #shapes = [
    new Shape("box", new THREE.BoxGeometry(2, 2, 2), this.#watched),
    // Its axis is upright.
    new Shape(
      "cylinder",
      new THREE.CylinderGeometry(1, 1, 2, 32).rotateX(Math.PI / 2),
      this.#watched,
    ),
  ];
  #rocks: Rocks | undefined;

  /** In space, what is round is a rock. */
  show(obstacles: readonly StaticObstacle[], surface: Surface): void {
    const hasRocks = surface === "plates";
    const [boxes, round] = this.#shapes;
    const rocks = obstacles.filter(({ shape }) => shape === "cylinder");
    boxes?.show(this.group, obstacles, surface);
    round?.show(this.group, hasRocks ? [] : obstacles, surface);
    if (hasRocks && !this.#rocks) {
      this.#rocks = new Rocks();
      this.group.add(this.#rocks.group);
    }
    this.#rocks?.show(hasRocks ? rocks : []);
  }

  /** Gives each the colour of its look, or the page's own. */
  paint(scenery: Scenery, own: number): void {
    const colourOf = (obstacle: StaticObstacle) => obstacleColour(scenery, obstacle) ?? own;
    for (const shape of this.#shapes) shape.paint(colourOf);
    this.#rocks?.paint(colourOf);
  }

  /** Walls before this place let see what is behind them. */
  openTowards(x: number, y: number, z: number): void {
    this.#watched.value.set(x, y, z, OPEN_M);
  }

  update(seconds: number): void {
    this.#rocks?.turn(seconds);
  }
}

/** All obstacles of a shape, in one draw call. */
class Shape {
  readonly #material = new THREE.MeshStandardMaterial({ roughness: 0.9 });
  readonly #tile = { value: new THREE.Vector2(1, 1) };
  readonly #moss = { value: 0 };
  #mesh: THREE.InstancedMesh | undefined;
  #shown: readonly StaticObstacle[] = [];
  #surface: Surface = "plain";

  /** The geometry reaches from -1 to 1 along each axis. */
  constructor(
    private readonly shape: StaticObstacle["shape"],
    private readonly geometry: THREE.BufferGeometry,
    private readonly watched: THREE.IUniform<THREE.Vector4>,
  ) {}

  /** Puts the mesh of those that have this shape into the group. */
  show(group: THREE.Group, obstacles: readonly StaticObstacle[], surface: Surface): void {
    this.#mesh?.removeFromParent();
    this.#mesh?.dispose();
    if (surface !== "plain" && this.#surface === "plain") this.#addPattern();
    if (surface !== "plain") this.#tile.value.fromArray(PATTERNS[surface]);
    this.#moss.value = surface === "ruin" ? 1 : 0;
    this.#surface = surface;
    this.#shown = obstacles.filter(({ shape }) => shape === this.shape);
    const mesh = instances(this.geometry, this.#material, this.#shown.length, true);
    const [matrix, scale] = [new THREE.Matrix4(), new THREE.Vector3()];
    this.#shown.forEach(({ centre, half, yaw }, index) => {
      matrix.makeRotationZ(yaw).scale(scale.set(...half)).setPosition(...centre);
      mesh.setMatrixAt(index, matrix);
    });
    this.#mesh = mesh;
    group.add(mesh);
  }

  paint(colourOf: (obstacle: StaticObstacle) => number): void {
    const colour = new THREE.Color();
    this.#shown.forEach((obstacle, index) => {
      this.#mesh?.setColorAt(index, colour.set(colourOf(obstacle)));
    });
    if (this.#mesh) noteChange(this.#mesh);
  }

  /** Computed by the graphics card: boxes of any extents have stones of the same size. */
  #addPattern(): void {
    this.#material.onBeforeCompile = (shader) => {
      shader.uniforms["tile"] = this.#tile;
      shader.uniforms["moss"] = this.#moss;
      shader.uniforms["watched"] = this.watched;
      const passed =
        "varying vec3 place;\nvarying vec2 surface;\nvarying float upwards;\nvarying float share;\n";
      shader.vertexShader =
        passed + shader.vertexShader.replace("#include <begin_vertex>", VERTEX);
      shader.fragmentShader =
        `${passed}uniform vec2 tile;\nuniform float moss;\nuniform vec4 watched;\n` +
        shader.fragmentShader.replace("#include <color_fragment>", FRAGMENT);
    };
    this.#material.needsUpdate = true;
  }
}

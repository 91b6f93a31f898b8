/**
 * Torches along the walls of a map whose ground is a floor, with their light on the floor: two draw
 * calls. They flicker, except for players who want little motion.
 */

import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { StaticObstacle } from "../ambit/ambit.js";
import { type TorchPlace, torchPlaces } from "../core/torch_places.js";
import { coloured, instances, squares } from "./three_parts.js";

/** The largest distance and number of drawn torches; chosen again after each step of the viewer. */
const SEEN_M = 85;
const MOST = 256;
const STEP_M = 10;
const GROUND_M = 0.03;
const LIGHT_M = 6.5;
const GLOW_M = 1.5;
const FLAME = 0xffc46a;

/** `place` is the middle, the width, and whether it lies on the ground. */
const VERTEX = `
  attribute vec4 place;
  attribute float lies;
  uniform float time;
  varying vec2 corner;
  varying float light;
  void main() {
    corner = position.xy;
    float phase = place.x * 1.7 + place.y * 2.3;
    light = (lies > 0.5 ? 0.34 : 0.8)
      * (0.9 + 0.07 * sin(time * 7.0 + phase) + 0.05 * sin(time * 12.7 + phase * 1.9));
    vec4 at = viewMatrix * vec4(place.xyz + lies * vec3(corner * place.w, 0.0), 1.0);
    at.xy += (1.0 - lies) * corner * place.w;
    gl_Position = projectionMatrix * at;
  }
`;
const FRAGMENT = `
  varying vec2 corner;
  varying float light;
  void main() {
    float away = length(corner);
    float strength = pow(max(1.0 - away, 0.0), 1.7) * light;
    gl_FragColor = vec4(vec3(1.0, 0.56, 0.2) * strength, 1.0);
  }
`;

export class Torches {
  readonly group = new THREE.Group();
  readonly #time = { value: 0 };
  readonly #light = new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: { time: this.#time },
    depthWrite: false,
    transparent: true,
    blending: THREE.AdditiveBlending,
    side: THREE.DoubleSide,
  });
  readonly #still = matchMedia("(prefers-reduced-motion: reduce)");
  readonly #sticks: THREE.InstancedMesh;
  readonly #lights: THREE.Mesh<THREE.InstancedBufferGeometry, THREE.ShaderMaterial>;
  readonly #corners = new THREE.InstancedBufferAttribute(new Float32Array(8 * MOST), 4);
  readonly #matrix = new THREE.Matrix4();
  #places: readonly TorchPlace[] = [];
  /** Where the viewer was when torches were chosen. */
  #around: readonly [x: number, y: number] | undefined;

  constructor() {
    const material = new THREE.MeshBasicMaterial({ vertexColors: true, fog: false });
    this.#sticks = instances(stick(), material, MOST, false);
    const geometry = squares(-1);
    geometry.setAttribute("place", this.#corners);
    const lies = Float32Array.from({ length: 2 * MOST }, (_, light) => 1 - (light % 2));
    geometry.setAttribute("lies", new THREE.InstancedBufferAttribute(lies, 1));
    this.#lights = new THREE.Mesh(geometry, this.#light);
    this.#lights.renderOrder = 1;
    this.#lights.frustumCulled = false;
    this.group.add(this.#sticks, this.#lights);
  }

  show(obstacles: readonly StaticObstacle[]): void {
    this.#places = torchPlaces(obstacles);
    this.#around = undefined;
  }

  /** Only those around the viewer are drawn, however large the map is. */
  follow(x: number, y: number): void {
    const [oldX, oldY] = this.#around ?? [Infinity, Infinity];
    if (Math.hypot(x - oldX, y - oldY) < STEP_M) return;
    this.#around = [x, y];
    let count = 0;
    for (const torch of this.#places) {
      if (count === MOST) break;
      if (Math.hypot(torch.x - x, torch.y - y) > SEEN_M) continue;
      const { z, outwards } = torch;
      const [dx, dy] = [Math.cos(outwards), Math.sin(outwards)];
      this.#sticks.setMatrixAt(
        count,
        this.#matrix.makeRotationZ(outwards).setPosition(torch.x, torch.y, z),
      );
      this.#corners.setXYZW(2 * count, torch.x + dx, torch.y + dy, GROUND_M, LIGHT_M);
      const [flameX, flameY] = [torch.x + 0.35 * dx, torch.y + 0.35 * dy];
      this.#corners.setXYZW(2 * count + 1, flameX, flameY, z + 0.55, GLOW_M);
      count += 1;
    }
    this.#sticks.count = count;
    this.#lights.geometry.instanceCount = 2 * count;
    this.group.visible = count > 0;
    this.#sticks.instanceMatrix.needsUpdate = this.#corners.needsUpdate = true;
  }

  update(seconds: number): void {
    if (!this.#still.matches) this.#time.value = seconds;
  }
}

/** Leans away from the wall, along x; the flame is at its top. */
function stick(): THREE.BufferGeometry {
  const wood = new THREE.CylinderGeometry(0.07, 0.05, 0.7, 6).rotateX(Math.PI / 2);
  const flame = new THREE.SphereGeometry(0.16, 8, 6).scale(1, 1, 1.9).translate(0, 0, 0.5);
  const painted = (geometry: THREE.BufferGeometry, colour: number) =>
    coloured(geometry, () => new THREE.Color(colour).toArray());
  const parts = [painted(wood, 0x3a2412), painted(flame, FLAME)];
  return mergeGeometries(parts).rotateY(0.45).translate(0.15, 0, 0);
}

/**
 * What is below a map in space: clouds of gas, a planet, stars and dust at different depths.
 *
 * All of it stands still in the world, far below the plane of play, so that the near moves faster
 * than the far when the camera moves. Everything comes from seeds: each player sees the same. Four
 * draw calls, whatever the size of the map.
 */

import * as THREE from "three";
import type { Extent } from "../core/map_view.js";
import { cloudsOf } from "../core/clouds.js";
import { seededUnits } from "../core/seeded.js";

const STARS = 7_000;
/** Stars repeat after so much; more is never in the picture. */
const STARS_M = 720;
/** Depths of the nearest dust and of the farthest star. */
const STAR_DEPTHS_M = [8, 170] as const;
const CLOUD_PIXELS = 256;
const CLOUDS_M = 6_000;
/** Two layers of gas: how deep, after how much they repeat, and how bright they are. */
const LAYERS = [
  { depth: 190, tile: 620, opacity: 1, seed: 5 },
  { depth: 75, tile: 410, opacity: 0.34, seed: 8 },
] as const;
const PLANET = { radius: 52, depth: 150 } as const;
/**
 * The planet's light and how opaque it is: dimmer than what plays, and without an edge, or it would
 * be taken for an obstacle.
 */
export const PLANET_LOOK = { day: 0.3, rim: 0.16, opacity: 0.8, edge: 0.55 } as const;

const STAR_VERTEX = `
  attribute vec4 look;
  uniform vec2 around;
  uniform float pixels;
  varying vec3 colour;
  void main() {
    vec3 place = position;
    place.xy = around + mod(place.xy - around + ${STARS_M / 2}.0, ${STARS_M}.0) - ${STARS_M / 2}.0;
    colour = look.rgb;
    gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
    gl_PointSize = look.a * pixels;
  }
`;
const STAR_FRAGMENT = `
  varying vec3 colour;
  void main() {
    float away = length(gl_PointCoord - 0.5) * 2.0;
    float light = pow(max(1.0 - away, 0.0), 1.5);
    gl_FragColor = vec4(colour * light, light);
  }
`;
const PLANET_VERTEX = `
  varying vec3 outwards;
  varying vec3 view;
  void main() {
    outwards = normalize(position);
    vec4 place = modelMatrix * vec4(position, 1.0);
    view = normalize(cameraPosition - place.xyz);
    gl_Position = projectionMatrix * viewMatrix * place;
  }
`;
const PLANET_FRAGMENT = `
  varying vec3 outwards;
  varying vec3 view;
  void main() {
    vec3 n = normalize(outwards);
    float turn = n.y * 0.86 + n.x * 0.5;
    float waves = sin(turn * 9.0 + sin(n.x * 4.0 + n.z * 3.0) * 1.2) * 0.5 + 0.5;
    vec3 ground = mix(vec3(0.20, 0.13, 0.22), vec3(0.46, 0.30, 0.30), waves);
    float day = smoothstep(-0.25, 0.85, dot(n, normalize(vec3(-0.74, 0.34, 0.58))));
    float facing = max(dot(n, normalize(view)), 0.0);
    float rim = pow(1.0 - facing, 2.6);
    vec3 shown = ground * (0.06 + ${PLANET_LOOK.day} * day);
    shown += vec3(0.35, 0.5, 0.95) * rim * ${PLANET_LOOK.rim} * day;
    float soft = smoothstep(0.0, ${PLANET_LOOK.edge}, facing);
    gl_FragColor = vec4(shown, ${PLANET_LOOK.opacity} * soft);
  }
`;

export class DeepSpace {
  readonly group = new THREE.Group();
  readonly #stars: THREE.Points<THREE.BufferGeometry, THREE.ShaderMaterial>;
  readonly #planet: THREE.Mesh<THREE.SphereGeometry, THREE.ShaderMaterial>;
  readonly #around = new THREE.Vector2();
  readonly #pixels = { value: 1 };
  readonly #clouds: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshBasicMaterial>[] = [];

  /** Without a graphics card there is one layer of gas. */
  constructor(isCheap: boolean) {
    const layers = isCheap ? LAYERS.slice(0, 1) : LAYERS;
    for (const [at, { depth, tile, opacity, seed }] of layers.entries()) {
      const map = textureOf(seed);
      map.repeat.setScalar(CLOUDS_M / tile);
      const material = new THREE.MeshBasicMaterial({
        map,
        fog: false,
        toneMapped: false,
        depthWrite: false,
        transparent: at > 0,
        opacity,
        blending: at > 0 ? THREE.AdditiveBlending : THREE.NormalBlending,
      });
      const mesh = new THREE.Mesh(new THREE.PlaneGeometry(CLOUDS_M, CLOUDS_M), material);
      mesh.position.z = -depth;
      mesh.renderOrder = -2.9 + at;
      this.#clouds.push(mesh);
    }
    this.#planet = new THREE.Mesh(
      new THREE.SphereGeometry(PLANET.radius, 64, 40),
      new THREE.ShaderMaterial({
        vertexShader: PLANET_VERTEX,
        fragmentShader: PLANET_FRAGMENT,
        depthWrite: false,
        transparent: true,
      }),
    );
    this.#planet.renderOrder = -2.5;
    this.#stars = new THREE.Points(
      starsBelow(),
      new THREE.ShaderMaterial({
        vertexShader: STAR_VERTEX,
        fragmentShader: STAR_FRAGMENT,
        uniforms: { around: { value: this.#around }, pixels: this.#pixels },
        depthWrite: false,
        transparent: true,
        blending: THREE.AdditiveBlending,
      }),
    );
    // After the gas, and before whatever plays.
    this.#stars.renderOrder = -2.7;
    this.group.add(...this.#clouds, this.#planet, this.#stars);
    for (const part of this.group.children) part.frustumCulled = false;
  }

  /** The planet is beside the middle of the map, where all players come by. */
  setExtent({ west, south, width, height }: Extent): void {
    const [x, y] = [west + 0.63 * width, south + 0.6 * height];
    this.#planet.position.set(x, y, -PLANET.depth);
    for (const mesh of this.#clouds) mesh.position.setX(x).setY(y);
  }

  /** Stars are wherever the viewer looks; `pixels` are those that are drawn for one of CSS. */
  follow(x: number, y: number, pixels: number): void {
    this.#around.set(x, y);
    this.#pixels.value = pixels;
  }
}

function textureOf(seed: number): THREE.DataTexture {
  const texture = new THREE.DataTexture(cloudsOf(CLOUD_PIXELS, seed), CLOUD_PIXELS, CLOUD_PIXELS);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.minFilter = THREE.LinearMipmapLinearFilter;
  texture.magFilter = THREE.LinearFilter;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}

/** Many faint ones and a few bright ones; what is near is dust, small and dim. */
function starsBelow(): THREE.BufferGeometry {
  const unit = seededUnits(23);
  const [places, looks] = [new Float32Array(3 * STARS), new Float32Array(4 * STARS)];
  const [near, far] = STAR_DEPTHS_M;
  for (let star = 0; star < STARS; star += 1) {
    const depth = near + (far - near) * Math.sqrt(unit());
    places.set([STARS_M * unit(), STARS_M * unit(), -depth], 3 * star);
    const size = 1.4 + 3.4 * unit() ** 6;
    const light = depth < 40 ? 0.4 : 0.35 + 0.65 * unit() ** 2;
    // From reddish to bluish.
    const warmth = unit();
    const colour = [0.8 + 0.2 * warmth, 0.86, 1 - 0.25 * warmth].map((part) => part * light);
    looks.set([...colour, depth < 40 ? 1.5 : size], 4 * star);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
  geometry.setAttribute("look", new THREE.BufferAttribute(looks, 4));
  return geometry;
}

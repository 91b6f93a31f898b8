/** What is behind the map: a sky from the horizon to the zenith, land around the map, and stars. */

import * as THREE from "three";

/** Within the camera's reach. */
const SKY_M = 1_500;
const LAND_M = 4_000;
const STARS = 500;

const VERTEX = `
  varying vec3 way;
  void main() {
    way = position;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }
`;
const FRAGMENT = `
  uniform vec3 horizon;
  uniform vec3 zenith;
  varying vec3 way;
  void main() {
    float height = max(normalize(way).z, 0.0);
    gl_FragColor = vec4(mix(horizon, zenith, pow(height, 0.55)), 1.0);
    #include <colorspace_fragment>
  }
`;

export interface SkyColours {
  horizon: number;
  zenith: number;
  land: number;
  hasStars: boolean;
}

export class Backdrop {
  readonly group = new THREE.Group();
  readonly #sky: THREE.Mesh<THREE.SphereGeometry, THREE.ShaderMaterial>;
  readonly #land: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshBasicMaterial>;
  readonly #stars: THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial>;

  constructor() {
    const uniforms = { horizon: { value: new THREE.Color() }, zenith: { value: new THREE.Color() } };
    const material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms,
      side: THREE.BackSide,
      depthWrite: false,
      fog: false,
    });
    this.#sky = new THREE.Mesh(new THREE.SphereGeometry(SKY_M, 32, 16), material);
    this.#sky.renderOrder = -3;
    const land = new THREE.MeshBasicMaterial({ depthWrite: false });
    this.#land = new THREE.Mesh(new THREE.PlaneGeometry(LAND_M, LAND_M), land);
    this.#land.position.z = -0.5;
    this.#land.renderOrder = -2;
    this.#stars = new THREE.Points(starsOf(STARS), new THREE.PointsMaterial({
      color: 0xdfe8ff,
      size: 1.6,
      sizeAttenuation: false,
      transparent: true,
      opacity: 0.8,
      depthWrite: false,
      fog: false,
    }));
    this.#stars.renderOrder = -2;
    for (const part of [this.#sky, this.#land, this.#stars]) part.frustumCulled = false;
    this.group.add(this.#sky, this.#land, this.#stars);
  }

  paint({ horizon, zenith, land, hasStars }: SkyColours): void {
    const { uniforms } = this.#sky.material;
    (uniforms["horizon"] as { value: THREE.Color }).value.set(horizon);
    (uniforms["zenith"] as { value: THREE.Color }).value.set(zenith);
    this.#land.material.color.set(land);
    // In space there is no land.
    this.#land.visible = !hasStars;
    this.#stars.visible = hasStars;
  }

  /** Keeps as far from the eye as ever. */
  follow(x: number, y: number, z: number): void {
    this.#sky.position.set(x, y, z);
    this.#stars.position.set(x, y, z);
    this.#land.position.x = x;
    this.#land.position.y = y;
  }
}

/** Evenly on the whole sphere, since there are stars below a map in space, too. */
function starsOf(count: number): THREE.BufferGeometry {
  const places = new Float32Array(3 * count);
  for (let star = 0; star < count; star += 1) {
    const z = 1 - (2 * (star + 0.5)) / count;
    const across = Math.sqrt(1 - z * z);
    // An irregular turn, so that they make no spiral.
    const turn = star * 2.399963 + 1.7 * Math.sin(star * 12.9898);
    places.set([across * Math.cos(turn), across * Math.sin(turn), z], 3 * star);
  }
  for (let at = 0; at < places.length; at += 1) places[at] = (places[at] as number) * 0.9 * SKY_M;
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
  return geometry;
}

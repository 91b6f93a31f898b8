/**
 * Bars and names above objects, always towards the viewer and of one size on the screen.
 *
 * All bars are one draw call, all names another, and numbers beside the bars a third. Names are
 * painted once each into the slots of one texture; see `SlotTable`.
 */

import * as THREE from "three";
import { SlotTable } from "../core/slot_table.js";
import { fitted } from "../core/words.js";
import { canvasOf, squares } from "./three_parts.js";

const MAX_SHOWN = 512;
const SLOT_COLUMNS = 8;
const SLOT_ROWS = 32;
const SLOT_WIDTH = 256;
const SLOT_HEIGHT = 32;
/** Names are larger by this factor where pixels are coarse, so that they can be read. */
const COARSE_NAMES = 1.6;
/** The usual width of a letter of a name. */
const LETTER_PX = 7.2;
/** Numbers rise to the right of the bar, from its height on: in pixels to the middle of one. */
const NUMBER_BESIDE = 42;

/** `place`: position and, in w, the share of a bar or the slot of a name. */
const VERTEX = `
  attribute vec4 place;
  attribute float scale;
  uniform vec2 size;
  uniform vec2 shift;
  varying vec2 corner;
  varying float extra;
  void main() {
    corner = position.xy;
    extra = place.w;
    vec4 clip = projectionMatrix * viewMatrix * vec4(place.xyz, 1.0);
    clip.xy += ((position.xy - 0.5) * size * scale + shift) * clip.w;
    gl_Position = clip;
  }
`;

const BAR_FRAGMENT = `
  varying vec2 corner;
  varying float extra;
  void main() {
    vec2 inner = abs(corner - 0.5);
    if (inner.x > 0.48 || inner.y > 0.36) {
      gl_FragColor = vec4(0.0, 0.0, 0.0, 0.65);
      return;
    }
    vec3 full = mix(vec3(0.85, 0.2, 0.15), vec3(0.2, 0.75, 0.3), smoothstep(0.2, 0.7, extra));
    gl_FragColor = corner.x < extra ? vec4(full, 1.0) : vec4(0.12, 0.12, 0.12, 0.8);
  }
`;

const NAME_FRAGMENT = `
  uniform sampler2D names;
  varying vec2 corner;
  varying float extra;
  void main() {
    float column = mod(extra, ${SLOT_COLUMNS}.0);
    float row = floor(extra / ${SLOT_COLUMNS}.0);
    vec2 at = (vec2(column, row) + vec2(corner.x, 1.0 - corner.y));
    gl_FragColor = texture2D(names, at / vec2(${SLOT_COLUMNS}.0, ${SLOT_ROWS}.0));
    if (gl_FragColor.a < 0.02) discard;
  }
`;

class Quads {
  readonly mesh: THREE.Mesh<THREE.InstancedBufferGeometry, THREE.ShaderMaterial>;
  readonly #places = new THREE.InstancedBufferAttribute(new Float32Array(4 * MAX_SHOWN), 4);
  readonly #scales = new THREE.InstancedBufferAttribute(new Float32Array(MAX_SHOWN), 1);
  #count = 0;

  constructor(fragmentShader: string, uniforms: Record<string, THREE.IUniform>) {
    const geometry = squares(0);
    geometry.setAttribute("place", this.#places.setUsage(THREE.DynamicDrawUsage));
    geometry.setAttribute("scale", this.#scales.setUsage(THREE.DynamicDrawUsage));
    const material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader,
      uniforms: {
        size: { value: new THREE.Vector2() },
        shift: { value: new THREE.Vector2() },
        ...uniforms,
      },
      transparent: true,
      depthTest: false,
      depthWrite: false,
    });
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 10;
  }

  /** Extents and shift, in pixels of the screen. */
  setSize(width: number, height: number, across: number, up: number, screen: THREE.Vector2) {
    const { size, shift } = this.mesh.material.uniforms;
    size?.value.set((2 * width) / screen.x, (2 * height) / screen.y);
    shift?.value.set((2 * across) / screen.x, (2 * up) / screen.y);
  }

  begin(): void {
    this.#count = 0;
  }

  add(x: number, y: number, z: number, extra: number, scale = 1): void {
    if (this.#count >= MAX_SHOWN) return;
    this.#places.setXYZW(this.#count, x, y, z, extra);
    this.#scales.setX(this.#count, scale);
    this.#count += 1;
  }

  end(): void {
    this.mesh.geometry.instanceCount = this.#count;
    this.#places.needsUpdate = this.#scales.needsUpdate = true;
  }
}

/** The texture of all names. */
class NameSlots {
  readonly texture: THREE.CanvasTexture;
  readonly #context: CanvasRenderingContext2D;
  readonly table = new SlotTable(
    SLOT_COLUMNS * SLOT_ROWS,
    (name, slot) => this.#paint(name, slot),
    () => this.#context.clearRect(0, 0, SLOT_COLUMNS * SLOT_WIDTH, SLOT_ROWS * SLOT_HEIGHT),
  );

  constructor() {
    const [canvas, context] = canvasOf(SLOT_COLUMNS * SLOT_WIDTH, SLOT_ROWS * SLOT_HEIGHT);
    this.#context = context;
    this.texture = new THREE.CanvasTexture(canvas);
    this.texture.flipY = false;
    this.texture.generateMipmaps = false;
    this.texture.minFilter = THREE.LinearFilter;
  }

  #paint(name: string, slot: number): void {
    const context = this.#context;
    const x = ((slot % SLOT_COLUMNS) + 0.5) * SLOT_WIDTH;
    const y = (Math.floor(slot / SLOT_COLUMNS) + 0.5) * SLOT_HEIGHT;
    context.font = "600 20px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = "rgba(0, 0, 0, 0.75)";
    const isNumber = name.startsWith(NUMBER);
    const text = isNumber ? name.slice(NUMBER.length) : name;
    context.fillStyle = isNumber ? colourOf(text) : "#fff";
    // Squeezed letters are hard to read; lists beside the picture have the whole name.
    const shown = fitted(text, SLOT_WIDTH - 8, (part) => context.measureText(part).width);
    context.strokeText(shown, x, y);
    context.fillText(shown, x, y);
    this.texture.needsUpdate = true;
  }
}

/** Before a number, in the table of slots: no name has a control character. */
const NUMBER = "\n";

export class Billboards {
  readonly group = new THREE.Group();
  readonly #slots = new NameSlots();
  #nameScale = 1;
  /** What is added between `begin` and `end` is a place, and the share of its bar. */
  readonly bars = new Quads(BAR_FRAGMENT, {});
  readonly #names = new Quads(NAME_FRAGMENT, { names: { value: this.#slots.texture } });

  readonly #numbers = new Quads(NAME_FRAGMENT, { names: { value: this.#slots.texture } });

  constructor() {
    this.group.add(this.bars.mesh, this.#names.mesh, this.#numbers.mesh);
  }

  resize(width: number, height: number, pixelRatio: number): void {
    const screen = new THREE.Vector2(width, height);
    this.bars.setSize(44, 7, 0, 10, screen);
    const scale = pixelRatio < 1 ? COARSE_NAMES : 1;
    this.#nameScale = scale;
    const nameHeight = 22 * scale;
    this.#names.setSize(176 * scale, nameHeight, 0, 15 + nameHeight / 2, screen);
    this.#numbers.setSize(176 * scale, nameHeight, NUMBER_BESIDE * scale, 10, screen);
  }

  /** About how many pixels of the screen a name takes across. */
  widthOf(name: string): number {
    return this.#nameScale * LETTER_PX * (name.length + 1);
  }

  begin(): void {
    this.bars.begin();
    this.#names.begin();
    this.#numbers.begin();
    this.#slots.table.begin();
  }

  addName(x: number, y: number, z: number, name: string, scale = 1): void {
    const slot = this.#slots.table.slotOf(name);
    if (slot >= 0) this.#names.add(x, y, z, slot, scale);
  }

  /** Of damage or healing, beside the bar. */
  addNumber(x: number, y: number, z: number, number: string): void {
    const slot = this.#slots.table.slotOf(NUMBER + number);
    if (slot >= 0) this.#numbers.add(x, y, z, slot);
  }

  end(): void {
    this.bars.end();
    this.#names.end();
    this.#numbers.end();
  }
}

/** What a number says is seen by its colour, too. */
function colourOf(text: string): string {
  if (text.startsWith("−")) return "#ffb09a";
  return text.startsWith("+") ? "#9dffb0" : "#fff";
}

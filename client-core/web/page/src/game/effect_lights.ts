/** Draws the pieces of all effects, in one draw call. */

import * as THREE from "three";
import { type Effects, PIECE_FLOATS, SHAPES } from "../core/effects.js";
import { squares } from "./three_parts.js";

/**
 * `place`: the middle and the width. `way`: of a streak, to its other end; and the shape. `colour`:
 * and the strength.
 */
const VERTEX = `
  attribute vec4 place;
  attribute vec4 way;
  attribute vec4 colour;
  varying vec2 corner;
  varying vec4 light;
  varying float shape;
  void main() {
    corner = position.xy;
    light = colour;
    shape = way.w;
    vec4 at = viewMatrix * vec4(place.xyz, 1.0);
    if (shape > ${SHAPES.streak - 0.5} && shape < ${SHAPES.disc - 0.5}) {
      // Along its way, and as wide as it can be seen from here.
      vec4 end = viewMatrix * vec4(place.xyz + way.xyz, 1.0);
      vec3 along = end.xyz - at.xyz;
      vec3 across = normalize(cross(along, at.xyz));
      at.xyz += along * (0.5 + 0.5 * corner.x) + across * corner.y * place.w;
    } else if (shape > ${SHAPES.ring - 0.5} && shape < ${SHAPES.bubble - 0.5}) {
      at = viewMatrix * vec4(place.xyz + vec3(corner * place.w, 0.0), 1.0);
    } else {
      at.xy += corner * place.w;
    }
    gl_Position = projectionMatrix * at;
  }
`;
const FRAGMENT = `
  varying vec2 corner;
  varying vec4 light;
  varying float shape;
  void main() {
    float away = length(corner);
    float glow;
    float heart;
    if (shape > ${SHAPES.bubble - 0.5}) {
      // Clear in the middle, where somebody is, and with an edge.
      float rim = smoothstep(0.6, 0.92, away) * smoothstep(1.0, 0.95, away);
      glow = 0.16 * smoothstep(1.0, 0.97, away) + rim;
      heart = 0.35 * smoothstep(0.84, 0.92, away);
    } else if (shape > ${SHAPES.disc - 0.5}) {
      // Stripes, so that an area is told from light on the ground by its form, too.
      float stripe = smoothstep(0.35, 0.65, abs(fract((corner.x + corner.y) * 3.5) * 2.0 - 1.0));
      glow = (0.55 + 0.35 * stripe) * smoothstep(1.0, 0.96, away);
      heart = 0.0;
    } else if (shape > ${SHAPES.streak - 0.5}) {
      glow = (1.0 - abs(corner.y)) * smoothstep(1.0, 0.4, corner.x);
      heart = smoothstep(0.6, 1.0, 1.0 - abs(corner.y));
    } else if (shape > ${SHAPES.ring - 0.5}) {
      glow = smoothstep(0.74, 0.9, away) * smoothstep(1.0, 0.93, away);
      heart = 0.0;
    } else {
      glow = pow(max(1.0 - away, 0.0), 1.6);
      heart = smoothstep(0.55, 0.0, away);
    }
    float strength = glow * light.a;
    vec3 shown = mix(light.rgb, vec3(1.0), heart * 0.7);
    // It gives light, and it covers what is behind: on bright ground light alone is not seen.
    gl_FragColor = vec4(shown * strength * 1.1, strength * 0.75);
  }
`;

export class EffectLights {
  readonly mesh: THREE.Mesh<THREE.InstancedBufferGeometry, THREE.ShaderMaterial>;
  readonly #buffer: THREE.InstancedInterleavedBuffer;

  constructor(private readonly effects: Effects) {
    const geometry = squares(-1);
    this.#buffer = new THREE.InstancedInterleavedBuffer(effects.pieces, PIECE_FLOATS);
    this.#buffer.setUsage(THREE.DynamicDrawUsage);
    for (const [place, name] of ["place", "way", "colour"].entries()) {
      const attribute = new THREE.InterleavedBufferAttribute(this.#buffer, 4, 4 * place);
      geometry.setAttribute(name, attribute);
    }
    const material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      side: THREE.DoubleSide,
      depthWrite: false,
      transparent: true,
      blending: THREE.CustomBlending,
      blendSrc: THREE.OneFactor,
      blendDst: THREE.OneMinusSrcAlphaFactor,
    });
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 6;
  }

  /** Takes over the pieces of this frame. */
  update(): void {
    const { count } = this.effects;
    this.mesh.geometry.instanceCount = count;
    this.mesh.visible = count > 0;
    this.#buffer.clearUpdateRanges();
    this.#buffer.addUpdateRange(0, PIECE_FLOATS * count);
    this.#buffer.needsUpdate = count > 0;
  }
}

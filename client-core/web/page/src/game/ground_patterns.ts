/** What is drawn on the ground, as textures that repeat: grass, slabs of stone, or smooth tiles. */

import * as THREE from "three";
import { seededUnits } from "../core/seeded.js";
import { canvasOf } from "./three_parts.js";

/** What covers the ground of a place, and the metres after which it repeats. */
export const GROUNDS = {
  open: { pattern: patches, metres: 9 },
  court: { pattern: tiles, metres: 8 },
  halls: { pattern: slabs, metres: 14 },
  space: { pattern: patches, metres: 9 },
} as const;
const PATCH_PIXELS = 128;
const SLAB_PIXELS = 512;
/** Slabs in a row of the pattern. */
const SLABS = 7;
const TILE_PIXELS = 512;
/** Tiles in a row of the pattern. */
const TILES = 4;

/**
 * Large patches of drier and of lusher grass, by two waves of noise at the place in the world: the
 * pattern that repeats is not seen to repeat.
 */
export function varyByPlace(material: THREE.MeshStandardMaterial): void {
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = `varying vec2 inWorld;\n${shader.vertexShader}`.replace(
      "#include <begin_vertex>",
      "#include <begin_vertex>\ninWorld = (modelMatrix * vec4(transformed, 1.0)).xy;",
    );
    shader.fragmentShader = `varying vec2 inWorld;\n${NOISE}${shader.fragmentShader}`.replace(
      "#include <map_fragment>",
      `#include <map_fragment>
      float wide = noise(inWorld / 17.0);
      float lushness = wide * 0.65 + noise(inWorld / 5.0) * 0.35;
      vec3 lush = diffuseColor.rgb * vec3(0.74, 0.92, 0.66);
      vec3 dry = diffuseColor.rgb * vec3(1.2, 1.07, 0.86);
      diffuseColor.rgb = mix(lush, dry, smoothstep(0.25, 0.75, lushness));
      float bare = smoothstep(0.7, 0.83, noise(inWorld / 9.0 + 31.0) * 0.8 + wide * 0.2);
      diffuseColor.rgb = mix(diffuseColor.rgb, diffuse * vec3(1.22, 0.9, 0.74), 0.6 * bare);`,
    );
  };
}

const NOISE = `
  float chanceAt(vec2 at) { return fract(sin(dot(at, vec2(127.1, 311.7))) * 43758.5453); }
  float noise(vec2 at) {
    vec2 cell = floor(at);
    vec2 part = fract(at);
    part = part * part * (3.0 - 2.0 * part);
    return mix(
      mix(chanceAt(cell), chanceAt(cell + vec2(1.0, 0.0)), part.x),
      mix(chanceAt(cell + vec2(0.0, 1.0)), chanceAt(cell + vec2(1.0, 1.0)), part.x),
      part.y
    );
  }
`;

/** Smooth tiles in two shades, with a bright joint: a court to play on. */
function tiles(): THREE.CanvasTexture {
  const [canvas, context] = canvasOf(TILE_PIXELS);
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, TILE_PIXELS, TILE_PIXELS);
  const wide = TILE_PIXELS / TILES;
  for (let row = 0; row < TILES; row += 1) {
    for (let column = 0; column < TILES; column += 1) {
      const [x, y] = [column * wide + 3, row * wide + 3];
      const isLight = (row + column) % 2 === 0;
      context.fillStyle = isLight ? "#e6e6e6" : "#cfcfcf";
      context.beginPath();
      context.roundRect(x, y, wide - 6, wide - 6, 12);
      context.fill();
      context.strokeStyle = isLight ? "rgb(255 255 255 / 60%)" : "rgb(0 0 0 / 7%)";
      context.lineWidth = 3;
      context.beginPath();
      context.roundRect(x + 9, y + 9, wide - 24, wide - 24, 8);
      context.stroke();
    }
  }
  return textureOf(canvas);
}

/** Soft patches of light and shade, the same everywhere: what moves over them is seen to move. */
function patches(): THREE.CanvasTexture {
  const [canvas, context] = canvasOf(PATCH_PIXELS);
  context.fillStyle = "#e9e9e9";
  context.fillRect(0, 0, PATCH_PIXELS, PATCH_PIXELS);
  const unit = seededUnits(7);
  for (let patch = 0; patch < 240; patch += 1) {
    const [x, y] = [unit() * PATCH_PIXELS, unit() * PATCH_PIXELS];
    const radius = 1 + 6 * unit() * unit();
    const isLight = unit() < 0.5;
    context.fillStyle = isLight ? "rgba(255, 255, 255, 0.12)" : "rgba(130, 130, 130, 0.07)";
    // It repeats, so what goes over an edge comes in at the other one.
    for (const dx of [-PATCH_PIXELS, 0, PATCH_PIXELS]) {
      for (const dy of [-PATCH_PIXELS, 0, PATCH_PIXELS]) {
        context.beginPath();
        context.ellipse(x + dx, y + dy, radius, 0.6 * radius, 0, 0, 2 * Math.PI);
        context.fill();
      }
    }
  }
  return textureOf(canvas);
}

/** Slabs of stone, each of another shade, with light on one edge and some cracks. */
function slabs(): THREE.CanvasTexture {
  const [canvas, context] = canvasOf(SLAB_PIXELS);
  context.fillStyle = "#a29c95";
  context.fillRect(0, 0, SLAB_PIXELS, SLAB_PIXELS);
  const unit = seededUnits(17);
  const wide = SLAB_PIXELS / SLABS;
  for (let row = 0; row < SLABS; row += 1) {
    for (let column = 0; column < SLABS; column += 1) {
      const chance = unit();
      const grey = Math.round(200 + 46 * chance);
      const [warm, cool] = [Math.round(6 * unit()), Math.round(8 * unit())];
      const [crack, cracks] = [unit(), unit() < 0.16];
      const [x, y] = [column * wide, row * wide];
      context.fillStyle = `rgb(${grey + warm}, ${grey}, ${grey - cool})`;
      context.fillRect(x + 2, y + 2, wide - 4, wide - 4);
      context.fillStyle = "rgba(255, 255, 255, 0.16)";
      context.fillRect(x + 2, y + 2, wide - 4, 2);
      context.fillRect(x + 2, y + 2, 2, wide - 4);
      context.fillStyle = "rgba(0, 0, 0, 0.1)";
      context.fillRect(x + 2, y + wide - 4, wide - 4, 2);
      context.fillRect(x + wide - 4, y + 2, 2, wide - 4);
      if (!cracks) continue;
      context.strokeStyle = "rgba(0, 0, 0, 0.28)";
      context.lineWidth = 1.4;
      context.beginPath();
      context.moveTo(x + crack * wide, y + 3);
      context.lineTo(x + (0.3 + 0.4 * crack) * wide, y + 0.5 * wide);
      context.lineTo(x + (1 - crack) * wide, y + wide - 3);
      context.stroke();
    }
  }
  for (let speck = 0; speck < 1_400; speck += 1) {
    context.fillStyle = unit() < 0.5 ? "rgba(255, 255, 255, 0.08)" : "rgba(0, 0, 0, 0.09)";
    context.fillRect(unit() * SLAB_PIXELS, unit() * SLAB_PIXELS, 1 + 3 * unit(), 1 + 3 * unit());
  }
  return textureOf(canvas);
}

function textureOf(canvas: HTMLCanvasElement): THREE.CanvasTexture {
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.anisotropy = 4;
  return texture;
}

/** Pictures of figures for cards: drawn once by the picture's own renderer, into canvases. */

import * as THREE from "three";
import type { Outfit } from "../core/roles.js";
import { figure, keepOwnColours } from "./shapes.js";
import { canvasOf } from "./three_parts.js";

const WIDTH = 176;
const HEIGHT = 208;

/** A figure in an outfit; `colour` is that of the kind. */
export function portraitOf(
  renderer: THREE.WebGLRenderer,
  outfit: Outfit,
  colour: string,
): HTMLCanvasElement {
  const scene = new THREE.Scene();
  const geometry = figure(outfit);
  const material = new THREE.MeshStandardMaterial({ roughness: 0.6, vertexColors: true });
  keepOwnColours(material);
  const mesh = new THREE.InstancedMesh(geometry, material, 1);
  mesh.setMatrixAt(0, new THREE.Matrix4());
  mesh.setColorAt(0, new THREE.Color(colour));
  mesh.scale.set(1, 1, 1.3);
  mesh.rotation.z = -0.95;
  const sky = new THREE.HemisphereLight(0xffffff, 0x886a50, 2.2);
  sky.position.set(0, 0, 1);
  const sun = new THREE.DirectionalLight(0xffe2b8, 2.4);
  sun.position.set(-1.5, -2, 2.5);
  scene.add(mesh, sky, sun);
  const camera = new THREE.PerspectiveCamera(28, WIDTH / HEIGHT, 0.1, 20);
  camera.up.set(0, 0, 1);
  camera.position.set(0, -3.5, 1.25);
  camera.lookAt(0, 0, 0.04);
  const target = new THREE.WebGLRenderTarget(WIDTH, HEIGHT, { samples: 4 });
  const pixels = new Uint8Array(4 * WIDTH * HEIGHT);
  const before = renderer.getClearAlpha();
  renderer.setClearAlpha(0);
  renderer.setRenderTarget(target);
  renderer.clear();
  renderer.render(scene, camera);
  renderer.readRenderTargetPixels(target, 0, 0, WIDTH, HEIGHT, pixels);
  renderer.setRenderTarget(null);
  renderer.setClearAlpha(before);
  for (const thing of [geometry, material, mesh, target]) thing.dispose();
  return drawn(pixels);
}

/** For light from 0 to 255 what a screen shows. */
const SHOWN = Uint8ClampedArray.from({ length: 256 }, (_, light) => {
  const share = light / 255;
  return 255 * (share < 0.0031308 ? 12.92 * share : 1.055 * share ** (1 / 2.4) - 0.055);
});

/** Rows come from below, and as light: a canvas has them from above, and as a screen shows them. */
function drawn(pixels: Uint8Array): HTMLCanvasElement {
  const [canvas, context] = canvasOf(WIDTH, HEIGHT);
  canvas.ariaHidden = "true";
  const image = context.createImageData(WIDTH, HEIGHT);
  for (let at = 0; at < pixels.length; at += 1) {
    if (at % 4 < 3) pixels[at] = SHOWN[pixels[at] as number] as number;
  }
  for (let row = 0; row < HEIGHT; row += 1) {
    const from = 4 * WIDTH * (HEIGHT - 1 - row);
    image.data.set(pixels.subarray(from, from + 4 * WIDTH), 4 * WIDTH * row);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** What several drawings need of three.js: squares, colours of corners, canvases, and their end. */

import * as THREE from "three";

/** A square for each instance, from `low` to 1 along x and y. */
export function squares(low: -1 | 0): THREE.InstancedBufferGeometry {
  const geometry = new THREE.InstancedBufferGeometry();
  const corners = Float32Array.of(low, low, 0, 1, low, 0, 1, 1, 0, low, 1, 0);
  geometry.setAttribute("position", new THREE.BufferAttribute(corners, 3));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  return geometry;
}

/** Gives each corner of a shape its colour: red, green and blue. */
export function coloured<G extends THREE.BufferGeometry>(
  geometry: G,
  colourOf: (corner: number) => readonly number[],
): G {
  const { count } = geometry.getAttribute("position");
  const colours = new Float32Array(3 * count);
  for (let corner = 0; corner < count; corner += 1) colours.set(colourOf(corner), 3 * corner);
  geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  return geometry;
}

/** The shape that can be merged with others: without shared corners, and without a texture. */
export function unshared(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  const plain = geometry.index ? geometry.toNonIndexed() : geometry;
  plain.deleteAttribute("uv");
  return plain;
}

/** Instances that are drawn in sight or not. */
export function instances(
  geometry: THREE.BufferGeometry,
  material: THREE.Material,
  count: number,
  hasShadow: boolean,
): THREE.InstancedMesh {
  const mesh = new THREE.InstancedMesh(geometry, material, count);
  mesh.frustumCulled = false;
  mesh.castShadow = mesh.receiveShadow = hasShadow;
  return mesh;
}

/** Instances have other places and colours than before. */
export function noteChange({ instanceMatrix, instanceColor }: THREE.InstancedMesh): void {
  instanceMatrix.needsUpdate = true;
  if (instanceColor) instanceColor.needsUpdate = true;
}

export function canvasOf(
  width: number,
  height = width,
): [HTMLCanvasElement, CanvasRenderingContext2D] {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  return [canvas, canvas.getContext("2d") as CanvasRenderingContext2D];
}

/** Frees what the graphics card keeps of an object and of all its parts. */
export function disposeOf(root: THREE.Object3D): void {
  root.traverse((part) => {
    if (part instanceof THREE.InstancedMesh || part instanceof THREE.Light) part.dispose();
    if (!("geometry" in part && "material" in part)) return;
    const { geometry, material } = part as THREE.Mesh<THREE.BufferGeometry, THREE.Material>;
    geometry.dispose();
    const uniforms = "uniforms" in material ? Object.values(material.uniforms as object) : [];
    const maps: unknown[] = uniforms.map(({ value }) => value);
    if ("map" in material) maps.push(material.map);
    for (const map of maps) if (map instanceof THREE.Texture) map.dispose();
    material.dispose();
  });
}

/**
 * The numbers that server and clients draw from a shared seed: SplitMix64, as in the crate
 * `ambit-proto`, `seeded`.
 */

const MASK = (1n << 64n) - 1n;

/** Numbers from 0 to below 1, the same on every machine for the same seed of 16 bits. */
export function seededUnits(seed: number): () => number {
  let state = BigInt(seed);
  return () => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    z ^= z >> 31n;
    return Number(z >> 40n) / (1 << 24);
  };
}

/** All that the page takes from the client package: nothing else of the page imports it. */

export * from "../../../ts/index.js";
export {
  movedTo,
  openReplay,
  positionOf,
  type Replay,
  type ReplayClock,
  withSpeed,
} from "../../../ts/replay.js";
export { TokenStorage } from "../../../ts/token_storage.js";

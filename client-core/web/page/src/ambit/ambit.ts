/** All that the page takes from the client package: nothing else of the page imports it. */

export * from "../../../ts/index.js";
export { TokenStorage } from "../../../ts/token_storage.js";

/** What wasm-bindgen makes of the compiled client: a module of its own, beside the WebAssembly. */

export { default } from "../pkg/ambit_client_web.js";
export * from "../pkg/ambit_client_web.js";

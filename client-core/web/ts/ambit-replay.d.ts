/** What replays a recording: a module of its own beside the worker, which loads it if it is asked. */

export { ReplayDriver } from "./replay_driver.js";

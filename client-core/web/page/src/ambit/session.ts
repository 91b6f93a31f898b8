/** Connecting, in the way of this page. */

import {
  type Client,
  connect,
  type ConnectOptions,
  GOOD_LINE,
  type LineConditions,
} from "./ambit.js";

/** What is bad about the line now: the overlay's sliders change it. */
export const lineConditions: LineConditions = { ...GOOD_LINE };

export function openSession(name: string): Promise<Client> {
  const options: ConnectOptions = {
    keepSession: true,
    physics: true,
    predict: true,
    line: lineConditions,
  };
  if (name) options.name = name;
  return connect(options);
}

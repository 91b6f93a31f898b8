// Requests to `/admin/v1`, and the key that they have.

import { words } from "./words.js";

const BASE = new URL("../admin/v1/", import.meta.url);
const KEY = "ambit-operator-key";
/** A lobby that does not answer within a second is refused by the server itself. */
const PATIENCE_MS = 8_000;

/** What the server has refused, or that it does not answer (status 0), in words for people. */
export class ApiProblem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The key that is kept for this tab, or on this device. */
export function keptKey() {
  return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? undefined;
}

export function keepKey(key, staysSignedIn) {
  forgetKey();
  (staysSignedIn ? localStorage : sessionStorage).setItem(KEY, key);
}

export function forgetKey() {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}

/** Asks, with this key or with the one that is kept. Returns the answer's JSON. */
export async function ask(method, path, body, key = keptKey()) {
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  let answer;
  try {
    answer = await fetch(new URL(path, BASE), {
      method,
      headers,
      cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    throw new ApiProblem(0, words.problems.silent);
  }
  const json = await answer.json().catch(() => ({}));
  if (answer.ok) return json;
  throw new ApiProblem(answer.status, problemText(answer, json.error ?? ""));
}

function problemText({ status, headers }, said) {
  const { problems } = words;
  if (status === 429) return problems.pause(headers.get("retry-after"));
  return problems.byStatus[status] ?? (said ? problems.said(said) : problems.status(status));
}

/**
 * The problem of the moment: what has happened, in words for players, and what they can do.
 *
 * One is shown at a time. That of the connection stays until there is one again, and nothing that
 * follows from it takes its place. Any other ends with what the player does next; one that does not
 * say why the player is out of the game, and about which there is nothing to do, after
 * {@link PASSING_MS}, too.
 */

import {
  canRetry,
  codeOf,
  isLasting,
  isOfConnection,
  type ProblemKind,
  problemOf,
} from "./core/problems.js";
import { button, div, el } from "./dom.js";
import { texts } from "./texts.js";

const PASSING_MS = 10_000;

let shown: ProblemKind | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a code of an error; `retry` is offered where it makes sense, by the words of `label`. */
export function showProblem(
  code: string,
  message: string,
  retry?: () => void,
  label: string = texts.retry,
): void {
  const kind = problemOf(code);
  if (shown && isOfConnection(shown) && !isOfConnection(kind)) return;
  endProblem();
  const text = texts.problems[kind] || message || code;
  const canAct = retry !== undefined && canRetry(kind);
  const act = () => {
    endProblem();
    retry?.();
  };
  // The exact words, for diagnosis.
  const words = el("small", {}, `${code}: ${message}`);
  const banner = div(
    isLasting(kind) ? "problem lasting" : "problem",
    el("p", {}, text),
    message && message !== text
      ? el("details", {}, el("summary", {}, texts.exact_words), words)
      : undefined,
    div(
      "buttons",
      canAct ? button(label, act, { class: "main" }) : undefined,
      button(texts.dismiss, endProblem),
    ),
  );
  document.getElementById("problems")?.replaceChildren(banner);
  shown = kind;
  if (!canAct && !isLasting(kind)) timer = setTimeout(endProblem, PASSING_MS);
}

export function showError(thrown: unknown, retry?: () => void): void {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  showProblem(codeOf(thrown), message, retry);
}

/** The cause is gone. */
export function endProblem(): void {
  clearTimeout(timer);
  shown = undefined;
  document.getElementById("problems")?.replaceChildren();
}

/** The player does something else: what was not about the connection is over. */
export function endPassingProblem(): void {
  if (!shown || !isOfConnection(shown)) endProblem();
}

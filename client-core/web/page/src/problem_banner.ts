/** Problems: what has happened, in words for players, and what they can do. */

import { canRetry, codeOf, problemOf } from "./core/problems.js";
import { button, el } from "./dom.js";
import { texts } from "./texts.js";

const MAX_SHOWN = 3;

/** Shows a code of an error; `retry` is offered where it makes sense. */
export function showProblem(code: string, message: string, retry?: () => void): void {
  const place = document.getElementById("problems");
  if (!place) return;
  const kind = problemOf(code);
  const text = texts.problems[kind] || message || code;
  const banner = el("div", { class: "problem" }, el("p", {}, text));
  // The exact words, for whoever looks into it.
  if (message && message !== text) banner.append(el("small", {}, `${code}: ${message}`));
  const buttons = el("div", { class: "buttons" });
  if (retry && canRetry(kind)) {
    const act = () => {
      banner.remove();
      retry();
    };
    buttons.append(button(texts.retry, act, { class: "main" }));
  }
  buttons.append(button(texts.dismiss, () => banner.remove()));
  banner.append(buttons);
  place.append(banner);
  while (place.childElementCount > MAX_SHOWN) place.firstChild?.remove();
}

export function showError(thrown: unknown, retry?: () => void): void {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  showProblem(codeOf(thrown), message, retry);
}

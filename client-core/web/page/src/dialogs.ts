/** Dialogs: the browser's own element, so focus and Escape work as people expect. */

import { button, div, el, labelled } from "./dom.js";
import { texts } from "./texts.js";

/** Shows a dialog over the page until it is closed; the answer is its return value. */
export function showDialog(dialog: HTMLDialogElement): Promise<string> {
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

/** Asks for one value; false if the player cancels. `problem` says what was wrong. */
export async function askInDialog(
  title: string,
  label: string,
  input: HTMLInputElement | HTMLSelectElement,
  problem = "",
): Promise<boolean> {
  const dialog = el("dialog", { "aria-label": title });
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", {}, title),
    labelled(label, input),
    problem ? el("p", { class: "refusal", role: "alert" }, problem) : undefined,
    div(
      "buttons",
      button(texts.cancel, () => dialog.close("cancel")),
      el("button", { type: "submit", value: "ok", class: "main" }, texts.ok),
    ),
  );
  dialog.append(form);
  return (await showDialog(dialog)) === "ok";
}

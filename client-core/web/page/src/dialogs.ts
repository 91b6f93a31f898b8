/** Dialogs: the browser's own element, so focus and Escape work as people expect. */

import { button, el, labelled } from "./dom.js";
import { texts } from "./texts.js";

export interface DialogField {
  label: string;
  input: HTMLInputElement | HTMLSelectElement;
  hint?: string;
}

/** Asks for the values of some inputs; false if the player cancels. `problem` says what was wrong. */
export function askInDialog(
  title: string,
  fields: readonly DialogField[],
  problem = "",
): Promise<boolean> {
  const dialog = el("dialog", { "aria-label": title });
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", {}, title),
    ...fields.map(({ label, input, hint }) => labelled(label, input, hint)),
    problem ? el("p", { class: "refusal", role: "alert" }, problem) : undefined,
    el(
      "div",
      { class: "buttons" },
      button(texts.cancel, () => dialog.close("cancel")),
      el("button", { type: "submit", value: "ok", class: "main" }, texts.ok),
    ),
  );
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "ok");
    });
  });
}

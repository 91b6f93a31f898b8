// Dialogs that ask, and the line that says what was done.

import { ApiProblem, ask, forgetKey, keepKey } from "./api.js";
import { el, setText } from "./dom.js";
import { icon } from "./icons.js";
import { words } from "./words.js";

const NOTICE_MS = 6_000;
const MOST_NOTICES = 2;

const notices = el("div", { class: "notices", role: "status", "aria-live": "polite" });
document.body.append(notices);

/** Says what was done, for some seconds. */
export function tell(text, tone = "good") {
  const notice = el("p", { "data-tone": tone }, icon(tone === "good" ? "good" : "attention"), text);
  notices.append(notice);
  if (notices.childElementCount > MOST_NOTICES) notices.firstChild.remove();
  setTimeout(() => notice.remove(), NOTICE_MS);
}

let made = 0;

/** A field of a dialog: its elements, and `read()`. */
function field({ name, kind, label, hint, value, options, attributes }) {
  made += 1;
  const id = `field-${made}`;
  if (kind === "check") {
    const input = el("input", { id, type: "checkbox", checked: value });
    const row = el("label", { class: "check", for: id }, input, label);
    return { name, elements: [row], read: () => input.checked };
  }
  if (kind === "choice") {
    const radios = options.map(([key, text], index) => {
      const input = el("input", { type: "radio", name: id, value: key, checked: index === 0 });
      return { input, row: el("label", { class: "check" }, input, text) };
    });
    const group = el("fieldset", {}, el("legend", {}, label), ...radios.map(({ row }) => row));
    const chosen = () => radios.find((it) => it.input.checked).input.value;
    return { name, elements: [group], read: chosen };
  }
  const common = { id, "aria-describedby": hint ? `${id}-hint` : undefined, ...attributes };
  let input;
  if (kind === "select") {
    const option = ([key, text]) => el("option", { value: key, selected: key === value }, text);
    input = el("select", common, ...options.map(option));
  } else if (kind === "lines") {
    input = el("textarea", { rows: 3, ...common });
  } else {
    input = el("input", { type: kind, value, list: options && `${id}-list`, ...common });
  }
  const list = kind !== "select" && options;
  const elements = [
    el("label", { for: id }, label),
    input,
    hint ? el("small", { id: `${id}-hint` }, hint) : undefined,
    list ? datalist(`${id}-list`, list) : undefined,
  ];
  return { name, elements: [el("div", { class: "field" }, ...elements)], read: () => input.value };
}

function datalist(id, values) {
  return el("datalist", { id }, ...values.map((value) => el("option", { value })));
}

/**
 * Asks with a dialog: its `title`, paragraphs `about`, `fields`, the button `go`. `run(values)` is
 * called at the button; what it throws is shown, and the dialog stays. `canCancel` is whether one
 * may go without an answer. Resolves to whether it was done.
 */
export function askFor({ title, about, fields = [], go, tone, run, canCancel = true }) {
  const built = fields.map(field);
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const submit = el("button", { class: tone === "danger" ? "danger" : "main" }, go);
  const cancel = el("button", { type: "button", onclick: () => dialog.close() }, words.cancel);
  const form = el(
    "form",
    { novalidate: false },
    el("h2", { id: "dialog-title" }, title),
    ...[about].flat().map((text) => el("p", { class: "about" }, text)),
    ...built.flatMap(({ elements }) => elements),
    problem,
    el("div", { class: "buttons" }, canCancel ? cancel : undefined, submit),
  );
  const dialog = el("dialog", { class: "ask", "aria-labelledby": "dialog-title" }, form);
  document.body.append(dialog);
  let isDone = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    problem.hidden = true;
    try {
      await run(Object.fromEntries(built.map(({ name, read }) => [name, read()])));
      isDone = true;
      dialog.close();
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setText(problem, error.message);
      problem.hidden = false;
    } finally {
      submit.disabled = false;
    }
  });
  dialog.addEventListener("cancel", (event) => {
    if (!canCancel) event.preventDefault();
  });
  dialog.showModal();
  const first = form.querySelector("input:not([type=radio]), select, textarea");
  (first ?? submit).focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isDone);
    });
  });
}

/** Asks for a key that the server knows. Resolves to whose key it is; `undefined` if cancelled. */
export async function signIn({ why, canCancel = false }) {
  const text = words.signIn;
  let me;
  await askFor({
    title: text.title,
    about: [why, text.about].filter(Boolean),
    fields: [
      {
        name: "key",
        kind: "password",
        label: text.key,
        attributes: { autocomplete: "current-password", required: true, spellcheck: "false" },
      },
      { name: "stays", kind: "check", label: text.stay },
    ],
    go: text.go,
    canCancel,
    run: async ({ key, stays }) => {
      forgetKey();
      me = await ask("GET", "whoami", undefined, key.trim());
      keepKey(key.trim(), stays);
    },
  });
  return me;
}

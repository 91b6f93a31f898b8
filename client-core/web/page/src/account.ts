/** The player's account: what it is, a copy of it for elsewhere, and another one. */

import { DeviceAccount } from "./ambit/ambit.js";
import { type PageAccount, setWantsAccount, wantsAccount } from "./ambit/session.js";
import { showDialog } from "./dialogs.js";
import { button, div, el, labelled, setHidden, setText } from "./dom.js";
import { texts } from "./texts.js";

/** Shows the account; `shown` is that of the session. True if the next session has another one. */
export async function showAccount(
  { own, problem }: PageAccount,
  shown: string | undefined,
): Promise<boolean> {
  const dialog = el("dialog", { class: "account", "aria-label": texts.account });
  const wants = el("input", { type: "checkbox" });
  wants.checked = wantsAccount();
  wants.addEventListener("change", () => {
    setWantsAccount(wants.checked);
    dialog.close("changed");
  });
  dialog.append(
    el("h2", {}, texts.account),
    el("p", {}, texts.account_is),
    shown ? el("p", {}, el("code", {}, shown)) : el("p", {}, texts.account_none),
    problem ? el("p", { class: "refusal" }, problem) : "",
    own ? copyOf(own) : "",
    another((id) => dialog.close(id === shown ? "" : "changed")),
    labelled(texts.account_wanted, wants),
    el("small", {}, texts.account_change),
    div("buttons", button(texts.close, () => dialog.close(), { class: "main" })),
  );
  return (await showDialog(dialog)) === "changed";
}

/** Saves the account as a file, as the console has one. */
function copyOf(account: DeviceAccount): HTMLElement {
  const save = () => {
    const file = new Blob([`${account.exportText()}\n`], { type: "text/plain" });
    const href = URL.createObjectURL(file);
    el("a", { href, download: "ambit-account.txt" }).click();
    // The browser has begun to read it by then.
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  };
  return div("copy", button(texts.account_save, save), el("small", {}, texts.account_secret));
}

/** Takes the text of another account; `done` gets its id. */
function another(done: (id: string) => void): HTMLElement {
  const text = el("input", { type: "password", autocomplete: "off", spellcheck: "false" });
  const refusal = el("p", { class: "refusal", role: "alert", hidden: true });
  const form = el(
    "form",
    {},
    labelled(texts.account_paste, text, texts.account_replaces),
    el("button", { type: "submit" }, texts.account_use),
    refusal,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    DeviceAccount.importText(text.value).then(
      ({ id }) => {
        setWantsAccount(true);
        done(id);
      },
      (thrown: Error) => {
        setText(refusal, thrown.message);
        setHidden(refusal, false);
      },
    );
  });
  return form;
}

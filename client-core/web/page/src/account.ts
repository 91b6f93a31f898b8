/** The player's account: what it is, what the server has of it, and another one. */

import { type Client, DeviceAccount } from "./ambit/ambit.js";
import { type Session, setWantsAccount, wantsAccount } from "./ambit/session.js";
import { type SignedIn, signInWays } from "./core/sign_in.js";
import { showDialog } from "./dialogs.js";
import { button, div, el, labelled, setHidden, setText } from "./dom.js";
import { actingForm, passwordField } from "./sign_in_dialog.js";
import { texts } from "./texts.js";

/**
 * What the player wants next: a session with another account, one that begins with a sign-in or
 * without one, or no account any more. Empty for nothing.
 */
export type Wish = "" | "changed" | "sign_in" | "sign_out" | "erase";

/** Shows the account of the session. */
export async function showAccount({ client, account, ways, signedIn }: Session): Promise<Wish> {
  const dialog = el("dialog", { class: "account", "aria-label": texts.account });
  const wish = (wish: Wish) => dialog.close(wish);
  const parts = signedIn
    ? bySignIn(signedIn, client)
    : ofBrowser(client.account, account, wish, ways.has("device"));
  const [offered, other] = signInWays(ways);
  dialog.append(
    el("h2", {}, texts.account),
    ...parts,
    offered && !signedIn
      ? div("copy", button(texts.sign_in_with[other ? "both" : offered], () => wish("sign_in")))
      : "",
    client.account === undefined ? "" : stored(client, () => wish("erase")),
    el("small", {}, texts.account_change),
    div(
      "buttons",
      signedIn ? button(texts.sign_out, () => wish("sign_out")) : "",
      button(texts.close, () => wish(""), { class: "main" }),
    ),
  );
  return (await showDialog(dialog)) as Wish;
}

/** The account of a player who has signed in. */
function bySignIn({ way, login }: SignedIn, client: Client): HTMLElement[] {
  const id = el("p", {}, texts.account_id, " ", el("code", {}, client.account ?? ""));
  if (way === "token") return [el("p", {}, texts.signed_in_token), id];
  return [el("p", {}, texts.signed_in, " ", el("code", {}, login)), id, changeOf(client)];
}

/** The account that this browser has made, if it has. */
function ofBrowser(
  shown: string | undefined,
  { own, problem }: Session["account"],
  wish: (wish: Wish) => void,
  isOffered: boolean,
): (HTMLElement | string)[] {
  const wants = el("input", { type: "checkbox" });
  wants.checked = wantsAccount();
  wants.addEventListener("change", () => {
    setWantsAccount(wants.checked);
    wish("changed");
  });
  const wanted = labelled(texts.account_wanted, wants);
  wanted.classList.add("choice");
  if (!isOffered) return [el("p", {}, texts.account_none)];
  return [
    el("p", {}, texts.account_is),
    shown ? el("p", {}, el("code", {}, shown)) : el("p", {}, texts.account_none),
    problem ? el("p", { class: "refusal" }, problem) : "",
    own ? copyOf(own) : "",
    another((id) => wish(id === shown ? "" : "changed")),
    wanted,
  ];
}

/** Sets another password. */
function changeOf(client: Client): HTMLElement {
  const [old, next] = [passwordField(false), passwordField(true)];
  const done = el("p", { role: "status", hidden: true }, texts.password_changed);
  const act = async () => {
    setHidden(done, true);
    await client.setPassword(old.value, next.value);
    form.reset();
    setHidden(done, false);
  };
  const submit = el("button", { type: "submit" }, texts.password_change);
  const fields = [labelled(texts.password, old), labelled(texts.password_new, next)];
  const form = actingForm(act, submit, texts.password_wrong, ...fields);
  form.append(done);
  return el("details", {}, el("summary", {}, texts.password_change), form);
}

/** What the server stores: to look at, to save, and to delete. */
function stored(client: Client, erase: () => void): HTMLElement {
  const shown = el("pre", { tabindex: "0" }, texts.loading);
  const read = async () => JSON.stringify(JSON.parse(await client.readAccount()), undefined, 2);
  const details = el("details", {}, el("summary", {}, texts.account_data), shown);
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    read().then(
      (text) => setText(shown, text),
      (thrown: Error) => setText(shown, thrown.message),
    );
  });
  const buttons = div(
    "row",
    button(texts.account_data_save, () => {
      read().then(
        (text) => save("ambit-account-data.json", "application/json", text),
        (thrown: Error) => {
          setText(shown, thrown.message);
          details.open = true;
        },
      );
    }),
    button(texts.account_erase, erase, { class: "danger" }),
  );
  details.append(buttons);
  return details;
}

/** Saves the account as a file, as the console has one. */
function copyOf(account: DeviceAccount): HTMLElement {
  const copy = () => save("ambit-account.txt", "text/plain", account.exportText());
  return div("copy", button(texts.account_save, copy), el("small", {}, texts.account_secret));
}

function save(download: string, type: string, text: string): void {
  const href = URL.createObjectURL(new Blob([`${text}\n`], { type }));
  el("a", { href, download }).click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
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

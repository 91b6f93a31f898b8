/** The forms to sign in: with a password, also for a new account, and with a token. */

import type { Credentials } from "./ambit/session.js";
import { codeOf, problemOf } from "./core/problems.js";
import { isOpen, type Way } from "./core/sign_in.js";
import { showDialog } from "./dialogs.js";
import { button, div, el, labelled, setHidden, setText } from "./dom.js";
import { texts } from "./texts.js";

/** As a server has them. */
const MIN_PASSWORD = 8;
const MAX_PASSWORD = 128;

type Attempt = (given: Credentials) => Promise<void>;

/** Asks until an attempt succeeds; false if the player goes on without. */
export async function askToSignIn(
  ways: ReadonlySet<Way>,
  login: string,
  attempt: Attempt,
): Promise<boolean> {
  const dialog = el("dialog", { class: "account sign-in", "aria-label": texts.sign_in });
  const done = () => dialog.close("done");
  if (!isOpen(ways)) dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.append(
    el("h2", {}, texts.sign_in),
    ways.has("password") ? withPassword(login, attempt, done) : "",
    ways.has("token") ? withToken(attempt, done) : "",
    isOpen(ways)
      ? div("buttons", button(texts.sign_in_not, () => dialog.close("without")))
      : "",
  );
  return (await showDialog(dialog)) === "done";
}

/** The player needs what the server has added to the name. */
export async function showNewLogin(login: string): Promise<void> {
  const dialog = el("dialog", { class: "account", "aria-label": texts.login_is });
  const close = button(texts.ok, () => dialog.close(), { class: "main", autofocus: true });
  dialog.append(
    el("h2", {}, texts.login_is),
    el("p", { class: "login" }, el("code", {}, login)),
    el("p", {}, texts.login_keep),
    div("buttons", close),
  );
  await showDialog(dialog);
}

/** A field for the password that the player has, or for another one. */
export function passwordField(isNew: boolean): HTMLInputElement {
  const input = el("input", { type: "password", required: true, maxlength: `${MAX_PASSWORD}` });
  setIsNew(input, isNew);
  return input;
}

/** The words for what a server has refused; `wrong` are those for a wrong secret. */
function refusalOf(thrown: unknown, wrong: string): string {
  const code = codeOf(thrown);
  if (code === "bad_account") return wrong;
  if (code === "bad_text") return texts.password_length;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return texts.problems[problemOf(code)] || message;
}

/** A form that says why it was refused; `act` is what it does, `wrong` the words for a secret. */
export function actingForm(
  act: () => Promise<void>,
  submit: HTMLButtonElement,
  wrong: string,
  ...children: (Node | string)[]
): HTMLFormElement {
  const refusal = el("p", { class: "refusal", role: "alert", hidden: true });
  const form = el("form", {}, ...children, submit, refusal);
  form.addEventListener("input", () => setHidden(refusal, true));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit.disabled = true;
    setHidden(refusal, true);
    act()
      .catch((thrown: unknown) => {
        setText(refusal, refusalOf(thrown, wrong));
        setHidden(refusal, false);
      })
      .finally(() => {
        submit.disabled = false;
      });
  });
  return form;
}

function withPassword(known: string, attempt: Attempt, done: () => void): HTMLElement {
  const login = el("input", {
    type: "text",
    required: true,
    autocomplete: "username",
    autocapitalize: "off",
    spellcheck: "false",
    placeholder: "ann#48213",
    value: known,
    autofocus: known === "",
  });
  const password = passwordField(false);
  password.autofocus = known !== "";
  const isNew = el("input", { type: "checkbox" });
  const submit = el("button", { type: "submit", class: "main" }, texts.sign_in);
  const loginField = labelled(texts.login, login);
  const hint = el("small", { hidden: true }, texts.new_account_hint);
  isNew.addEventListener("change", () => {
    const { checked } = isNew;
    const label = loginField.querySelector("label");
    if (label) setText(label, checked ? texts.name : texts.login);
    login.placeholder = checked ? "ann" : "ann#48213";
    setIsNew(password, checked);
    setHidden(hint, !checked);
    setText(submit, checked ? texts.new_account_make : texts.sign_in);
  });
  const checkbox = labelled(texts.new_account, isNew);
  checkbox.classList.add("choice");
  const act = async () => {
    const given = { login: login.value.trim(), secret: password.value, isNew: isNew.checked };
    await attempt({ way: "password", ...given });
    done();
  };
  const fields = [loginField, labelled(texts.password, password), checkbox, hint];
  return actingForm(act, submit, texts.sign_in_wrong, ...fields);
}

function withToken(attempt: Attempt, done: () => void): HTMLElement {
  const token = el("input", {
    type: "password",
    required: true,
    autocomplete: "off",
    spellcheck: "false",
  });
  const act = async () => {
    await attempt({ way: "token", login: "", secret: token.value.trim(), isNew: false });
    done();
  };
  const submit = el("button", { type: "submit" }, texts.token_use);
  const field = labelled(texts.token, token, texts.token_hint);
  return actingForm(act, submit, texts.token_wrong, field);
}

/** What a browser's own keeper of passwords does with it, and how long it has to be. */
function setIsNew(input: HTMLInputElement, isNew: boolean): void {
  input.autocomplete = isNew ? "new-password" : "current-password";
  input.minLength = isNew ? MIN_PASSWORD : 0;
}

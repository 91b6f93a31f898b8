/** The beginning: connects, and shows the lobby. */

import { openSession, type Session } from "./ambit/session.js";
import { App, NAME_KEY } from "./app.js";
import { codeOf, comesBack, problemOf } from "./core/problems.js";
import { Retries } from "./core/retries.js";
import { el } from "./dom.js";
import { showWayOut } from "./invitation.js";
import { readLanguage } from "./language.js";
import { endProblem, showError, showProblem } from "./problem_banner.js";
import { isReplay, showReplay } from "./replay/replay_page.js";
import { askToSignIn, showNewLogin } from "./sign_in_dialog.js";
import { texts } from "./texts.js";

const page = document.getElementById("page") as HTMLElement;
/** Until one succeeds, what is on the page stays, with the reason over it. */
const retries = new Retries(async () => {
  try {
    show(await connect());
    return false;
  } catch (thrown) {
    const isAgain = comesBack(problemOf(codeOf(thrown)));
    if (!isAgain) showError(thrown, () => void start());
    return isAgain;
  }
});

async function start(wantsSignIn = false): Promise<void> {
  retries.end();
  page.replaceChildren(el("p", { class: "connecting", role: "status" }, texts.connecting));
  endProblem();
  try {
    show(await connect(wantsSignIn));
  } catch (thrown) {
    page.replaceChildren();
    if (codeOf(thrown) === "insecure_page") return showWayOut();
    showError(thrown, () => void start());
    retryAfter(codeOf(thrown));
  }
}

function connect(wantsSignIn = false): Promise<Session> {
  return openSession(localStorage.getItem(NAME_KEY) ?? "", askToSignIn, wantsSignIn);
}

function show(session: Session): void {
  endProblem();
  const reconnect = (code: string, message: string) => {
    showProblem(code, message, () => void start());
    retryAfter(code);
  };
  new App(page, session, reconnect, () => void start(true));
  const { client, isNew } = session;
  if (isNew && client.login) void showNewLogin(client.login);
}

function retryAfter(code: string): void {
  if (comesBack(problemOf(code))) retries.begin();
}

void readLanguage().then(() => (isReplay() ? showReplay(page) : start()));

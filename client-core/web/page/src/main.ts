/** The beginning: connects, and shows the lobby. */

import { openSession } from "./ambit/session.js";
import { App, NAME_KEY } from "./app.js";
import { codeOf } from "./core/problems.js";
import { el } from "./dom.js";
import { showWayOut } from "./invitation.js";
import { endProblem, showError } from "./problem_banner.js";
import { texts } from "./texts.js";

const page = document.getElementById("page") as HTMLElement;

async function start(): Promise<void> {
  page.replaceChildren(el("p", { class: "connecting", role: "status" }, texts.connecting));
  endProblem();
  try {
    const client = await openSession(localStorage.getItem(NAME_KEY) ?? "");
    new App(page, client, () => void start());
  } catch (thrown) {
    page.replaceChildren();
    if (codeOf(thrown) === "insecure_page") return showWayOut();
    showError(thrown, () => void start());
  }
}

void start();

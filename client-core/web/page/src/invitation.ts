/** How others get here: the address of the page that other devices can open, as link and code. */

import { showDialog } from "./dialogs.js";
import { button, div, el } from "./dom.js";
import { endProblem } from "./problem_banner.js";
import { texts } from "./texts.js";

/** What the server says about the page for other devices; undefined if it has none. */
async function pageWithTls(): Promise<string | undefined> {
  try {
    const answer = await fetch("connect.json");
    const { page } = (await answer.json()) as { page?: string | null };
    return page ?? undefined;
  } catch {
    return undefined;
  }
}

/** Shows the address of this room, or of the lobby, with a code for phones. */
export async function invite(room: number | undefined): Promise<void> {
  const page = await pageWithTls();
  const dialog = el("dialog", { class: "invitation", "aria-label": texts.invite });
  dialog.append(el("h2", {}, texts.invite));
  if (page === undefined) {
    dialog.append(el("p", {}, texts.no_https), el("code", {}, texts.https_flags));
  } else {
    const link = room === undefined ? page : `${page}#room=${room}`;
    const query = room === undefined ? "" : `?room=${room}`;
    dialog.append(
      el("p", {}, texts.invite_how),
      el("img", { src: `page.svg${query}`, alt: texts.code_of(link), width: "240", height: "240" }),
      el("p", {}, el("a", { href: link }, link)),
      el("small", {}, texts.own_certificate),
    );
  }
  dialog.append(div("buttons", button(texts.close, () => dialog.close())));
  void showDialog(dialog);
}

/** This page cannot play, since it came without TLS: shows the address of the one that can. */
export async function showWayOut(): Promise<void> {
  const page = await pageWithTls();
  const room = location.hash;
  const way = page
    ? el("p", {}, texts.open_instead, el("a", { href: `${page}${room}` }, `${page}${room}`))
    : el("p", {}, texts.no_https, " ", el("code", {}, texts.https_flags));
  endProblem();
  const text = el("p", {}, texts.problems.insecure_page);
  document.getElementById("problems")?.append(div("problem", text, way));
}

/** The language of the page: that of `?lang=de`, otherwise those of the browser. */

import { Translation, type TextsFile } from "./core/translation.js";
import { texts } from "./texts.js";

/** The texts of the language that the page has. */
export let translation = new Translation();

/** Asks the server for a language. Without one that it has, all texts stay in English. */
export async function readLanguage(): Promise<void> {
  const wanted = new URLSearchParams(location.search).get("lang");
  const names = wanted === null ? navigator.languages : [wanted];
  for (const name of new Set(names.map((name) => name.slice(0, 2).toLowerCase()))) {
    if (name === "en") return;
    if (!/^[a-z]{2}$/.test(name)) continue;
    const answer = await fetch(`texts/${name}.json`).catch(() => undefined);
    if (!answer?.ok) continue;
    const file = (await answer.json().catch(() => undefined)) as TextsFile | undefined;
    if (file === undefined) continue;
    translation = new Translation(file);
    translation.page(texts);
    document.documentElement.lang = name;
    return;
  }
}

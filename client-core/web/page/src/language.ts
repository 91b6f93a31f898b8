/** The language of the page: that of `?lang=de`, otherwise those of the browser. */

import { Translation, type TextsFile } from "./core/translation.js";
import { texts } from "./texts.js";

/** A warning names at most this many keys. */
const NAMED_KEYS = 5;

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
    const unknown = translation.unknown("page", translation.page(texts)).slice(0, NAMED_KEYS);
    if (unknown.length > 0) console.warn(`texts/${name}.json: the page has no ${unknown.join(", ")}`);
    document.documentElement.lang = name;
    return;
  }
}

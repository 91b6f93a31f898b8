/** Names, chat and schemas come from others: none of it may become markup or code. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { el, setText } from "../src/dom.js";
import { type FakeElement, fakeDocument, withGlobals } from "./fake_page.js";

const EVIL = "<img src=x onerror=alert(1)>";
/** Whatever turns text into markup or code. */
const FORBIDDEN = new RegExp(
  "innerHTML|outerHTML|insertAdjacentHTML|setHTML|parseFromString|createContextualFragment|" +
    "srcdoc|document\\.write|\\beval\\(|new Function|javascript:",
  "i",
);

test("no source of the page turns text into markup or code", () => {
  const names = readdirSync("src", { recursive: true, encoding: "utf8" });
  const sources = names.filter((name) => name.endsWith(".ts"));
  assert.ok(sources.length > 40);
  for (const name of sources) {
    assert.doesNotMatch(readFileSync(`src/${name}`, "utf8"), FORBIDDEN, name);
  }
});

test("a text stays a text, as a child and as the value of an attribute", async () => {
  const made = await withGlobals({ document: fakeDocument() }, () => {
    const element = el("p", { title: EVIL }, EVIL);
    setText(element, EVIL);
    return element as unknown as FakeElement;
  });
  assert.deepEqual(made.children, [EVIL]);
  assert.deepEqual(made.attributes, [["title", EVIL]]);
  assert.equal(made.textContent, EVIL);
});

test("no attribute of the page runs code", () => {
  const names = readdirSync("src", { recursive: true, encoding: "utf8" });
  for (const name of names.filter((other) => other.endsWith(".ts"))) {
    assert.doesNotMatch(readFileSync(`src/${name}`, "utf8"), /\bon[a-z]+: ?["'`]|"on[a-z]+"/, name);
  }
});

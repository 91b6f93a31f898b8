/** The dialog of the best results, with a server that answers when the test says so. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { texts } from "../src/texts.js";
import { showTopLists } from "../src/top_lists.js";
import { type FakeElement, fakeDocument, withGlobals } from "./fake_page.js";

const EVIL = "<img src=x onerror=alert(1)>";
const settled = () => new Promise((done) => setImmediate(done));

/** A list that is asked for; the page does not see more of an answer. */
interface Asked {
  board: string | null;
  period: string | null;
  answer(body: object, status?: number): Promise<unknown>;
  fail(): Promise<unknown>;
}

/** Opens the dialog of a game with these boards. Boards are kept: each test has its own game. */
async function withDialog(
  game: string,
  boards: string[],
  act: (dialog: FakeElement, asked: Asked[]) => Promise<void>,
): Promise<void> {
  const asked: Asked[] = [];
  const fetch = (address: string) => {
    const about = new URL(address, "http://localhost").searchParams;
    const response = (body: object, status = 200) =>
      ({ ok: status === 200, status, json: async () => body });
    if (!about.has("board")) return Promise.resolve(response({ game, boards }));
    return new Promise((resolve, reject) => asked.push({
      board: about.get("board"),
      period: about.get("period"),
      answer: (body, status) => (resolve(response(body, status)), settled()),
      fail: () => (reject(new TypeError("offline")), settled()),
    }));
  };
  const document = fakeDocument();
  await withGlobals({ document, fetch }, async () => {
    const closed = showTopLists(game, "ann");
    await settled();
    const [dialog] = document.body.all("dialog");
    assert.ok(dialog);
    await act(dialog, asked);
    dialog.close();
    await closed;
  });
}

const listOf = (...players: string[]) => ({
  results: players.map((player, at) => ({ place: at + 1, player, score: 9 - at, added_at: 0 })),
});

/** The names in sight, or the line in their place. */
function shown(dialog: FakeElement): string | string[] {
  const [line] = dialog.all("p");
  const [table] = dialog.all("table");
  assert.ok(line && table && line.hidden !== table.hidden);
  if (!line.hidden) return line.textContent;
  return rowsOf(dialog).map((row) => row.all("td")[1]?.textContent ?? "");
}

function rowsOf(dialog: FakeElement): FakeElement[] {
  return dialog.all("tbody")[0]?.all("tr") ?? [];
}

function choose(dialog: FakeElement, period: string): void {
  dialog.all("input").find(({ value }) => value === period)?.dispatch("change");
}

test("the list of the week is shown, with the own row and a word for who is gone", async () => {
  await withDialog("field", ["winners"], async (dialog, asked) => {
    assert.equal(shown(dialog), texts.loading);
    assert.deepEqual(asked.map(({ board, period }) => [board, period]), [["winners", "week"]]);
    await asked[0]?.answer(listOf("bob", "ann", "", EVIL));
    assert.deepEqual(shown(dialog), ["bob", "ann", texts.deleted_player, EVIL]);
    const rows = rowsOf(dialog);
    assert.deepEqual(rows.map((row) => row.attribute("class")), ["", "own", "", ""]);
    assert.deepEqual(rows[1]?.all("td").slice(0, 3).map(({ textContent }) => textContent),
      ["2", "ann", "8"]);
    assert.deepEqual(dialog.all("select"), [], "there is nothing to choose from");
  });
});

test("an answer that comes after another choice is not shown", async () => {
  await withDialog("late", ["winners"], async (dialog, asked) => {
    choose(dialog, "all");
    assert.deepEqual(asked.map(({ period }) => period), ["week", "all"]);
    await asked[1]?.answer(listOf("bob"));
    await asked[0]?.answer(listOf("ann"));
    assert.deepEqual(shown(dialog), ["bob"]);
    choose(dialog, "day");
    choose(dialog, "month");
    await asked[2]?.fail();
    assert.equal(shown(dialog), texts.loading);
    await asked[3]?.answer(listOf());
    assert.equal(shown(dialog), texts.top_list_empty.month);
  });
});

test("a list that cannot be read is a line, and the next choice is read again", async () => {
  await withDialog("broken", ["winners"], async (dialog, asked) => {
    await asked[0]?.answer({}, 503);
    assert.equal(shown(dialog), texts.top_list_failed);
    choose(dialog, "day");
    await asked[1]?.fail();
    assert.equal(shown(dialog), texts.top_list_failed);
    choose(dialog, "all");
    await asked[2]?.answer({ results: "none" });
    assert.equal(shown(dialog), texts.top_list_failed);
    choose(dialog, "week");
    await asked[3]?.answer(listOf("bob"));
    assert.deepEqual(shown(dialog), ["bob"]);
  });
});

test("of several boards one is chosen, and the period stays", async () => {
  await withDialog("boards", ["most-kills", "winners"], async (dialog, asked) => {
    const [board] = dialog.all("select");
    assert.deepEqual(board?.all("option").map(({ textContent }) => textContent),
      ["Most kills", "Winners"]);
    choose(dialog, "all");
    if (board) board.value = "winners";
    board?.dispatch("change");
    assert.deepEqual([asked[2]?.board, asked[2]?.period], ["winners", "all"]);
  });
});

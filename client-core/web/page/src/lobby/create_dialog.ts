/** The dialog for a new room: its fields come from what the game says about its parameters. */

import type { GameDescription, GameListing, RoomSettings } from "../ambit/ambit.js";
import {
  changedParameters,
  fieldNamed,
  type FormField,
  findProblem,
  type InputProblem,
  layOut,
  refusalForPlayers,
} from "../core/create_form.js";
import { forPlayers } from "../core/words.js";
import { showDialog } from "../dialogs.js";
import { button, div, el, labelled, setHidden, setText, span } from "../dom.js";
import { translation } from "../language.js";
import { texts } from "../texts.js";
import { gamePicture } from "./game_picture.js";

export interface WantedRoom {
  name: string;
  game: string;
  settings: RoomSettings;
}

type Input = HTMLInputElement | HTMLSelectElement;

/** Asks for a new room, until `create` has made one, or the player cancels. */
export async function askForRoom(
  games: readonly GameListing[],
  suggestedName: string,
  /** The one that is chosen first; else the first of the list. */
  suggestedGame: string | undefined,
  describe: (game: string) => Promise<GameDescription>,
  create: (wanted: WantedRoom) => Promise<void>,
): Promise<void> {
  const name = el("input", { type: "text", required: true, maxlength: "32", value: suggestedName,
    autofocus: true });
  let chosenGame = suggestedGame ?? games[0]?.name ?? "";
  const cards = games.map(({ name: value }) => gameCard(value, value === chosenGame));
  const game = el("fieldset", { class: "game-choice" }, el("legend", {}, texts.game), ...cards);
  const about = el("small", { class: "about" });
  const capacity = el("input", { type: "number", min: "1", step: "1" });
  const password = el("input", { type: "password", autocomplete: "off" });
  const parameters = div("parameters");
  let fields: FormField[] = [];
  let inputs = new Map<string, Input>();

  const showGame = async () => {
    const chosen = chosenGame;
    const listed = games.find((other) => other.name === chosen);
    setText(about, translation.of(`${chosen}.description`, listed?.description ?? ""));
    parameters.replaceChildren(el("p", {}, texts.loading));
    const description = await describe(chosen).catch(() => undefined);
    if (chosenGame !== chosen) return;
    const shown = (description?.parameters ?? []).map((parameter) => {
      const key = `${chosen}.parameters.${parameter.key}`;
      const label = translation.of(`${key}.label`, parameter.label);
      return { ...parameter, label, about: translation.of(`${key}.about`, parameter.about) };
    });
    const form = layOut(shown, listed?.quick_start);
    fields = [...form.first, ...form.more];
    inputs = new Map(fields.map((field) => [field.key, inputOf(field)]));
    capacity.placeholder = description?.default_capacity ? `${description.default_capacity}` : "";
    if (description?.max_capacity) capacity.max = `${description.max_capacity}`;
    const row = (field: FormField) =>
      labelled(field.label, inputs.get(field.key) as Input, field.about);
    const fold = (summary: string, list: readonly FormField[]) =>
      list.length > 0
        ? [el("details", {}, el("summary", {}, summary), el("div", {}, ...list.map(row)))]
        : [];
    parameters.replaceChildren(
      ...fold(texts.game_settings, form.first),
      ...fold(texts.more, form.more),
    );
  };

  const refusal = el("p", { class: "refusal", role: "alert", hidden: true });
  const submit = el("button", { type: "submit", class: "main" }, texts.create);
  const dialog = el("dialog", { class: "create", "aria-label": texts.create_room });
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", {}, texts.create_room),
    div(
      "fields",
      labelled(texts.room_name, name),
      game,
      about,
      div(
        "pair",
        labelled(texts.capacity, capacity),
        labelled(texts.password, password, texts.password_hint),
      ),
      parameters,
      refusal,
    ),
    div("buttons", button(texts.cancel, () => dialog.close("cancel")), submit),
  );
  dialog.append(form);
  game.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    chosenGame = target.value;
    void showGame();
  });
  void showGame();

  const wanted = (): WantedRoom => {
    const settings: RoomSettings = {
      parameters: changedParameters(fields, (key) => inputs.get(key)?.value ?? ""),
    };
    if (capacity.value !== "") settings.capacity = Number(capacity.value);
    if (password.value !== "") settings.password = password.value;
    return { name: name.value.trim(), game: chosenGame, settings };
  };
  const showRefusal = (message: string) => {
    const field = fieldNamed(message, fields);
    setText(refusal, field ? refusalForPlayers(message, field) : message);
    setHidden(refusal, message === "");
    refusal.scrollIntoView({ block: "nearest" });
    const input = field ? inputs.get(field.key) : undefined;
    for (const other of inputs.values()) other.removeAttribute("aria-invalid");
    if (!input) return;
    input.setAttribute("aria-invalid", "true");
    input.closest("details")?.setAttribute("open", "");
    input.closest(".field")?.append(refusal);
    input.focus();
    refusal.scrollIntoView({ block: "nearest" });
  };
  // What is wrong in a fold could not be shown, and nothing would happen.
  const unfold = ({ target }: Event) => {
    (target as HTMLElement).closest("details")?.setAttribute("open", "");
  };
  form.addEventListener("invalid", unfold, true);
  form.addEventListener("input", () => {
    if (!refusal.hidden) showRefusal("");
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit.disabled = true;
    create(wanted())
      .then(() => dialog.close())
      .catch((thrown: unknown) => {
        showRefusal(thrown instanceof Error ? thrown.message : String(thrown));
      })
      .finally(() => {
        submit.disabled = false;
      });
  });
  const closed = showDialog(dialog);
  // Typing replaces the suggested name.
  name.select();
  await closed;
}

/** A game as a picture to choose. */
function gameCard(name: string, isChosen: boolean): HTMLElement {
  const input = el("input", { type: "radio", name: "game", value: name, checked: isChosen });
  const art = span("art", gamePicture(name, ""));
  return el("label", {}, input, art, el("span", {}, forPlayers(name)));
}

function inputOf(field: FormField): Input {
  if (field.kind === "word") {
    const options = field.words.map((word) => el("option", { value: word }, forPlayers(word)));
    const select = el("select", {}, ...options);
    select.value = field.value;
    return select;
  }
  const inputmode = field.kind === "whole" ? "numeric" : "text";
  const input = el("input", { type: "text", inputmode, value: field.value });
  input.addEventListener("input", () => {
    const problem = findProblem(field, input.value);
    input.setCustomValidity(problem ? describeProblem(problem) : "");
    input.reportValidity();
  });
  return input;
}

function describeProblem(problem: InputProblem): string {
  return problem.problem === "out_of_range"
    ? texts.out_of_range(problem.min, problem.max)
    : texts[problem.problem];
}

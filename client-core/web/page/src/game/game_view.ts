/** A running game: the loop, and how its parts work together. */

import type { Client, Frame, Game, GameRules, Kind, Schema } from "../ambit/ambit.js";
import {
  type Action,
  actionsOf,
  cardsOf,
  giveDigits,
  groupsOf,
  isListed,
  isOffered,
  isTooDear,
} from "../core/actions.js";
import { liftOver } from "../core/camera.js";
import { knownOf } from "../core/known.js";
import { PendingCommands } from "../core/pending_commands.js";
import { withinReach } from "../core/picking.js";
import { PlannedPaths } from "../core/planned_paths.js";
import { isRoomWide } from "../core/score_tables.js";
import { Answers } from "../core/answers.js";
import { tileOf } from "../core/action_tile.js";
import { extentOf, type RoomSettings } from "../core/room_settings.js";
import { Stillness } from "../core/stillness.js";
import { AvatarWatch } from "../core/avatar_watch.js";
import { Watching } from "../core/watching.js";
import { div, el, note, setHidden, setText } from "../dom.js";
import type { Result } from "../game_result.js";
import { Overlay } from "../overlay/overlay.js";
import { texts } from "../texts.js";
import { Banner } from "./banner.js";
import { BossBar } from "./boss_bar.js";
import { ChoiceCards } from "./choice_cards.js";
import { Commander } from "./commander.js";
import { partsOf } from "../core/gamepad.js";
import { EdgePointers } from "./edge_pointers.js";
import { EventReader } from "./event_reader.js";
import { FallenNote } from "./fallen_note.js";
import { FelledNote } from "./felled_note.js";
import { type FirstHints, firstHints } from "./first_hints.js";
import { Hud } from "./hud.js";
import { HurtFlash } from "./hurt_flash.js";
import { iconButton } from "./icons.js";
import { LineMark } from "./line_mark.js";
import { OwnValues } from "./own_values.js";
import { Picture } from "./picture.js";
import { Party } from "./party.js";
import { PlayerInput } from "./player_input.js";
import { ScoreBoard } from "./score_board.js";
import { SmallMap } from "./small_map.js";

/** The ring around the own avatar whose command was refused. */
const REFUSED = "#e5432f";
/** Of that a third is dark; then the picture comes. */
const CUT_MS = 420;
/** How often it is looked at what the avatar is. */
const OFFER_MS = 150;

export interface GameHooks {
  /** What is known about the room; a gate leads to a map with other rules. */
  settingsOf(rules: GameRules): RoomSettings;
  /** Opens or closes the lobby beside the game. */
  toggleLobby(): void;
  /** The player writes: what came before has been read. */
  read(): void;
  /** True if it was open beside the game. */
  closeLobby(): boolean;
  /** To the room. */
  say(text: string): void;
  leave(): void;
  ended(code: string, message: string): void;
}

export class GameView {
  readonly element: HTMLElement;
  readonly #picture: Picture;
  readonly #map: SmallMap;
  readonly #hud: Hud;
  readonly #ownValues: OwnValues;
  readonly #score: ScoreBoard;
  readonly #overlay: Overlay;
  readonly #line: LineMark;
  readonly #pending = new PendingCommands();
  readonly #paths = new PlannedPaths();
  readonly #commander: Commander;
  readonly #input: PlayerInput;
  readonly #events: EventReader;
  readonly #avatar = new AvatarWatch();
  readonly #watching: Watching;
  readonly #stillness = new Stillness();
  readonly #answers = new Answers();
  readonly #banner = new Banner();
  readonly #fallen = new FallenNote();
  readonly #felled = new FelledNote();
  readonly #cut = el("div", { class: "cut", "aria-hidden": "true" });
  readonly #boss = new BossBar();
  /** For a player who is out: the name of the watched player. */
  readonly #watchedName = el("span");
  readonly #out = note(
    "div",
    "out-note",
    el("strong", {}, texts.out),
    el("p", {}, texts.out_until),
    this.#watchedName,
    el("small", {}, texts.watch_others),
  );
  readonly #lobbyButton = iconButton("lobby", texts.lobby_short, () => this.hooks.toggleLobby(), {
    class: "lobby-button",
    "aria-label": texts.lobby,
    title: texts.lobby,
  });
  readonly #overlayButton = iconButton("network", texts.overlay, () => this.#toggleOverlay(), {
    title: texts.overlay_title,
  });
  readonly #actions: readonly Action[];
  readonly #states: readonly Kind[];
  readonly #pointers: EdgePointers;
  readonly #hurt: HurtFlash;
  readonly #party: Party;
  readonly #cards: ChoiceCards;
  readonly #hints: FirstHints;
  readonly #end = new AbortController();
  /** What is at the bottom of a low picture is not over the avatar. */
  readonly #sizes = new ResizeObserver(() => {
    const { camera, canvas } = this.#picture;
    camera.lift = liftOver(this.#bar?.offsetHeight ?? 0, canvas.clientHeight);
  });
  #bar: HTMLElement | undefined;
  #digitsFor = "";
  /** What it depends on. */
  #offeredFor: string | undefined;
  #offerAt = -Infinity;
  #settings: RoomSettings | undefined;
  #frame: Frame;
  #before = 0;
  #request = 0;

  constructor(
    client: Client,
    private readonly game: Game,
    private readonly schema: Schema,
    private readonly hooks: GameHooks,
  ) {
    this.#frame = game.frame();
    this.#overlay = new Overlay(client);
    this.#line = new LineMark(client);
    this.#map = new SmallMap(schema.scenery);
    this.#score = new ScoreBoard(schema);
    this.#ownValues = new OwnValues(schema.kinds);
    const picture = new Picture(schema);
    this.#picture = picture;
    const actions = actionsOf(schema);
    this.#actions = actions;
    this.#watching = new Watching(actions);
    this.#states = schema.kinds.filter(isRoomWide);
    this.#party = new Party(schema.scenery, (id) => this.#pick(id));
    this.#hurt = new HurtFlash(schema, picture.happenings.attackers);
    this.#pointers = new EdgePointers(picture.happenings.attackers, hasLooks(schema));
    this.#commander = new Commander(game, this.#pending, {
      onDraft: (draft) => this.#hud.showDraft(draft),
      onGiven: (action) => this.#answer(action),
      onError: (label, message) => {
        this.#takeBack(label);
        this.#hud.say(texts.refused(label, message), true);
      },
      ask: (label, field) => this.#hud.ask(label, field),
      lagMs: () => this.#lagMs(),
      avatarPlace: () => picture.camera.target,
    });
    const { canvas, camera } = picture;
    const { signal } = this.#end;
    this.#input = new PlayerInput(canvas, camera, game, schema, actions, this.#commander, {
      beginChat: () => {
        hooks.read();
        this.#hud.beginChat();
      },
      toggleOverlay: () => this.#toggleOverlay(),
      toggleSound: () => picture.happenings.sounds.toggle(),
      held: (isHeld) => this.#hud.showHeld(isHeld),
      did: (deed) => this.#hints.did(deed),
      closePanel: () => this.#closePanel(),
    }, signal);
    picture.pointer = this.#input.aim.pointer;
    this.#hud = new Hud(actions, schema, {
      begin: (action) => {
        // The arrow keys and Space choose the place.
        this.focus();
        this.#commander.begin(action);
        this.#input.showAim();
      },
      hold: (control, isHeld) => this.#input.hold(control, isHeld),
      moveLever: (control, value) => this.#input.moveLever(control, value),
      say: (text) => hooks.say(text),
      endChat: () => this.focus(),
    });
    this.#cards = new ChoiceCards(schema, {
      begin: (action) => {
        this.focus();
        this.#commander.begin(action);
      },
      pictureOf: (choice) => picture.portraitOf(schema, choice),
      changed: (isOpen) => {
        if (!isOpen) this.focus();
        this.#offerAt = -Infinity;
      },
    });
    const { happenings } = picture;
    this.#events = new EventReader(game, schema, actions, this.#pending, this.#paths, happenings, {
      onMap: () => this.#readMap(),
      onSilent: (silentMs) => {
        this.#line.state.fallSilent(performance.now(), silentMs);
        this.#showLine();
      },
      onHeard: () => this.#recover(),
      onInterrupted: () => {
        this.#line.state.break(performance.now());
        this.#showLine();
        setHidden(this.#hud.interruption, false);
      },
      onResumed: () => {
        this.#recover();
        setHidden(this.#hud.interruption, true);
        this.#stillness.restart();
        this.#readMap();
        this.#input.tellHeldAgain();
      },
      onConfirmed: (label) => {
        this.#answers.take(label);
        this.#hud.cool(label);
      },
      onRefused: (label) => {
        this.#takeBack(label);
        this.#hud.warm(label);
      },
      tell: (text, isOwn) => this.#hud.tell(text, isOwn),
      tellOwn: (text, isDeath) => this.#fallen.note(text, isDeath),
      felled: (name, object) => {
        this.#felled.show(name);
        this.#picture.markFelled(performance.now(), this.#frame, object);
        happenings.sounds.answer(performance.now(), "felled");
      },
      announce: (announcement) => {
        this.#banner.show(performance.now(), announcement);
        // What was read at leisure is not over what happens now.
        this.#cards.rest();
      },
      say: (text, isProblem) => this.#hud.say(text, isProblem),
      ended: (code, message) => hooks.ended(code, message),
    });
    const { sounds } = happenings;
    this.#hints = firstHints(schema, actions, sounds.isUndecided, {
      hear: (isWanted) => sounds.set(isWanted),
      done: () => this.focus(),
    });
    sounds.onHeard = () => this.#hints.did("hear");
    camera.onZoom = () => this.#hints.did("look");
    this.element = this.#layOut(schema);
    this.#offer(performance.now(), this.#frame);
    addEventListener("gamepadconnected", ({ gamepad }) => this.#showGamepad(gamepad), { signal });
    for (const pad of navigator.getGamepads?.() ?? []) if (pad) this.#showGamepad(pad);
    this.#readMap();
    this.#request = requestAnimationFrame(this.#next);
  }

  showChat(text: string): void {
    this.#hud.showChat(text);
  }

  /** The number of lines of chat that were not read in the lobby. */
  showUnread(count: number): void {
    const button = this.#lobbyButton;
    button.dataset["unread"] = count > 0 ? String(count) : "";
    button.ariaLabel = count > 0 ? texts.lobby_unread(count) : texts.lobby;
  }

  /** The current tables of all players. */
  result(): Result {
    const { game, scenery } = this.schema;
    return { game, ending: this.#score.last.ending(), isParty: scenery.party };
  }

  focus(): void {
    this.#picture.canvas.focus();
  }

  dispose(): void {
    cancelAnimationFrame(this.#request);
    this.#end.abort();
    this.#sizes.disconnect();
    this.#picture.dispose();
    this.element.remove();
  }

  #layOut(schema: Schema): HTMLElement {
    const picture = this.#picture;
    const hasWords = schema.events.some(({ text }) => text !== "");
    const { help, log, interruption, messages, hint, commands, controls, chat } = this.#hud;
    const toggle = (panel: HTMLElement) => () => setHidden(panel, !panel.hidden);
    const buttons = div(
      "game-buttons",
      this.#lobbyButton,
      this.#overlayButton,
      picture.happenings.sounds.button,
      ...(hasWords ? [iconButton("log", texts.log_short, toggle(log), { title: texts.log })] : []),
      iconButton("help", texts.help, toggle(help)),
      iconButton("leave", texts.leave_short, () => this.hooks.leave(), {
        "aria-label": texts.leave,
        title: texts.leave,
      }),
      this.#line.element,
    );
    const { element: hints } = this.#hints;
    const { nobody } = this.#pointers;
    const bar = div("action-bar", this.#ownValues.element, commands);
    this.#bar = bar;
    this.#sizes.observe(bar);
    this.#sizes.observe(picture.canvas);
    const notes = div("notes", interruption, this.#out, messages, nobody, hint);
    // One grid: nothing of it covers anything else of it.
    const over = div(
      "over",
      div("top-left", buttons, hints, this.#party.element),
      div("top-right", this.#map.element, this.#score.element),
      this.#boss.element,
      this.#banner.element,
      this.#fallen.element,
      this.#felled.element,
      chat,
      div("below", notes, this.#cards.openers, bar),
      controls,
    );
    const { element: cards } = this.#cards;
    const { element: overlay } = this.#overlay;
    const behind = [picture.canvas, this.#cut, this.#hurt.element, this.#pointers.element];
    const parts = [...behind, over, cards, overlay, help, log];
    return el("main", { class: "game" }, ...parts);
  }

  #showGamepad({ id, mapping }: Gamepad): void {
    if (mapping === "standard") this.#hud.showGamepad(id, partsOf(this.#input.pad.plan));
  }

  /** One frame. Makes no objects of its own, except when something happens. */
  readonly #next = (time: number): void => {
    const seconds = Math.min((time - this.#before) / 1_000, 0.1);
    this.#events.read(time, this.#frame, this.#before);
    if (this.game.isOver) return;
    this.#before = time;
    this.#request = requestAnimationFrame(this.#next);
    const picture = this.#picture;
    const frame = this.game.frame(time);
    this.#frame = frame;
    this.#watchAvatar(time, frame);
    this.#hud.update(time);
    this.#hud.showAnswers(time, this.#answers);
    this.#banner.update(time);
    this.#line.update(time);
    if (this.#stillness.stays(time, frame.count, frame.avatar >= 0)) return;
    picture.follow(frame, seconds, this.#watching.indexIn(frame));
    this.#input.update(time, frame, seconds);
    this.#pending.expire(time, this.#tellDone);
    const { markers, ringSize } = picture;
    const reachM = this.#commander.draft?.action.reachM ?? Infinity;
    const aimed = this.#input.aimed;
    const aim = aimed && withinReach(aimed, picture.camera.target, reachM);
    markers.update(time, this.#pending.list, aim, ringSize);
    markers.showReach(picture.camera.target, reachM);
    picture.draw(time, frame, this.#paths, this.#overlay, this.#answers.rise(time));
    this.#map.update(time, frame, picture.camera.target.x, picture.camera.target.y);
    this.#ownValues.update(time, frame);
    this.#pointers.update(time, frame, picture.camera);
    this.#hurt.update(time, frame, picture.camera);
    this.#party.update(time, frame);
    this.#boss.update(time, frame);
    this.#offer(time, frame);
    this.#score.update(time, frame);
    this.#overlay.update(time, frame, this.#pending, this.#settings);
  };

  /** In the frame after the key; what has a place is answered there. */
  #answer(action: Action): void {
    if (action.isClick) return;
    const now = performance.now();
    this.#answers.give(now, action.label);
    this.#hud.showAnswers(now, this.#answers);
    this.#picture.happenings.sounds.answer(now, "press");
    this.#picture.markDeed(now, this.#frame, tileOf(action).colour);
    this.#hints.did("act");
  }

  #takeBack(label: string): void {
    const now = performance.now();
    this.#answers.refuse(now, label);
    this.#picture.happenings.sounds.answer(now, "refusal");
    this.#picture.markDeed(now, this.#frame, REFUSED);
  }

  /** Follows whether the avatar has fallen or is out: an avatar that has fallen has no aim. */
  #watchAvatar(time: number, frame: Frame): void {
    const { avatar } = frame;
    const life = this.#picture.ownLife(frame);
    this.#avatar.update(avatar >= 0, life);
    const isWreck = this.#picture.ownIsWreck(frame);
    this.#input.rest(isWreck);
    this.element.classList.toggle("wreck", isWreck);
    this.element.classList.toggle("fallen", !this.#avatar.isUp);
    if (this.#avatar.hasFallen) this.#keepAimOf([]);
    const wasOut = this.#watching.isOut;
    this.#watching.update(time, frame);
    // If a player who is out watches others, that view says so.
    const hasOwnView = avatar >= 0 && this.#watching.isFor(frame.kind(avatar));
    if (this.#fallen.update(frame, life, !hasOwnView)) this.#cutTo(time, frame);
    this.element.classList.toggle("down", this.#fallen.isDown);
    const { isOut } = this.#watching;
    if (isOut === wasOut) return;
    this.element.classList.toggle("out", isOut);
    setHidden(this.#out, !isOut);
    this.#offerAt = -Infinity;
  }

  /** The avatar is back, perhaps elsewhere: a cut, as in a film, and light where it is. */
  #cutTo(time: number, frame: Frame): void {
    this.#picture.camera.cut();
    this.#picture.markArrival(time, frame);
    this.#cut.animate([{ opacity: 1 }, { opacity: 1, offset: 0.3 }, { opacity: 0 }], CUT_MS);
  }

  /** Ends an aim of a command that is no longer among the actions. */
  #keepAimOf(actions: readonly Action[]): void {
    if (this.#commander.keepOnly(actions)) this.#input.aim.usesKeys = false;
  }

  readonly #tellDone = ({ label }: { label: string }): void => {
    const action = this.#actions.find((one) => one.label === label);
    // A visible effect needs no words: a walk, or a cool-down.
    const isPlain =
      action && !action.isClick && action.cooldownMs === 0 && action.command.fields.length < 2;
    if (this.#cards.confirm(label) ?? isPlain) this.#hud.say(texts.done(label));
  };

  /** What the player can do depends on texts of the avatar and of the game: a class, a phase. */
  #offer(time: number, frame: Frame): void {
    if (frame.avatar < 0 || time < this.#offerAt) return;
    this.#offerAt = time + OFFER_MS;
    const { isOut } = this.#watching;
    if (isOut) this.#showWatched(frame);
    const known = knownOf(frame, this.#states);
        this.#hud.showDear((action) => isTooDear(action, known));
    const { flags, texts, numbers, counts, shares } = known;
    const listed = [...counts.values()].flatMap((all) => [...all].flat());
    const values = [texts, numbers, shares].flatMap((all) => [...all.values()]);
    const key = [...flags, ...values, ...listed, this.#cards.opened?.name ?? "", isOut].join();
    if (key === this.#offeredFor) return;
    this.#offeredFor = key;
    // A player who is out has no actions, even if others have.
    const shown = isOut ? [] : this.#actions.filter((action) => isOffered(action, known));
    // What hangs on others is shown before it can be chosen.
    const offered = shown.filter((action) => isListed(action, known));
    const [first, groups] = [cardsOf(offered, known.own), groupsOf(shown)];
    this.element.classList.toggle("choosing", first.length > 0);
    const all = new Map(groups);
    if (first[0]) all.set(first[0].command, first);
    this.#cards.offer(all, first[0]?.command, known);
    // Digits are for the cards that are open, otherwise for what is in the bar.
    const [cards, open] = [[...all.values()].flat(), this.#cards.opened];
    const keyed = offered.filter((action) =>
      open && all.has(open) ? all.get(open)?.includes(action) : !cards.includes(action));
    for (const action of shown) if (!keyed.includes(action)) action.key = null;
    giveDigits(keyed, this.schema);
    this.#cards.showKeys();
    this.#hud.offer(offered, known, cards);
    // A player about to press a digit meant its former action.
    const cardsNow = open ? keyed.map(({ label }) => label).join() : "";
    if (this.#digitsFor !== cardsNow) this.#input.pauseDigits();
    this.#digitsFor = cardsNow;
    this.#input.setActions(offered);
    this.#keepAimOf(offered);
  }

  #showWatched(frame: Frame): void {
    const index = this.#watching.indexIn(frame);
    const name = index === frame.avatar ? undefined : frame.label(index);
    setText(this.#watchedName, name === undefined ? "" : texts.watching(name));
  }

  /** The picked member of the party is what a command asks for, or where it acts. */
  #pick(id: number): void {
    const [index, frame] = [this.#frame.indexOf(id), this.#frame];
    if (index < 0) return;
    this.#watching.pick(id);
    this.#commander.giveObject(id);
    this.#commander.givePlace({ x: frame.x(index), y: frame.y(index), z: frame.z(index) });
    this.focus();
  }

  /** The last one that was opened, so to say: help, then the figures of the line. */
  #closePanel(): boolean {
    const { help, log } = this.#hud;
    if (help.hidden && log.hidden && this.#cards.close()) return true;
    const isOpen = !help.hidden || !log.hidden || this.#overlay.isOpen;
    if (!help.hidden) setHidden(help, true);
    else if (!log.hidden) setHidden(log, true);
    else if (this.#overlay.isOpen) this.#toggleOverlay();
    if (isOpen) this.focus();
    return isOpen || this.hooks.closeLobby();
  }

  /** The host is heard again. */
  #recover(): void {
    this.#line.recover();
    this.#showLine();
  }

  /** What is shown without a line is old: it looks so. */
  #showLine(): void {
    this.element.classList.toggle("dead-line", this.#line.state.isDead);
    this.#line.refresh(performance.now());
  }

  /** The map and the rules of the room. Obstacles come some time after the start. */
  #readMap(): void {
    const { rules } = this.game;
    if (!rules) return;
    const obstacles = this.game.map() ?? [];
    this.#settings = this.hooks.settingsOf(rules);
    this.#picture.setMap(this.#settings, obstacles);
    this.#map.setMap(this.#settings, obstacles);
    this.#input.aim.setExtent(extentOf(rules));
  }

  /** From now to the effect of a command, before the host has confirmed it. */
  #lagMs(): number {
    const leastMs = (this.#settings?.delay_ms ?? 0) + this.#line.rttMs / 2;
    return Math.max(leastMs, this.#pending.measuredLagMs);
  }

  #toggleOverlay(): void {
    this.#overlay.toggle();
    this.#picture.interest.group.visible = this.#overlay.isOpen;
  }
}

/** Whether players steer named objects: then turning shows others. */
function hasLooks({ controls, kinds }: Schema): boolean {
  const hasName = ({ look }: Kind) => look.shape === "arrow" && look.label !== null;
  return controls.length > 0 && kinds.some(hasName);
}

/** What the player does: turns presses, keys and buttons into commands and held controls. */

import type { Control, Frame, Game, Schema } from "../ambit/ambit.js";
import type { Action } from "../core/actions.js";
import type { Point, ViewCamera } from "../core/camera.js";
import {
  angleOfWay,
  bitsOf,
  bitsTowards,
  controlOfKey,
  hasDirections,
  isForSteering,
  leverOfKeys,
  stepOf,
} from "../core/controls.js";
import { directionBits, planOf, type Stick, wayOf } from "../core/gamepad.js";
import {
  AHEAD_M,
  endsElsewhere,
  HeldWalk,
  pointsElsewhere,
  type ToldPlace,
  walksByLetters,
  wayOfLetters,
} from "../core/held_walk.js";
import type { Deed } from "../core/first_steps.js";
import { isTouch } from "../dom.js";
import { Aim } from "./aim.js";
import type { Commander } from "./commander.js";
import { GamepadInput } from "./gamepad_input.js";
import { Keyboard } from "./keyboard.js";
import { PointerInput } from "./pointer_input.js";

/** A held press repeats its command so often; a server takes 64 commands a second. */
const REPEAT_MS = 150;
const KEY_ZOOM = 1.15;
const KEY_TURN = 0.06;
/** How long digits are ignored after cards have gone. */
const DIGITS_PAUSE_MS = 1_000;

export interface InputHooks {
  beginChat(): void;
  toggleOverlay(): void;
  toggleSound(): void;
  /** What is held now, by keys, buttons or a gamepad. */
  held(isHeld: (control: Control) => boolean): void;
  /** The player has moved, acted or looked closer. */
  did(deed: Deed): void;
  /** True if there was one. */
  closePanel(): boolean;
}

export class PlayerInput {
  readonly aim: Aim;
  /** Whether the game has controls. */
  readonly isSteered: boolean;
  /** Whether a held press shows where to go. */
  readonly #followsPointer: boolean;
  readonly #controls: readonly Control[];
  readonly #click: Action | undefined;
  readonly #pointer: PointerInput;
  readonly #keyboard: Keyboard;
  readonly pad: GamepadInput;
  /** Whether W A S D walk. */
  readonly #hasLetters: boolean;
  readonly #walking = new HeldWalk();
  readonly #way: Stick = { x: 0, y: 0 };
  readonly #ahead: Point = { x: 0, y: 0, z: 0 };
  readonly #ground: Point = { x: 0, y: 0, z: 0 };
  readonly #told: ToldPlace = { x: 0, y: 0, since: 0 };
  readonly #heldButtons = new Set<Control>();
  readonly #held = new Set<Control>();
  readonly #axes: readonly Control[];
  /** Linear axes that are moved on the screen. */
  readonly #levers = new Map<Control, number>();
  /** The values of the axes as the game has them, in steps. */
  readonly #toldSteps = new Map<Control, number>();
  #frame: Frame;
  /** The keys as the game has them; undefined if they have to be sent again. */
  #heldBits: number | undefined = 0;
  #repeatAt = Infinity;
  #rests = false;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly camera: ViewCamera,
    private readonly game: Game,
    schema: Schema,
    private actions: readonly Action[],
    private readonly commander: Commander,
    private readonly hooks: InputHooks,
    /** Ends it. */
    signal: AbortSignal,
  ) {
    this.#controls = schema.controls;
    this.#axes = schema.controls.filter(({ axis }) => axis !== null);
    this.#click = actions.find((action) => action.isClick);
    this.isSteered = schema.controls.length > 0;
    this.#hasLetters = walksByLetters(actions, schema.controls);
    this.#followsPointer = hasDirections(schema.controls);
    this.#frame = game.frame();
    this.#pointer = new PointerInput(canvas, camera, {
      press: () => this.#press(),
      release: () => this.#release(),
      // After a command was begun by its button, the mouse points.
      move: () => (this.aim.usesKeys &&= this.commander.draft?.next?.type !== "position"),
    }, signal);
    this.#keyboard = new Keyboard((key) => this.#key(key), signal);
    const plan = planOf(schema.controls, actions);
    this.pad = new GamepadInput(plan, (action) => this.#beginByPad(action));
    this.aim = new Aim(camera, this.#pointer);
    addEventListener("blur", () => this.#releaseAll(), { signal });
    const onVisibility = () => document.hidden && this.#releaseAll();
    document.addEventListener("visibilitychange", onVisibility, { signal });
  }

  /** The aim that is to be shown: that of the keyboard, or where a command would act. */
  get aimed(): Point | undefined {
    const { draft } = this.commander;
    if (this.aim.usesKeys) return !this.isSteered || draft ? this.aim.place : undefined;
    if (draft?.next?.type !== "position" || isTouch()) return undefined;
    return this.aim.underPointer(this.#ground) ? this.#ground : undefined;
  }

  /** Called at each frame: what is held goes on. */
  update(now: number, frame: Frame, seconds: number): void {
    this.#frame = frame;
    const next = this.commander.draft?.next?.type;
    // Arrow keys move the aim where they do not steer.
    const movesAim = next !== "object" && (!this.isSteered || next === "position");
    if (movesAim) this.aim.move(this.#keyboard.keys.held, seconds);
    this.#held.clear();
    this.pad.update(this.#held);
    if (this.isSteered) this.#steer();
    else this.#walk(now, frame);
    if (!this.#followsPointer) this.#repeat(now);
    this.#keyboard.keys.endFrame();
  }

  /** What the player can do now. */
  setActions(actions: readonly Action[]): void {
    this.actions = actions;
    this.pad.plan = planOf(this.#controls, actions);
  }

  /** While the avatar is a wreck, nothing that is held steers it. */
  rest(isWreck: boolean): void {
    this.#rests = isWreck;
  }

  /** A button on the screen holds a control, or no longer. */
  hold(control: Control, isHeld: boolean): void {
    if (isHeld) this.#heldButtons.add(control);
    else this.#heldButtons.delete(control);
  }

  /** A lever on the screen moves a linear axis; undefined once it is let go. */
  moveLever(control: Control, value: number | undefined): void {
    if (value === undefined) this.#levers.delete(control);
    else this.#levers.set(control, value);
  }

  /** A button has begun a command: if that needs a place, shows the keyboard's aim. */
  showAim(): void {
    if (this.commander.draft?.next?.type === "position") this.aim.show();
  }

  /** The game goes on after a break, in which changes of what is held were lost. */
  tellHeldAgain(): void {
    this.#heldBits = undefined;
    this.#toldSteps.clear();
  }

  /** A press on the picture: fills what a command asks for, or gives the click's command. */
  #press(): void {
    const { aim } = this;
    aim.usesKeys = false;
    const { draft } = this.commander;
    if (draft?.next?.type === "object") {
      const id = aim.objectUnderPointer(this.#frame);
      if (id !== undefined) this.commander.giveObject(id);
      return;
    }
    if (!aim.underPointer(aim.place)) return;
    if (!draft && this.#click) {
      this.#walking.forget();
      this.hooks.did("move");
      this.commander.begin(this.#click);
      const now = performance.now();
      this.#repeatAt = now + REPEAT_MS;
      Object.assign(this.#told, aim.place, { since: now });
    }
    this.commander.givePlace(aim.place);
  }

  /** True if the key was used. */
  #key(key: string): boolean {
    switch (key) {
      case "f2":
        return this.hooks.toggleOverlay(), true;
      case "enter":
        return this.hooks.beginChat(), true;
      case "escape":
        if (!this.commander.draft && this.hooks.closePanel()) return true;
        this.aim.usesKeys = false;
        return this.commander.cancel(), true;
      case "+":
      case "=":
        return this.camera.zoom(1 / KEY_ZOOM), true;
      case "-":
        return this.camera.zoom(KEY_ZOOM), true;
      case ",":
        return this.camera.turn(KEY_TURN, 0), true;
      case ".":
        return this.camera.turn(-KEY_TURN, 0), true;
      default:
        return this.#chooses(key) || this.#acts(key) || this.#switchesSound(key);
    }
  }

  /** A game may have another use for the key. */
  #switchesSound(key: string): boolean {
    if (key !== "m" || controlOfKey(key, this.#controls)) return false;
    this.hooks.toggleSound();
    return true;
  }

  #chooses(key: string): boolean {
    if (this.commander.draft?.next?.type !== "object") return false;
    if (key === "arrowright") return this.aim.choose(this.#frame, 1), true;
    if (key === "arrowleft") return this.aim.choose(this.#frame, -1), true;
    if (key !== " ") return false;
    const id = this.aim.chosen(this.#frame);
    if (id !== undefined) this.commander.giveObject(id);
    return true;
  }

  #digitsFrom = 0;

  /** Cards have come or gone: a digit that was meant for a spell chooses none, and so on. */
  pauseDigits(): void {
    this.#digitsFrom = performance.now() + DIGITS_PAUSE_MS;
  }

  #acts(key: string): boolean {
    if (/^[0-9]$/.test(key) && performance.now() < this.#digitsFrom) return true;
    const action = this.actions.find((other) => other.key === key);
    if (action) return this.#beginByKey(action), true;
    const { draft } = this.commander;
    if (key !== " " || (this.isSteered && !draft)) return false;
    if (!draft && this.#click) {
      this.#walking.forget();
      this.commander.begin(this.#click);
    }
    this.commander.givePlace(this.aim.resolve());
    return true;
  }

  /** By a key, a command gets the place or the object of the pointer at once. */
  #beginByKey(action: Action): void {
    const { aim } = this;
    this.commander.begin(action);
    const next = this.commander.draft?.next;
    if (next?.type === "position") {
      this.commander.givePlace(aim.resolve());
    } else if (next?.type === "object") {
      const id = aim.usesKeys ? undefined : aim.objectUnderPointer(this.#frame);
      if (id !== undefined) this.commander.giveObject(id);
      else aim.choose(this.#frame, 0);
    }
  }

  /** In a game of commands the avatar goes where the left stick points, or W A S D. */
  #walk(now: number, frame: Frame): void {
    const { walk } = this.pad.plan;
    const { left } = this.pad;
    const { avatar } = frame;
    const way = this.#way;
    if (!walk || avatar < 0 || frame.bar(avatar) === 0) return this.#walking.forget();
    if (this.commander.draft) return;
    Object.assign(way, left);
    if (this.#hasLetters && left.x === 0 && left.y === 0) wayOfLetters(this.#keyboard.keys.held, way);
    if (way.x === 0 && way.y === 0 && !this.#walking.isWalking) return;
    const to = this.#ahead;
    const at = { x: frame.x(avatar), y: frame.y(avatar) };
    // What is drawn ahead of the room shows the effect at once.
    const lagMs = walk.command.walk ? 0 : this.commander.lagMs;
    if (!this.#walking.next(now, wayOf(way, this.camera.yaw), at, lagMs, to)) return;
    this.aim.keepOnMap(to);
    this.hooks.did("move");
    this.commander.begin(walk);
    this.commander.givePlace(to);
  }

  /** A command acts where the right stick points, else the left one, else ahead. */
  #beginByPad(action: Action): void {
    const { left, right } = this.pad;
    this.commander.begin(action);
    const next = this.commander.draft?.next;
    const stick = right.x !== 0 || right.y !== 0 ? right : left;
    const isIdle = stick.x === 0 && stick.y === 0;
    if (next?.type === "position") {
      this.commander.givePlace(isIdle ? this.aim.ahead() : this.#placeTowards(stick));
    } else if (next?.type === "object") {
      this.aim.choose(this.#frame, 0);
    }
  }

  #placeTowards(stick: Stick): Point {
    const way = wayOf(stick, this.camera.yaw);
    const { x, y } = this.camera.target;
    return this.aim.put(x + AHEAD_M * way.x, y + AHEAD_M * way.y);
  }

  /** A held press gives the click's command again where the pointer is now. */
  #repeat(now: number): void {
    if (!this.#pointer.isHeld || now < this.#repeatAt || !this.#click) return;
    this.#repeatAt = now + REPEAT_MS;
    if (!this.aim.underPointer(this.#ground)) return;
    const frame = this.#frame;
    if (frame.avatar < 0) return;
    const at = { x: frame.x(frame.avatar), y: frame.y(frame.avatar) };
    if (pointsElsewhere(now, at, this.#told, this.#ground)) this.#walkToGround(now, this.#click);
  }

  /** Who walked towards a held press walks to where it ended. */
  #release(): void {
    const isRepeated = this.#repeatAt < Infinity;
    this.#repeatAt = Infinity;
    if (!isRepeated || !this.#click || !this.aim.underPointer(this.#ground)) return;
    if (!endsElsewhere(this.#told, this.#ground)) return;
    this.#walkToGround(performance.now(), this.#click);
  }

  #walkToGround(now: number, click: Action): void {
    Object.assign(this.#told, this.#ground, { since: now });
    this.commander.begin(click);
    this.commander.givePlace(this.#ground);
  }

  /**
   * Nothing is held any more: what is released elsewhere is never reported. The game receives this
   * at once, for a hidden page draws no frames.
   */
  #releaseAll(): void {
    this.#keyboard.keys.clear();
    this.#heldButtons.clear();
    this.#levers.clear();
    this.#pointer.clear();
    for (const axis of this.#axes) if (axis.axis === "linear") this.#setAxis(axis, 0);
    if (!this.isSteered || this.#heldBits === 0) return;
    this.#heldBits = 0;
    this.game.hold(0);
  }

  /** Held keys and buttons steer, and so does a held press in a game with directions. */
  #steer(): void {
    const controls = this.#controls;
    for (const key of this.#keyboard.keys.held) {
      const control = controlOfKey(key, controls);
      if (control) this.#held.add(control);
    }
    for (const control of this.#heldButtons) this.#held.add(control);
    let bits = bitsOf(this.#held, controls, this.camera.yaw);
    bits |= directionBits(this.pad.plan, this.pad.left, this.camera.yaw, controls);
    const follows = this.#followsPointer && this.#pointer.isHeld && !this.commander.draft;
    if (follows && this.aim.underPointer(this.#ground)) {
      const { target } = this.camera;
      bits |= bitsTowards(this.#ground.x - target.x, this.#ground.y - target.y, controls);
    }
    for (const axis of this.#axes) this.#moveAxis(axis);
    if (this.#rests) bits = 0;
    if (bits === this.#heldBits) return;
    this.#heldBits = bits;
    this.hooks.held((control) => this.#held.has(control));
    this.#noteHeld(bits);
    this.game.hold(bits);
  }

  #noteHeld(bits: number): void {
    this.#controls.forEach((control, bit) => {
      if ((bits & (1 << bit)) === 0) return;
      this.hooks.did(isForSteering(control, this.#controls) ? "move" : "act");
    });
  }

  /** Keys and levers move a linear axis; an angle points from the avatar to the pointer. */
  #moveAxis(axis: Control): void {
    if (axis.axis === "linear") {
      const byKeys = leverOfKeys(this.#keyboard.keys.held, axis);
      const byHand = this.pad.lever(axis) || byKeys;
      return this.#setAxis(axis, this.#levers.get(axis) ?? byHand);
    }
    const { right } = this.pad;
    if (right.x !== 0 || right.y !== 0) {
      const way = wayOf(right, this.camera.yaw);
      return this.#setAxis(axis, Math.atan2(way.y, way.x));
    }
    if (!this.aim.underPointer(this.#ground)) return;
    const { target } = this.camera;
    const angle = angleOfWay(this.#ground.x - target.x, this.#ground.y - target.y);
    if (angle !== undefined) this.#setAxis(axis, angle);
  }

  #setAxis(axis: Control, value: number): void {
    const step = stepOf(value, axis);
    if (this.#toldSteps.get(axis) === step) return;
    this.#toldSteps.set(axis, step);
    if (axis.axis === "linear" && step !== 0) this.hooks.did("move");
    this.game.setAxis(axis.name, value);
  }
}

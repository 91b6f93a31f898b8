/** What happens is seen and heard: events, and what objects in sight show without one. */

import type { EventKind, Frame, Kind, Schema } from "../ambit/ambit.js";
import { type Point, set, type ViewCamera } from "../core/camera.js";
import { colourOf, type Effect, Effects, type Locate } from "../core/effects.js";
import { type Element, OF_OUTFIT, elementsOf, LOOKS, NamedDeeds } from "../core/elements.js";
import { type DeclaredEvent, objectsOf } from "../core/event_texts.js";
import { shownEffects } from "../core/event_effects.js";
import { Attackers } from "../core/edge.js";
import { describeMesh } from "../core/look.js";
import { Moments } from "../core/moments.js";
import { outfitOf, variantAt } from "../core/roles.js";
import { wreckFlagsOf } from "../core/wrecks.js";
import { EffectLights } from "./effect_lights.js";
import { Sounds } from "./sounds.js";

/** From farther away, effects are drawn larger. */
const SEEN_FROM_M = 45;

/** These look like what a spell is made of; hits, warnings and healing mean the same always. */
const OF_ELEMENTS: readonly string[] = ["beam", "blast", "cast"];

/** A bubble around a body is so wide, in its extents. */
const AROUND = 0.88;

type Watched = NonNullable<ReturnType<typeof watchedOf>>;
const NOTHING: Pick<Watched, "lasting" | "wrecks"> = { lasting: [], wrecks: [] };

export class Happenings {
  readonly sounds = new Sounds();
  readonly effects = new Effects();
  readonly lights = new EffectLights(this.effects);
  readonly attackers = new Attackers();
  readonly #watched: readonly (Watched | undefined)[];
  readonly #moments = new Moments();
  readonly #deeds = new NamedDeeds();
  /** What the choices of commands are made of. */
  readonly #elements: ReadonlyMap<string, Element>;
  readonly #place: Point = { x: 0, y: 0, z: 0 };
  #frame: Frame | undefined;

  constructor(schema: Schema, private readonly camera: ViewCamera) {
    this.#elements = elementsOf(schema);
    this.#watched = schema.kinds.map(watchedOf);
  }

  /** Another map. */
  restart(): void {
    this.#moments.restart();
  }

  handle(now: number, kind: EventKind, event: DeclaredEvent, frame: Frame): void {
    this.#frame = frame;
    const element = this.#elementOf(now, kind, event, frame);
    for (const shown of shownEffects(kind, event, this.#locate)) {
      const { at, object, from, seed, ms } = shown;
      const effect = element ? madeOf(shown.effect, element) : shown.effect;
      this.effects.play(now, effect, at, object, from, seed, ms);
      this.sounds.play(now, effect.form, at, this.camera);
    }
    this.#noteAttacker(now, kind, event, frame);
    const direction = kind.fields.find(({ name }) => name === "direction");
    const [loudness, way] = [event["loudness"], event["direction"]];
    if (direction?.type !== "choice" || typeof loudness !== "number") return;
    const { choices } = direction;
    const angle = (2 * Math.PI * choices.indexOf(String(way))) / choices.length;
    this.sounds.hear(now, angle, loudness, this.camera);
  }

  /** The own avatar begins what the player has named. */
  noteDeed(now: number, frame: Frame, name: string): void {
    const element = this.#elements.get(name);
    if (frame.avatar >= 0 && element) this.#deeds.note(now, frame.id(frame.avatar), element);
  }

  /** What an event shows is made of what it names, what its object has named, or what that is. */
  #elementOf(now: number, kind: EventKind, event: DeclaredEvent, frame: Frame) {
    if (!OF_ELEMENTS.includes(kind.effect?.form ?? "")) return undefined;
    const [object] = objectsOf(kind, event);
    if (typeof object !== "number") return undefined;
    for (const { name, type } of kind.fields) {
      const value = event[name];
      if (type !== "text" && type !== "choice") continue;
      const element = typeof value === "string" ? this.#elements.get(value) : undefined;
      if (element === undefined) continue;
      // What is done at once is over.
      const isLater = typeof event["due"] === "number" && event["due"] > 0;
      this.#deeds.note(now, object, isLater ? element : undefined);
      return element;
    }
    const deed = this.#deeds.take(now, object);
    const index = frame.indexOf(object);
    if (deed || kind.effect?.form !== "beam" || index < 0) return deed;
    return OF_OUTFIT[outfitOf(variantAt(frame, index)?.figure)];
  }

  /** Shows what has changed since the frame before, and moves all that is shown. */
  update(now: number, frame: Frame): void {
    this.#frame = frame;
    this.#moments.begin(now);
    for (let index = 0; index < frame.count; index += 1) {
      const watched = this.#watched[frame.kindIndex(index)];
      if (!watched) continue;
      const id = frame.id(index);
      if (this.#moments.comes(now, id) && watched.enter) this.#play(now, watched.enter, id);
      for (const [component, effect] of watched.components) {
        const value = frame.component(index, component);
        if (this.#moments.happens(now, id, component, value)) this.#play(now, effect, id);
      }
      for (const component of watched.wrecks) {
        const isSet = frame.component(index, component) === true;
        const { effect } = frame.kind(index).components[component] ?? {};
        if (this.#moments.begins(id, component, isSet) && effect) this.#play(now, effect, id, -1);
      }
      for (const { component, effect } of watched.lasting) {
        const isSet = frame.component(index, component) === true;
        if (this.#moments.begins(id, component, isSet)) this.#play(now, effect, id);
      }
    }
    this.#moments.end();
    this.effects.update(now, this.#locate, Math.max(1, this.camera.distance / SEEN_FROM_M));
    for (let index = 0; index < frame.count; index += 1) this.#showLasting(now, frame, index);
  }

  #showLasting(now: number, frame: Frame, index: number): void {
    const { lasting, wrecks } = this.#watched[frame.kindIndex(index)] ?? NOTHING;
    if (wrecks.some((component) => frame.component(index, component) === true)) return;
    const place = this.#place;
    for (const { component, colour, radius, lift } of lasting) {
      if (frame.component(index, component) !== true) continue;
      set(place, frame.x(index), frame.y(index), frame.z(index) + lift);
      this.effects.bubble(now, place, radius, colour);
    }
  }

  /** An event that hurts the own avatar and names another object. */
  #noteAttacker(now: number, kind: EventKind, event: DeclaredEvent, frame: Frame): void {
    const form = kind.effect?.form;
    if (frame.avatar < 0 || (form !== "hit" && form !== "blast")) return;
    const own = frame.id(frame.avatar);
    const objects = objectsOf(kind, event);
    if (objects[0] !== own) return;
    for (const other of objects) {
      if (typeof other === "number" && other !== own) this.attackers.note(now, other);
    }
  }

  /** At an object, with which it goes unless `stays` is -1. */
  #play(now: number, effect: Effect, id: number, stays = id): void {
    const place = this.#place;
    if (!this.#locate(id, place)) return;
    this.effects.play(now, effect, place, stays);
    this.sounds.play(now, effect.form, place, this.camera);
  }

  readonly #locate: Locate = (id, into) => {
    const frame = this.#frame;
    const index = frame?.indexOf(id) ?? -1;
    if (!frame || index < 0) return false;
    set(into, frame.x(index), frame.y(index), frame.z(index));
    return true;
  };
}

/** What of a kind's objects has an effect; undefined if nothing has. */
function watchedOf(kind: Kind) {
  const { effect: enter, components } = kind;
  // Flags that are seen as a bubble as long as they are set.
  const lasting = lastingOf(kind);
  // Flags of wrecks: their effect is seen once, where it happens.
  const wrecks = wreckFlagsOf(kind);
  const isLasting = (index: number) => lasting.some(({ component }) => component === index);
  const own = components.flatMap(({ effect }, index) =>
    effect && !isLasting(index) && !wrecks.includes(index) ? [[index, effect] as const] : [],
  );
  const isNothing = !enter && own.length + lasting.length + wrecks.length === 0;
  return isNothing ? undefined : { enter, components: own, lasting, wrecks };
}

/**
 * A ring that repeats itself is faint: what it says is true all the time. `lift` is from the
 * object's place to its middle, upwards.
 */
function lastingOf(kind: Kind) {
  const { scale, lift } = describeMesh(kind);
  return kind.components.flatMap(({ type, effect }, component) => {
    if (type !== "flag" || effect?.form !== "ring") return [];
    const radius = Math.max(effect.size, AROUND * Math.max(...scale));
    return [{ component, effect, colour: colourOf(effect.colour), radius, lift }];
  });
}

function madeOf(effect: Effect, element: Element): Effect {
  const { colour, flight, size } = LOOKS[element];
  return effect.form === "beam"
    ? { ...effect, colour, flight, size: effect.size * size }
    : { ...effect, colour };
}

/**
 * The picture of a game as an element. It says nothing that the text beside it does not say.
 *
 * A picture is drawn when it comes into sight, the server has told what its game declares, and the
 * browser has nothing else to do; one after the other. Until then, and where there is no WebGL, its
 * place shows a cover. Bound: {@link MOST_KEPT} pictures are kept for the next time.
 */

import type { Schema } from "../ambit/ambit.js";
import type { Framing } from "../core/diorama_stage.js";
import { dioramaOf } from "../core/dioramas.js";
import { el } from "../dom.js";
import { DioramaPainter } from "../game/diorama_painter.js";

/** Of the picture on a card. */
const CARD = { width: 480, height: 270 } as const;
/** Of a large picture: each pixel costs time where there is no graphics card. */
const MOST_PIXELS = 900_000;
const MOST_KEPT = 48;
/** Nothing is left to draw for so long: the context is given back. */
const REST_MS = 4_000;
/** A place whose proportions have changed by this factor needs another picture. */
const OTHER_SHAPE = 1.2;
/** Browsers that do not say when they are idle get so much time between pictures. */
const PAUSE_MS = 80;
/** A server that could not describe a game is asked again after this time. */
const AGAIN_MS = 10_000;
const IS_DARK = "(prefers-color-scheme: dark)";

interface Size {
  width: number;
  height: number;
}

interface Wanted {
  game: string;
  room: string;
  /** Undefined on a card. */
  framing: Framing | undefined;
  /** As soon as it is known. */
  schema?: Schema;
}

/** With a framing it is as sharp as its place is large, otherwise as a card needs it. */
export function gamePicture(game: string, room: string, framing?: Framing): HTMLElement {
  const canvas = el("canvas", { class: "game-art" });
  // Before it is drawn, it is as large as its place, and no larger.
  canvas.width = canvas.height = 0;
  pictures.want(canvas, { game, room, framing });
  return el("span", { class: "cover", "aria-hidden": "true" }, canvas);
}

class Pictures {
  /** What a game declares, by its name; null if the server does not tell it. */
  describe: (game: string) => Promise<Schema | null> = async () => null;
  readonly #wanted = new WeakMap<Element, Wanted>();
  readonly #waiting = new Set<HTMLCanvasElement>();
  readonly #kept = new Map<string, HTMLCanvasElement>();
  #inSight: IntersectionObserver | undefined;
  #sizes: ResizeObserver | undefined;
  #painter: DioramaPainter | undefined;
  #dark: MediaQueryList | undefined;
  #cannotDraw = false;
  #isDrawing = false;
  #rest: ReturnType<typeof setTimeout> | undefined;

  want(canvas: HTMLCanvasElement, wanted: Wanted): void {
    this.#wanted.set(canvas, wanted);
    this.#dark ??= this.#watchColours();
    // What was drawn once is there from the first moment on.
    if (!wanted.framing && this.#showKept(canvas, wanted, CARD)) return;
    this.#showAlike(canvas, wanted);
    this.#inSight ??= new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) void this.#come(target as HTMLCanvasElement);
      }
    });
    this.#inSight.observe(canvas);
    if (!wanted.framing) return;
    this.#sizes ??= new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) {
        const canvas = target as HTMLCanvasElement;
        if (canvas.height === 0 || contentRect.height === 0) continue;
        const drawn = canvas.width / canvas.height;
        const change = contentRect.width / contentRect.height / drawn;
        if (change > OTHER_SHAPE || change < 1 / OTHER_SHAPE) this.#queue(canvas);
      }
    });
    this.#sizes.observe(canvas);
  }

  /** A picture has come into sight. */
  async #come(canvas: HTMLCanvasElement): Promise<void> {
    this.#inSight?.unobserve(canvas);
    const wanted = this.#wanted.get(canvas) as Wanted;
    try {
      const schema = wanted.schema ?? (await this.describe(wanted.game));
      if (!schema) return;
      wanted.schema = schema;
      this.#queue(canvas);
    } catch {
      setTimeout(() => canvas.isConnected && this.#inSight?.observe(canvas), AGAIN_MS);
    }
  }

  /** When it becomes day or dusk, all are drawn anew as they are in sight. */
  #watchColours(): MediaQueryList {
    const dark = matchMedia(IS_DARK);
    dark.addEventListener("change", () => {
      // What is kept is the canvases themselves, which are drawn over.
      this.#kept.clear();
      if (this.#cannotDraw) return;
      for (const canvas of document.querySelectorAll("canvas.game-art")) {
        this.#inSight?.observe(canvas);
      }
    });
    return dark;
  }

  #queue(canvas: HTMLCanvasElement): void {
    this.#waiting.add(canvas);
    if (this.#isDrawing || this.#cannotDraw) return;
    this.#isDrawing = true;
    clearTimeout(this.#rest);
    this.#goOn();
  }

  /** Whoever has opened a dialog looks at it, and at nothing behind it. */
  #goOn(): void {
    if (this.#inDialog() === undefined) whenIdle(() => void this.#drawNext());
    else setTimeout(() => void this.#drawNext());
  }

  #inDialog(): HTMLCanvasElement | undefined {
    return [...this.#waiting].find((canvas) => canvas.closest("dialog[open]"));
  }

  /** Whoever comes to a page looks at its top. */
  #topmost(): HTMLCanvasElement | undefined {
    const topOf = (canvas: HTMLCanvasElement) => canvas.getBoundingClientRect().top;
    return [...this.#waiting].sort((a, b) => topOf(a) - topOf(b))[0];
  }

  async #drawNext(): Promise<void> {
    const canvas = this.#inDialog() ?? this.#topmost();
    if (canvas) {
      this.#waiting.delete(canvas);
      await this.#draw(canvas);
    }
    this.#isDrawing = this.#waiting.size > 0 && !this.#cannotDraw;
    if (this.#isDrawing) return this.#goOn();
    this.#rest = setTimeout(() => {
      this.#painter?.dispose();
      this.#painter = undefined;
    }, REST_MS);
  }

  async #draw(canvas: HTMLCanvasElement): Promise<void> {
    const wanted = this.#wanted.get(canvas);
    if (!wanted?.schema || !canvas.isConnected) return;
    // Whoever plays has no use for it now; it comes into sight again.
    if (canvas.offsetParent === null) return this.#inSight?.observe(canvas);
    const size = wanted.framing ? sizeOf(canvas) : CARD;
    if (this.#showKept(canvas, wanted, size)) return;
    const key = keyOf(wanted, size);
    try {
      this.#painter ??= new DioramaPainter();
      const { schema, room, framing = "alone" } = wanted;
      await this.#painter.paint(dioramaOf(schema, room), framing, size, canvas);
    } catch {
      // Without WebGL no game can be drawn, either: that is said when one begins.
      this.#cannotDraw = true;
      this.#waiting.clear();
      return;
    }
    canvas.dataset["drawn"] = "";
    // It has become day or dusk meanwhile: once more.
    if (key !== keyOf(wanted, size)) return void this.#waiting.add(canvas);
    this.#keep(key, canvas);
    this.#showEverywhere();
  }

  /** The same picture may be wanted at several places. */
  #showEverywhere(): void {
    for (const canvas of this.#waiting) {
      const wanted = this.#wanted.get(canvas);
      if (!wanted || wanted.framing || !this.#showKept(canvas, wanted, CARD)) continue;
      this.#waiting.delete(canvas);
    }
  }

  /** False if there is none yet. */
  #showKept(canvas: HTMLCanvasElement, wanted: Wanted, size: Size): boolean {
    const kept = this.#kept.get(keyOf(wanted, size));
    if (!kept) return false;
    [canvas.width, canvas.height] = [size.width, size.height];
    canvas.getContext("2d")?.drawImage(kept, 0, 0);
    canvas.dataset["drawn"] = "";
    return true;
  }

  /** Until its own picture is drawn, another one of the game: the one that is most like it. */
  #showAlike(canvas: HTMLCanvasElement, { game, room, framing }: Wanted): void {
    const rankOf = (kept: HTMLCanvasElement) => {
      const is = this.#wanted.get(kept);
      return 2 * Number(is?.framing === framing) + Number(is?.room === room);
    };
    const isAlike = (kept: HTMLCanvasElement) =>
      this.#wanted.get(kept)?.game === game && kept.width > 0;
    const [kept] = [...this.#kept.values()]
      .filter(isAlike)
      .toSorted((a, b) => rankOf(b) - rankOf(a));
    if (!kept) return;
    [canvas.width, canvas.height] = [kept.width, kept.height];
    canvas.getContext("2d")?.drawImage(kept, 0, 0);
    canvas.dataset["drawn"] = "";
  }

  /** The oldest one goes for a new one. */
  #keep(key: string, canvas: HTMLCanvasElement): void {
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size >= MOST_KEPT) this.#kept.delete(oldest);
    this.#kept.set(key, canvas);
  }
}

export const pictures = new Pictures();

/** By day and by dusk pictures differ. */
function keyOf({ game, room, framing }: Wanted, { width, height }: Size): string {
  return JSON.stringify([game, room, framing, width, height, matchMedia(IS_DARK).matches]);
}

function sizeOf({ clientWidth, clientHeight }: HTMLCanvasElement) {
  const most = Math.sqrt(MOST_PIXELS / Math.max(clientWidth * clientHeight, 1));
  const share = Math.min(devicePixelRatio, 2, most);
  const pixels = (css: number) => Math.max(1, Math.round(css * share));
  return { width: pixels(clientWidth), height: pixels(clientHeight) };
}

function whenIdle(act: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(act, { timeout: 1_500 });
  else setTimeout(act, PAUSE_MS);
}

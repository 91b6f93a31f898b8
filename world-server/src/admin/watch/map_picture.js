// A map from above, on a canvas: all that is there and, over it, what one client has of it.

/** Pixels around the map at first. */
const EDGE = 12;
/** Pixels of a metre, at most; and how much a turn of the wheel changes it. */
const MAX_SCALE = 80;
const WHEEL = 1.0015;
/** Cells that are smaller than this, in pixels, have no lines. */
const LEAST_CELL = 9;
/** A finger or a mouse meets an object within this, in pixels. */
const REACH = 14;
/** What a client has, is old from this on, in milliseconds. */
const OLD_MS = 500;
/** Objects are drawn at least this large, in pixels. */
const LEAST_RADIUS = 2.5;
/** An object that goes farther than this between two pictures has jumped, in metres. */
const JUMP_M = 15;
/** Changes of regions are counted for so long, in seconds. */
const LOAD_S = 4;

/** The parts of lists that the server sends. */
export const OBJECT = { id: 0, kind: 1, x: 2, y: 3, yaw: 4, owner: 5 };
export const HAS = { id: 0, x: 1, y: 2, knownAge: 3, age: 4, class: 5, waits: 6, bytes: 7 };

export class MapPicture {
  /** `pick(id)` is called with the object that is clicked, or with nothing. */
  constructor(canvas, { pick }) {
    Object.assign(this, { canvas, pick });
    this.context = canvas.getContext("2d");
    this.selected = undefined;
    this.showsLoad = false;
    this.pointers = new Map();
    const listen = (name, run, options) => canvas.addEventListener(name, run, options);
    listen("wheel", (event) => this.#wheel(event), { passive: false });
    listen("pointerdown", (event) => this.#press(event));
    listen("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) {
      listen(name, (event) => this.#release(event));
    }
    new ResizeObserver(() => this.#fitAgain()).observe(canvas);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => (this.colours = undefined));
  }

  /** What does not change: the answer to `maps/ID`. */
  setMap(map) {
    this.map = map;
    this.view = undefined;
    this.from = this.to = undefined;
    this.#fitAgain();
  }

  /** What is there now: the answer to `maps/ID/above`; the way there takes `ms`. */
  show(above, ms) {
    this.from = this.to;
    this.to = {
      above,
      places: new Map(above.objects.map((object) => [object[OBJECT.id], object])),
      has: above.view && new Map(above.view.objects.map((has) => [has[HAS.id], has])),
      names: new Map(above.clients.map((client) => [client.avatar, client.name])),
      at: performance.now(),
      ms,
    };
  }

  /** Zooms by this factor, around the middle. */
  zoom(factor) {
    this.#zoomAt(this.canvas.clientWidth / 2, this.canvas.clientHeight / 2, factor);
  }

  /** Shows the whole map again. */
  fit() {
    this.view = undefined;
    this.#fitAgain();
  }

  /** Draws what is known for this moment. */
  draw() {
    const { canvas, context, map } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    this.colours ??= readColours(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    if (!map || !this.view) return;
    this.#drawGround();
    if (!this.to) return;
    if (this.showsLoad) this.#drawLoad(this.to.above.regions);
    if (this.to.above.view) this.#drawZones(this.to.above.view);
    this.#drawObstacles();
    this.#drawObjects();
  }

  #fitAgain() {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!this.map || !width || !height) return;
    const [east, north] = this.map.size;
    const scale = Math.min((width - 2 * EDGE) / east, (height - 2 * EDGE) / north);
    this.least = scale;
    if (this.view && this.view.scale > scale) return;
    this.view = { x: east / 2, y: north / 2, scale };
  }

  /** Where a place is drawn: north is up. */
  #at(x, y) {
    const { view, canvas } = this;
    const right = canvas.clientWidth / 2 + (x - view.x) * view.scale;
    return [right, canvas.clientHeight / 2 - (y - view.y) * view.scale];
  }

  #rectangle(x, y, width, height) {
    const [left, top] = this.#at(x, y + height);
    return [left, top, width * this.view.scale, height * this.view.scale];
  }

  #drawGround() {
    const { context, map, view, colours } = this;
    const [east, north] = map.size;
    context.fillStyle = colours.panel;
    context.fillRect(...this.#rectangle(0, 0, east, north));
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    if (map.cell * view.scale >= LEAST_CELL) {
      context.globalAlpha = 0.5;
      context.beginPath();
      for (let x = map.cell; x < east; x += map.cell) {
        context.moveTo(...this.#at(x, 0));
        context.lineTo(...this.#at(x, north));
      }
      for (let y = map.cell; y < north; y += map.cell) {
        context.moveTo(...this.#at(0, y));
        context.lineTo(...this.#at(east, y));
      }
      context.stroke();
      context.globalAlpha = 1;
    }
    context.strokeRect(...this.#rectangle(0, 0, east, north));
  }

  /** Where most changes: the deeper the colour, the more. */
  #drawLoad({ columns, rows, edge_cells: edge, loads }) {
    const { context, map, colours } = this;
    const most = Math.max(1, ...loads.map(([, , changes]) => changes));
    const size = edge * map.cell;
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const [objects, , changes] = loads[row * columns + column];
        const [x, y] = [column * size, row * size];
        const width = Math.min(size, map.size[0] - x);
        const height = Math.min(size, map.size[1] - y);
        if (width <= 0 || height <= 0 || objects + changes === 0) continue;
        const [left, top, across, down] = this.#rectangle(x, y, width, height);
        context.globalAlpha = 0.08 + 0.4 * (changes / most);
        context.fillStyle = colours.main;
        context.fillRect(left, top, across, down);
        context.globalAlpha = 1;
        const rate = Math.round(changes / LOAD_S);
        if (rate === 0 || across < 46 || down < 20) continue;
        this.#text(`${rate}/s`, left + 5, top + 14, colours.soft);
      }
    }
  }

  /** The home cell of the client that is looked through, and its two zones. */
  #drawZones({ home: [column, row] }) {
    const { context, map, colours } = this;
    const { inner, outer } = usualZones(map.kinds);
    for (const [radius, dashes] of [
      [outer, [6, 5]],
      [inner, []],
      [0, [2, 3]],
    ]) {
      const edge = (2 * radius + 1) * map.cell;
      const at = [(column - radius) * map.cell, (row - radius) * map.cell];
      context.strokeStyle = colours.other;
      context.setLineDash(dashes);
      context.lineWidth = radius === inner ? 2 : 1;
      context.strokeRect(...this.#rectangle(...at, edge, edge));
    }
    context.setLineDash([]);
  }

  #drawObstacles() {
    const { context, map, view, colours } = this;
    context.fillStyle = colours.line;
    context.strokeStyle = colours.soft;
    context.lineWidth = 0.5;
    for (const [x, y, half, depth, yaw, isRound] of map.obstacles) {
      const [right, down] = this.#at(x, y);
      context.beginPath();
      if (isRound) {
        context.arc(right, down, half * view.scale, 0, 2 * Math.PI);
      } else {
        const [cos, sin] = [Math.cos(yaw), Math.sin(yaw)];
        const corners = [[1, 1], [-1, 1], [-1, -1], [1, -1]];
        for (const [along, across] of corners) {
          const east = along * half * cos - across * depth * sin;
          const north = along * half * sin + across * depth * cos;
          context.lineTo(...this.#at(x + east, y + north));
        }
        context.closePath();
      }
      context.fill();
      context.stroke();
    }
  }

  #drawObjects() {
    const { to, context, view, colours } = this;
    const { has, names } = to;
    for (const object of to.above.objects) {
      if (object[OBJECT.x] === null) continue;
      const id = object[OBJECT.id];
      const kind = this.map.kinds[object[OBJECT.kind]];
      const [x, y] = this.#placeOf(object);
      const [right, down] = this.#at(x, y);
      const radius = Math.max(LEAST_RADIUS, ((kind?.size ?? 1) / 2) * view.scale);
      const followed = has?.get(id);
      const isOutside = has && !followed;
      if (followed) this.#drawStreak(followed, right, down, radius);
      context.globalAlpha = isOutside ? 0.25 : 1;
      context.fillStyle = kind?.colour ?? colours.soft;
      context.beginPath();
      context.arc(right, down, radius, 0, 2 * Math.PI);
      context.fill();
      context.lineWidth = 1;
      context.strokeStyle = colours.text;
      if (object[OBJECT.owner] !== null || names.has(id)) context.stroke();
      if (object[OBJECT.yaw] !== null) {
        const yaw = object[OBJECT.yaw];
        const nose = radius + 4;
        context.beginPath();
        context.moveTo(right, down);
        context.lineTo(right + nose * Math.cos(yaw), down - nose * Math.sin(yaw));
        context.stroke();
      }
      const name = names.get(id);
      if (name) this.#text(name, right + radius + 4, down - radius, colours.text);
      context.globalAlpha = 1;
      if (id === this.selected) {
        context.strokeStyle = colours.strong;
        context.lineWidth = 2;
        context.beginPath();
        context.arc(right, down, radius + 5, 0, 2 * Math.PI);
        context.stroke();
      }
    }
  }

  /** From where the client surely has it, to where it is; a ring if something of it waits. */
  #drawStreak(followed, right, down, radius) {
    const { context, colours } = this;
    if (followed[HAS.x] !== null) {
      const [left, up] = this.#at(followed[HAS.x], followed[HAS.y]);
      context.strokeStyle = followed[HAS.knownAge] > OLD_MS ? colours.problem : colours.other;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(left, up);
      context.lineTo(right, down);
      context.stroke();
    }
    if (!followed[HAS.waits]) return;
    context.strokeStyle = colours.warning;
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(right, down, radius + 3, 0, 2 * Math.PI);
    context.stroke();
  }

  #text(text, x, y, colour) {
    const { context, colours } = this;
    context.font = "12px system-ui, sans-serif";
    context.lineWidth = 3;
    context.strokeStyle = colours.panel;
    context.strokeText(text, x, y);
    context.fillStyle = colour;
    context.fillText(text, x, y);
  }

  /** Between two pictures an object is on the straight way. */
  #placeOf(object) {
    const there = [object[OBJECT.x], object[OBJECT.y]];
    const before = this.from?.places.get(object[OBJECT.id]);
    if (!before || before[OBJECT.x] === null) return there;
    const here = [before[OBJECT.x], before[OBJECT.y]];
    const jumped = Math.hypot(there[0] - here[0], there[1] - here[1]) > JUMP_M;
    const share = Math.min(1, (performance.now() - this.to.at) / Math.max(this.to.ms, 1));
    if (jumped || matchMedia("(prefers-reduced-motion: reduce)").matches) return there;
    return here.map((part, axis) => part + share * (there[axis] - part));
  }

  #wheel(event) {
    event.preventDefault();
    this.#zoomAt(event.offsetX, event.offsetY, WHEEL ** -event.deltaY);
  }

  #zoomAt(right, down, factor) {
    const { view, canvas } = this;
    if (!view) return;
    const x = view.x + (right - canvas.clientWidth / 2) / view.scale;
    const y = view.y - (down - canvas.clientHeight / 2) / view.scale;
    const scale = Math.min(MAX_SCALE, Math.max(this.least, view.scale * factor));
    const share = view.scale / scale;
    this.view = { x: x + (view.x - x) * share, y: y + (view.y - y) * share, scale };
  }

  #press(event) {
    this.pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    this.pressed = this.pointers.size === 1 ? [event.offsetX, event.offsetY] : undefined;
    // Last: of a pointer that is gone already it throws.
    this.canvas.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before || !this.view) return;
    const here = [event.offsetX, event.offsetY];
    this.pointers.set(event.pointerId, here);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    if (others.length === 1) {
      // Two fingers: the picture grows with the distance between them.
      const [, other] = others[0];
      const distance = (at) => Math.max(1, Math.hypot(at[0] - other[0], at[1] - other[1]));
      const middle = [(here[0] + other[0]) / 2, (here[1] + other[1]) / 2];
      this.#zoomAt(...middle, distance(here) / distance(before));
      return;
    }
    if (this.pressed && Math.hypot(here[0] - this.pressed[0], here[1] - this.pressed[1]) > 5) {
      this.pressed = undefined;
    }
    const { scale } = this.view;
    this.view.x -= (here[0] - before[0]) / scale;
    this.view.y += (here[1] - before[1]) / scale;
  }

  #release(event) {
    this.pointers.delete(event.pointerId);
    if (!this.pressed || event.type !== "pointerup") return;
    const [right, down] = this.pressed;
    this.pressed = undefined;
    let [nearest, least] = [undefined, REACH];
    for (const object of this.to?.above.objects ?? []) {
      if (object[OBJECT.x] === null) continue;
      const [x, y] = this.#at(...this.#placeOf(object));
      const distance = Math.hypot(x - right, y - down);
      if (distance < least) [nearest, least] = [object[OBJECT.id], distance];
    }
    this.pick(nearest);
  }
}

/** The zones that most kinds have. */
function usualZones(kinds) {
  const counts = new Map();
  for (const { inner, outer } of kinds) {
    const key = `${inner} ${outer}`;
    counts.set(key, { inner, outer, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count)[0] ?? { inner: 1, outer: 2 };
}

function readColours(node) {
  // `light-dark` is worked out where it is used: a property of its own shows what it came to.
  const probe = document.createElement("span");
  node.parentNode.append(probe);
  const names = ["panel", "line", "text", "soft", "main", "strong", "other", "warning", "problem"];
  const colours = names.map((name) => {
    probe.className = `colour-${name}`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours);
}

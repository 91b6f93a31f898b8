/** What `dom.ts` and dialogs use of a page, without a browser. */

type Listener = (event: unknown) => void;

/** A string that is appended becomes a text node. */
export class FakeElement {
  readonly children: (FakeElement | string)[] = [];
  readonly attributes: [string, string][] = [];
  readonly #listeners = new Map<string, Listener[]>();
  #value: string | undefined;
  checked = false;
  hidden = false;
  returnValue = "";
  lang = "en";

  constructor(readonly tag: string) {}

  append(...children: (FakeElement | string)[]): void {
    this.children.push(...children);
  }

  replaceChildren(...children: (FakeElement | string)[]): void {
    this.children.splice(0, this.children.length, ...children);
  }

  /** Of a `select` that of its first option, until another one is chosen. */
  get value(): string {
    return this.#value ?? this.all("option")[0]?.value ?? "";
  }

  set value(value: string) {
    this.#value = value;
  }

  get textContent(): string {
    const textOf = (child: FakeElement | string) =>
      typeof child === "string" ? child : child.textContent;
    return this.children.map(textOf).join("");
  }

  set textContent(text: string) {
    this.replaceChildren(text);
  }

  setAttribute(name: string, value: string): void {
    this.attributes.push([name, value]);
    if (name === "hidden") this.hidden = true;
    if (name === "value") this.value = value;
  }

  attribute(name: string): string | undefined {
    return this.attributes.find(([is]) => is === name)?.[1];
  }

  addEventListener(name: string, listener: Listener): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  /** As the browser does when the player acts. */
  dispatch(name: string): void {
    for (const listener of this.#listeners.get(name) ?? []) listener({});
  }

  /** All below it of this tag. */
  all(tag: string): FakeElement[] {
    const elements = this.children.filter((child) => child instanceof FakeElement);
    return elements.flatMap((child) => [...(child.tag === tag ? [child] : []), ...child.all(tag)]);
  }

  showModal(): void {}

  close(answer = ""): void {
    this.returnValue = answer;
    this.dispatch("close");
  }

  remove(): void {}
}

/** Puts these in the place of what is global, as long as `act` goes on. */
export async function withGlobals<T>(fakes: object, act: () => T | Promise<T>): Promise<T> {
  const names = Object.keys(fakes);
  const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  for (const [name, value] of Object.entries(fakes)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  try {
    return await act();
  } finally {
    names.forEach((name, at) => {
      const known = before[at];
      if (known) Object.defineProperty(globalThis, name, known);
      else Reflect.deleteProperty(globalThis, name);
    });
  }
}

export function fakeDocument() {
  return {
    createElement: (tag: string) => new FakeElement(tag),
    body: new FakeElement("body"),
    documentElement: new FakeElement("html"),
  };
}

/** Elements without a framework. Text gets into the page by `textContent` only. */

type Attributes = Record<string, string | boolean | undefined>;
export type Child = Node | string | undefined;

/** Makes an element; a text is text, whatever it contains. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (typeof value === "string") element.setAttribute(name, value);
  }
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

export function div(name: string, ...children: Child[]): HTMLElement {
  return el("div", { class: name }, ...children);
}

export function span(name: string, ...children: Child[]): HTMLElement {
  return el("span", { class: name }, ...children);
}

/** A part of the page with a title; one beside the game, an `aside`, is closed at first. */
export function panel(
  tag: "aside" | "section",
  name: string,
  title: string,
  ...children: Child[]
): HTMLElement {
  const attributes = { class: `panel ${name}`, "aria-label": title, hidden: tag === "aside" };
  return el(tag, attributes, el("h2", {}, title), ...children);
}

/** A note that is read out when its words change; hidden at first. */
export function note(tag: "div" | "p", name: string, ...children: Child[]): HTMLElement {
  return el(tag, { class: name, role: "status", hidden: true }, ...children);
}

export function button(
  label: Child,
  act: () => void,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, label, ...children);
  element.addEventListener("click", act);
  return element;
}

/** Writes only what has changed: a write makes the browser lay the page out. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setHidden(element: HTMLElement, hidden: boolean): void {
  if (element.hidden !== hidden) element.hidden = hidden;
}

/** Whether the player has fingers rather than a pointer and a keyboard. */
export function isTouch(): boolean {
  return matchMedia("(pointer: coarse)").matches;
}

let lastId = 0;

/** A field with its label, and perhaps a hint that screen readers read with it. */
export function labelled(label: string, input: HTMLElement, hint = ""): HTMLElement {
  lastId += 1;
  input.id = `field-${lastId}`;
  const parts: Child[] = [el("label", { for: input.id }, label), input];
  if (hint) {
    input.setAttribute("aria-describedby", `hint-${lastId}`);
    parts.push(el("small", { id: `hint-${lastId}` }, hint));
  }
  return el("div", { class: "field" }, ...parts);
}

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element of a drawing. */
export function svg(
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: Element[]
): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
  element.append(...children);
  return element;
}

// Elements. Players type names, so all that is shown goes in as text.

const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("aria-") && typeof value === "boolean") made.setAttribute(name, value);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== undefined && value !== null && value !== false) {
      made.setAttribute(name, value);
    }
  }
  made.append(
    ...children.filter((child) => child !== undefined && child !== null && child !== false),
  );
  return made;
}

/** An element of HTML. Attributes that begin with `on` are listeners. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same of SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Sets a text, and touches nothing if it is there: a selection stays. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets an attribute, or removes it for `undefined` and `false`. */
export function setAttribute(node, name, value) {
  if (value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Puts in new children if what they show, as `stamp`, has changed. The focus stays. */
export function renew(node, stamp, make) {
  if (node.shownStamp === stamp) return;
  node.shownStamp = stamp;
  const focused = node.contains(document.activeElement) ? document.activeElement : undefined;
  const place = focused && [...node.querySelectorAll("a, button")].indexOf(focused);
  const name = focused?.textContent;
  node.replaceChildren(...make());
  if (!focused) return;
  const others = [...node.querySelectorAll("a, button")];
  (others.find((other) => other.textContent === name) ?? others[place])?.focus({
    preventScroll: true,
  });
}

/**
 * Makes the children of a node be these, in this order, and moves those alone that stand wrong, so
 * that focus and scrolling stay.
 */
export function arrange(node, children) {
  const wanted = new Set(children);
  for (const child of [...node.childNodes]) if (!wanted.has(child)) child.remove();
  const focused = document.activeElement;
  let at = node.firstChild;
  for (const child of children) {
    if (child === at) at = at.nextSibling;
    else node.insertBefore(child, at);
  }
  if (focused !== document.activeElement && node.contains(focused)) {
    focused.focus({ preventScroll: true });
  }
}

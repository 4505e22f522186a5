/**
 * Small tools for the DOM. Text always goes in as text nodes: names come from other people's machines.
 */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * A new element. `attributes`: `class`, `testid`, `on` (listeners by event name), `hidden` and other booleans,
 * everything else as an attribute. `children`: nodes or text; null and false are left out.
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'class') node.className = value;
    else if (name === 'testid') node.dataset.testid = value;
    else if (name === 'on') for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A new SVG drawing from path data; it is decoration and hidden from screen readers. */
export function drawing(className, viewBox, ...paths) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', className);
  svg.setAttribute('viewBox', viewBox);
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('focusable', 'false');
  for (const d of paths) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', d);
    svg.append(path);
  }
  return svg;
}

/** Sets the text of `node` if it differs, so that screen readers hear only changes. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Hides or shows `node`, if it is not so already. */
export function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

/** Makes `nodes` the children of `parent` in this order, leaving alone what is already in place. */
export function arrange(parent, nodes) {
  let next = parent.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

/** A button. With `reason` it looks disabled, stays reachable, and says why when pressed. */
export function setBlocked(button, reason) {
  if (reason) {
    button.setAttribute('aria-disabled', 'true');
    button.title = reason;
  } else {
    button.removeAttribute('aria-disabled');
    button.removeAttribute('title');
  }
}

/** Whether the person asked for less motion. */
export function calm() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

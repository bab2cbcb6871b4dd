// Reading the packed data of a run, and building page elements out of text alone.

async function unpack(element) {
  const bytes = Uint8Array.from(atob(element.textContent.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return JSON.parse(await new Response(stream).text());
}

// An element with attributes and children; strings become text nodes, never markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name.startsWith('--')) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

let fields = 0;

// A control below its label.
function field(label, control) {
  fields += 1;
  control.id = `field-${fields}`;
  return make('div', { class: 'field' }, make('label', { for: control.id }, label), control);
}

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function picture(char) {
  const code = char.codePointAt(0);
  if (code === 0x0a) return '\u21b5';
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : 'U+' + code.toString(16).toUpperCase().padStart(4, '0');
}

function visible(text) {
  return text.replace(HIDDEN, picture);
}

// Append text to an element, with hidden characters boxed and search hits marked.
function appendText(element, text, pattern) {
  let last = 0;
  const stop = new RegExp(pattern ? `${HIDDEN.source}|(${pattern.source})` : HIDDEN.source, pattern ? pattern.flags : 'g');
  for (const found of text.matchAll(stop)) {
    if (found[0] === '') continue;
    element.append(text.slice(last, found.index));
    if (found[1] !== undefined) element.append(make('mark', {}, visible(found[1])));
    else element.append(make('span', { class: 'control' }, picture(found[0])));
    last = found.index + found[0].length;
  }
  element.append(text.slice(last));
}

function shown(value, digits = 1) {
  if (value === null || value === undefined) return '–';
  return value.toFixed(digits).replace('-', '−');
}

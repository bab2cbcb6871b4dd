// Word-level differences: the longest common subsequence of words, spaces and marks.

const TOKEN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[\p{L}\p{M}\p{N}_'’]+|\s+|[^]/gu;
const MOST_CELLS = 4e6;
const MOSTLY = 0.5;

function tokens(text) {
  return text.match(TOKEN) || [];
}

// A list of [kind, text]: '=' kept, '-' only before, '+' only after.
function difference(before, after) {
  const one = tokens(before), other = tokens(after), parts = [];
  let start = 0, endOne = one.length, endOther = other.length;
  while (start < endOne && start < endOther && one[start] === other[start]) start += 1;
  while (endOne > start && endOther > start && one[endOne - 1] === other[endOther - 1]) { endOne -= 1; endOther -= 1; }
  add(parts, '=', one.slice(0, start));
  middle(parts, one.slice(start, endOne), other.slice(start, endOther));
  add(parts, '=', one.slice(endOne));
  return parts;
}

function middle(parts, one, other) {
  const width = other.length + 1;
  if (!one.length || !other.length || one.length * other.length > MOST_CELLS) {
    add(parts, '-', one);
    add(parts, '+', other);
    return;
  }
  const common = new Uint16Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = one[i] === other[j]
        ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  let i = 0, j = 0;
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) { add(parts, '=', [one[i]]); i += 1; j += 1; }
    else if (j >= other.length || (i < one.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) { add(parts, '-', [one[i]]); i += 1; }
    else { add(parts, '+', [other[j]]); j += 1; }
  }
}

function add(parts, kind, words) {
  if (!words.length) return;
  const last = parts[parts.length - 1];
  if (last && last[0] === kind) last[1] += words.join('');
  else parts.push([kind, words.join('')]);
}

// A single space between two changes reads better as part of them.
function tidy(parts) {
  const out = [];
  let gone = '', come = '';
  const flush = () => { if (gone) out.push(['-', gone]); if (come) out.push(['+', come]); gone = come = ''; };
  parts.forEach(([kind, text], place) => {
    const between = kind === '=' && text === ' ' && (gone || come) && place + 1 < parts.length;
    if (kind === '-') gone += text;
    else if (kind === '+') come += text;
    else if (between && gone && come) { gone += text; come += text; }
    else { flush(); out.push([kind, text]); }
  });
  flush();
  return out;
}

// The share of letters that both texts have in common.
function kept(parts, before, after) {
  const same = parts.reduce((sum, [kind, text]) => sum + (kind === '=' ? text.length : 0), 0);
  return same / Math.max(1, before.length, after.length);
}

// Fill an element with both texts: in one line, or in two where most of the sentence changed.
function showDifference(element, before, after, pattern) {
  const parts = tidy(difference(before, after));
  if (before && after && kept(parts, before, after) < MOSTLY) {
    for (const [gone, name] of [['+', 'before'], ['-', 'after']]) {
      const line = make('div', { class: 'both-line' }, make('span', { class: 'side' }, name));
      const text = make('span', { dir: 'auto' });
      fill(text, parts.filter(([kind]) => kind !== gone), pattern);
      line.append(text);
      element.append(line);
    }
    return;
  }
  fill(element, parts, pattern);
}

function fill(element, parts, pattern) {
  for (const [kind, text] of parts) {
    const target = kind === '=' ? element : make(kind === '-' ? 'del' : 'ins');
    appendText(target, text, pattern);
    if (target !== element) element.append(target);
  }
}

// Fill an element with the reference; words that only the clean translation shared with it are underlined.
function showReference(element, reference, before, after, pattern) {
  const had = new Set(tokens(before.toLowerCase())), has = new Set(tokens(after.toLowerCase()));
  for (const word of tokens(reference)) {
    const lower = word.toLowerCase();
    const lost = /[\p{L}\p{N}]/u.test(word) && had.has(lower) && !has.has(lower);
    const target = lost ? make('span', { class: 'lost', title: 'lost: the clean translation had this word' }) : element;
    if (lost) { appendText(target, word, pattern); element.append(target); }
    else appendText(element, word, pattern);
  }
}

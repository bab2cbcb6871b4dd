// The example browser: filter, search, sort, page, and walk through by keyboard.

const PER_PAGE = 20;
const LONG = 900;
const sorts = (called) => ({ kind: `By kind, most ${called} first`, worst: `Most ${called} first`, least: `Least ${called} first`, order: 'Order of the data' });

function exampleBrowser(data, typed) {
  const count = data.shown, state = { filters: {}, query: '', sort: 'kind', page: 0 };
  const list = make('ol', { class: 'examples' });
  const status = make('p', { class: 'status', role: 'status' });
  const selects = {};
  let lower = null, order = [], pattern = null;

  const controls = make('div', { class: 'controls', role: 'search', 'aria-label': 'Filter examples' });
  const search = make('input', { type: 'search', placeholder: 'words in any text', autocomplete: 'off', spellcheck: 'false' });
  let waiting = 0;
  search.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(() => { state.query = search.value; refresh(); }, 120); });
  controls.append(field('Search', search));
  for (const facet of data.facets) {
    if (facet.values.length < 2) continue;
    const options = facet.values.map((name, place) => make('option', { value: place }, visible(name)));
    const select = make('select', {}, make('option', { value: '' }, 'all'), ...options);
    select.addEventListener('change', () => { state.filters[facet.key] = select.value === '' ? null : Number(select.value); refresh(); });
    selects[facet.key] = select;
    controls.append(field(facet.label, select));
  }
  const sorter = make('select', {}, ...Object.entries(sorts(data.called)).map(([key, label]) => make('option', { value: key }, label)));
  sorter.addEventListener('change', () => { state.sort = sorter.value; refresh(); });
  controls.append(field('Sort', sorter), make('button', { type: 'button', onclick: clear }, 'Clear filters'));
  const back = make('button', { type: 'button', onclick: () => turn(-1) }, 'Previous page');
  const next = make('button', { type: 'button', onclick: () => turn(1) }, 'Next page');
  const pager = make('div', { class: 'pager' }, back, next);
  const box = make('section', { class: 'browser', 'aria-label': 'Examples' }, make('h2', { tabindex: '-1' }, 'Examples'), controls, status, list, pager);

  function refresh() {
    const facets = data.facets.filter((facet) => Number.isInteger(state.filters[facet.key]));
    const hits = matches(state.query);
    const keep = [];
    for (let place = 0; place < count; place += 1) {
      if (facets.every((facet) => facet.column[place] === state.filters[facet.key]) && (!hits || hits(place))) keep.push(place);
    }
    const damage = (place) => (data.drop[place] === null ? -Infinity : data.drop[place]);
    const kinds = data.facets.find((facet) => facet.key === 'cell');
    if (state.sort === 'kind' && kinds) {
      const worst = new Map();
      for (const place of keep) worst.set(kinds.column[place], Math.max(worst.get(kinds.column[place]) ?? -Infinity, damage(place)));
      const rank = new Map([...worst].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([kind], at) => [kind, at]));
      keep.sort((a, b) => rank.get(kinds.column[a]) - rank.get(kinds.column[b]) || damage(b) - damage(a) || a - b);
    } else if (state.sort !== 'order') {
      const sign = state.sort === 'least' ? 1 : -1;
      keep.sort((a, b) => sign * (damage(a) - damage(b)) || a - b);
    }
    order = keep;
    state.page = 0;
    draw();
  }

  function matches(query) {
    const wanted = query.trim().toLowerCase();
    pattern = wanted ? new RegExp(wanted.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'), 'giu') : null;
    if (!wanted) return null;
    lower = lower || data.strings.map((text) => text.toLowerCase());
    const found = lower.map((text) => text.includes(wanted));
    const columns = data.texts.flatMap((text) => [text.was, text.now, text.plain].filter(Boolean));
    return (place) => columns.some((column) => found[column[place]]);
  }

  function draw() {
    const first = state.page * PER_PAGE, here = order.slice(first, first + PER_PAGE);
    list.start = first + 1;
    list.replaceChildren(...here.map((place, offset) => card(place, first + offset)));
    back.disabled = state.page === 0;
    next.disabled = first + PER_PAGE >= order.length;
    pager.hidden = order.length <= PER_PAGE;
    const range = order.length ? `${(first + 1).toLocaleString('en')}–${(first + here.length).toLocaleString('en')} of ${order.length.toLocaleString('en')} examples` : 'No example fits these filters';
    const kept = data.shown < data.total ? ` This page holds ${data.shown.toLocaleString('en')} of the run's ${data.total.toLocaleString('en')}: those with most ${data.called} and a random sample of the others.` : '';
    status.textContent = `${range}.${kept}`;
  }

  function card(place, rank) {
    const drop = data.drop[place];
    const worst = data.worst || (data.worst = Math.max(1e-9, ...percentile(data.drop)));
    const meta = make('div', { class: 'meta' });
    const share = Math.max(0, Math.min(1, (drop || 0) / worst)) * 0.8;
    meta.append(make('span', { class: 'damage', '--share': share.toFixed(3), title: data.unit }, `${data.called} `, number(drop, place)));
    if (data.before) meta.append(make('span', {}, `score ${number(data.before[place], place)} → ${number(data.after[place], place)}`));
    for (const facet of data.facets) {
      const name = facet.values[facet.column[place]];
      if (name) meta.append(make('span', { class: 'tag', title: Object.hasOwn(typed, name) ? visible(typed[name]) : null }, make('bdi', {}, visible(name))));
    }
    meta.append(make('span', { class: 'where' }, make('bdi', {}, visible(String(data.ids[place] ?? '')))));
    const lines = make('dl', { class: 'lines' });
    for (const text of data.texts) line(lines, text, place);
    return make('li', { class: 'example', tabindex: '-1', 'data-rank': rank, 'aria-label': `Example ${rank + 1}` }, meta, lines);
  }

  function line(lines, text, place) {
    const value = (column) => (column && column[place] >= 0 ? data.strings[column[place]] : null);
    const shownText = make('dd', { dir: 'auto' });
    if (text.plain) {
      const plain = value(text.plain);
      if (plain === null) return;
      const other = text.against === undefined ? null : data.texts[text.against];
      if (other) showReference(shownText, plain, value(other.was) || '', value(other.now) || '', pattern);
      else appendText(shownText, plain, pattern);
    } else {
      showDifference(shownText, value(text.was) || '', value(text.now) || '', pattern);
      if (!shownText.querySelector('del, ins')) shownText.append(make('span', { class: 'count' }, ' (unchanged)'));
    }
    lines.append(make('dt', {}, text.label), shownText);
    if (shownText.textContent.length > LONG) {
      shownText.classList.add('long');
      const more = make('dd', { class: 'more' }, make('button', { type: 'button', onclick: () => { shownText.classList.remove('long'); more.remove(); } }, `Show all ${shownText.textContent.length.toLocaleString('en')} characters`));
      lines.append(make('dt', {}), more);
    }
  }

  // Scores that live between 0 and 1 need more digits than those that run to 100.
  function number(value, place) {
    const small = data.before && Math.max(Math.abs(data.before[place]), Math.abs(data.after[place])) < 5;
    return shown(value, small ? 3 : 1);
  }

  function percentile(values) {
    const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
    return sorted.length ? [sorted[Math.floor(0.98 * (sorted.length - 1))]] : [1];
  }

  function turn(by) {
    const last = Math.max(0, Math.ceil(order.length / PER_PAGE) - 1), page = Math.max(0, Math.min(last, state.page + by));
    if (page === state.page) return false;
    state.page = page;
    draw();
    focus(by > 0 ? 0 : list.children.length - 1);
    return true;
  }

  function focus(place) {
    const item = list.children[place];
    if (item) { item.focus({ preventScroll: true }); item.scrollIntoView({ block: 'nearest' }); }
  }

  function step(by) {
    const items = [...list.children], at = items.findIndex((item) => item.contains(document.activeElement));
    if (at < 0) focus(0);
    else if (at + by >= 0 && at + by < items.length) focus(at + by);
    else turn(by);
  }

  function clear() {
    state.filters = {};
    state.query = '';
    search.value = '';
    Object.values(selects).forEach((select) => { select.value = ''; });
    refresh();
  }

  function pick(wanted) {
    for (const [key, name] of Object.entries(wanted)) {
      const facet = data.facets.find((item) => item.key === key);
      const place = facet ? facet.values.indexOf(name) : -1;
      state.filters[key] = place >= 0 && facet.values.length > 1 ? place : null;
      if (selects[key]) selects[key].value = state.filters[key] === null ? '' : String(place);
    }
    refresh();
    const title = box.querySelector('h2');
    title.scrollIntoView({ block: 'start' });
    title.focus({ preventScroll: true });
  }

  refresh();
  return { box, pick, step, turn, clear, search };
}

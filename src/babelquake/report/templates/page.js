// The page: choose a run and a view, theme, keys.

const THEMES = ['auto', 'light', 'dark'];
const opened = new Map();
let current = null;

function remember(key, value) {
  try { if (value === undefined) return localStorage.getItem(key); localStorage.setItem(key, value); } catch { /* no storage for files */ }
  return null;
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme === 'auto' ? '' : theme;
  document.getElementById('theme-button').textContent = `Theme: ${theme}`;
  remember('babelquake-theme', theme);
}

function nextTheme() {
  const now = document.documentElement.dataset.theme || 'auto';
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
}

async function open(section) {
  for (const other of document.querySelectorAll('section.run')) other.hidden = other !== section;
  if (!opened.has(section)) opened.set(section, build(section));
  current = await opened.get(section);
}

async function build(section) {
  const place = section.querySelector('.explore');
  let data;
  try { data = await unpack(section.querySelector('script.data')); } catch (error) {
    place.append(make('p', { class: 'note' }, `Charts and examples could not be read by this browser (${error.message}); the tables below are complete.`));
    return null;
  }
  const lead = section.querySelector('.lead');
  let drawn = null;
  if (lead && data.lead) {
    const figure = chartFigure(data.lead, data.typed, 'h2');
    lead.append(figure);
    drawn = figure.draw();
  }
  const browser = exampleBrowser(data.examples, data.typed);
  const view = make('div');
  const choice = make('select', {}, ...data.views.map((item, at) => make('option', { value: at }, visible(item.label))));
  const show = () => {
    const item = data.views[Number(choice.value)];
    view.replaceChildren();
    if (item.heat) view.append(make('h2', {}, 'Systems and perturbations'), heatmap(item.heat, data.typed, browser.pick));
    if (item.charts.length) {
      const grid = chartGrid(item.charts, data.typed);
      view.append(make('h2', {}, 'Charts'), grid);
      return grid.draw();
    }
    return null;
  };
  choice.addEventListener('change', show);
  if (data.views.length > 1) {
    place.append(make('div', { class: 'controls view-choice' }, field(data.views_by, choice)));
  }
  place.append(view);
  await drawn;
  if (data.views.length) await show();
  if (data.examples.total) place.append(browser.box);
  section.dataset.ready = 'yes';
  return browser;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !document.getElementById('keys-on').checked) return;
  if (event.target.closest('input, select, textarea, dialog')) {
    if (event.key === 'Escape' && event.target.matches('input')) event.target.blur();
    return;
  }
  const actions = {
    j: () => current?.step(1), k: () => current?.step(-1), n: () => current?.turn(1), p: () => current?.turn(-1),
    x: () => current?.clear(), '/': () => current?.search.focus(), t: nextTheme, '?': () => document.getElementById('help').showModal(),
  };
  if (event.target.closest('.example')) { actions.ArrowDown = actions.j; actions.ArrowUp = actions.k; }
  if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
}

async function copy(event) {
  const button = event.target, text = button.previousElementSibling.textContent;
  try { await navigator.clipboard.writeText(text); button.textContent = 'Copied'; } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = 'Selected';
  }
  setTimeout(() => { button.textContent = 'Copy'; }, 2000);
}

setTheme(THEMES.includes(remember('babelquake-theme')) ? remember('babelquake-theme') : 'auto');
document.getElementById('theme-button').addEventListener('click', nextTheme);
document.getElementById('help-button').addEventListener('click', () => document.getElementById('help').showModal());
document.addEventListener('keydown', onKey);
document.querySelectorAll('.copy').forEach((button) => button.addEventListener('click', copy));
const sections = [...document.querySelectorAll('section.run')];
const chooser = document.getElementById('run-select');
if (chooser) {
  chooser.addEventListener('change', () => { location.hash = chooser.value; });
  addEventListener('hashchange', () => { const section = sections.find((item) => `#${item.id}` === location.hash); if (section) { chooser.value = section.id; open(section); } });
}
const wanted = sections.find((item) => `#${item.id}` === location.hash) || sections[0];
if (chooser) chooser.value = wanted.id;
open(wanted);

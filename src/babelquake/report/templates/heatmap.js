// The heat map of systems × perturbations: a table whose cells are buttons that filter the examples.

const MOST_ACROSS = 6; // Systems side by side; more become rows where there are fewer perturbations than systems.

function heatmap(heat, typed, onPick) {
  const box = make('div'), holder = make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Heat map' });
  const caption = make('p', { class: 'caption' });
  const names = Object.keys(heat.measures);
  const buttons = names.map((name) => make('button', { type: 'button', onclick: () => draw(name) }, heat.named[name][0]));
  box.append(make('div', { class: 'controls' }, make('div', { class: 'segmented', role: 'group', 'aria-label': 'Measure' }, ...buttons)), holder, caption);
  const turned = heat.systems.length > Math.max(MOST_ACROSS, heat.perturbations.length);
  let picked = null;

  function draw(name) {
    buttons.forEach((button, place) => button.setAttribute('aria-pressed', String(names[place] === name)));
    const table = heat.measures[name];
    const bad = (value) => (name === 'inconsistent' ? value : 100 - value);
    const worst = Math.max(5, ...table.flat().filter(Boolean).map((cell) => bad(cell[0])));
    const tile = (i, j) => cellOf(table[i][j], heat.perturbations[i], heat.systems[j], name, bad, worst);
    const across = turned ? heat.perturbations : heat.systems, down = turned ? heat.systems : heat.perturbations;
    const titled = (scope, text) => make('th', { scope, title: visible(typed[text] ?? text) }, visible(text));
    const head = make('tr', {}, make('th', { scope: 'col' }, turned ? 'System' : 'Perturbation'), ...across.map((text) => titled('col', text)));
    const body = down.map((text, i) => make('tr', {}, titled('row', text), ...across.map((_, j) => (turned ? tile(j, i) : tile(i, j)))));
    holder.replaceChildren(make('table', { class: 'heat', '--columns': across.length }, make('thead', {}, head), make('tbody', {}, ...body)));
    const test = name === 'robust' ? ' * significant loss after correction.' : '';
    caption.textContent = `${heat.named[name][1]} Small figures: 95 % interval.${test} Click a cell to see its examples.`;
  }

  function cellOf(cell, perturbation, system, name, bad, worst) {
    if (!cell) return make('td', {}, '–');
    const [value, low, high, significant, n] = cell;
    const share = Math.max(0, Math.min(1, bad(value) / worst)) * 0.85;
    const star = name === 'robust' && significant ? '*' : '';
    const label = `${system} under ${perturbation}: ${heat.named[name][0]} ${shown(value)}${star ? ', significant' : ''}, ${n} segments. Show examples`;
    const key = `${system}\u0000${perturbation}`;
    const button = make('button', {
      type: 'button', '--share': share.toFixed(3), 'aria-label': visible(label), 'aria-pressed': String(picked === key),
      onclick: () => {
        picked = key;
        holder.querySelectorAll('button').forEach((other) => other.setAttribute('aria-pressed', String(other === button)));
        onPick({ system, cell: perturbation });
      },
    }, shown(value) + star);
    if (low !== null && high !== null) button.append(make('span', { class: 'range' }, `${shown(low)} to ${shown(high)}`));
    return make('td', {}, button);
  }

  draw(names[0]);
  return box;
}

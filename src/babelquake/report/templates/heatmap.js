// The heat map of systems × perturbations: a table whose cells are buttons that filter the examples.

function heatmap(heat, typed, onPick) {
  const box = make('div'), holder = make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Heat map' });
  const caption = make('p', { class: 'caption' });
  const names = Object.keys(heat.measures);
  const buttons = names.map((name) => make('button', { type: 'button', onclick: () => draw(name) }, heat.named[name][0]));
  box.append(make('div', { class: 'controls' }, make('div', { class: 'segmented', role: 'group', 'aria-label': 'Measure' }, ...buttons)), holder, caption);
  let picked = null;

  function draw(name) {
    buttons.forEach((button, place) => button.setAttribute('aria-pressed', String(names[place] === name)));
    const table = heat.measures[name];
    const bad = (value) => (name === 'inconsistent' ? value : 100 - value);
    const worst = Math.max(5, ...table.flat().filter(Boolean).map((cell) => bad(cell[0])));
    const head = make('tr', {}, make('th', { scope: 'col' }, 'Change'), ...heat.systems.map((system) => make('th', { scope: 'col', title: visible(typed[system] ?? system) }, visible(system))));
    const body = heat.perturbations.map((perturbation, i) => make('tr', {}, make('th', { scope: 'row', title: visible(typed[perturbation] ?? perturbation) }, visible(perturbation)), ...table[i].map((cell, j) => cellOf(cell, perturbation, heat.systems[j], name, bad, worst))));
    holder.replaceChildren(make('table', { class: 'heat', '--columns': heat.systems.length + 1 }, make('thead', {}, head), make('tbody', {}, ...body)));
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

// Vega-Lite charts; colours of text and axes follow the theme through the style sheet.

const CONFIG = {
  background: 'transparent',
  font: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal', gridColor: '#d9dce3' },
  legend: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal' },
  view: { stroke: null },
};

function chartFigure(chart, typed, heading = 'h3') {
  const plot = make('div', { class: 'plot', role: 'img', 'aria-label': visible(chart.description) });
  const figure = make('figure', { class: chart.wide ? 'chart wide' : 'chart' }, make(heading, {}, visible(chart.title)), plot, make('figcaption', {}, visible(chart.description)));
  const options = { actions: false, ast: true, renderer: 'svg', config: CONFIG, tooltip: { theme: 'custom' } };
  figure.draw = () => window.vegaEmbed(plot, fitted(chart.spec, plot.clientWidth), options).then(() => addTyped(plot, typed)).catch((error) => { plot.textContent = `This chart could not be drawn: ${error.message}`; });
  return figure;
}

/** The typed name of every label, for a pointer that rests on it. */
function addTyped(plot, typed) {
  for (const text of plot.querySelectorAll('svg text')) {
    if (!Object.hasOwn(typed, text.textContent)) continue;
    text.style.pointerEvents = 'auto';
    const title = document.createElementNS(text.namespaceURI, 'title');
    title.textContent = visible(typed[text.textContent]);
    text.append(title);
  }
}

const PHONE = 480, LETTER = 6.2;

/** Names beside a plot leave it three fifths of the width and break into two lines; on a phone, legends are one column. */
function fitted(spec, width) {
  if (!width) return spec;
  const limit = 0.4 * width, broken = {};
  const narrow = width < PHONE;
  return JSON.parse(JSON.stringify(spec, (key, value) => {
    if ((key === 'label' || key === 'name') && typeof value === 'string' && value.length * LETTER > limit) broken[value] = halves(value);
    return value;
  }), (key, value) => {
    if (key === 'labelLimit') return Math.min(value, limit);
    if (narrow && key === 'legend' && value) return { ...value, columns: 1 };
    if (key === 'axis' && value?.labelLimit && Object.keys(broken).length) return { ...value, labelFontSize: 11, labelLineHeight: 12, labelExpr: `(${JSON.stringify(broken)})[datum.label] || datum.label` };
    return value;
  });
}

/** Two lines of about the same length. */
function halves(text) {
  const spaces = [...text.matchAll(/ (?!%)/g)].map((found) => found.index);
  if (!spaces.length) return [text];
  const middle = spaces.reduce((best, at) => (Math.abs(at - text.length / 2) < Math.abs(best - text.length / 2) ? at : best));
  return [text.slice(0, middle), text.slice(middle + 1)];
}

function chartGrid(charts, typed) {
  const figures = charts.map((chart) => chartFigure(chart, typed));
  const grid = make('div', { class: 'grid' }, ...figures);
  grid.draw = () => Promise.all(figures.map((figure) => figure.draw()));
  return grid;
}

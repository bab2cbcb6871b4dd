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
    const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
    title.textContent = visible(typed[text.textContent]);
    text.append(title);
  }
}

/** On a phone, names beside a plot leave it three fifths of the width. */
function fitted(spec, width) {
  return JSON.parse(JSON.stringify(spec), (key, value) => (key === 'labelLimit' && width ? Math.min(value, 0.4 * width) : value));
}

function chartGrid(charts, typed) {
  const figures = charts.map((chart) => chartFigure(chart, typed));
  const grid = make('div', { class: 'grid' }, ...figures);
  grid.draw = () => Promise.all(figures.map((figure) => figure.draw()));
  return grid;
}

'use strict';

// The data is JSON, compressed in script elements (pages.h): #data-run, #data-models with a row for each model,
// and #data-model-N with all else of model N, which is read when a user opens it.

const $ = (id) => document.getElementById(id);
const title = document.title;
const narrow = matchMedia('(max-width: 1179px)');
let run, models;

function unpacked(id) {
  const text = atob($(`data-${id}`).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).json();
}

// All of a model.
async function opened(model) {
  model.isOpened ??= unpacked(`model-${model.order}`).then((details) => Object.assign(model, details));
  return model.isOpened;
}

// Shows characters that control a terminal or the direction of text as the other pages do.
const shown = (text) => text.replace(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (c) => [...new TextEncoder().encode(c)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''));

// An element with attributes, listeners (on...) and children; text is never markup.
function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function filled(element, attributes = {}, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined)
      .map((child) => typeof child === 'string' ? shown(child) : child));
  return element;
}

// ---- Numbers and words

const SPECIAL = {inf: Infinity, '-inf': -Infinity, nan: NaN};
const number = (value) => typeof value === 'string' ? SPECIAL[value] : value;
const isMissing = (value) => value === null || value === undefined;

function count(value) {
  return isMissing(value) ? '' : value.toLocaleString('en-US');
}

function figure(value) {
  if (isMissing(value)) return '';
  const x = number(value);
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
  if (x === 0) return '0';
  const text = Math.abs(x) >= 1e-3 && Math.abs(x) < 1e6 ? String(Number(x.toPrecision(4)))
                                                       : Number(x.toPrecision(3)).toExponential();
  return text.replaceAll('-', '−').replace('e+', 'e');
}

const cosine = (value) => isMissing(value) ? '' : String(Number(number(value).toPrecision(9)));

// Rounded up, so that the tolerance shown passes.
function passingTolerance(value) {
  if (isMissing(value)) return '';
  const x = number(value);
  if (!Number.isFinite(x)) return 'none';
  let shown = x;
  while (Number(figure(shown).replaceAll('−', '-')) < x) shown *= 1.0001;
  return figure(shown);
}

const shape = (sizes) => sizes.length === 0 ? 'scalar' : sizes.join('×');
const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;

// In this order, failures come first.
const STATUSES = {
  failed: {mark: '✕', kind: 'failed', isBad: true},
  'unexpected pass': {mark: '!', kind: 'unexpected', isBad: true},
  'expected failure': {mark: '≈', kind: 'expected'},
  'not held': {mark: '≈', kind: 'expected'},
  unsupported: {mark: '–', kind: 'skipped'},
  extracted: {mark: '–', kind: 'skipped'},
  passed: {mark: '✓', kind: 'passed'},
};

function badge(status, text = status) {
  const {mark, kind} = STATUSES[status] ?? {mark: '–', kind: 'skipped'};
  return h('span', {class: `status ${kind}`}, h('span', {'aria-hidden': 'true'}, `${mark} `), text);
}

// ---- The table

const sum = (values) => values.reduce((a, b) => a + b, 0);

// `shown`: visible from the start. `text`: formats a figure. `key`: the sort key, if it is not the value.
const COLUMNS = [
  {id: 'cause', name: 'Cause'},
  {id: 'order', name: 'Execution order'},
  {id: 'status', name: 'Status', shown: true, fixed: true, key: (m) => Object.keys(STATUSES).indexOf(m.status)},
  {id: 'name', name: 'Model', shown: true, fixed: true},
  {id: 'reason', name: 'Finding', shown: true},
  {id: 'trend', name: 'Against the baseline', shown: true},
  {id: 'categories', name: 'Categories', key: (m) => m.categories.join(', ')},
  {id: 'nodes', name: 'Nodes', shown: true, text: count},
  {id: 'parameters', name: 'Parameters', text: count},
  {id: 'weights', name: 'Weights', text: count},
  {id: 'edges', name: 'Edges', text: count},
  {id: 'max_diff', name: 'Max abs. error', shown: true, text: figure},
  {id: 'cosine_similarity', name: 'Cosine similarity', text: cosine},
  {id: 'signal_to_noise', name: 'SNR (dB)', shown: true, text: figure},
  {id: 'smallest_passing_tolerance', name: 'Smallest passing tolerance', text: passingTolerance},
];
const columns = new Map(COLUMNS.map((column) => [column.id, column]));
const view = {
  search: '', statuses: new Set(), trends: new Set(), categories: new Set(), sort: 'order', direction: 'ascending',
  shown: new Set(COLUMNS.filter((c) => c.shown).map((c) => c.id)),
};
// Those that exist, in the order that the table shows.
let listed = [];
let current = null;
const isBad = ({status}) => STATUSES[status]?.isBad;

function cell(model, column) {
  if (column.id === 'status') return h('td', {class: 'kept'}, badge(model.status));
  if (column.id === 'name') return h('th', {scope: 'row'}, model.link);
  const text = column.text?.(model[column.id]) ?? (column.key ?? ((m) => m[column.id] ?? ''))(model);
  return h('td', {class: column.text ? 'number' : column.id, title: column.text ? null : shown(text), 'data-label': column.name}, text);
}

function shownColumns() {
  return COLUMNS.filter((c) => (c.fixed || view.shown.has(c.id) || (c.id === view.sort && !['order', 'cause'].includes(c.id))) &&
                               models.some((m) => !isMissing(m[c.id])));
}

function address(model, node) {
  return `#model=${encodeURIComponent(model.name)}${node ? `&node=${encodeURIComponent(node)}` : ''}`;
}

function buildRow(model) {
  model.link = h('a', {href: address(model)}, model.name);
  return h('tr', {class: 'model', onclick: (event) => {
    // Ignores a click that ends a text selection.
    if (event.target !== model.link && !String(getSelection())) location.hash = address(model);
  }}, ...shownColumns().map((column) => cell(model, column)));
}

function buildHead() {
  $('head').replaceChildren(...shownColumns().map((column) => {
    const sorted = view.sort === column.id;
    return h('th', {scope: 'col', class: `${column.text ? 'number' : ''} ${column.fixed ? 'kept' : ''}`,
                    'aria-sort': sorted ? view.direction : null},
             h('button', {type: 'button', onclick: () => {
               if (sorted) view.direction = view.direction === 'ascending' ? 'descending' : 'ascending';
               else sortBy(column.id);
               refresh();
               $('head').querySelector('[aria-sort] button').focus();
             }}, column.name));
  }));
}

// Sorts errors in descending order at first.
function sortBy(id) {
  view.sort = id;
  view.direction = columns.get(id).text && id !== 'cosine_similarity' && id !== 'signal_to_noise' ? 'descending' : 'ascending';
}

function compare(a, b) {
  const column = columns.get(view.sort);
  const [x, y] = [a, b].map((m) => column.key ? column.key(m) : number(m[column.id]));
  // Missing values come last in both directions; NaN is greater than everything else.
  if (isMissing(x) || isMissing(y)) return isMissing(x) - isMissing(y) || a.order - b.order;
  let result;
  if (typeof x === 'string') result = x.localeCompare(y, 'en', {numeric: true});
  else if (Number.isNaN(x) || Number.isNaN(y)) result = Number.isNaN(x) - Number.isNaN(y);
  else result = x < y ? -1 : x > y ? 1 : 0;
  return (view.direction === 'ascending' ? result : -result) || a.order - b.order;
}

function matches(model) {
  const has = (chosen, values) => chosen.size === 0 || values.some((value) => chosen.has(value));
  return view.search.split(/\s+/).every((word) => model.text.includes(word)) &&
         has(view.statuses, [model.status]) && has(view.trends, [model.trend]) && has(view.categories, model.categories);
}

// Models by the cause of their failure: the largest group first, in each what could not be compared and then
// the largest errors. Models that did not fail come last, by status.
function grouped(list) {
  const groups = new Map();
  for (const model of list) {
    const name = model.cause || model.status;
    groups.get(name)?.push(model) ?? groups.set(name, [model]);
  }
  const error = ({smallest_passing_tolerance: x}) => isMissing(x) || Number.isNaN(number(x)) ? Infinity : number(x);
  const worse = (a, b) => error(a) === error(b) ? a.order - b.order : error(b) - error(a);
  for (const [name, group] of groups) if (isBad(group[0])) groups.set(name, group.sort(worse));
  const rank = ([, [first, ...more]]) => isBad(first) ? -more.length - models.length : Object.keys(STATUSES).indexOf(first.status);
  return [...groups].sort((a, b) => rank(a) - rank(b));
}

let builtFor = null;

function refresh() {
  const list = shownColumns();
  const built = list.map((c) => c.id).join();
  if (built !== builtFor) for (const model of models) model.row = null;
  builtFor = built;
  buildHead();
  $('sort').value = view.sort;
  const found = models.filter(matches);
  const groups = view.sort === 'cause' ? grouped(found) : [['', found.sort(compare)]];
  listed = groups.flatMap(([, group]) => group);
  for (const model of listed) model.row ??= buildRow(model);
  for (const body of [...$('table').tBodies]) body.remove();
  $('table').append(...groups.map(([name, group]) => h('tbody', {},
      !name ? null : h('tr', {class: 'group'}, h('th', {scope: 'rowgroup', colspan: list.length, title: shown(name)},
          `${name} `, h('span', {class: 'hint'}, plural(group.length, 'model')))),
      ...group.map(({row}) => row))));
  $('count').textContent = listed.length === models.length
      ? plural(models.length, 'model') : `${count(listed.length)} of ${plural(models.length, 'model')}`;
  $('clear').hidden = listed.length === models.length;
  $('table').hidden = listed.length === 0;
  markCurrent();
}

function markCurrent() {
  for (const model of listed) {
    model.row.classList.toggle('current', model === current);
    model === current ? model.link.setAttribute('aria-current', 'true') : model.link.removeAttribute('aria-current');
  }
}

// Buttons that toggle values in `chosen`; an empty set means all.
function chips(place, values, chosen) {
  $(place).hidden = values.length < 2;
  $(place).append(h('div', {class: 'chips'}, ...values.map(([value, total]) => {
    const button = h('button', {type: 'button', class: 'chip', 'aria-pressed': String(chosen.has(value)), onclick: () => {
      chosen.has(value) ? chosen.delete(value) : chosen.add(value);
      button.setAttribute('aria-pressed', String(chosen.has(value)));
      refresh();
    }}, value, ' ', h('span', {class: 'number'}, count(total)));
    return button;
  })));
}

function tally(lists) {
  const totals = new Map();
  for (const value of lists.flat()) totals.set(value, (totals.get(value) ?? 0) + 1);
  return totals;
}

function setUpFilters() {
  const statuses = tally(models.map((m) => [m.status]));
  if (models.some(isBad)) {
    view.sort = 'cause';
    for (const model of models) if (isBad(model)) view.statuses.add(model.status);
  }
  const known = ({id}) => models.some((m) => !isMissing(m[id]));
  chips('statuses', Object.keys(STATUSES).filter((s) => statuses.has(s)).map((s) => [s, statuses.get(s)]), view.statuses);
  chips('trends', [...tally(models.map((m) => m.trend ?? []))], view.trends);
  chips('categories', [...tally(models.map((m) => m.categories))].sort((a, b) => a[0] < b[0] ? -1 : 1), view.categories);
  $('sort').append(...COLUMNS.filter(known).map((column) => h('option', {value: column.id}, column.name)));
  $('sort').addEventListener('change', () => { sortBy($('sort').value); refresh(); });
  $('search').addEventListener('input', () => {
    view.search = $('search').value.trim().toLowerCase();
    refresh();
  });
  $('filters').addEventListener('submit', (event) => event.preventDefault());
  $('clear').addEventListener('click', () => {
    view.search = $('search').value = '';
    for (const chosen of [view.statuses, view.trends, view.categories]) chosen.clear();
    for (const chip of document.querySelectorAll('.chip')) chip.setAttribute('aria-pressed', 'false');
    refresh();
    $('search').focus();
  });
  $('column-choices').append(...COLUMNS.filter((c) => !c.fixed && known(c) && !['order', 'cause'].includes(c.id)).map((column) => {
    const box = h('input', {type: 'checkbox', onchange: () => {
      box.checked ? view.shown.add(column.id) : view.shown.delete(column.id);
      refresh();
    }});
    box.checked = view.shown.has(column.id);
    return h('label', {}, box, column.name);
  }));
}

// ---- One model

// A table as C++ sends it. Names of values are links to their nodes in `graph`, if there is one.
function table(caption, {heads, alignment, rows}, graph) {
  const content = (text, i) => heads[i] !== 'Value' || !graph?.byName.has(text) ? text
      : h('button', {type: 'button', class: 'linklike', title: 'Show in the graph', onclick: () => graph.find(text)}, text);
  const side = (i) => alignment[i] === 'r' ? 'number' : null;
  // An empty one is not a header.
  const header = (scope, text, i) => text ? h('th', {scope, class: side(i)}, content(text, i)) : h('td');
  return h('div', {class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0'},
      h('table', {}, h('caption', {class: 'hidden-text'}, caption),
        h('thead', {}, h('tr', {}, ...heads.map((text, i) => header('col', text.replaceAll('&nbsp;', ' '), i)))),
        h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map((text, i) =>
            i === 0 ? header('row', text, i) : h('td', {class: side(i)}, content(text, i))))))));
}

const code = (text) => h('code', {}, text);

// Copies what `text` returns, or selects `block`.
function copyButton(label, text, block) {
  const button = h('button', {type: 'button', class: 'copy', onclick: async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = 'Copied';
    } catch {
      if (block) getSelection().selectAllChildren(block);
      button.textContent = block && document.execCommand('copy') ? 'Copied' : block ? 'Selected' : 'Not copied';
    }
  }}, label);
  return button;
}

// Quotes text for a shell if needed.
const shellWord = (text) => /^[\w.\/:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function copyable(text, label, action = 'Copy') {
  const block = h('pre', {tabindex: '0', 'aria-label': label}, text);
  return h('div', {class: 'copyable'}, block, copyButton(action, () => text, block));
}

// The first difference, and the command that shows it.
function findingBlock(model, graph) {
  const {failure, expected_failure: expected, reproducer, statistics} = model;
  const parts = model.reason ? [h('p', {class: 'lead'}, model.reason)] : [];
  parts.push(...(model.paragraphs ?? []).map((text) => h('p', {}, text)));
  if (reproducer) parts.push(...reproducerBlock(model));
  else if (isBad(model) && run.has_pages) parts.push(copyable(model.command, 'Command', 'Copy the command'));
  if (statistics?.rows.length) parts.push(table('Inputs and results of the first node that differs', statistics, graph));
  if (failure) {
    parts.push(h('details', {open: !statistics?.rows.length}, h('summary', {}, 'In the stage ', h('b', {}, failure.stage), ': ', h('b', {}, failure.kind)),
        h('pre', {class: 'message', tabindex: '0', 'aria-label': 'Message'}, failure.message)));
    if (failure.output) {
      parts.push(h('p', {}, 'Last lines of its output:'), h('pre', {tabindex: '0', 'aria-label': 'Output'}, failure.output));
    }
  }
  if (expected && failure && isBad(model)) parts.push(h('p', {}, `Expected failure: ${expected.kind}: ${expected.reason}.`));
  return parts.some(Boolean) ? h('section', {class: `callout ${STATUSES[model.status]?.kind}`, 'aria-label': 'Finding'}, ...parts) : '';
}

function stageList(model) {
  const isDone = ['passed', 'not held', 'extracted', 'unexpected pass'].includes(model.status);
  const passed = run.stages.indexOf(model.stage) + (isDone ? 1 : 0);
  return h('ol', {class: 'stages'}, ...run.stages.map((stage, i) => {
    const status = i < passed ? 'passed' : i === passed && model.failure ? 'failed' : 'not run';
    return h('li', {}, h('b', {}, stage), badge(status));
  }));
}

function figureList(c) {
  const values = [
    ['Max abs. error', figure(c.max_diff)], ['Mean abs. error', figure(c.mean_diff)],
    ['RMSE', figure(c.root_mean_square_diff)],
    ['Max relative error', figure(c.max_relative_diff)],
    ['SNR (dB)', figure(c.signal_to_noise)],
    ['Cosine similarity', cosine(c.cosine_similarity)],
    ['Max ULP distance', isMissing(c.max_ulp_diff) ? '—' : count(c.max_ulp_diff)],
    ['Outside the tolerance', share(c)], ['Smallest passing tolerance', passingTolerance(c.smallest_passing_tolerance)],
  ];
  return h('dl', {class: 'figures'}, ...values.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
}

function share(c) {
  const percent = c.num_elements ? 100 * c.num_mismatched / c.num_elements : 0;
  return `${count(c.num_mismatched)} of ${count(c.num_elements)} (${figure(percent)} %)`;
}

// Marks bins that begin at or above `limit`. NaN on one side has its own row.
function histogram(c, limit) {
  const nan = c.num_nan || 0;
  const counts = [...c.histogram.slice(0, -1), c.histogram[c.histogram.length - 1] - nan, nan];
  const most = Math.max(1, ...counts);
  const body = counts.map((value, bin) => [run.bins[bin] || 'NaN', value, bin]).filter(([, value]) => value > 0);
  return h('table', {class: 'histogram'},
      h('caption', {class: 'hidden-text'}, 'Elements by absolute error'),
      h('tbody', {}, ...body.map(([name, value, bin]) => h('tr', {},
          h('th', {scope: 'row'}, name),
          h('td', {class: 'number'}, count(value)),
          h('td', {class: `bar ${bin > 1 && 10 ** (bin - 14) >= limit ? 'outside' : ''}`},
            h('span', {style: `width: ${(100 * value / most).toFixed(2)}%`}))))));
}

function outputBlock(output) {
  const c = output.comparison;
  const parts = [h('h4', {}, `Output ${output.output}: `, code(output.value))];
  parts.push(h('p', {class: 'hint'}, `${shape(c.shape)} ${c.dtype}, ${plural(c.num_elements, 'element')}; ` +
      `rtol ${figure(output.tolerance.rtol)}, atol ${figure(output.tolerance.atol)}`));
  if (output.own_error) {
    parts.push(h('p', {}, `Against float64: ${figure(output.own_error.rms_ratio)} times the error of eager operators.`));
  }
  if (c.problem) return [...parts, h('p', {class: 'callout'}, c.problem)];
  if (!c.num_mismatched && !c.worst.actual) return [...parts, h('p', {}, 'Equal, element by element.')];
  if (c.worst.actual) {
    parts.push(h('p', {}, 'Worst element: at ', code(`[${c.worst.index.join(', ')}]`), ' it gives ', code(c.worst.actual),
                 ', expected ', code(c.worst.expected), '.'));
  }
  parts.push(figureList(c), h('p', {class: 'hint'}, 'Elements by absolute error; striped bars are above atol.'),
             histogram(c, output.tolerance.atol));
  return parts;
}

function trialBlock({trials, worst_trial, not_tried}) {
  if (trials.length === 0) return [];
  const box = h('div', {'aria-live': 'polite'});
  const buttons = trials.map((trial, i) => h('button', {type: 'button', class: 'chip', onclick: () => show(i)},
      trial.name, ' ', h('span', {class: 'number'}, trial.problem ? '✕ failed' : '✓ passed')));
  function show(index) {
    buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(i === index)));
    const trial = trials[index];
    box.replaceChildren(...(trial.problem ? [h('p', {}, trial.problem)] : []), ...trial.outputs.flatMap(outputBlock));
  }
  show(Math.max(0, trials.findIndex((trial) => trial.name === worst_trial)));
  return [h('h3', {}, 'Numerical verification'), 
          h('p', {class: 'hint'}, 'An element passes when |actual − expected| ≤ atol + rtol · |expected|.'),
          h('div', {class: 'chips wrap', role: 'group', 'aria-label': 'Trials'}, ...buttons),
          ...(not_tried ?? []).map((trial) => h('p', {class: 'hint'}, `Not tried with ${trial}.`)), box];
}

function nodesBlock({node_report, summary, values, lists}, graph) {
  if (!node_report) return [];
  return [h('h3', {}, 'Node by node'), h('p', {}, summary), values.rows.length ? table('Values', values, graph) : '',
          ...lists.map(([title, list]) => h('details', {}, h('summary', {}, title), table(title, list, graph)))];
}

function reproducerBlock(model) {
  const r = model.reproducer;
  return [
    h('p', {}, h('b', {}, 'Reproducer'), `: run this in `, h('a', {href: `repro/${encodeURIComponent(model.name)}/`}, `repro/${model.name}/`), ':'),
    copyable(r.command, 'Command of the reproducer', 'Copy the command'),
    h('details', {}, h('summary', {}, `It has ${plural(r.num_nodes, 'node')}`), h('p', {}, `${model.reproducer_text} ${model.hint}`),
      h('pre', {class: 'message', tabindex: '0', 'aria-label': 'Failure'}, r.message))];
}

function graphBlock(model, graph) {
  if (!graph) return model.picture_problem ? [h('p', {class: 'hint'}, `There is no picture: ${model.picture_problem}.`)] : [];
  return [h('h3', {}, 'Graph'),
    h('p', {class: 'hint'}, `${plural(model.nodes, 'node')}, ${plural(model.edges, 'edge')}, ` +
      `${plural(model.weights, 'weight')} with ${plural(model.parameters, 'parameter')}.`),
    h('div', {class: 'graphs'}, besideField(graph), graph.element)];
}

function changesBlock({changes}) {
  if (!changes) return [];
  return [h('h3', {}, 'Compared with ', code(run.changes.baseline)), h('ul', {}, ...changes.map((line) => h('li', {}, line)))];
}

function links(model) {
  if (!run.has_pages) return '';
  const file = encodeURIComponent(model.name);
  return h('p', {class: 'links'}, h('a', {href: `${file}.md`}, 'Page'),
           model.files.includes(`ir/${model.name}.json`) ? h('a', {href: `ir/${file}.json`}, 'IR') : null,
           model.files.includes(`svg/${model.name}.svg`) ? h('a', {href: `svg/${file}.svg`}, 'SVG') : null);
}

const neighbour = (step) => listed[listed.indexOf(current) + step];

function go(step) {
  const model = current && neighbour(step);
  if (model) location.hash = address(model);
}

// Where the page was before a model was opened, and the graph that is shown.
let back = 0;
let shownGraph = null;

async function showModel(model) {
  if (!current) back = scrollY;
  current = model;
  await opened(model);
  // Another one may have been opened in the meantime.
  if (current !== model) return;
  const graph = shownGraph = model.graph ? new GraphView(model) : null;
  const step = (by, text, key) => h('button', {type: 'button', disabled: !neighbour(by), title: `Key: ${key}`, onclick: () => go(by)}, text);
  $('detail').replaceChildren(
    h('div', {class: 'detail-top'},
      h('h2', {id: 'detail-heading'}, model.name, ' ', badge(model.status)),
      h('div', {class: 'chips wrap'}, step(-1, 'Previous', 'k'), step(1, 'Next', 'j'), copyButton('Copy link', () => location.href),
        h('button', {type: 'button', id: 'back', title: 'Key: Escape', onclick: closeModel}, narrow.matches ? 'All models' : 'Close'))),
    findingBlock(model, graph),
    ...graphBlock(model, graph), ...nodesBlock(model, graph), ...trialBlock(model), ...changesBlock(model),
    h('h3', {}, 'Model'), h('p', {}, model.source ? `From ${model.source}.` : model.description),
    h('p', {}, ...model.categories.map((c) => h('span', {class: 'tag'}, c))), links(model), stageList(model),
    ...(run.has_pages ? [h('h3', {}, 'Run it again'), copyable(model.command, 'Command')] : []));
  $('detail').hidden = false;
  document.body.classList.add('with-detail');
  document.title = `${model.name} · ${title}`;
  markCurrent();
  graph?.start();
  $('detail').scrollTop = 0;
  narrow.matches ? scrollTo(0, 0) : model.row?.scrollIntoView({block: 'nearest'});
}

function closeModel() {
  // Clears the address too, without a jump to the top.
  history.pushState(null, '', location.pathname + location.search);
  hideModel();
}

function hideModel() {
  const was = current;
  current = shownGraph = null;
  $('detail').hidden = true;
  $('detail').replaceChildren();
  document.body.classList.remove('with-detail');
  document.title = title;
  markCurrent();
  if (!was) return;
  scrollTo(0, back);
  was.link?.focus({preventScroll: true});
}

async function route(focus) {
  const asked = new URLSearchParams(location.hash.slice(1).replaceAll('+', '%2B'));
  const model = models.find((m) => m.name === asked.get('model'));
  if (!model) return hideModel();
  if (model !== current) await showModel(model);
  if (model !== current) return;
  if (asked.get('node')) shownGraph?.find(asked.get('node'));
  else if (focus) $('detail').focus({preventScroll: true});
}

// ---- The page

function setUpKeys() {
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, select, textarea');
    if (event.key === 'Escape' && current && !typing && !document.fullscreenElement) closeModel();
    if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
    const focused = event.target.closest('tr.model');
    const step = {j: 1, k: -1, ...focused && {ArrowDown: 1, ArrowUp: -1}}[event.key];
    const copy = event.key === 'c' && $('detail').querySelector('.copyable .copy');
    if (!step && !copy && event.key !== '/') return;
    event.preventDefault();
    if (copy) return copy.click();
    if (event.key === '/') return $('search').focus();
    if (current && !focused) return go(step);
    const at = listed.findIndex(({row}) => row === focused);
    listed[at < 0 ? 0 : at + step]?.link.focus();
  });
}

// What changed since an earlier run: a column, and in words what the list of models does not have.
function setUpChanges() {
  if (!run.changes) return;
  const {baseline, notes, rows} = run.changes;
  const byName = new Map(models.map((model) => [model.name, model]));
  for (const model of models) model.trend = 'same';
  for (const [name, trend, changes] of rows) if (byName.has(name)) Object.assign(byName.get(name), {trend, changes});
  const others = rows.filter(([name]) => !byName.has(name)).map(([name, trend, changes]) => `${name} (${trend}): ${changes.join('; ')}`);
  const more = [...notes.slice(1), ...others];
  const summary = ['Compared with ', code(baseline), `: ${notes[0]}`];
  $('changes').append(more.length === 0 ? h('p', {class: 'coverage'}, ...summary)
      : h('details', {}, h('summary', {}, ...summary), h('ul', {}, ...more.map((text) => h('li', {}, text)))));
}

function setUpSuite() {
  const {suite} = run;
  if (!suite) return;
  $('models').hidden = models.length === 0;
  $('operators').hidden = false;
  $('operators').append(h('h2', {id: 'operators-heading'}, 'Operators'), h('p', {}, suite.verdict),
      ...suite.parts.map(([name, data]) => h('details', {open: ['Failures by cause', 'Calls in models'].includes(name)},
          h('summary', {}, name), table(name, data))));
}

async function start() {
  [run, models] = await Promise.all([unpacked('run'), unpacked('models')]);
  models.forEach((model, order) => Object.assign(model, {
    order,
    text: [model.name, model.status, model.failure?.stage, model.failure?.kind, model.failure?.message, model.reason,
           ...model.categories].join('\n').toLowerCase()}));
  $('verdict').classList.add(run.is_good ? 'good' : 'bad');
  $('verdict').append(h('span', {'aria-hidden': 'true'}, run.is_good ? '✓ ' : '✕ '), shown(run.verdict));
  $('coverage').textContent = shown(run.coverage);
  const {heads, rows: [settings]} = run.settings;
  $('environment').append(...[...heads.map((name, i) => [name, settings[i]]), ...run.build].filter(([, value]) => value).flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
  $('command').textContent = shown(run.command);
  setUpChanges();
  setUpFilters();
  setUpSuite();
  setUpKeys();
  refresh();
  addEventListener('hashchange', () => route(true));
  await route(false);
  document.body.dataset.ready = '';
  performance.mark('ready');
}

start().catch((error) => {
  $('verdict').textContent = `This browser cannot show the page (${error.message}). SUMMARY.md has the same results.`;
});

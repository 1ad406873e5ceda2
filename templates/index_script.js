'use strict';

// The data is JSON in script elements: #results is results.json, #words has texts about the run,
// #words-N those about model N, and #graph-N its graph, which is parsed when a user opens the model.

const $ = (id) => document.getElementById(id);
const json = (id) => JSON.parse($(id).textContent);
const results = json('results');
const words = json('words');
const title = document.title;
const narrow = matchMedia('(max-width: 1179px)');

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
  return text.replace('-', '−').replace('e+', 'e');
}

const cosine = (value) => isMissing(value) ? '' : String(Number(number(value).toPrecision(9)));

// Rounded up, so that the tolerance shown passes.
function passingTolerance(value) {
  if (isMissing(value)) return '';
  const x = number(value);
  if (!Number.isFinite(x)) return 'none';
  let shown = x;
  while (Number(figure(shown).replace('−', '-')) < x) shown *= 1.0001;
  return figure(shown);
}

const shape = (sizes) => sizes.length === 0 ? 'scalar' : sizes.join('×');
const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;

// In this order, failures come first.
const STATUSES = {
  failed: {mark: '✕', kind: 'failed'},
  'unexpected pass': {mark: '!', kind: 'unexpected'},
  'expected failure': {mark: '≈', kind: 'expected'},
  'not held': {mark: '≈', kind: 'expected'},
  extracted: {mark: '–', kind: 'skipped'},
  passed: {mark: '✓', kind: 'passed'},
};

function badge(status, text = status) {
  const {mark, kind} = STATUSES[status] ?? {mark: '–', kind: 'skipped'};
  return h('span', {class: `status ${kind}`}, h('span', {'aria-hidden': 'true'}, `${mark} `), text);
}

// ---- The table

// The greatest value, or for `least` the least; NaN is worse than both.
function worst(values, least) {
  return values.reduce((a, b) => {
    const [x, y] = [number(a), number(b)];
    return Number.isNaN(x) || !Number.isNaN(y) && (least ? x <= y : x >= y) ? a : b;
  });
}

const sum = (values) => values.reduce((a, b) => a + b, 0);

// The worst figures of all trials that could be compared.
function worstFigures({max_diff, trials}) {
  const compared = trials.map(({outputs}) => outputs.map((o) => o.comparison).filter((c) => !c.mismatch));
  const all = compared.flat();
  if (isMissing(max_diff) || all.length === 0) return {};
  const of = (key, least) => worst(all.map((c) => c[key]), least);
  const ulps = all.map((c) => c.max_ulp_diff).filter((ulp) => !isMissing(ulp));
  return {
    mean_diff: worst(trials.map((trial) => trial.mean_diff ?? 0)),
    max_relative_diff: of('max_relative_diff'), root_mean_square_diff: of('root_mean_square_diff'),
    cosine_similarity: of('cosine_similarity', true), signal_to_noise: of('signal_to_noise', true),
    max_ulp_diff: ulps.length ? Math.max(...ulps) : null,
    num_mismatched: Math.max(...compared.map((trial) => sum(trial.map((c) => c.num_mismatched)))),
  };
}

const models = results.models.map((model, order) => ({
  ...model, ...worstFigures(model), order, words: json(`words-${order}`),
  seconds: model.stage_seconds && sum(model.stage_seconds),
}));

// `shown`: visible from the start. `text`: formats a cell. `key`: the sort key, if it is not the value.
const COLUMNS = [
  {id: 'order', name: 'Execution order'},
  {id: 'name', name: 'Model', shown: true, fixed: true},
  {id: 'status', name: 'Status', shown: true, fixed: true, key: (m) => Object.keys(STATUSES).indexOf(m.status)},
  {id: 'categories', name: 'Categories', shown: true, key: (m) => m.categories.join(' ')},
  {id: 'nodes', name: 'Nodes', shown: true, text: count},
  {id: 'parameters', name: 'Parameters', text: count},
  {id: 'weights', name: 'Weights', text: count},
  {id: 'edges', name: 'Edges', text: count},
  {id: 'max_diff', name: 'Max abs. error', shown: true, text: figure},
  {id: 'mean_diff', name: 'Mean abs. error', text: figure},
  {id: 'max_relative_diff', name: 'Max relative error', text: figure},
  {id: 'root_mean_square_diff', name: 'RMSE', text: figure},
  {id: 'cosine_similarity', name: 'Cosine similarity', shown: true, text: cosine},
  {id: 'signal_to_noise', name: 'SNR (dB)', shown: true, text: figure},
  {id: 'max_ulp_diff', name: 'Max ULP distance', text: count},
  {id: 'num_mismatched', name: 'Outside the tolerance', text: count},
  {id: 'smallest_passing_tolerance', name: 'Smallest passing tolerance', shown: true, text: passingTolerance},
  {id: 'seconds', name: 'Seconds', text: figure},
].filter((column) => column.id !== 'seconds' || models.some((m) => !isMissing(m.seconds)));

const columns = new Map(COLUMNS.map((column) => [column.id, column]));
const view = {
  search: '', statuses: new Set(), categories: new Set(), sort: 'order', direction: 'ascending',
  shown: new Set(COLUMNS.filter((c) => c.shown).map((c) => c.id)),
};
const rows = [];
let current = null;

for (const model of models) {
  model.text = [model.name, model.status, model.failure?.stage, model.failure?.kind, model.words.reason,
                ...model.categories].join('\n').toLowerCase();
}

function cell(model, column) {
  const value = model[column.id];
  if (column.id === 'status') {
    return h('td', {class: 'bare kept'}, badge(model.status), model.words.reason ? h('span', {class: 'reason'},
                                    [model.failure?.kind, model.words.reason].filter(Boolean).join(': ')) : null);
  }
  if (column.id === 'categories') {
    return h('td', {class: 'bare'}, ...model.categories.map((c) => h('span', {class: 'tag'}, c)));
  }
  return h('td', {class: `number of-${column.id}`, 'data-label': column.name}, column.text(value));
}

function shownColumns() {
  return COLUMNS.filter((c) => c.fixed || view.shown.has(c.id) || (c.id === view.sort && c.id !== 'order'));
}

function address(model) {
  return '#model=' + encodeURIComponent(model.name);
}

function buildRows() {
  const list = shownColumns().slice(1);
  rows.length = 0;
  for (const model of models) {
    const link = h('a', {href: address(model)}, model.name);
    const row = h('tr', {onclick: (event) => {
      // Ignores a click that ends a text selection.
      if (event.target !== link && !String(getSelection())) location.hash = address(model);
    }}, h('th', {scope: 'row'}, link), ...list.map((column) => cell(model, column)));
    rows.push({model, row, link});
  }
}

function buildHead() {
  $('head').replaceChildren(...shownColumns().map((column) => {
    const sorted = view.sort === column.id;
    return h('th', {scope: 'col', class: `${column.text ? 'number' : ''} ${column.fixed || sorted ? 'kept' : ''}`,
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
  return view.search.split(/\s+/).every((word) => model.text.includes(word)) &&
         (view.statuses.size === 0 || view.statuses.has(model.status)) &&
         (view.categories.size === 0 || model.categories.some((c) => view.categories.has(c)));
}

let builtFor = null;

function refresh() {
  const built = shownColumns().map((c) => c.id).join();
  if (built !== builtFor) buildRows();
  builtFor = built;
  buildHead();
  $('sort').value = view.sort;
  $('direction').value = view.direction;
  const shown = rows.filter(({model}) => matches(model));
  shown.sort((a, b) => compare(a.model, b.model));
  // Beside an open model, the sort column stays visible.
  for (const {row} of rows) {
    row.querySelector('.number.kept')?.classList.remove('kept');
    row.querySelector(`.of-${view.sort}`)?.classList.add('kept');
  }
  $('rows').replaceChildren(...shown.map(({row}) => row));
  $('count').textContent = shown.length === models.length
      ? plural(models.length, 'model') : `${count(shown.length)} of ${plural(models.length, 'model')}`;
  $('empty').hidden = shown.length > 0;
  $('table').hidden = shown.length === 0;
  markCurrent();
}

function markCurrent() {
  for (const {model, row, link} of rows) {
    row.classList.toggle('current', model === current);
    if (model === current) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

// Buttons that toggle values in `chosen`; an empty set means all.
function chips(place, values, chosen) {
  if (values.length < 2) {
    $(place).hidden = true;
    return;
  }
  const box = h('div', {class: 'chips'});
  for (const [value, total] of values) {
    const button = h('button', {type: 'button', class: 'chip', 'aria-pressed': 'false', onclick: () => {
      chosen.has(value) ? chosen.delete(value) : chosen.add(value);
      button.setAttribute('aria-pressed', String(chosen.has(value)));
      refresh();
    }}, value, ' ', h('span', {class: 'number'}, count(total)));
    box.append(button);
  }
  $(place).append(box);
}

function tally(lists) {
  const totals = new Map();
  for (const value of lists.flat()) totals.set(value, (totals.get(value) ?? 0) + 1);
  return totals;
}

function setUpFilters() {
  const statuses = tally(models.map((m) => [m.status]));
  chips('statuses', Object.keys(STATUSES).filter((s) => statuses.has(s)).map((s) => [s, statuses.get(s)]), view.statuses);
  chips('categories', [...tally(models.map((m) => m.categories))].sort((a, b) => a[0] < b[0] ? -1 : 1), view.categories);
  $('sort').append(...COLUMNS.map((column) => h('option', {value: column.id}, column.name)));
  $('sort').addEventListener('change', () => { sortBy($('sort').value); refresh(); });
  $('direction').addEventListener('change', () => { view.direction = $('direction').value; refresh(); });
  $('search').addEventListener('input', () => {
    view.search = $('search').value.trim().toLowerCase();
    refresh();
  });
  $('filters').addEventListener('submit', (event) => event.preventDefault());
  $('clear').addEventListener('click', () => {
    view.search = $('search').value = '';
    view.statuses.clear();
    view.categories.clear();
    for (const chip of document.querySelectorAll('.chip')) chip.setAttribute('aria-pressed', 'false');
    refresh();
    $('search').focus();
  });
  $('column-choices').append(...COLUMNS.filter((c) => !c.fixed && c.id !== 'order').map((column) => {
    const box = h('input', {type: 'checkbox', onchange: () => {
      box.checked ? view.shown.add(column.id) : view.shown.delete(column.id);
      refresh();
    }});
    box.checked = view.shown.has(column.id);
    return h('label', {}, box, column.name);
  }));
}

// ---- One model

function table(caption, head, body, attributes = {}) {
  return h('div', {class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0'},
      h('table', attributes, h('caption', {class: 'hidden-text'}, caption),
        h('thead', {}, h('tr', {}, ...head.map(([name, numeric]) =>
            h('th', {scope: 'col', class: numeric ? 'number' : null}, name)))),
        h('tbody', {}, ...body.map((cells) => h('tr', {}, ...cells.map((value, i) => {
          const attributes = {class: head[i][1] ? 'number' : null};
          return i === 0 ? h('th', {scope: 'row', ...attributes}, value) : h('td', attributes, value);
        }))))));
}

const code = (text) => h('code', {}, text);

function copyable(text, label) {
  const button = h('button', {type: 'button', class: 'copy', onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(block);
      button.textContent = 'Selected';
    }
  }}, 'Copy');
  const block = h('pre', {tabindex: '0', 'aria-label': label}, text);
  return h('div', {}, button, block);
}

function failureBlock(model) {
  const parts = [];
  const {failure} = model;
  if (failure) {
    parts.push(h('p', {}, 'In the stage ', h('b', {}, failure.stage), ': ', h('b', {}, failure.kind)), h('pre', {class: `message ${STATUSES[model.status].kind === 'expected' ? 'known' : ''}`,
                         tabindex: '0', 'aria-label': 'Message'}, failure.message));
    if (failure.output) {
      parts.push(h('p', {}, 'Last lines of its output:'), h('pre', {tabindex: '0', 'aria-label': 'Output'}, failure.output));
    }
  }
  if (model.expected_failure) {
    const {kind, reason} = model.expected_failure;
    parts.push(h('p', {}, model.status === 'expected failure' ? `Reason: ${reason}` : `Expected failure: ${kind}: ${reason}.`));
  }
  return parts;
}

function stageList(model) {
  const isDone = ['passed', 'not held', 'extracted', 'unexpected pass'].includes(model.status);
  const passed = words.stages.indexOf(model.stage) + (isDone ? 1 : 0);
  return h('ol', {class: 'stages'}, ...words.stages.map((stage, i) => {
    const status = i < passed ? 'passed' : i === passed && model.failure ? 'failed' : 'not run';
    const seconds = model.stage_seconds?.[i];
    return h('li', {}, h('b', {}, stage), badge(status),
             isMissing(seconds) ? null : h('span', {class: 'hint'}, ` ${seconds.toFixed(3)} s`));
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
  const body = counts.map((value, bin) => [words.bins[bin] || 'NaN', value, bin]).filter(([, value]) => value > 0);
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
  if (c.mismatch) return [...parts, h('p', {class: 'callout'}, c.mismatch)];
  if (c.is_close && !c.worst_actual) return [...parts, h('p', {}, 'Equal, element by element.')];
  parts.push(figureList(c));
  if (c.worst_actual) {
    parts.push(h('p', {}, 'Worst element: at ', code(`[${c.worst_index.join(', ')}]`), ' the graph gives ',
                 code(c.worst_actual), ', expected ', code(c.worst_expected), '.'));
  }
  parts.push(h('p', {class: 'hint'}, 'Elements by absolute error; striped bars are above atol.'),
             histogram(c, output.tolerance.atol));
  return parts;
}

function trialBlock({trials, worst_trial, not_tried}) {
  if (trials.length === 0) return [];
  const box = h('div', {'aria-live': 'polite'});
  const buttons = trials.map((trial, i) => h('button', {type: 'button', class: 'chip', onclick: () => show(i)},
      trial.name, ' ', h('span', {class: 'number'}, trial.passed ? '✓ passed' : '✕ failed')));
  function show(index) {
    buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(i === index)));
    const trial = trials[index];
    box.replaceChildren(...(trial.message ? [h('p', {}, trial.message)] : []), ...trial.outputs.flatMap(outputBlock));
  }
  show(Math.max(0, trials.findIndex((trial) => trial.name === worst_trial)));
  return [h('h3', {}, 'Numerical verification'), 
          h('p', {class: 'hint'}, 'An element passes when |actual − expected| ≤ atol + rtol · |expected|.'),
          h('div', {class: 'chips wrap', role: 'group', 'aria-label': 'Trials'}, ...buttons),
          ...(not_tried ?? []).map((trial) => h('p', {class: 'hint'}, `Not tried with ${trial}.`)), box];
}

function nodeLink(name, graph) {
  if (!graph) return code(name);
  return h('button', {type: 'button', class: 'linklike', title: 'Show in the graph', onclick: () => graph.find(name)}, name);
}

function nonFinite(value, graph) {
  return h('p', {}, `The first ${value.is_nan ? 'NaN' : 'infinity'} appears at node ${value.index}, `,
           nodeLink(value.node, graph), ' (', code(value.op_type), '); ',
           value.is_expected ? 'the model has it there too.' : h('b', {}, 'the model does not have it there.'));
}

function statistics(role, s) {
  if (role === 'input' && !s.dtype) return [h('span', {}, `${role} `, code(s.name)), 'not returned', '', '', '', '', '', '', ''];
  return [h('span', {}, `${role} `, code(s.name)), shape(s.shape), s.dtype, figure(s.min), figure(s.max),
          figure(s.mean), figure(s.standard_deviation), count(s.num_nan), count(s.num_inf)];
}

function divergenceBlock(divergence, graph) {
  const {node} = divergence;
  const c = node.comparison;
  return h('div', {class: 'callout'},
      h('p', {}, h('b', {}, 'First difference'), ` outside the tolerance: node ${node.index}, `,
        nodeLink(node.node, graph), ' (', code(node.op_type), ')',
        ...(node.module ? [' in ', code(node.module)] : []), '. ',
        c.mismatch || `Max abs. error ${figure(c.max_diff)}, ${share(c)} elements outside.`),
      table('Inputs and results of the first node that differs',
          [['Value'], ['Shape'], ['Dtype'], ['Min', 1], ['Max', 1], ['Mean', 1], ['Std dev', 1], ['NaN', 1], ['Inf', 1]],
          [...divergence.inputs.map((s) => statistics('input', s)), statistics('actual', divergence.actual),
           statistics('expected', divergence.expected)]));
}

function nodesBlock(model, graph) {
  const report = model.node_report;
  if (!report) return [];
  const parts = [h('h3', {}, 'Node by node'), h('p', {}, model.words.nodes)];
  if (report.error) parts.push(h('p', {class: 'callout'}, `The comparison could not be completed: ${report.error}`));
  if (report.first_divergence) parts.push(divergenceBlock(report.first_divergence, graph));
  if (report.first_nan) parts.push(nonFinite(report.first_nan, graph));
  if (report.first_inf) parts.push(nonFinite(report.first_inf, graph));
  if (model.words.note) parts.push(h('p', {}, model.words.note));
  const values = (title, details) => {
    if (details.length === 0) return;
    parts.push(h('h4', {}, title), table(title,
        [['Value'], ['Node', 1], ['Operator'], ['Max abs. error', 1], ['Mean abs. error', 1], ['Max relative error', 1],
         ['SNR (dB)', 1], ['Outside the tolerance', 1], ['Smallest passing tolerance', 1]],
        details.map(({index, node, value, op_type, comparison: c}) => [
          value === node ? nodeLink(node, graph) : h('span', {}, code(value), ' of ', nodeLink(node, graph)),
          String(index), code(op_type), figure(c.max_diff), figure(c.mean_diff), figure(c.max_relative_diff),
          figure(c.signal_to_noise), c.mismatch || share(c), c.mismatch ? 'none' : passingTolerance(c.smallest_passing_tolerance)])));
  };
  values('Values with the largest errors', report.worst);
  values('Values that differ although the nodes that read them are right', report.exonerated);
  const reasons = (what, list, count) => {
    if (list.length === 0) return;
    parts.push(h('details', {}, h('summary', {}, `Not ${what}: ${plural(count, 'value')}`),
        table(`Values that were not ${what}`, [['Value'], ['Reason']], list.map(({value, reason}) => [code(value), reason]))));
  };
  reasons('judged', report.not_judged, report.num_not_judged);
  reasons('compared', report.skipped, report.num_skipped);
  return parts;
}

function reproducerBlock(model) {
  const r = model.reproducer;
  if (!r) return [];
  const where = r.first_node === r.last_node ? [code(r.first_node)] : ['from ', code(r.first_node), ' to ', code(r.last_node)];
  const text = r.num_nodes === model.nodes
      ? [`The reproducer is the whole graph, ${plural(r.num_nodes, 'node')}, with the inputs of the trial “${r.trial}”`]
      : [`The smallest part known to fail by itself has ${plural(r.num_nodes, 'node')}, `, ...where,
         `. Its inputs are the values that the model computes before it in the trial “${r.trial}”`];
  return [h('h3', {}, 'Reproducer'),
    h('p', {}, ...text, '. It is in ',
      h('a', {href: `repro/${encodeURIComponent(model.name)}/`}, `repro/${model.name}/`), '.'),
    h('pre', {class: 'message', tabindex: '0', 'aria-label': 'Failure'}, r.message),
    h('p', {}, 'To see the failure, run this in that folder:'), copyable(r.command, 'Command of the reproducer'),
    ...model.words.hint ? [h('p', {class: 'hint'}, model.words.hint)] : []];
}

function valueRows(role, values) {
  return values.map(({name, shape, dtype}) => [h('span', {}, `${role} `, code(name)), shape, dtype]);
}

function graphBlock(model, graph) {
  const {graph: values, picture_problem: problem} = model.words;
  if (!values) return [];
  return [h('h3', {}, 'Graph'),
    h('p', {class: 'hint'}, `${plural(model.nodes, 'node')}, ${plural(model.edges, 'edge')}, ` +
      `${plural(model.weights, 'weight')} with ${plural(model.parameters, 'parameter')}.`),
    graph ? h('div', {class: 'graphs'}, besideField(graph), graph.element) : problem ? h('p', {class: 'hint'}, `There is no picture: ${problem}.`) : ''];
}

function valuesBlock({words: {graph: values}}) {
  if (!values) return [];
  return [
    h('h3', {}, 'Inputs and outputs'),
    table('Inputs and outputs', [['Value'], ['Shape'], ['Dtype']],
          [...valueRows('input', values.inputs), ...valueRows('output', values.outputs)]),
    h('details', {}, h('summary', {}, `Operators: ${plural(values.operators.length, 'kind')}`),
      table('Operators', [['Operator'], ['Calls', 1]], values.operators.map(([name, calls]) => [code(name), count(calls)])))]; }

function links(model) {
  if (!words.has_pages) return '';
  const file = encodeURIComponent(model.name);
  return h('p', {class: 'links'}, h('a', {href: `${file}.md`}, 'Page'),
           model.files.ir ? h('a', {href: `ir/${file}.json`}, 'IR') : null,
           model.files.svg ? h('a', {href: `svg/${file}.svg`}, 'SVG') : null);
}

function neighbour(step) {
  const shown = [...$('rows').children];
  const at = rows.find(({model}) => model === current);
  const row = at && shown[shown.indexOf(at.row) + step];
  return row ? rows.find((r) => r.row === row).model : null;
}

function showModel(model) {
  current = model;
  const data = $(`graph-${model.order}`);
  const graph = data ? new GraphView(model, JSON.parse(data.textContent)) : null;
  const step = (by, text) => h('button', {type: 'button', disabled: !neighbour(by), onclick: () => {
    location.hash = address(neighbour(by));
  }}, text);
  $('detail').replaceChildren(
    h('div', {class: 'detail-top'},
      h('div', {}, h('h2', {id: 'detail-heading'}, model.name), h('p', {}, badge(model.status))),
      h('div', {class: 'chips wrap'}, step(-1, 'Previous'), step(1, 'Next'),
        h('button', {type: 'button', id: 'back', onclick: closeModel}, narrow.matches ? 'All models' : 'Close'))),
    model.words.description ? h('p', {}, model.words.description) : '',
    h('p', {}, ...model.categories.map((c) => h('span', {class: 'tag'}, c))),
    links(model), ...failureBlock(model), ...graphBlock(model, graph), h('h3', {}, 'Stages'), stageList(model),
    ...trialBlock(model), ...nodesBlock(model, graph), ...reproducerBlock(model), ...valuesBlock(model),
    ...(words.has_pages ? [h('h3', {}, 'Run it again'), copyable(model.words.command, 'Command')] : []));
  $('detail').hidden = false;
  document.body.classList.add('with-detail');
  document.title = `${model.name} · ${title}`;
  markCurrent();
  graph?.start();
}

function closeModel() {
  const was = current;
  current = null;
  // Clears the address too, without a jump to the top.
  history.pushState(null, '', location.pathname + location.search);
  hideModel();
  rows.find(({model}) => model === was)?.link.focus();
}

function hideModel() {
  current = null;
  $('detail').hidden = true;
  $('detail').replaceChildren();
  document.body.classList.remove('with-detail');
  document.title = title;
  markCurrent();
}

function route(focus) {
  const match = /^#model=(.*)$/.exec(location.hash);
  let name = null;
  try { name = match && decodeURIComponent(match[1]); } catch { /* not one of our addresses */ }
  const model = name === null ? null : models.find((m) => m.name === name);
  if (!model) return hideModel();
  showModel(model);
  if (narrow.matches) scrollTo(0, 0);
  if (focus) $('detail').focus({preventScroll: !narrow.matches});
}

// ---- The page

function setUpTheme() {
  const root = document.documentElement;
  const label = () => { $('theme').textContent = root.dataset.theme === 'dark' ? 'Light theme' : 'Dark theme'; };
  $('theme').addEventListener('click', () => {
    root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('torch-ir-theme', root.dataset.theme); } catch { /* not kept */ }
    label();
  });
  label();
}

function setUpKeys() {
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, select, textarea');
    if (event.key === 'Escape' && current && !typing && !document.fullscreenElement) closeModel();
    if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
    if (event.key === '/') {
      event.preventDefault();
      $('search').focus();
    }
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const row = event.target.closest('#rows tr');
    const next = step && row && (step > 0 ? row.nextElementSibling : row.previousElementSibling);
    if (next) {
      event.preventDefault();
      next.querySelector('a').focus();
    }
  });
}

function setUpShare() {
  const totals = tally(models.map((m) => [m.status]));
  $('share').append(...Object.keys(STATUSES).filter((s) => totals.has(s)).map((s) =>
      h('span', {class: STATUSES[s].kind, style: `flex: ${totals.get(s)} 0 0`})));
}

// Changes since an earlier run.
function setUpChanges() {
  if (!words.changes) return;
  const {baseline, notes, rows: changed} = words.changes;
  const summary = h('summary', {}, 'Compared with ', code(baseline), `: ${notes[0]}`);
  const known = new Map(models.map((model) => [model.name, model]));
  const name = (model) => known.has(model) ? h('a', {href: address(known.get(model))}, model) : model;
  $('changes').append(changed.length + notes.length === 1
      ? h('p', {class: 'coverage'}, 'Compared with ', code(baseline), ': no changes.')
      : h('details', {open: changed.some(({trend}) => trend === 'worse')}, summary,
          ...notes.slice(1).map((note) => h('p', {class: 'hint'}, note)),
          table('Changes', [['Model'], ['Trend'], ['Changes']], changed.map(({model, trend, changes}) =>
                  [name(model), trend, h('div', {}, ...changes.map((line) => h('div', {}, line)))]))));
}

$('environment').append(...words.environment.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
$('command').textContent = shown(results.command);
setUpTheme();
setUpShare();
setUpChanges();
setUpFilters();
setUpKeys();
refresh();
addEventListener('hashchange', () => route(true));
route(false);

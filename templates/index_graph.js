'use strict';

// The graph of a model, drawn from the data that graph_data.h describes: levels of boxes that `dot`
// placed, which open in place.

// ---- Functions without a page, which graph_test.mjs tests

// Stretches an axis until each [from, to, room] has its room; returns the new place of a place.
function stretched(demands) {
  const ends = [...new Set(demands.flatMap(([from, to]) => [from, to]))].sort((a, b) => a - b);
  const lengths = ends.slice(1).map((end, i) => end - ends[i]);
  for (const [from, to, room] of demands) {
    const [first, last] = [ends.indexOf(from), ends.indexOf(to)];
    const factor = room / sum(lengths.slice(first, last));
    for (let i = first; i < last && factor > 1; ++i) lengths[i] *= factor;
  }
  return (place) => {
    if (ends.length === 0 || place <= ends[0]) return place;
    let at = ends[0];
    for (const [i, length] of lengths.entries()) {
      if (place <= ends[i + 1]) return at + length * (place - ends[i]) / (ends[i + 1] - ends[i]);
      at += length;
    }
    return at + place - ends[ends.length - 1];
  };
}

const FRAME = {top: 30, side: 10};

// Places a level and, inside it, the levels of its boxes that are in `opened`. Boxes that are not
// opened keep their sizes; all else moves and stretches, so that none overlap.
function place(levels, index, opened) {
  const level = levels[index];
  const boxes = level.boxes.map((box) => {
    const inner = box.level && opened.has(box.level) ? place(levels, box.level, opened) : null;
    const width = inner ? Math.max(box.width, inner.width + 2 * FRAME.side) : box.width;
    return {box, inner, width, height: inner ? inner.height + FRAME.top + FRAME.side : box.height};
  });
  const grown = boxes.filter(({inner}) => inner);
  const along = (at, size) =>
      stretched(grown.map(({box, ...now}) => [box[at] - box[size] / 2, box[at] + box[size] / 2, now[size]]));
  const [fx, fy] = [along('x', 'width'), along('y', 'height')];
  for (const placed of boxes) {
    const middle = (f, at, size) => (f(at - size / 2) + f(at + size / 2)) / 2;
    placed.x = middle(fx, placed.box.x, placed.box.width);
    placed.y = middle(fy, placed.box.y, placed.box.height);
  }
  const arrows = level.arrows.map(({from, to, label, at, points}) => {
    const path = [];
    for (let i = 0; i < points.length; i += 2) path.push([fx(points[i]), fy(points[i + 1])]);
    // Graphviz lists the tip first. The ends reach the boxes, which may be smaller than their room.
    const tip = path.shift() ?? [0, 0];
    const clamp = (place, middle, size) => Math.min(Math.max(place, middle - size / 2), middle + size / 2);
    const onto = ({x, y, width, height}, [px, py]) => [clamp(px, x, width), clamp(py, y, height)];
    const [start, end] = [onto(boxes[from], path[0] ?? tip), onto(boxes[to], tip)];
    return {from, to, label, at: at.length ? [fx(at[0]), fy(at[1])] : null,
            d: `M${start}L${path[0] ?? start}C${path.slice(1).join(' ')}L${end}`};
  });
  const groups = level.groups.map(([name, members]) => {
    const inside = members.map((i) => boxes[i]);
    const edge = (at, size, sign) => sign * Math.max(...inside.map((box) => sign * box[at] + box[size] / 2)) + sign * 8;
    const [x, y] = [edge('x', 'width', -1), edge('y', 'height', -1) - 16];
    return {name, x, y, width: edge('x', 'width', 1) - x, height: edge('y', 'height', 1) - y};
  });
  return {boxes, arrows, groups, width: fx(level.width), height: fy(level.height)};
}

// The entries that have all words of a query: first that of this name, then those whose names begin with it.
function searched(entries, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const rank = ({texts: [name]}) => name === words[0] ? 0 : name.startsWith(words[0]) ? 1 : 2;
  return entries.filter(({texts}) => words.every((word) => texts.some((text) => text.includes(word))))
      .sort((a, b) => rank(a) - rank(b));
}

// Viridis from light to dark, whose lightness alone gives the order; Okabe and Ito's colours, which
// colour-blind people tell apart.
const SHADES = ['#fde725', '#7ad151', '#22a884', '#2a788e', '#414487', '#440154'];
const HUES = ['#e69f00', '#56b4e9', '#009e73', '#cc79a7', '#f0e442', '#ffffff', '#d55e00', '#a6a6a6'];

// The colour at `t` of 0 ... 1, and a legible one for text on it.
function shade(t) {
  const place = Math.min(Math.max(t, 0), 1) * (SHADES.length - 1);
  const i = Math.min(Math.floor(place), SHADES.length - 2);
  const mix = [1, 3, 5].map((at) => {
    const [a, b] = [SHADES[i], SHADES[i + 1]].map((colour) => parseInt(colour.slice(at, at + 2), 16));
    return Math.round(a + (b - a) * (place - i)).toString(16).padStart(2, '0');
  });
  return {fill: `#${mix.join('')}`, text: t > .5 ? '#ffffff' : '#000000'};
}

// Colours of numbers: from the least to the greatest, by their logarithms, or for `least` backwards
// by themselves. What is 0, or without error, is white; NaN and infinity are darkest.
function numberScale(values, least) {
  const usual = values.filter((value) => Number.isFinite(value) && (least || value > 0));
  const [low, high] = [Math.min(...usual), Math.max(...usual)];
  const along = (value) => least ? high - value : Math.log(value / low);
  const length = least ? high - low : Math.log(high / low);
  return {
    ticks: usual.length === 0 ? [] : low === high ? [low]
        : least ? [high, (low + high) / 2, low] : [low, Math.sqrt(low) * Math.sqrt(high), high],
    has: (value) => values.some((v) => Object.is(v, value)),
    colour: (value) => value === (least ? Infinity : 0) ? {fill: '#ffffff', text: '#000000'}
        : shade(length > 0 && Number.isFinite(value) ? along(value) / length : 1),
  };
}

// Colours of words, in order; further words share the last one.
function wordScale(words) {
  const known = [...new Set(words)].sort((a, b) => (a === 'other') - (b === 'other') || (a < b ? -1 : 1));
  const hue = (word) => ['other', 'equal'].includes(word) ? '#ffffff' : HUES[Math.min(known.indexOf(word), HUES.length - 1)];
  return {words: known, colour: (word) => ({fill: hue(word), text: '#000000'})};
}

// How a node differs from its twin in the graph beside.
const CHANGES = ['equal', 'other figures', 'other call', 'only here'];

// The nodes of two graphs in pairs, each in one: those of one name and operator, then those of one module and
// operator in order.
function twinsOf(view, other) {
  const twins = new Map();
  for (const by of ['name', 'module']) {
    const waiting = new Map();
    const key = (node) => JSON.stringify([node[by], node.op]);
    const free = ({nodes}) => nodes.filter((node) => node[by] && !twins.has(node));
    for (const node of free(other)) waiting.get(key(node))?.push(node) ?? waiting.set(key(node), [node]);
    for (const node of free(view)) {
      const twin = waiting.get(key(node))?.shift();
      if (twin) twins.set(node, twin).set(twin, node);
    }
  }
  return twins;
}

function changeOf(node, twin, view, other) {
  if (!twin) return CHANGES[3];
  const call = ({args, outputs}, {values}) => JSON.stringify([
    args.map(([name, value]) => typeof value === 'string' ? [name, value] : [name, [].concat(value).map((id) => values[id]?.shape)]),
    outputs.map((id) => [values[id].shape, values[id].dtype])]);
  if (call(node, view) !== call(twin, other)) return CHANGES[2];
  const figures = ({own, error, place, notJudged, notCompared}) => [own, error, place, notJudged, notCompared].join();
  return figures(node) === figures(twin) ? CHANGES[0] : CHANGES[1];
}

// Why a node has no error.
const whyNone = ({notJudged, error}) => notJudged ? 'not judged' : error === undefined ? 'not compared' : 'no own error';

// By which boxes can be coloured: a figure of a node, and the one of several that stands for them.
const isWorse = (a, b) => Number.isNaN(a) || a > b;
const worse = (a, b) => isWorse(b, a) ? b : a;
const same = (a, b) => a === b ? a : null;
const MEASURES = [
  // A box of equal layers tells how many of its nodes differ.
  {id: 'change', title: 'Against the graph beside', fewest: 2, join: (a, b) => CHANGES[Math.max(CHANGES.indexOf(a), CHANGES.indexOf(b))],
   tell: (all) => CHANGES.map((change) => [change, all.filter((one) => one === change).length]).filter(([, times]) => times)
       .map(([change, times]) => times === all.length ? change : `${times} ${change}`).join(', ')},
  {id: 'own', title: 'Own error (roundings)', figure: true, join: worse},
  {id: 'error', title: 'Accumulated error (max abs.)', figure: true, join: worse},
  // Results list only the worst ones.
  {id: 'snr', title: 'SNR (dB)', figure: true, least: true, join: (a, b) => isWorse(-b, -a) ? b : a, missing: 'not listed'},
  {id: 'kind', title: 'Kind of operator', join: same},
  {id: 'place', title: 'Place', join: same, fewest: 2},
  {id: 'dtype', title: 'Dtype', join: same, fewest: 2},
];

// The graph with its figures, from the data of the page and of results.json.
function readGraph(data, model) {
  const values = data.values.map(([name, shape, dtype]) => ({name, shape, dtype, readers: []}));
  for (const [value, weight] of data.weights) values[value].weight = weight;
  const nodes = data.nodes.map(([name, op, kind, module, source, args, outputs], index) => {
    const inputs = new Set(args.flatMap(([, value]) => typeof value === 'string' ? [] : value)
        .filter((value) => value !== null));
    for (const value of inputs) values[value].readers.push(index);
    for (const value of outputs) values[value].maker = index;
    return {index, name, op, kind, module, source, args, outputs, dtype: values[outputs[0]]?.dtype};
  });
  const byName = new Map(nodes.flatMap((node) => node.outputs.map((value) => [values[value].name, node])));
  for (const node of nodes) byName.set(node.name, node);
  const report = model.node_report ?? {};
  for (const {index, max_diff, rms_ratio} of report.errors ?? []) {
    Object.assign(nodes[index] ?? {}, {error: number(max_diff), own: number(rms_ratio)});
  }
  const details = [report.first_divergence, ...report.exonerated?.values ?? [], ...report.worst ?? []];
  for (const detail of details.filter(Boolean)) {
    const node = byName.get(detail.node);
    if (!node) continue;
    node.detail ??= detail;
    node.snr ??= number(detail.comparison.signal_to_noise);
  }
  for (const node of nodes) if (node.error === 0) node.snr ??= Infinity;
  // A value that equals the model's has no own error to judge.
  if (nodes.some(({own}) => own !== undefined)) for (const node of nodes) if (node.error === 0) node.own ??= 0;
  for (const {value, reason} of report.not_judged?.values ?? []) if (byName.has(value)) byName.get(value).notJudged ??= reason;
  for (const {value, reason} of report.not_compared?.values ?? []) {
    const node = byName.get(value);
    if (node && node.error === undefined) node.notCompared ??= reason;
  }
  const told = model.executor?.nodes ?? {};
  for (const node of Object.keys(told).length ? nodes : []) {
    Object.assign(node, {...told[node.name], place: told[node.name]?.place || 'not reported'});
  }
  const runs = (list) => list.flatMap((first, i) =>
      i % 2 ? [] : Array.from({length: list[i + 1] - first + 1}, (_, k) => first + k));
  const levels = data.levels.map(({size: [width, height], boxes, arrows, groups}) => ({
    width, height, groups, arrows: arrows.map(([from, to, label, at, points]) => ({from, to, label, at, points})),
    boxes: boxes.map(([kind, title, detail, x, y, width, height, nodes, level]) =>
        ({kind, title, detail, x, y, width, height, nodes: runs(nodes), level})),
  }));
  return {values, nodes, byName, levels, first: byName.get(report.first_divergence?.node) ?? null};
}

// What a search can find.
function entriesOf({nodes, values}) {
  const modules = new Map();
  for (const {module, index} of nodes) {
    for (let path = module; path; path = path.slice(0, Math.max(path.lastIndexOf('.'), 0))) {
      modules.get(path)?.push(index) ?? modules.set(path, [index]);
    }
  }
  const entry = (go, name, of, words, ...texts) => ({go, name, of, words, texts: [name, ...texts].map((text) => text.toLowerCase())});
  return [
    ...nodes.map(({name, index, op, module, source}) =>
        entry('goTo', name, index, [op, module, source].filter(Boolean).join(', '), op, module, source)),
    ...[...modules].map(([path, inside]) => entry('goToModule', path, inside, `module, ${plural(inside.length, 'node')}`)),
    ...values.flatMap(({name, weight, shape}, value) => weight === undefined ? [] : [entry('goToWeight', weight, value, `weight, ${shape}`, name)]),
  ];
}

// The boxes around a node, from the outermost to its own.
function boxesAround(levels, index) {
  const path = [];
  for (let level = 0; ;) {
    const box = levels[level].boxes.find(({nodes}) => nodes.includes(index));
    if (!box) return path;
    path.push(box);
    if (!box.level) return path;
    level = box.level;
  }
}

// The boxes to open at first: whole depths, as long as few boxes are shown.
function openedAtFirst(levels, most = 40) {
  const opened = [];
  let shown = 0;
  for (let depth = [0]; depth.length;) {
    shown += sum(depth.map((level) => levels[level].boxes.length));
    if (shown > most) break;
    opened.push(...depth);
    depth = depth.flatMap((level) => levels[level].boxes.map((box) => box.level).filter(Boolean));
  }
  return new Set(opened);
}

// ---- The view

// An element of SVG, as h makes one of HTML.
function s(tag, attributes, ...children) {
  s.space ??= Object.assign(h('div'), {innerHTML: '<svg></svg>'}).firstChild.namespaceURI;
  return filled(document.createElementNS(s.space, tag), attributes, children);
}

class GraphView {
  constructor(model) {
    this.model = model;
    Object.assign(this, readGraph(model.graph, model));
    this.entries = entriesOf(this);
    this.opened = openedAtFirst(this.levels);
    this.hits = [];
    this.pointers = new Map();
    this.id = `graph-of-${model.order}`;
    this.svg = s('svg', {role: 'group', 'aria-label': `Graph of ${model.name}`});
    this.viewport = h('div', {class: 'viewport', tabindex: '0', role: 'group',
      'aria-label': `Graph of ${model.name}: arrow keys move it, plus and minus zoom, 0 fits it, ` +
        'brackets go from box to box, Enter opens a box, F searches, N and P go to hits, D to the first difference'},
      this.svg);
    this.map = s('svg', {class: 'minimap', 'aria-hidden': 'true'});
    this.legend = h('div', {class: 'legend'});
    this.panel = h('div', {class: 'panel'}, h('p', {class: 'hint'}, 'Click a box, or search, to see all of a node.'));
    const button = (text, label, onclick) => h('button', {type: 'button', 'aria-label': label, title: label, onclick}, text);
    this.input = h('input', {id: `${this.id}-find`, class: 'find-node', type: 'search', autocomplete: 'off', spellcheck: 'false',
      placeholder: 'Node, module, operator, line', oninput: () => this.search(), onkeydown: (event) => this.keyInSearch(event)});
    this.found = h('span', {role: 'status', class: 'hint'});
    this.list = h('ol', {class: 'hits', hidden: true, 'aria-label': 'Hits'});
    this.element = h('div', {class: 'graph-view'},
      h('div', {class: 'graph-tools'},
        h('div', {class: 'field grow'}, h('label', {for: this.input.id}, 'Find in the graph'), this.input),
        button('‹', 'Previous hit', () => this.step(-1)), button('›', 'Next hit', () => this.step(1)),
        this.colourField(),
        this.first ? h('button', {type: 'button', class: 'to-first', onclick: () => this.goTo(this.first.index)}, 'Go to the first difference') : null,
        button('+', 'Zoom in', () => this.zoom(1.4)), button('−', 'Zoom out', () => this.zoom(1 / 1.4)),
        button('Fit', 'Fit the graph', () => this.fit()), button('Full', 'Full screen', () => this.element.closest('.graphs').requestFullscreen?.())),
      this.legend,
      h('div', {class: 'graph-body'}, h('div', {class: 'canvas'}, this.viewport, this.map),
        h('div', {class: 'side'}, this.found, this.list, this.panel)),
      h('p', {class: 'hint'}, 'Drag to move; to zoom, pinch, or scroll with Ctrl or after a click. A click opens or ' +
        'closes a module, and shows all of a node. Equal layers are one box while their errors, places and metrics are equal.'));
    this.listen();
    if (this.first) this.reveal(this.first.index);
    this.draw();
  }

  // -- Drawing

  draw() {
    const scene = place(this.levels, 0, this.opened);
    const focused = this.svg.contains(document.activeElement) ? this.at.box : null;
    this.drawn = [];
    const [hatch, tip] = ['hatch', 'tip'].map((part) => `${this.id}-${part}`);
    this.svg.replaceChildren(
      s('defs', {},
        s('pattern', {id: hatch, width: 7, height: 7, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'},
          s('rect', {width: 7, height: 7, fill: '#ffffff'}), s('rect', {width: 2, height: 7, fill: '#a0a0a0'})),
        s('marker', {id: tip, viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: 'auto'},
          s('path', {d: 'M0 1L10 5L0 9z'}))));
    this.drawLevel(scene, 0, 0, `url(#${tip})`);
    this.whole = {x: -8, y: -8, width: scene.width + 16, height: scene.height + 16};
    this.colour();
    this.mark();
    this.boxOf(null, focused)?.element.focus({preventScroll: true});
  }

  drawLevel(scene, dx, dy, tip) {
    const group = s('g', {transform: `translate(${dx} ${dy})`});
    const labels = s('g', {class: 'labels'});
    for (const {name, x, y, width, height} of scene.groups) {
      group.append(s('g', {class: 'fused'}, s('rect', {x, y, width, height, rx: 4}), s('text', {x: x + 6, y: y + 13}, name)));
    }
    for (const {d, label, at} of scene.arrows) {
      group.append(s('path', {class: 'arrow', d, 'marker-end': tip}));
      if (at && label) labels.append(s('text', {x: at[0], y: at[1] + 4}, label));
    }
    group.append(labels);
    this.svg.append(group);
    for (const {box, inner, x, y, width, height} of scene.boxes) {
      const [left, top] = [x - width / 2, y - height / 2];
      const title = s('title');
      const texts = inner ? [s('text', {x: left + 10, y: top + 19, class: 'heading'}, `− ${box.title}`)]
          : [s('text', {x, y: y + (box.detail ? -3 : 5)}, (box.level ? '+ ' : '') + box.title),
             box.detail && s('text', {x, y: y + 13}, box.detail)];
      const element = s('g', {class: `box ${box.kind}${inner ? ' open' : ''}`,
        'aria-expanded': box.level ? String(Boolean(inner)) : null, ...box.nodes.length ? {role: 'button', tabindex: '-1'} : {}},
        title, s('rect', {x: left, y: top, width, height, rx: {node: 2, module: 8}[box.kind] ?? height / 2}), ...texts);
      group.append(element);
      const drawn = {box, element, title, inner, x: dx + x, y: dy + y, width, height};
      this.drawn.push(drawn);
      element.addEventListener('focus', () => this.roam(drawn));
      if (inner) this.drawLevel(inner, dx + left + (width - inner.width) / 2, dy + top + FRAME.top, tip);
    }
  }

  colourField() {
    this.colours = h('select', {id: `${this.id}-colours`, class: 'colour-by', onchange: () => {
      this.measure = this.measures.find(({id}) => id === this.colours.value);
      this.colour();
    }});
    this.offerColours();
    return h('div', {class: 'field'}, h('label', {for: this.colours.id}, 'Colours'), this.colours);
  }

  // Offers those that differ between nodes.
  offerColours() {
    const words = (id) => new Set(this.nodes.map((node) => node[id]).filter((value) => !isMissing(value))).size;
    this.measures = MEASURES.filter(({id, fewest = 1}) => words(id) >= fewest);
    const differs = ({id, figure, least}) => !figure || (!least && this.nodes.some((node) => node[id] > 0 || Number.isNaN(node[id])));
    this.measure = this.measures.find(differs);
    this.colours.replaceChildren(...this.measures.map(({id, title}) => h('option', {value: id}, title)), h('option', {value: ''}, 'Nothing'));
    this.colours.value = this.measure?.id ?? '';
    if (this.drawn) this.colour();
  }

  // The figures of nodes, without errors that are not judged.
  figuresOf(nodes, measure = this.measure) {
    if (!measure) return [];
    return nodes.filter((node) => !measure.figure || !node.notJudged).map((node) => node[measure.id]).filter((value) => !isMissing(value));
  }

  colour() {
    const {measure} = this;
    const all = this.figuresOf(this.nodes);
    const scale = measure && (measure.figure ? numberScale(all, measure.least) : wordScale(all));
    const hatches = new Set();
    for (const drawn of this.drawn) {
      const {box, element, title, inner} = drawn;
      const known = this.figuresOf(box.nodes.map((i) => this.nodes[i]));
      const value = known.length ? known.reduce(measure.join) : undefined;
      const hatched = measure?.figure && box.nodes.length > 0 && value === undefined;
      const why = hatched && (measure.missing ?? [...new Set(box.nodes.map((i) => whyNone(this.nodes[i])))].join(', '));
      if (hatched && !inner) hatches.add(why);
      const colour = hatched ? {fill: `url(#${this.id}-hatch)`, text: '#000000'} : isMissing(value) ? null : scale.colour(value);
      drawn.fill = colour?.fill;
      if (!inner) {
        element.querySelector('rect').style.fill = colour?.fill ?? '';
        for (const line of element.querySelectorAll('text')) line.style.fill = colour?.text ?? '';
      }
      const name = box.level ? box.title : this.nodes[box.nodes[0]]?.name ?? box.title;
      const text = hatched ? why : isMissing(value) ? '' : measure.figure ? figure(value) : measure.tell?.(known) ?? value;
      title.textContent = shown(text ? `${name}, ${measure.title}: ${text}` : name);
    }
    this.legend.replaceChildren(...this.legendOf(scale, hatches));
    this.drawMap();
  }

  legendOf(scale, hatches) {
    if (!scale) return [];
    const swatch = (style, label) => h('span', {}, h('span', {class: `swatch ${style ? '' : 'hatched'}`, style, 'aria-hidden': 'true'}), label);
    const of = (value) => `background: ${scale.colour(value).fill}`;
    const {title, least} = this.measure;
    const single = (...values) => values.filter((value) => scale.has(value)).map((value) => swatch(of(value), figure(value)));
    const ramp = () => scale.ticks.length < 2 ? single(...scale.ticks) : [
      h('span', {class: 'ramp'},
        h('span', {class: 'shades', style: `background: linear-gradient(to right, ${SHADES.join()})`, 'aria-hidden': 'true'}),
        ...scale.ticks.map((tick) => h('span', {}, figure(tick)))),
      h('span', {class: 'hint'}, least ? '' : 'log scale')];
    const all = () => least ? [...single(Infinity), ...ramp(), ...single(NaN)] : [...single(0), ...ramp(), ...single(Infinity, NaN)];
    return [h('span', {}, `${title}:`), ...scale.words ? scale.words.map((word) => swatch(of(word), word)) : all(),
            ...[...hatches].map((why) => swatch(null, why))];
  }

  drawMap() {
    this.map.setAttribute('viewBox', Object.values(this.whole).join(' '));
    this.window = s('rect', {class: 'window'});
    this.map.replaceChildren(...this.drawn.map((drawn) => s('rect', {
      x: drawn.x - drawn.width / 2, y: drawn.y - drawn.height / 2, width: drawn.width, height: drawn.height,
      fill: drawn.inner ? 'none' : drawn.fill?.startsWith('#') ? drawn.fill : '#dddddd',
      class: drawn.element.classList.contains('first') ? 'first' : null})), this.window);
    if (this.box) this.drawWindow();
  }

  drawWindow() {
    for (const [side, value] of Object.entries(this.box)) this.window.setAttribute(side, value);
    this.map.classList.toggle('needless', this.box.width >= this.whole.width && this.box.height >= this.whole.height);
  }

  // Marks the first difference and what is selected.
  mark() {
    for (const drawn of this.drawn) {
      const {box, element, inner, x, y, height} = drawn;
      element.classList.toggle('found', this.isChosen(drawn));
      const isFirst = this.first && !inner && box.nodes.includes(this.first.index);
      if (!isFirst || element.classList.contains('first')) continue;
      element.classList.add('first');
      this.svg.append(s('text', {class: 'flag', x, y: y - height / 2 - 7}, `first difference${box.level ? ' inside' : ''}`));
    }
    this.roam(this.drawn.find((drawn) => this.isChosen(drawn)) ?? this.drawn.find(({box}) => box.nodes.length));
    this.drawMap();
  }

  // The box that is drawn for a node, or for a module around it.
  boxOf(index, around) {
    return this.drawn.find(({box, inner}) => box === around || (!around && !inner && box.nodes.includes(index)));
  }

  isChosen({box, inner}) {
    const {module, nodes = []} = this.chosen ?? {};
    return module ? box === module : !inner && nodes.some((i) => box.nodes.includes(i));
  }

  // The one box that Tab reaches.
  roam(drawn) {
    this.at?.element.setAttribute('tabindex', '-1');
    this.at = drawn;
    drawn?.element.setAttribute('tabindex', '0');
  }

  // -- Opening and choosing

  // Opens all boxes around a node.
  reveal(index) {
    for (const {level} of boxesAround(this.levels, index)) if (level) this.opened.add(level);
  }

  // Keeps the box where it is.
  toggle(drawn) {
    const {box} = drawn;
    const at = (d) => [(d.x - this.box.x) * this.scale, (d.y - d.height / 2 - this.box.y) * this.scale];
    const before = at(drawn);
    this.opened.has(box.level) ? this.opened.delete(box.level) : this.opened.add(box.level);
    this.show({module: box}, this.modulePanel(box));
    const now = this.boxOf(null, box);
    this.look(this.scale, now.x, now.y - now.height / 2, ...before);
    this.other?.foldAlike();
  }

  choose(drawn) {
    if (!drawn || drawn.box.level) return drawn && this.toggle(drawn);
    // Of equal nodes, the one that a search or a link was for stays chosen.
    const {nodes} = drawn.box;
    const worst = nodes.reduce((a, b) => CHANGES.indexOf(this.nodes[b].change) > CHANGES.indexOf(this.nodes[a].change) ? b : a);
    this.select(this.chosen?.nodes?.find((i) => nodes.includes(i)) ?? worst);
  }

  // Chooses a node, and shows it.
  goTo(index) {
    this.select(index);
    this.centre(index);
  }

  select(index, told = false) {
    this.show({nodes: [index]}, this.nodePanel(this.nodes[index]));
    if (told || !this.isStarted) return;
    // The address of the node, to be shared.
    if (this.model === current) history.replaceState(null, '', address(current, this.nodes[index].name));
    this.other?.foldAlike();
    this.other?.follow(this.nodes[index]);
  }

  goToModule(inside) {
    const around = boxesAround(this.levels, inside[0]).filter(({level, nodes}) => level && inside.every((i) => nodes.includes(i)));
    const module = around.pop();
    if (!module) return this.goTo(inside[0]);
    this.reveal(inside[0]);
    this.show({module}, this.modulePanel(module));
    this.centre(inside[0], module);
  }

  goToWeight(value) {
    const nodes = this.values[value].readers;
    this.show({nodes}, this.weightPanel(value));
    if (nodes.length) this.centre(nodes[0]);
  }

  // Chooses nodes or a module, and shows what is known of them.
  show(chosen, panel) {
    this.chosen = chosen;
    chosen.nodes?.forEach((index) => this.reveal(index));
    this.draw();
    this.panel.replaceChildren(...panel);
  }

  // Brings the box of a node into view, or an open one around it by its top.
  centre(index, around) {
    const drawn = this.boxOf(index, around);
    const {width, height} = this.size();
    const y = drawn.y - (drawn.inner ? Math.max(0, drawn.height - height / this.scale) / 2 : 0);
    // On a page that was just opened, the upper part of the graph is in view.
    this.look(Math.max(this.scale, .8), drawn.x, y, width / 2, height * (this.isStarted ? .5 : .3));
    if (this.isStarted) this.viewport.scrollIntoView({block: 'nearest'});
  }

  // A node by name, for links elsewhere on the page.
  find(name) {
    const node = this.byName.get(name);
    if (node) this.goTo(node.index);
    this.viewport.focus({preventScroll: true});
  }

  // -- Search

  search() {
    this.hits = searched(this.entries, this.input.value);
    this.hit = -1;
    this.listHits();
  }

  listHits() {
    const asked = this.input.value.trim();
    this.list.hidden = this.hits.length === 0;
    this.found.textContent = !asked ? '' : this.hits.length === 0 ? `Nothing fits ${asked}.`
        : this.hit < 0 ? plural(this.hits.length, 'hit') : `${this.hit + 1} of ${plural(this.hits.length, 'hit')}`;
    this.list.replaceChildren(...this.hits.slice(0, 200).map((entry, i) => h('li', {},
        this.button(entry.name, () => this.goToHit(i), i === this.hit), h('span', {class: 'hint'}, ` ${entry.words}`))));
    this.list.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest'});
  }

  goToHit(i) {
    this.hit = i;
    this[this.hits[i].go](this.hits[i].of);
    this.listHits();
  }

  step(by) {
    const n = this.hits.length;
    if (n === 0) return this.input.focus();
    this.goToHit(this.hit < 0 ? (by > 0 ? 0 : n - 1) : (this.hit + by + n) % n);
  }

  keyInSearch(event) {
    const by = {Enter: event.shiftKey ? -1 : 1, ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!by && event.key !== 'Escape') return;
    event.preventDefault();
    if (by) return this.step(by);
    this.input.value = '';
    this.search();
    this.viewport.focus({preventScroll: true});
  }

  // -- The panel

  button(text, onclick, current = null) {
    return h('button', {type: 'button', class: 'linklike', 'aria-current': current, onclick}, text);
  }

  link(index) {
    return this.button(this.nodes[index].name, () => this.goTo(index));
  }

  valueLink(id) {
    const {name, maker, weight, shape, dtype} = this.values[id];
    const [target, what] = maker !== undefined ? [this.link(maker), this.nodes[maker].name === name ? '' : `, ${name}`]
        : weight === undefined ? [code(name), ', input'] : [this.button(weight, () => this.goToWeight(id)), ', weight'];
    return h('div', {}, target, h('span', {class: 'hint'}, ` ${shape.replaceAll('x', '×')} ${dtype}${what}`));
  }

  rows(rows) {
    return h('dl', {class: 'facts'}, ...rows.filter(([, value]) => !isMissing(value) && value !== '' && value.length !== 0)
        .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, ...[].concat(value))]));
  }

  moduleLink(path) {
    if (!path) return null;
    const entry = this.entries.find(({go, name}) => go === 'goToModule' && name === path);
    return this.button(path, () => this.goToModule(entry.of));
  }

  figureRows(node) {
    const {comparison: c, own_error: own} = node.detail ?? {};
    return [
      ...MEASURES.filter((measure) => measure.figure).map(({id, title}) => [title, figure(node[id])]),
      ['Against the other graph', node.change], ['Place', node.place], ['Not judged', node.notJudged], ['Not compared', node.notCompared],
      ...Object.entries(node.metrics ?? {}).map(([name, value]) => [name, String(value)]),
      ...!c ? [] : [
        ['Mean abs. error', figure(c.mean_diff)], ['Max relative error', figure(c.max_relative_diff)],
        ['Outside the tolerance', c.problem || share(c)],
        ['Smallest passing tolerance', passingTolerance(c.smallest_passing_tolerance)]],
      ['Verdict', own?.problem]];
  }

  nodePanel(node) {
    const {model} = this;
    const argument = ([name, value]) => typeof value === 'string' ? [name, code(value)]
        : [name || 'Input', [].concat(value).map((id) => id === null ? 'None' : this.valueLink(id))];
    const box = boxesAround(this.levels, node.index).pop();
    const equals = box.nodes.filter((i) => i !== node.index);
    const readers = [...new Set(node.outputs.flatMap((id) => this.values[id].readers))];
    const parts = [
      h('h4', {}, 'Node ', code(node.name), ' ', node === this.first ? h('span', {class: 'status failed'}, 'first difference') : null),
      this.rows([
        ['Operator', code(node.op)], ['Module', this.moduleLink(node.module)], ['Line', node.source ? code(node.source) : null],
        ['Results', node.outputs.map((id) => h('div', {}, `${this.values[id].shape.replaceAll('x', '×')} ${this.values[id].dtype}`))],
        ...this.figureRows(node),
        ...node.args.map(argument), ['Read by', readers.map((i) => h('div', {}, this.link(i)))]])];
    if (equals.length) {
      parts.push(h('details', {}, h('summary', {}, `The box stands for ${plural(box.nodes.length, 'node')}, with equal figures`),
                   h('ul', {}, ...equals.map((i) => h('li', {}, this.link(i), ` ${this.nodes[i].module}`,
                     this.nodes[i].change ? `, ${this.nodes[i].change}` : '')))));
    }
    const r = model.reproducer;
    if (r && node.index >= this.byName.get(r.first_node)?.index && node.index <= this.byName.get(r.last_node)?.index) {
      parts.push(h('h4', {}, 'Its reproducer'), h('p', {class: 'hint'}, 'In ',
          h('a', {href: `repro/${encodeURIComponent(model.name)}/`}, `repro/${model.name}/`), ':'), copyable(r.command, 'Reproducer of the node'));
    }
    if (model.cut) {
      parts.push(copyable(`${model.cut} --node ${shellWord(node.name)} -o ${shellWord(node.name)}`, 'Command that cuts the node out'));
    }
    return parts;
  }

  modulePanel(box) {
    const nodes = box.nodes.map((i) => this.nodes[i]);
    const rows = [['Nodes', count(nodes.length)]];
    for (const measure of this.measures.filter((m) => m.figure)) {
      const known = nodes.filter((node) => this.figuresOf([node], measure).length);
      if (known.length === 0) continue;
      const worst = known.reduce((a, b) => measure.join(a[measure.id], b[measure.id]) === a[measure.id] ? a : b);
      rows.push([measure.title, [`${figure(worst[measure.id])} at `, this.link(worst.index)]]);
    }
    rows.push(['Operators', [...tally(nodes.map(({op}) => [op]))].map(([op, calls]) => h('div', {}, code(op), ` ${calls}`))]);
    return [h('h4', {}, 'Module ', code(box.title)), this.rows(rows)];
  }

  weightPanel(id) {
    const {name, weight, shape, dtype, readers} = this.values[id];
    return [h('h4', {}, 'Weight ', code(weight)), this.rows([
      ['Placeholder', code(name)], ['Shape', shape.replaceAll('x', '×')], ['Dtype', dtype],
      ['Read by', readers.map((i) => h('div', {}, this.link(i)))]])];
  }

  // -- Beside another graph

  // Keeps in step with another graph, or none.
  join(other) {
    this.other = other;
    const twins = other && twinsOf(this, other);
    for (const node of this.nodes) {
      node.twin = twins?.get(node);
      node.change = other ? changeOf(node, node.twin, this, other) : null;
    }
    this.offerColours();
  }

  // Chooses the twin of a node.
  follow({twin}) {
    if (twin) this.select(twin.index, true);
    if (twin) this.keepStep();
  }

  // Opens the modules that are open in the other graph, and closes the others.
  foldAlike() {
    const {levels, opened, nodes} = this.other;
    for (const box of levels.flatMap(({boxes}) => boxes)) {
      const twin = box.level && box.nodes.map((i) => nodes[i].twin).find(Boolean);
      const depth = twin && boxesAround(levels, box.nodes[0]).indexOf(box);
      const around = twin ? boxesAround(this.levels, twin.index).filter(({level}) => level) : [];
      const own = around.find(({title}) => title === box.title) ?? around[depth];
      if (own) opened.has(box.level) ? this.opened.add(own.level) : this.opened.delete(own.level);
    }
    this.draw();
  }

  // Takes the view of the other graph: the twin of the node that is chosen there, or else nearest to its
  // middle, at the same place.
  keepStep() {
    const {drawn, box, scale, chosen} = this.other;
    const node = ({nodes}) => chosen?.nodes?.find((i) => nodes.includes(i));
    const far = (d) => Math.hypot(d.x - box.x - box.width / 2, d.y - box.y - box.height / 2) -
        (node(d.box) === undefined ? 0 : Math.hypot(box.width, box.height) / 2);
    const near = drawn.filter((d) => d.box.nodes.length && !d.inner)
        .map((d) => [d, this.other.nodes[node(d.box) ?? d.box.nodes[0]].twin]).filter(([, twin]) => twin)
        .sort(([a], [b]) => far(a) - far(b))[0];
    const own = near && this.boxOf(near[1].index);
    if (own) this.look(scale, own.x, own.y, (near[0].x - box.x) * scale, (near[0].y - box.y) * scale, true);
  }

  // -- Moving

  size() {
    return {width: this.viewport.clientWidth || 1, height: this.viewport.clientHeight || 1};
  }

  // A view of `scale` with a point of the graph at these pixels of the viewport: at its middle.
  look(scale, gx, gy, px = this.size().width / 2, py = this.size().height / 2, told = false) {
    const {width, height} = this.size();
    const smallest = Math.min(width / this.whole.width, height / this.whole.height, 1) / 2;
    // Pixels per unit.
    const s = this.scale = Math.min(Math.max(scale, smallest), 8);
    this.box = {x: gx - px / s, y: gy - py / s, width: width / s, height: height / s};
    this.svg.setAttribute('viewBox', Object.values(this.box).join(' '));
    this.drawWindow();
    if (!told && this.other?.box) this.other.keepStep();
  }

  // Shows all of the graph or, with a least scale, a long graph from its top.
  fit(least = 0) {
    const {width, height} = this.size();
    const {x, y, width: w, height: h} = this.whole;
    const whole = Math.min(width / w, height / h, 1.3);
    const scale = Math.max(whole, Math.min(least, width / w));
    this.look(scale, x + w / 2, scale === whole ? y + h / 2 : y + height / scale / 2);
  }

  // The first view: of the first difference, or of all at a readable size.
  start() {
    this.fit(.8);
    if (this.first) this.goTo(this.first.index);
    this.isStarted = true;
  }

  // Keeps the point of the graph under these pixels in place.
  zoom(factor, px = this.size().width / 2, py = this.size().height / 2) {
    this.look(this.scale * factor, this.box.x + px / this.scale, this.box.y + py / this.scale, px, py);
  }

  pan(dx, dy) {
    this.look(this.scale, this.box.x, this.box.y, dx, dy);
  }

  // From box to box, in the order of the graph.
  roamBy(step) {
    const boxes = this.drawn.filter(({box}) => box.nodes.length);
    const next = boxes[boxes.indexOf(this.at) + step];
    if (!next) return;
    next.element.focus({preventScroll: true});
    const {x, y, width, height} = this.box;
    if (Math.abs(next.x - x - width / 2) > width / 2 || Math.abs(next.y - y - height / 2) > height / 2) this.look(this.scale, next.x, next.y);
  }

  listen() {
    const v = this.viewport;
    const at = ({clientX, clientY}) => [clientX - v.getBoundingClientRect().left, clientY - v.getBoundingClientRect().top];
    v.addEventListener('wheel', (event) => {
      // Otherwise the page scrolls.
      if (!event.ctrlKey && !event.metaKey && !v.contains(document.activeElement)) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? .05 : .002)), ...at(event));
    }, {passive: false});
    v.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      v.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, at(event));
      this.moved = this.pointers.size > 1 ? Infinity : 0;
      v.classList.add('dragging');
    });
    v.addEventListener('pointermove', (event) => {
      if (!this.pointers.has(event.pointerId)) return;
      const before = [...this.pointers.values()];
      this.pointers.set(event.pointerId, at(event));
      const after = [...this.pointers.values()];
      const middle = (points) => [0, 1].map((i) => points.reduce((sum, p) => sum + p[i], 0) / points.length);
      const [from, to] = [middle(before), middle(after)];
      this.moved += Math.hypot(to[0] - from[0], to[1] - from[1]);
      this.pan(to[0] - from[0], to[1] - from[1]);
      if (before.length === 2) {
        const span = ([p, q]) => Math.hypot(p[0] - q[0], p[1] - q[1]) || 1;
        this.zoom(span(after) / span(before), ...to);
      }
    });
    const end = (event) => {
      this.pointers.delete(event.pointerId);
      v.classList.toggle('dragging', this.pointers.size > 0);
    };
    v.addEventListener('pointerup', (event) => {
      end(event);
      // Not a drag. The pointer is captured, so the event does not have the element under it.
      if (this.moved > 4) return;
      const element = document.elementFromPoint(event.clientX, event.clientY)?.closest('g.box');
      this.choose(this.drawn.find((drawn) => drawn.element === element && drawn.box.nodes.length));
    });
    v.addEventListener('pointercancel', end);
    v.addEventListener('keydown', (event) => {
      const actions = {
        ArrowLeft: () => this.pan(60, 0), ArrowRight: () => this.pan(-60, 0),
        ArrowUp: () => this.pan(0, 60), ArrowDown: () => this.pan(0, -60),
        '+': () => this.zoom(1.4), '=': () => this.zoom(1.4), '-': () => this.zoom(1 / 1.4), 0: () => this.fit(),
        '[': () => this.roamBy(-1), ']': () => this.roamBy(1), f: () => this.input.focus(),
        n: () => this.step(1), p: () => this.step(-1), d: () => this.first && this.goTo(this.first.index),
        Enter: () => this.choose(this.at), ' ': () => this.choose(this.at),
      };
      if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
      event.preventDefault();
      actions[event.key]();
    });
    for (const type of ['pointerdown', 'pointermove']) {
      this.map.addEventListener(type, (event) => {
        if (event.buttons !== 1) return;
        const {x, y} = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.map.getScreenCTM().inverse());
        this.look(this.scale, x, y);
      });
    }
    new ResizeObserver(() => {
      if (this.box) this.look(this.scale, this.box.x + this.box.width / 2, this.box.y + this.box.height / 2);
    }).observe(v);
  }
}

// A choice of another model of the page, whose graph then is beside this one.
function besideField(graph) {
  const others = models.filter((m) => m !== graph.model && m.has_graph);
  if (others.length === 0) return null;
  const select = h('select', {id: 'beside', onchange: async () => {
    const model = models[Number(select.value || NaN)];
    if (model) await opened(model);
    graph.other?.join(null);
    graph.other?.element.parentElement.remove();
    graph.element.parentElement.classList.toggle('two', Boolean(model));
    const other = model ? new GraphView(model) : null;
    graph.join(other);
    if (!other) return;
    graph.element.after(h('section', {'aria-label': `Graph of ${model.name}`}, h('h4', {}, model.name), other.element));
    other.start();
    other.join(graph);
    other.foldAlike();
    other.keepStep();
    if (graph.chosen?.nodes) other.follow(graph.nodes[graph.chosen.nodes[0]]);
  }}, h('option', {value: ''}, 'none'), ...others.map((m) => h('option', {value: m.order}, m.name)));
  return h('div', {class: 'field'}, h('label', {for: 'beside'}, 'Graph beside'), select);
}

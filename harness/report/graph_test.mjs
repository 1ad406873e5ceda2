// Tests the functions of templates/index_graph.js that need no page.
//
//   node --test graph_test.mjs

import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';
import vm from 'node:vm';

const names = ['stretched', 'place', 'searched', 'shade', 'numberScale', 'twinsOf', 'MEASURES', 'readGraph', 'whyNone', 'openedAtFirst', 'boxesAround'];
const source = fs.readFileSync('templates/index_graph.js', 'utf8');
// What index_script.js has.
const sum = `const sum = (values) => values.reduce((a, b) => a + b, 0);
  const number = (value) => value ?? undefined;`;
const graph = vm.runInThisContext(`(() => {${source}\n${sum}\nreturn {${names}};})()`);

// A column of boxes, each of which may open a level.
function column(...boxes) {
  return {
    width: 100, height: 60 * boxes.length, groups: [], arrows: boxes.slice(1).map((_, i) =>
      ({from: i, to: i + 1, label: '', at: [], points: [50, 60 * i + 70, 50, 60 * i + 50, 50, 60 * i + 55, 50, 60 * i + 60, 50, 60 * i + 65]})),
    boxes: boxes.map((level, i) => ({x: 50, y: 60 * i + 30, width: 80, height: 40, nodes: [i], level})),
  };
}

test('an axis is stretched where there is need, and keeps its order', () => {
  const at = graph.stretched([[10, 20, 30], [15, 20, 20]]);
  assert.equal(at(5), 5);
  assert.ok(at(20) - at(10) >= 30 && at(20) - at(15) >= 20);
  assert.equal(at(40) - at(20), 20);
  for (let i = 0; i < 50; ++i) assert.ok(at(i + 1) > at(i));
});

test('boxes never overlap, whatever is opened', () => {
  const levels = [column(1, 0, 2, 0), column(0, 3), column(0, 0, 0), column(0, 0, 0, 0)];
  for (const opened of [[], [1], [1, 2], [1, 2, 3]]) {
    const check = ({boxes, width, height}) => {
      for (const [i, box] of boxes.entries()) {
        assert.ok(box.x - box.width / 2 >= 0 && box.x + box.width / 2 <= width);
        assert.ok(box.y + box.height / 2 <= height);
        if (i) assert.ok(boxes[i - 1].y + boxes[i - 1].height / 2 <= box.y - box.height / 2 - 19, `${opened}`);
        if (!box.inner) assert.deepEqual([box.width, box.height], [80, 40]);
        if (box.inner) check(box.inner);
      }
    };
    check(graph.place(levels, 0, new Set(opened)));
  }
});

test('the frame of a group is around its boxes and no others', () => {
  const levels = [{...column(0, 1, 0), groups: [['fused', [0, 1]]]}, column(0, 0)];
  for (const opened of [[], [1]]) {
    const {boxes: [, last, other], groups: [{name, y, height}]} = graph.place(levels, 0, new Set(opened));
    assert.equal(name, 'fused');
    assert.ok(y < 10);
    assert.ok(y + height > last.y + last.height / 2 && y + height < other.y - other.height / 2);
  }
});

test('an arrow reaches from box to box', () => {
  const {arrows, boxes} = graph.place([column(1, 0), column(0)], 0, new Set([1]));
  const points = arrows[0].d.match(/-?[\d.]+/g).map(Number);
  assert.equal(points[1], boxes[0].y + boxes[0].height / 2);
  assert.equal(points.at(-1), boxes[1].y - boxes[1].height / 2);
});

test('a search finds parts, and best fits come first', () => {
  const entries = ['linear_30', 'linear_3', 'layers.3.linear', 'softmax'].map((name) => ({name, texts: [name]}));
  const found = (query) => graph.searched(entries, query).map(({name}) => name);
  assert.deepEqual(found('linear_3'), ['linear_3', 'linear_30']);
  assert.deepEqual(found('sftmx'), []);
  assert.deepEqual(found('s.3.l'), ['layers.3.linear']);
  assert.deepEqual(found('lay linear'), ['layers.3.linear']);
  assert.deepEqual(found('a]b'), []);
  assert.deepEqual(found(' '), []);
});

test('a scale of numbers is logarithmic, and dark where it is worst', () => {
  const scale = graph.numberScale([0, 1e-6, 1e-4, 1e-2, NaN]);
  assert.deepEqual(scale.ticks.map((tick) => Number(tick.toPrecision(3))), [1e-6, 1e-4, 1e-2]);
  assert.equal(scale.colour(0).fill, '#ffffff');
  assert.deepEqual(scale.colour(1e-4), graph.shade(.5));
  assert.deepEqual(scale.colour(NaN), graph.shade(1));
  const snr = graph.numberScale([10, 60, Infinity], true);
  assert.deepEqual([snr.colour(10), snr.colour(60), snr.colour(Infinity).fill], [graph.shade(1), graph.shade(0), '#ffffff']);
});

test('twins are pairs of nodes, by name or by module and order, always with one operator', () => {
  const view = (...nodes) => ({nodes: nodes.map(([name, op, module]) => ({name, op, module}))});
  const one = view(['a', 'relu', 'm'], ['b', 'add', 'n'], ['c', 'add', 'n'], ['d', 'add', '']);
  const other = view(['x', 'add', 'n'], ['a', 'relu', 'other'], ['b', 'relu', 'n'], ['y', 'add', 'n'], ['z', 'add', '']);
  for (const [from, to] of [[one, other], [other, one]]) {
    const twins = graph.twinsOf(from, to);
    const names = from.nodes.map((node) => twins.get(node)?.name);
    assert.deepEqual(names, from === one ? ['a', 'x', 'y', undefined] : ['b', 'a', undefined, 'c', undefined]);
    for (const node of from.nodes) if (twins.has(node)) assert.equal(twins.get(twins.get(node)), node);
  }
});

test('a box of several nodes tells how many of them differ', () => {
  const {tell} = graph.MEASURES.find(({id}) => id === 'change');
  assert.equal(tell(['equal', 'equal']), 'equal');
  assert.equal(tell(['other figures', 'equal', 'equal']), '2 equal, 1 other figures');
});

test('only what nothing judged is not judged', () => {
  const names = ['same', 'close', 'drawn', 'inside', 'judged'];
  const read = graph.readGraph({
    values: names.map((name) => [name, '2', 'float32']), weights: [], levels: [],
    nodes: names.map((name, i) => [name, 'relu', 'other', '', '', [], [i]]),
  }, {node_report: {
    errors: [{index: 0, max_diff: 0}, {index: 1, max_diff: 1e-7}, {index: 2, max_diff: 2}, {index: 4, max_diff: 1e-6, rms_ratio: 1.5}],
    not_judged: {values: [{value: 'drawn', reason: 'it draws'}]},
    not_compared: {values: [{value: 'inside', reason: 'the executor does not return it'}]},
  }});
  assert.deepEqual(read.nodes.map(({own}) => own), [0, undefined, undefined, undefined, 1.5]);
  assert.deepEqual(read.nodes.slice(1, 4).map(graph.whyNone), ['no own error', 'not judged', 'not compared']);
  assert.equal(read.nodes[3].notCompared, 'the executor does not return it');
});

test('few boxes are open at first, and the boxes around a node are known', () => {
  const levels = [column(1, 0), column(0, 2), column(...Array(50).fill(0))];
  assert.deepEqual([...graph.openedAtFirst(levels)], [0, 1]);
  assert.deepEqual(graph.boxesAround(levels, 0).map(({level}) => level), [1, 0]);
});

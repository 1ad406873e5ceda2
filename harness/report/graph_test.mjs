// Tests the functions of templates/index_graph.js that need no page.
//
//   node --test graph_test.mjs

import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';
import vm from 'node:vm';

const names = ['stretched', 'place', 'misfit', 'searched', 'shade', 'numberScale', 'twinOf', 'openedAtFirst', 'boxesAround'];
const source = fs.readFileSync('templates/index_graph.js', 'utf8');
const sum = 'const sum = (values) => values.reduce((a, b) => a + b, 0);';
const graph = vm.runInThisContext(`(() => {${source}\n${sum}\nreturn {${names}};})()`);

// A column of boxes, each of which may open a level.
function column(...boxes) {
  return {
    width: 100, height: 60 * boxes.length, arrows: boxes.slice(1).map((_, i) =>
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

test('an arrow reaches from box to box', () => {
  const {arrows, boxes} = graph.place([column(1, 0), column(0)], 0, new Set([1]));
  const points = arrows[0].d.match(/-?[\d.]+/g).map(Number);
  assert.equal(points[1], boxes[0].y + boxes[0].height / 2);
  assert.equal(points.at(-1), boxes[1].y - boxes[1].height / 2);
});

test('a search is fuzzy, and best fits come first', () => {
  const entries = ['linear_30', 'linear_3', 'layers.3.linear', 'softmax'].map((name) => ({name, texts: [name]}));
  const found = (query) => graph.searched(entries, query).map(({name}) => name);
  assert.deepEqual(found('linear_3'), ['linear_3', 'linear_30']);
  assert.deepEqual(found('sftmx'), ['softmax']);
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

test('a twin has the name, or the module, and always the operator', () => {
  const nodes = [{name: 'a', op: 'relu', module: 'm'}, {name: 'b', op: 'add', module: 'n'}];
  const other = {nodes, byName: new Map(nodes.map((node) => [node.name, node]))};
  assert.equal(graph.twinOf({name: 'a', op: 'relu', module: 'x'}, other), nodes[0]);
  assert.equal(graph.twinOf({name: 'a', op: 'add', module: 'n'}, other), nodes[1]);
  assert.equal(graph.twinOf({name: 'a', op: 'add', module: ''}, other), undefined);
});

test('few boxes are open at first, and the boxes around a node are known', () => {
  const levels = [column(1, 0), column(0, 2), column(...Array(50).fill(0))];
  assert.deepEqual([...graph.openedAtFirst(levels)], [0, 1]);
  assert.deepEqual(graph.boxesAround(levels, 0).map(({level}) => level), [1, 0]);
});

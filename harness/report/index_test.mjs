// Uses index.html as a person does, in a real browser without a screen: from a file, without a
// network, at the widths of a desk and of a phone, with the mouse, by touch and by keyboard.
//
//   NODE_MODULES=DIR node index_test.mjs REPORT_TEST
//
// DIR holds the npm packages playwright-core and axe-core. The browser is $CHROMIUM, or Debian's.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const modules = process.env.NODE_MODULES;
if (!modules) {
  console.error(
      'NODE_MODULES is not set: npm install --prefix DIR playwright-core axe-core, then run the ' +
      'test with --test_env=NODE_MODULES=DIR/node_modules');
  process.exit(1);
}
const {chromium} = await import(pathToFileURL(path.join(modules, 'playwright-core/index.mjs')).href);
const axe = fs.readFileSync(path.join(modules, 'axe-core/axe.min.js'), 'utf8');

const folder = fs.mkdtempSync(path.join(process.env.TEST_TMPDIR ?? os.tmpdir(), 'index-'));
const small = path.join(folder, 'index.html');
const large = path.join(folder, 'large.html');
const writePage = (path, models) => execFileSync(
    process.argv[2], ['--gtest_filter=IndexPageTest.IsWrittenForABrowser'],
    {env: {...process.env, INDEX_PAGE: path, INDEX_MODELS: models}});
writePage(small, '0');
writePage(large, '1000');

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

const DESK = {viewport: {width: 1280, height: 900}};
const PHONE = {viewport: {width: 390, height: 844}, hasTouch: true};

// Gives `use` a page that loads nothing else and complains of nothing.
async function withPage(options, file, hash, use) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  const own = pathToFileURL(file).href;
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== own) problems.push(`loads ${request.url()}`);
  });
  await page.goto(own + hash);
  await page.locator('body[data-ready]').waitFor();
  await use(page);
  await context.close();
  assert.deepEqual(problems, []);
}

const names = (page) => page.locator('.model th').allTextContents();
const all = async (page) => {
  await page.locator('#clear').click();
  await page.locator('#sort').selectOption('order');
};
const box = (page) => page.locator('.viewport svg').getAttribute('viewBox')
    .then((text) => text.split(' ').map(Number));
const heading = (page) => page.locator('#detail-heading').evaluate((element) => element.firstChild.textContent);

async function assertAccessible(page, where) {
  // The page's own policy keeps scripts of others out; the test's come in over the debugger.
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => globalThis.axe.run());
  const text = violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(' | ')}`);
  assert.deepEqual(text, [], where);
}

const tests = {
  async 'opens on failures, by cause'() {
    await withPage(DESK, small, '', async (page) => {
      assert.deepEqual((await page.locator('.group').allTextContents()).slice(0, 2),
                       ['extract failed: aten::item | needs data 1 model', 'add, 12 of 2,048 elements wrong, by at most 0.5 1 model']);
      assert.deepEqual(await names(page), ['Broken', 'Off', 'Healed', 'Hostile']);
      assert.equal(await page.locator('#count').textContent(), '4 of 8 models');
      assert.match(await page.locator('.verdict').textContent(),
                   /3 of 8 models passed \(2 with nodes on the host\), 3 failed, 1 passed unexpectedly, 1 failed as expected/);
      const rows = await page.locator('.model').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
      assert.ok(Math.max(...rows) < 40, `${rows} pixels tall`);
      await all(page);
      assert.deepEqual(await names(page), ['Tiny', 'Broken', 'Off', 'Known', 'Healed', 'Hostile', 'Layers', 'Slow']);
    });
  },

  async 'copies the command of a failure in two actions'() {
    await withPage({...DESK, permissions: ['clipboard-read', 'clipboard-write']}, small, '', async (page) => {
      await page.locator('.model a', {hasText: 'Off'}).click();
      await page.locator('.callout .copy').click();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'harness --ir .');
      assert.equal(await page.locator('.callout .copy').textContent(), 'Copied');
      await page.locator('.detail-top .copy').click();
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /index.html#model=Off$/);
    });
  },

  async 'goes back to the same place'() {
    for (const options of [DESK, PHONE]) {
      await withPage(options, large, '', async (page) => {
        await all(page);
        const link = page.locator('.model a').nth(500);
        await link.scrollIntoViewIfNeeded();
        const before = await page.evaluate(() => scrollY);
        const name = await link.textContent();
        await link.click();
        await page.locator('#detail-heading', {hasText: name}).waitFor();
        const top = await page.locator('#detail-heading').evaluate((element) => element.getBoundingClientRect().top);
        assert.ok(top >= 0 && top < 150, `opens at ${top} of ${options.viewport.width}`);
        await page.keyboard.press('Escape');
        assert.equal(await page.evaluate(() => scrollY), before);
        assert.equal(await page.evaluate(() => document.activeElement.textContent), name);
      });
    }
  },

  async 'has a link to a node'() {
    await withPage(DESK, small, '#model=Layers&node=add_2', async (page) => {
      assert.match(await page.locator('.panel').innerText(), /Node add_2/);
      await page.locator('.panel button', {hasText: /^add_1$/}).first().click();
      assert.match(page.url(), /#model=Layers&node=add_1$/);
    });
  },

  async 'filters by status, category and text'() {
    await withPage(DESK, small, '', async (page) => {
      const chip = (text) => page.locator('.chip', {hasText: text}).first();
      await all(page);
      await chip('expected failure').click();
      assert.deepEqual(await names(page), ['Known']);
      assert.equal(await chip('expected failure').getAttribute('aria-pressed'), 'true');
      await chip('passed').click();
      assert.deepEqual(await names(page), ['Tiny', 'Known', 'Layers', 'Slow']);
      await page.locator('#more > summary').click();
      await page.locator('#categories .chip', {hasText: 'known'}).click();
      assert.deepEqual(await names(page), ['Known']);
      assert.equal(await page.locator('#count').textContent(), '1 of 8 models');
      await page.locator('#search').fill('tiny');
      assert.equal(await page.locator('#count').textContent(), '0 of 8 models');
      await page.locator('#clear').click();
      assert.equal((await names(page)).length, 8);
      await page.locator('#search').fill('NEEDS data');
      assert.deepEqual(await names(page), ['Broken']);
    });
  },

  async 'sorts by figures, missing ones last'() {
    await withPage(DESK, small, '', async (page) => {
      await all(page);
      const header = page.locator('#head button', {hasText: 'Max abs. error'});
      await header.click();
      assert.equal(await page.locator('#head [aria-sort]').getAttribute('aria-sort'), 'descending');
      assert.deepEqual(await names(page), ['Off', 'Known', 'Healed', 'Layers', 'Slow', 'Tiny', 'Broken', 'Hostile']);
      await page.locator('#head button', {hasText: 'Max abs. error'}).click();
      assert.equal(await page.locator('#head [aria-sort]').getAttribute('aria-sort'), 'ascending');
      assert.deepEqual(await names(page), ['Tiny', 'Healed', 'Layers', 'Slow', 'Off', 'Known', 'Broken', 'Hostile']);
      await page.locator('#sort').selectOption('smallest_passing_tolerance');
      assert.equal(await page.locator('#head [aria-sort]').textContent(), 'Smallest passing tolerance');
      assert.deepEqual((await names(page)).slice(0, 2), ['Off', 'Known']);
      await page.locator('#more > summary').click();
      for (const [column, ...figures] of [['Cosine similarity', '1', '0.75', ''], ['Smallest passing tolerance', '0', '0.25', '']]) {
        await page.locator('#column-choices label', {hasText: column}).locator('input').check();
        for (const [i, model] of ['Tiny', 'Off', 'Broken'].entries()) {
          const row = page.locator('.model', {has: page.locator('th', {hasText: model})});
          assert.equal(await row.locator(`td[data-label="${column}"]`).textContent(), figures[i], `${column} of ${model}`);
        }
      }
      assert.equal(await page.locator('.model').first().locator('td[data-label="SNR (dB)"]').textContent(), '12.5');
      await page.locator('#column-choices label', {hasText: 'Parameters'}).click();
      assert.equal(await page.locator('#head button', {hasText: 'Parameters'}).count(), 1);
    });
  },

  async 'shows the changes since the baseline'() {
    await withPage(DESK, small, '', async (page) => {
      const trend = page.locator('.model', {hasText: 'Off'}).locator('.trend');
      assert.equal(await trend.textContent(), 'worse');
      await page.locator('#changes summary').click();
      const text = await page.locator('#changes').innerText();
      for (const part of ['old/results.json', '7 models compared: 1 worse, 1 gone', 'Seed: 0 -> 7.', 'Gone (gone): status: was passed']) {
        assert.ok(text.includes(part), `${part} is not in:\n${text}`);
      }
      await page.locator('#trends .chip', {hasText: 'worse'}).click();
      assert.deepEqual(await names(page), ['Off']);
      await page.locator('.model a').click();
      await page.locator('#detail-heading', {hasText: 'Off'}).waitFor();
      assert.match(await page.locator('#detail').innerText(), /status: passed -> failed[^]*<\/script><script>alert\(1\)/);
    });
  },

  async 'shows all of a model'() {
    await withPage(DESK, small, '', async (page) => {
      await page.locator('.model a', {hasText: 'Off'}).click();
      assert.equal(await heading(page), 'Off');
      assert.match(page.url(), /#model=Off$/);
      for (const summary of await page.locator('.callout summary').all()) await summary.click();
      const text = await page.locator('#detail').innerText();
      for (const part of ["output 'add' differs", 'The first difference', 'node 3', 'Reproducer',
                          'harness --ir .', '12 of 2,048', 'Cosine similarity',
                          '< 1e-1']) {
        assert.ok(text.includes(part), `${part} is not in:\n${text}`);
      }
      assert.equal(await page.locator('#detail .chip[aria-pressed=true]').innerText(), 'large magnitudes ✕ failed');
      await page.locator('.chip', {hasText: 'normal values'}).click();
      assert.ok((await page.locator('#detail').innerText()).includes('2.5e−7'));
      await page.locator('button', {hasText: 'Next'}).click();
      await page.locator('#detail-heading', {hasText: 'Healed'}).waitFor();
      await page.goBack();
      await page.locator('#detail-heading', {hasText: 'Off'}).waitFor();
    });
  },

  async 'opens at a model, and ignores addresses of unknown models'() {
    await withPage(DESK, small, '#model=Healed', async (page) => {
      assert.equal(await heading(page), 'Healed');
      assert.equal(await page.title(), 'Healed · torch-ir');
    });
    for (const hash of ['#model=Nobody', '#model=%E0%A4%A', '#x']) {
      await withPage(DESK, small, hash, async (page) => {
        assert.equal(await page.locator('#detail').isVisible(), false);
      });
    }
  },

  async 'shows a model beside the list'() {
    await withPage(DESK, small, '#model=Off', async (page) => {
      const [list, detail] = await Promise.all(['#models', '#detail'].map((id) => page.locator(id).boundingBox()));
      assert.equal(detail.y, list.y);
      assert.ok(detail.x >= list.x + list.width);
      await page.locator('.model a', {hasText: 'Hostile'}).click();
      await page.locator('#detail-heading', {hasText: 'Hostile'}).waitFor();
      assert.equal(await page.locator('#operators').isVisible(), false);
      await page.locator('#back').click();
      await page.locator('#operators summary', {hasText: 'Pointwise: 1 of 1 passed'}).click();
      assert.match(await page.locator('#operators').innerText(), /aten.abs.default\s*1\s*1/);
    });
  },

  async 'shows hostile text as text'() {
    await withPage(DESK, small, '#model=Hostile', async (page) => {
      const text = await page.locator('#detail').innerText();
      assert.ok(text.includes('</script><script>alert(1)</script><!-- " \' & \\x01'), text);
      assert.equal(await page.locator('#detail script').count(), 0);
    });
  },

  async 'pans and zooms by mouse'() {
    await withPage(DESK, small, '#model=Off', async (page) => {
      const viewport = page.locator('.viewport');
      await viewport.scrollIntoViewIfNeeded();
      await page.locator('button', {hasText: /^Fit$/}).click();
      const before = await box(page);
      await page.locator('button[aria-label="Zoom in"]').click();
      const zoomed = await box(page);
      assert.ok(zoomed[2] < before[2]);
      const place = await viewport.boundingBox();
      const [x, y] = [place.x + place.width / 2, place.y + place.height / 2];
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 80, y + 40, {steps: 4});
      await page.mouse.up();
      const panned = await box(page);
      assert.ok(panned[0] < zoomed[0] && panned[1] < zoomed[1]);
      // After a click the wheel is the graph's.
      await page.mouse.click(place.x + 5, place.y + 5);
      await page.mouse.move(x, y);
      await page.mouse.wheel(0, -300);
      await page.waitForFunction((width) =>
          Number(document.querySelector('.viewport svg').getAttribute('viewBox').split(' ')[2]) < width, panned[2]);
      await page.locator('button', {hasText: /^Fit$/}).click();
      assert.deepEqual(await box(page), before);
    });
  },

  async 'pans and zooms by touch'() {
    await withPage(PHONE, small, '#model=Off', async (page) => {
      await page.locator('.viewport').scrollIntoViewIfNeeded();
      const before = await box(page);
      const place = await page.locator('.viewport').boundingBox();
      const client = await page.context().newCDPSession(page);
      const touch = (type, ...points) => client.send('Input.dispatchTouchEvent', {
        type, touchPoints: points.map(([dx, dy], id) =>
            ({x: place.x + place.width / 2 + dx, y: place.y + place.height / 2 + dy, id})),
      });
      await touch('touchStart', [-20, 0], [20, 0]);
      await touch('touchMove', [-60, 0], [60, 0]);
      await touch('touchEnd');
      const pinched = await box(page);
      assert.ok(pinched[2] < before[2] / 2, `${pinched} after ${before}`);
      await touch('touchStart', [0, 0]);
      await touch('touchMove', [-50, -30]);
      await touch('touchEnd');
      const panned = await box(page);
      assert.ok(panned[0] > pinched[0] && panned[1] > pinched[1]);
    });
  },

  async 'works by keyboard alone'() {
    await withPage(DESK, small, '', async (page) => {
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the models');
      await page.keyboard.press('/');
      await page.keyboard.type('off');
      assert.deepEqual(await names(page), ['Off']);
      await page.locator('.model a').focus();
      await page.keyboard.press('Enter');
      assert.equal(await heading(page), 'Off');
      await page.locator('.viewport').focus();
      await page.keyboard.press('0');
      const before = await box(page);
      await page.keyboard.press('+');
      await page.keyboard.press('ArrowDown');
      const after = await box(page);
      assert.ok(after[2] < before[2] && after[1] > before[1]);
      await page.keyboard.press('0');
      assert.deepEqual(await box(page), before);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('#detail').isVisible(), false);
      assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Off');
      await page.locator('#search').fill('');
      await page.locator('.model a').first().focus();
      await page.keyboard.press('j');
      assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Off');
      await page.keyboard.press('k');
      await page.keyboard.press('Enter');
      await page.locator('#detail-heading', {hasText: 'Broken'}).waitFor();
      await page.keyboard.press('j');
      await page.locator('#detail-heading', {hasText: 'Off'}).waitFor();
    });
  },

  async 'draws equal layers as one box while their figures are equal'() {
    await withPage(DESK, small, '#model=Layers', async (page) => {
      assert.deepEqual(await page.locator('.viewport .heading').allTextContents(),
                       ['− layers.0-3 ×4', '− layers.4', '− layers.5']);
      // The node that differs is seen at once.
      const first = page.locator('.viewport .box.first');
      assert.match(await first.locator('title').textContent(), /^add_9, .*: 0.5$/);
      const [inner, outer] = [await first.boundingBox(), await page.locator('.viewport').boundingBox()];
      assert.ok(inner.y > outer.y && inner.y + inner.height < outer.y + outer.height);
      const panel = page.locator('.panel');
      assert.match(await panel.innerText(), /Node add_9\s*first difference/);
      await page.locator('.find-node').fill('add_2');
      await page.keyboard.press('Enter');
      assert.match(await panel.innerText(), /Node add_2[^]*stands for 4 nodes, with equal figures/);
      assert.match(await page.locator('.viewport .found title').textContent(), /^add_0, .*: 1e−6$/, 'at the copy that is drawn');
    });
  },

  async 'opens and closes modules'() {
    await withPage(DESK, small, '#model=Layers', async (page) => {
      const module = page.locator('.viewport .box.module', {hasText: 'layers.4'});
      const shown = () => page.locator('.viewport .box.node').count();
      assert.equal(await shown(), 6);
      await module.locator('.heading').click();
      assert.equal(await shown(), 4);
      assert.equal(await module.getAttribute('aria-expanded'), 'false');
      assert.equal(await page.locator('.viewport .flag').textContent(), 'first difference inside');
      assert.match(await page.locator('.panel').innerText(), /Module layers.4[^]*0.5 at add_9/);
      await module.focus();
      await page.keyboard.press('Enter');
      assert.equal(await shown(), 6);
      assert.equal(await module.evaluate((element) => document.activeElement === element), true);
      await page.keyboard.press(']');
      assert.match(await page.evaluate(() => document.activeElement.querySelector('title').textContent), /^add_8/);
      await page.keyboard.press('Enter');
      assert.match(await page.locator('.panel').innerText(), /Node add_8/);
    });
  },

  async 'shows all of a node, with links'() {
    await withPage(DESK, small, '#model=Layers', async (page) => {
      const panel = page.locator('.panel');
      const texts = async (...parts) => {
        const text = (await panel.innerText()).replace(/\s+/g, ' ');
        for (const part of parts) assert.ok(text.includes(part), `${part} is not in: ${text}`);
      };
      await texts('Operator aten.add.Tensor', 'Module layers.4', 'Results 1×2 float32', 'Accumulated error (max abs.) 0.5',
                  'Place host', 'cycles 1200', 'tile 8x8', 'Input add_8 1×2 float32', 'Input w 1200 float32, weight', 'alpha 2', 'Read by add_10');
      await panel.locator('button', {hasText: 'add_8'}).click();
      await texts('Node add_8', 'Place npu', 'Read by add_9');
      await panel.locator('button', {hasText: /^w$/}).click();
      await texts('Weight w', 'Placeholder p_w', 'Read by add_0 add_1');
      assert.equal(await page.locator('.viewport .found').count(), 6);
      await panel.locator('button', {hasText: 'add_11'}).click();
      await panel.locator('button', {hasText: 'layers.5'}).click();
      await texts('Module layers.5', 'Nodes 2');
      await page.locator('.to-first').click();
      await texts('Node add_9');
    });
    await withPage(DESK, small, '#model=Off', async (page) => {
      assert.match(await page.locator('.panel').innerText(), /Its reproducer[^]*harness --ir \./);
      await page.locator('.callout .linklike').first().click();
      assert.match(await page.locator('.viewport .found title').textContent(), /^add/);
    });
  },

  async 'searches, from hit to hit'() {
    await withPage(DESK, small, '#model=Layers', async (page) => {
      await page.locator('.viewport').focus();
      await page.keyboard.press('f');
      await page.keyboard.type('add layers.4');
      const status = page.locator('.side [role=status]');
      const hits = page.locator('.hits button');
      assert.equal(await status.textContent(), '2 hits');
      assert.deepEqual(await hits.allTextContents(), ['add_8', 'add_9']);
      await page.keyboard.press('Enter');
      await page.keyboard.press('Enter');
      assert.equal(await status.textContent(), '2 of 2 hits');
      assert.match(await page.locator('.panel').innerText(), /Node add_9/);
      await page.keyboard.press('Shift+Enter');
      assert.equal(await page.locator('.hits [aria-current]').textContent(), 'add_8');
      await page.locator('.viewport').focus();
      await page.keyboard.press('n');
      assert.equal(await page.locator('.hits [aria-current]').textContent(), 'add_9');
      for (const [query, ...found] of [
        ['add.tensor', 'add_0'], ['layers.3', 'layers.3'], ['p_w', 'w'], ['LAYERS.5', 'layers.5', 'add_10', 'add_11']]) {
        await page.locator('.find-node').fill(query);
        assert.deepEqual((await hits.allTextContents()).slice(0, found.length), found, query);
      }
      await page.locator('.find-node').fill('nobody');
      assert.equal(await status.textContent(), 'Nothing fits nobody.');
      await page.keyboard.press('Escape');
      assert.equal(await status.textContent(), '');
      assert.equal(await page.locator('#detail').isVisible(), true);
    });
  },

  async 'colours boxes by their figures, and says how'() {
    await withPage(DESK, small, '#model=Layers', async (page) => {
      const fill = (name) => page.locator('.viewport .box.node').evaluateAll((boxes, name) =>
          boxes.find((box) => box.querySelector('title').textContent.startsWith(name)).querySelector('rect').style.fill, name);
      const legend = () => page.locator('.legend').innerText().then((text) => text.replace(/\s+/g, ' '));
      assert.deepEqual(await page.locator('.colour-by option').allTextContents(),
                       ['Accumulated error (max abs.)', 'SNR (dB)', 'Kind of operator', 'Place', 'Nothing']);
      assert.equal(await legend(), 'Accumulated error (max abs.): 1e−6 7.07e−4 0.5 log scale not compared');
      assert.equal(await fill('add_9'), 'rgb(68, 1, 84)');
      assert.equal(await fill('add_8'), 'rgb(253, 231, 37)');
      assert.match(await fill('add_11'), /hatch/);
      await page.locator('.colour-by').selectOption('snr');
      assert.equal(await legend(), 'SNR (dB): 12.5 not listed');
      await page.locator('.colour-by').selectOption('place');
      assert.equal(await legend(), 'Place: host not reported npu');
      assert.notEqual(await fill('add_9'), await fill('add_8'));
      await page.locator('.colour-by').selectOption('');
      assert.equal(await fill('add_9'), '');
    });
  },

  async 'shows two graphs in step'() {
    await withPage(DESK, small, '#model=Layers', async (page) => {
      await page.locator('.heading', {hasText: 'layers.5'}).click();
      await page.locator('#beside').selectOption({label: 'Slow'});
      const views = page.locator('.graph-view');
      await views.nth(1).locator('.module').first().waitFor();
      assert.equal(await views.count(), 2);
      assert.deepEqual(await views.nth(0).locator('.viewport .heading').allTextContents(),
                       ['− layers.0-3 ×4', '− layers.4']);
      assert.equal(await views.nth(1).locator('.module', {hasText: 'layers.5'}).getAttribute('aria-expanded'), 'false', 'folded alike');
      await views.nth(1).locator('.module', {hasText: 'layers.5'}).focus();
      await page.keyboard.press('Enter');
      const legend = (i) => views.nth(i).locator('.legend').innerText().then((text) => text.replace(/\s+/g, ' '));
      assert.equal(await legend(0), 'Against the graph beside: equal other call other figures');
      assert.equal(await legend(1), 'Against the graph beside: equal only here other call other figures');
      // The same node is chosen and in view in both.
      await views.nth(0).locator('.find-node').fill('add_5');
      await page.keyboard.press('Enter');
      assert.match(await views.nth(1).locator('.panel').innerText(), /Node add_5/);
      await views.nth(1).locator('.panel button', {hasText: 'add_4'}).click();
      assert.match(await views.nth(0).locator('.panel').innerText(), /Node add_4/);
      const place = (i) => views.nth(i).locator('.viewport .found').evaluate((box) => {
        const [inner, outer] = [box, box.closest('.viewport')].map((element) => element.getBoundingClientRect());
        return [inner.x + inner.width / 2 - outer.x, inner.y + inner.height / 2 - outer.y].map(Math.round);
      });
      const near = async () => {
        const [a, b] = [await place(0), await place(1)];
        assert.ok(Math.hypot(a[0] - b[0], a[1] - b[1]) < 3, `${a} and ${b}`);
      };
      await near();
      await views.nth(0).locator('.viewport').focus();
      await page.keyboard.press('+');
      await page.keyboard.press('ArrowDown');
      await near();
      await views.nth(0).locator('.heading', {hasText: 'layers.4'}).evaluate((heading) => heading.parentElement.focus());
      await page.keyboard.press('Enter');
      assert.equal(await views.nth(1).locator('.module', {hasText: 'layers.4'}).getAttribute('aria-expanded'), 'false');
      await assertAccessible(page, 'two graphs');
      await views.nth(0).locator('button', {hasText: 'Full'}).click();
      await page.waitForFunction(() => document.fullscreenElement?.querySelectorAll('.viewport').length === 2);
      await page.evaluate(() => document.exitFullscreen());
      await page.locator('#beside').selectOption('');
      assert.equal(await views.count(), 1);
      assert.match(await legend(0), /^Accumulated error/);
    });
  },

  async 'has a map to move by'() {
    await withPage(DESK, small, '#model=Layers', async (page) => {
      await page.locator('.minimap').scrollIntoViewIfNeeded();
      const before = await box(page);
      const map = await page.locator('.minimap').boundingBox();
      await page.mouse.click(map.x + map.width / 2, map.y + 5);
      const after = await box(page);
      assert.ok(after[1] < before[1] && after[2] === before[2]);
      await page.locator('button', {hasText: /^Fit$/}).click();
      assert.equal(await page.locator('.minimap').isVisible(), false, 'all of the graph is in view');
    });
  },

  async 'has a dark and a light theme'() {
    for (const [colorScheme, ground] of [['dark', 'rgb(16, 20, 27)'], ['light', 'rgb(246, 247, 249)']]) {
      await withPage({...DESK, colorScheme}, small, '', async (page) => {
        assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), ground);
      });
    }
  },

  async 'is accessible at each width, in each theme'() {
    for (const options of [DESK, PHONE]) {
      for (const colorScheme of ['light', 'dark']) {
        for (const hash of ['', '#model=Off', '#model=Layers', '#model=Hostile']) {
          await withPage({...options, colorScheme, reducedMotion: 'reduce'}, small, hash, async (page) => {
            await assertAccessible(page, `${options.viewport.width} ${colorScheme} ${hash}`);
          });
        }
      }
    }
  },

  async 'fits a phone'() {
    for (const hash of ['', '#model=Off', '#model=Layers', '#model=Hostile']) {
      await withPage(PHONE, small, hash, async (page) => {
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 390, `${wide} pixels wide at '${hash}'`);
        assert.equal(await page.locator('#models').isVisible(), hash === '');
      });
    }
  },

  async 'holds a thousand models'() {
    await withPage(DESK, large, '', async (page) => {
      const loaded = await page.evaluate(() => performance.getEntriesByType('mark')[0].startTime);
      assert.match(await page.locator('.group').first().textContent(), /^add, .* 2 models$/, 'the largest group');
      assert.deepEqual((await names(page)).slice(0, 2), ['Off', 'Off again']);
      await all(page);
      const filtered = await page.evaluate(() => {
        const start = performance.now();
        document.getElementById('search').value = 'model77';
        document.getElementById('search').dispatchEvent(new Event('input'));
        document.body.getBoundingClientRect();
        return performance.now() - start;
      });
      assert.equal((await names(page)).length, 11);
      console.log(`    loaded in ${Math.round(loaded)} ms, filtered in ${Math.round(filtered)} ms`);
    });
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
fs.rmSync(folder, {recursive: true});
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

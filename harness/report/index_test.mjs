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
  await use(page);
  await context.close();
  assert.deepEqual(problems, []);
}

const names = (page) => page.locator('#rows tr th').allTextContents();
const box = (page) => page.locator('.viewport svg').getAttribute('viewBox')
    .then((text) => text.split(' ').map(Number));
const heading = (page) => page.locator('#detail-heading').textContent();

async function assertAccessible(page, where) {
  // The page's own policy keeps scripts of others out; the test's come in over the debugger.
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => globalThis.axe.run());
  const text = violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(' | ')}`);
  assert.deepEqual(text, [], where);
}

const tests = {
  async 'shows all models'() {
    await withPage(DESK, small, '', async (page) => {
      assert.deepEqual(await names(page), ['Tiny', 'Broken', 'Off', 'Known', 'Healed', 'Hostile']);
      assert.equal(await page.locator('#count').textContent(), '6 models');
      assert.match(await page.locator('.verdict').textContent(),
                   /1 of 6 models passed, 3 failed, 1 passed unexpectedly, 1 failed as expected/);
    });
  },

  async 'filters by status, category and text'() {
    await withPage(DESK, small, '', async (page) => {
      const chip = (text) => page.locator('.chip', {hasText: text}).first();
      await chip('expected failure').click();
      assert.deepEqual(await names(page), ['Known']);
      assert.equal(await chip('expected failure').getAttribute('aria-pressed'), 'true');
      await chip('passed').click();
      assert.deepEqual(await names(page), ['Tiny', 'Known']);
      await page.locator('#categories .chip', {hasText: 'known'}).click();
      assert.deepEqual(await names(page), ['Known']);
      assert.equal(await page.locator('#count').textContent(), '1 of 6 models');
      await page.locator('#search').fill('tiny');
      assert.equal(await page.locator('#empty').isVisible(), true);
      await page.locator('#clear').click();
      assert.equal((await names(page)).length, 6);
      await page.locator('#search').fill('NEEDS data');
      assert.deepEqual(await names(page), ['Broken']);
    });
  },

  async 'sorts by figures, missing ones last'() {
    await withPage(DESK, small, '', async (page) => {
      const header = page.locator('#head button', {hasText: 'Max abs. error'});
      await header.click();
      assert.equal(await page.locator('#head [aria-sort]').getAttribute('aria-sort'), 'descending');
      assert.deepEqual(await names(page), ['Off', 'Known', 'Healed', 'Tiny', 'Broken', 'Hostile']);
      await page.locator('#head button', {hasText: 'Max abs. error'}).click();
      assert.equal(await page.locator('#head [aria-sort]').getAttribute('aria-sort'), 'ascending');
      assert.deepEqual(await names(page), ['Tiny', 'Healed', 'Off', 'Known', 'Broken', 'Hostile']);
      await page.locator('#sort').selectOption('max_ulp_diff');
      assert.equal(await page.locator('#head [aria-sort]').textContent(), 'Max ULP distance');
      assert.deepEqual((await names(page)).slice(0, 2), ['Off', 'Known']);
      await page.locator('#columns summary').click();
      for (const [column, ...figures] of [
        ['Mean abs. error', '0', '1.25e−7', ''], ['Max relative error', '0', '2', ''], ['RMSE', '0', '0.125', ''],
        ['Cosine similarity', '1', '0.75', ''], ['Max ULP distance', '', '4,096', ''], ['Outside the tolerance', '0', '12', '']]) {
        await page.locator('#column-choices label', {hasText: column}).locator('input').check();
        for (const [i, model] of ['Tiny', 'Off', 'Broken'].entries()) {
          const row = page.locator('#rows tr', {has: page.locator('th', {hasText: model})});
          assert.equal(await row.locator(`td[data-label="${column}"]`).textContent(), figures[i], `${column} of ${model}`);
        }
      }
      assert.equal(await page.locator('#rows tr').first().locator('td[data-label="SNR (dB)"]').textContent(), '12.5');
      await page.locator('#column-choices label', {hasText: 'Parameters'}).click();
      assert.equal(await page.locator('#head button', {hasText: 'Parameters'}).count(), 1);
    });
  },

  async 'shows the changes since the baseline'() {
    await withPage(DESK, small, '', async (page) => {
      const changes = page.locator('#changes');
      assert.equal(await changes.locator('details').getAttribute('open'), '', 'something is worse');
      const text = await changes.innerText();
      for (const part of ['old/results.json', '7 models compared: 1 worse, 1 gone', 'Seed: 0 -> 7.',
                          'status: passed -> failed', '</script><script>alert(1)', 'status: was passed']) {
        assert.ok(text.includes(part), `${part} is not in:\n${text}`);
      }
      assert.deepEqual(await changes.locator('a').allTextContents(), ['Off'], 'a model that is gone has no page');
      await changes.locator('a').click();
      assert.equal(await heading(page), 'Off');
    });
  },

  async 'shows all of a model'() {
    await withPage(DESK, small, '', async (page) => {
      await page.locator('#rows a', {hasText: 'Off'}).click();
      assert.equal(await heading(page), 'Off');
      assert.match(page.url(), /#model=Off$/);
      const text = await page.locator('#detail').innerText();
      for (const part of ["output 'add' differs", 'First difference', 'node 3', 'Reproducer',
                          'torch-ir verify ir.json', '12 of 2,048', 'Cosine similarity',
                          'first NaN', '< 1e-1', 'the model does not have it there']) {
        assert.ok(text.includes(part), `${part} is not in:\n${text}`);
      }
      assert.equal(await page.locator('.chip[aria-pressed=true]').innerText(), 'large magnitudes ✕ failed');
      await page.locator('.chip', {hasText: 'normal values'}).click();
      assert.ok((await page.locator('#detail').innerText()).includes('2.5e−7'));
      await page.locator('button', {hasText: 'Next'}).click();
      assert.equal(await heading(page), 'Known');
      await page.goBack();
      assert.equal(await heading(page), 'Off');
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

  async 'shows a model beside the list, and operators below'() {
    await withPage(DESK, small, '#model=Off', async (page) => {
      const [list, detail, operators] = await Promise.all(
          ['#models', '#detail', '#operators'].map((id) => page.locator(id).boundingBox()));
      assert.equal(detail.y, list.y);
      assert.ok(detail.x >= list.x + list.width);
      assert.ok(operators.y >= detail.y + detail.height);
      assert.equal(operators.x, list.x);
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
      await page.mouse.click(x, y);
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
      await page.locator('#rows a').focus();
      await page.keyboard.press('Enter');
      assert.equal(await heading(page), 'Off');
      await page.locator('.viewport').focus();
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
      await page.locator('#rows a').first().focus();
      await page.keyboard.press('ArrowDown');
      assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Broken');
    });
  },

  async 'finds nodes in the graph'() {
    await withPage(DESK, small, '#model=Off', async (page) => {
      await page.locator('.callout .linklike').first().click();
      assert.equal(await page.locator('.viewport .found title').textContent(), 'add');
      await page.locator('#find-node').fill('nobody');
      await page.keyboard.press('Enter');
      assert.ok((await page.locator('#detail').innerText()).includes('No node is named nobody.'));
    });
  },

  async 'opens modules, and shows the figures of a node'() {
    await withPage(DESK, small, '#model=Healed', async (page) => {
      const shown = page.locator('.viewport svg g.node title');
      const fill = () => page.locator('.viewport polygon').evaluate((shape) => shape.style.fill);
      assert.deepEqual(await shown.allTextContents(), ['mlp']);
      assert.equal(await fill(), 'rgb(68, 1, 84)');
      assert.match(await page.locator('.legend').innerText(), /0\s+more/);
      await page.selectOption('#colour-by', '');
      assert.equal(await fill(), '');
      await page.locator('.viewport g.node').click();
      assert.deepEqual(await shown.allTextContents(), ['relu']);
      assert.equal(await page.locator('.way').innerText(), 'Healed › mlp');
      assert.match(await page.locator('.graph-view').innerText(), /Module mlp\s+Nodes\s+2\s+Max abs. error\s+0.5, at relu_1/);
      await page.locator('.viewport g.node').click();
      const text = await page.locator('.graph-view').innerText();
      for (const part of ['Node relu', 'aten.relu.default', '4 float32', 'Stands for 2 nodes']) {
        assert.ok(text.includes(part), `${part} is not in:\n${text}`);
      }
      await page.locator('.way button').click();
      assert.deepEqual(await shown.allTextContents(), ['mlp']);
      await page.locator('.viewport g.node').focus();
      await page.keyboard.press('Enter');
      assert.deepEqual(await shown.allTextContents(), ['relu']);
      await page.locator('.way button').click();
      await page.locator('#find-node').fill('relu_1');
      await page.keyboard.press('Enter');
      assert.equal(await page.locator('.viewport .found title').textContent(), 'relu', 'a copy is found at the node drawn for it');
    });
  },

  async 'has a dark and a light theme'() {
    const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    let dark;
    await withPage({...DESK, colorScheme: 'dark'}, small, '', async (page) => {
      dark = await ground(page);
      await page.locator('#theme').click();
      assert.notEqual(await ground(page), dark);
      await page.reload();
      assert.notEqual(await ground(page), dark);
    });
    await withPage(DESK, small, '', async (page) => assert.notEqual(await ground(page), dark));
  },

  async 'is accessible at each width, in each theme'() {
    for (const options of [DESK, PHONE]) {
      for (const colorScheme of ['light', 'dark']) {
        for (const hash of ['', '#model=Off', '#model=Healed', '#model=Hostile']) {
          await withPage({...options, colorScheme, reducedMotion: 'reduce'}, small, hash, async (page) => {
            await assertAccessible(page, `${options.viewport.width} ${colorScheme} ${hash}`);
          });
        }
      }
    }
  },

  async 'fits a phone'() {
    for (const hash of ['', '#model=Off', '#model=Hostile']) {
      await withPage(PHONE, small, hash, async (page) => {
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 390, `${wide} pixels wide at '${hash}'`);
        assert.equal(await page.locator('#models').isVisible(), hash === '');
      });
    }
  },

  async 'holds a thousand models'() {
    await withPage(DESK, large, '', async (page) => {
      const loaded = await page.evaluate(() => performance.getEntriesByType('navigation')[0].loadEventEnd);
      assert.equal((await names(page)).length, 1006);
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

// Parses every Mermaid diagram of the given pages with the real parser.
//
//   NODE_MODULES=DIR node mermaid_test.mjs PAGE.md...
//
// DIR holds the npm packages mermaid and jsdom.

import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const modules = process.env.NODE_MODULES;
if (!modules) {
  console.error(
      'NODE_MODULES is not set: npm install --prefix DIR mermaid jsdom, then run the test with ' +
      '--test_env=NODE_MODULES=DIR/node_modules');
  process.exit(1);
}
const load = (file) => import(pathToFileURL(path.join(modules, file)).href);

// Mermaid looks for a browser when it is loaded.
const {JSDOM} = (await load('jsdom/lib/api.js')).default;
globalThis.window = new JSDOM('').window;
globalThis.document = window.document;
const mermaid = (await load('mermaid/dist/mermaid.core.mjs')).default;

// The contents of all ```mermaid blocks of `page`.
const diagramsOf = (page) => [...page.matchAll(/^```mermaid\n(.*?)^```$/gms)].map(([, text]) => text);

let parsed = 0;
let failed = 0;
for (const file of process.argv.slice(2)) {
  for (const diagram of diagramsOf(fs.readFileSync(file, 'utf8'))) {
    try {
      await mermaid.parse(diagram);
      ++parsed;
    } catch (error) {
      ++failed;
      console.error(`${file}: ${error.message}\n${diagram}`);
    }
  }
}
console.log(`${parsed} diagrams parsed, ${failed} refused`);
// No diagram at all would prove nothing.
process.exit(failed === 0 && parsed > 0 ? 0 : 1);

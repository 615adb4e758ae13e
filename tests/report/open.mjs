// Prints how many seconds Chromium takes to open a page until it is idle, the median of some runs.
//
// Called as `node open.mjs MODULES CHROMIUM PAGE RUNS`.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, chromium, file, runs] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(resolve(modules), 'package.json')));
const browser = await require('playwright-core').chromium.launch({
  executablePath: chromium,
  args: ['--no-sandbox', '--disable-gpu'],
});
const times = [];
for (let run = 0; run < Number(runs); run += 1) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const started = performance.now();
  await page.goto(pathToFileURL(resolve(file)).href);
  await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle)));
  times.push((performance.now() - started) / 1000);
  await page.close();
}
await browser.close();
times.sort((one, other) => one - other);
console.log(times[Math.floor(times.length / 2)]);

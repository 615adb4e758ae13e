// Opens pages in Chromium as people do, and prints as JSON what is wrong with each.
//
// Called as `node drive.mjs MODULES CHROMIUM SCREENSHOTS PAGE…`; MODULES holds what package-lock.json names.
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, chromium, shots, ...pages] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(resolve(modules), 'package.json')));
const playwright = require('playwright-core');
const axe = require.resolve('axe-core/axe.min.js');

// More keys than this and a page is not left by the keyboard.
const KEYS_MAX = 5000;

const browser = await playwright.chromium.launch({
  executablePath: chromium,
  args: ['--no-sandbox', '--disable-gpu'],
});

// Opens a page and returns what it does that it must not do.
async function opened(file, { width, height }, colorScheme, bypassCSP = false) {
  const isPhone = width < 700;
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme, isMobile: isPhone, hasTouch: isPhone, bypassCSP, offline: true,
  });
  const page = await context.newPage();
  const faults = [];
  const own = pathToFileURL(resolve(file)).href;
  page.on('request', (request) => { if (request.url() !== own) faults.push(`requests ${request.url()}`); });
  page.on('console', (message) => faults.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => { faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  const started = performance.now();
  await page.goto(own);
  await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle)));
  return { context, page, faults, seconds: (performance.now() - started) / 1000 };
}

const sideways = (page) => page.evaluate(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  return scrollWidth > clientWidth ? [`scrolls sideways: ${scrollWidth} > ${clientWidth}`] : [];
});

// What axe-core finds on the page as it is; the page's policy keeps others' scripts out, so that it is lifted for it.
async function judged(file, size, scheme, shot) {
  const { context, page, faults } = await opened(file, size, scheme, true);
  await page.addScriptTag({ path: axe });
  const found = async () => {
    const { violations } = await page.evaluate(() => window.axe.run());
    return violations.map(({ id, nodes }) => `axe ${id}: ${nodes.length} × ${nodes[0].html.slice(0, 200)} ${nodes[0].failureSummary}`);
  };
  faults.push(...await found());
  await page.locator('.fleet a.n').first().click();
  await page.screenshot({ path: `${shot}-panel.png` });
  faults.push(...await sideways(page), ...await found());
  await context.close();
  return faults;
}

// Goes through the page by keys alone. Returns the nodes that were opened, and what is wrong.
async function walked(file, size) {
  const { context, page, faults } = await opened(file, size, 'light');
  const reached = new Set();
  for (let keys = 0; keys < KEYS_MAX; keys += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const { activeElement: at } = document;
      if (at === document.body || at.closest('.tables')) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(at);
      const isVisible = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
      return { isVisible, isGroup: at.matches('.g > summary'), id: at.closest('.cell') ? at.hash?.slice(1) : undefined, html: at.outerHTML.slice(0, 120) };
    });
    if (!at) {
      if (keys === 0) continue;
      break;
    }
    if (!at.isVisible) faults.push(`no visible focus: ${at.html}`);
    if (at.isGroup) await page.keyboard.press('Enter');
    if (!at.id || reached.has(at.id)) continue;
    await page.keyboard.press('Enter');
    const panel = await page.evaluate(() => {
      const panel = document.querySelector('#panel');
      return panel.open ? panel.textContent.trim().length : 0;
    });
    if (panel < 20) faults.push(`${at.id}: Enter opens nothing`);
    await page.keyboard.press('Escape');
    reached.add(at.id);
  }
  const nodes = await page.evaluate(() => [...document.querySelectorAll('.tables tbody tr [id^="n"]')].map((said) => said.id));
  faults.push(...nodes.filter((id) => !reached.has(id)).map((id) => `${id} is not reached by keyboard`));
  // Search and filter show what they name, and say how many.
  await page.locator('.tools input').fill('no node has this in its words');
  if (await page.locator('.fleet .cell a.n[href^="#n"]:visible').count()) faults.push('search does not hide');
  await context.close();
  return { faults, nodes: nodes.length };
}

// Without its script a page says all that it says with it.
async function scriptless(file) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(pathToFileURL(resolve(file)).href);
  const link = page.locator('.fleet a.n').first();
  const faults = await link.count() ? [] : ['no node is drawn'];
  const target = await link.getAttribute('href');
  await link.click();
  if (!await page.locator(target).isVisible()) faults.push(`without the script ${target} does not open`);
  await context.close();
  return faults;
}

const sizes = [{ width: 1440, height: 900 }, { width: 390, height: 844 }];
const results = [];
for (const file of pages) {
  const name = basename(file, '.html');
  const faults = [];
  let seconds = 0;
  for (const size of sizes) {
    for (const scheme of ['light', 'dark']) {
      const shot = join(shots, `${name}-${size.width}-${scheme}`);
      const one = await opened(file, size, scheme);
      seconds = Math.max(seconds, one.seconds);
      one.faults.push(...await sideways(one.page));
      await one.page.screenshot({ path: `${shot}.png` });
      await one.context.close();
      const all = [...one.faults, ...await judged(file, size, scheme, shot)];
      faults.push(...all.map((fault) => `${size.width} ${scheme}: ${fault}`));
    }
  }
  const keys = await walked(file, sizes[0]);
  faults.push(...keys.faults.map((fault) => `keyboard: ${fault}`), ...await scriptless(file));
  results.push({ name, nodes: keys.nodes, seconds, faults });
}
await browser.close();
console.log(JSON.stringify(results));

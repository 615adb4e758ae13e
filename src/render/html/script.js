'use strict';
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  const panel = one('#panel');
  const [note, content] = [one('p', panel), one(':scope > div', panel)];

  // A click, or Enter, on a node shows what the tables say of it.
  const open = (id) => {
    const said = document.getElementById(id);
    const row = said.closest('tr');
    const cells = row ? [...row.cells].map((cell) => cell.innerText) : [];
    one('h2', panel).textContent = row ? row.cells[0].textContent : one('h3', said.parentElement).textContent;
    // The sentences of a node say what it is; where there are none, its row does.
    note.textContent = one('p', said) ? '' : cells.slice(1, 4).join(' · ');
    content.replaceChildren(...[...said.childNodes].map((node) => node.cloneNode(true)));
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
  };
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) {
      event.preventDefault();
      open(link.hash.slice(1));
    } else if (event.target === panel) {
      panel.close();
    }
  });
  one('button', panel).addEventListener('click', () => panel.close());

  // Search in all that is said of a node; only the pools that are chosen.
  const tools = one('.tools');
  const [search, pool, found] = [one('input', tools), one('select', tools), one('output', tools)];
  const rows = all('.tables tbody tr').map((row) => ({
    row, id: one('[id]', row).id, pool: row.cells[1].textContent, text: '',
  }));
  const boxes = all('.cell li').map((box) => ({
    box, ids: all('a', box).map((link) => link.hash.slice(1)),
  }));
  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    const hits = new Set();
    for (const entry of rows) {
      if (wanted && !entry.text) entry.text = entry.row.textContent.toLowerCase();
      const hit = (!pool.value || entry.pool === pool.value) && (!wanted || entry.text.includes(wanted));
      entry.row.hidden = !hit;
      if (hit) hits.add(entry.id);
    }
    for (const { box, ids } of boxes) box.hidden = !ids.some((id) => hits.has(id) || !id.startsWith('n'));
    for (const row of all('.fleet section')) row.hidden = all('li', row).every((box) => box.hidden);
    const isWhole = hits.size === rows.length;
    found.textContent = isWhole ? '' : `${hits.size} of ${rows.length} nodes`;
  };
  search.addEventListener('input', filter);
  pool.addEventListener('change', filter);
  tools.hidden = false;
})();

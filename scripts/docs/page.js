// Search in the browser: the index is a script, so that the site also works when it is opened from a folder.
const base = document.documentElement.dataset.base;
const input = document.querySelector('input[type=search]');
const list = document.querySelector('.search ol');
let index;

function loadIndex() {
  index ??= window.MiniSearch.loadJSON(window.searchIndex, {
    fields: ['heading', 'page', 'text'],
    storeFields: ['page', 'heading'],
    searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  return index;
}

function showResults() {
  const found = input.value.trim() === '' ? [] : loadIndex().search(input.value).slice(0, 12);
  list.hidden = found.length === 0;
  list.replaceChildren(
    ...found.map(({ id, page, heading }) => {
      const link = document.createElement('a');
      link.href = `${base}/${id}`;
      link.textContent = heading;
      const where = document.createElement('small');
      where.textContent = heading === page ? '' : page;
      link.append(where);
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
}

function move(step) {
  const links = [...list.querySelectorAll('a')];
  const next = links.indexOf(document.activeElement) + step;
  (links[next] ?? input).focus();
}

input.addEventListener('input', showResults);
document.querySelector('.search').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && document.activeElement === input) list.querySelector('a')?.click();
  if (event.key === 'Escape') {
    input.value = '';
    showResults();
    input.blur();
  }
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    move(event.key === 'ArrowDown' ? 1 : -1);
  }
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
});
document.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' });

/**
 * Builds the documentation site: one HTML file for each page, a navigation from `docs/README.md`, and a search index.
 * The site needs no server: it can be opened from a folder.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Token, type Tokens } from 'marked';
import MiniSearch from 'minisearch';
import { highlight } from './highlight.ts';
import { deadLinks, type Heading, type Page, plainText, readPages, resolveLink } from './pages.ts';

/** A section of a page, as the search finds it. */
type Section = { readonly id: string; readonly page: string; readonly heading: string; readonly text: string };

type NavigationEntry = { readonly file: string; readonly label: string };
type NavigationGroup = { readonly label: string; readonly entries: readonly NavigationEntry[] };

/** The page that lists all others, and is the first page of the site. */
const contents = 'docs/README.md';

/** Options of the index, which the browser has to repeat: see `page.js`. */
const searchOptions = { fields: ['heading', 'page', 'text'], storeFields: ['page', 'heading'] };

/** Builds the site into a folder, which is emptied first. Throws on dead links. Returns the number of pages. */
export function buildSite(root: string, folder: string): number {
  const pages = readPages(root);
  const dead = deadLinks(root, pages);
  if (dead.length > 0) throw new Error(`dead links:\n${dead.join('\n')}`);

  rmSync(folder, { recursive: true, force: true });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };

  const navigation = navigationOf(pages.find(({ file }) => file === contents)!);
  const pageFiles = new Set(pages.map(({ file }) => file));
  const sources = new Set<string>();
  for (const page of pages) {
    write(urlOf(page.file), renderPage(page, navigation));
    for (const link of page.links) {
      const target = resolveLink(page, link);
      if (target !== undefined && !pageFiles.has(target.file)) sources.add(target.file);
    }
  }
  for (const file of sources) {
    if (isPicture(file)) {
      mkdirSync(dirname(join(folder, urlOf(file))), { recursive: true });
      cpSync(join(root, file), join(folder, urlOf(file)));
    } else {
      write(urlOf(file), renderSource(root, file, navigation));
    }
  }

  const search = new MiniSearch<Section>(searchOptions);
  search.addAll(pages.filter(({ file }) => file.startsWith('docs/') || !file.includes('/')).flatMap(sectionsOf));
  const asset = (name: string) => readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8');
  const library = createRequire(import.meta.url)
    .resolve('minisearch')
    .replace(/dist[\\/].*$/, 'dist/umd/index.js');
  write('assets/minisearch.js', readFileSync(library, 'utf8').replace(/\/\/# sourceMappingURL=.*/, ''));
  write('assets/search-index.js', `window.searchIndex = ${JSON.stringify(JSON.stringify(search))};\n`);
  write('assets/page.js', asset('page.js'));
  write('assets/theme.css', asset('theme.css'));
  return pages.length;
}

/** Path of a file within the site. */
export function urlOf(file: string): string {
  if (file === contents) return 'index.html';
  if (isPicture(file)) return file.replace(/^docs\//, '');
  const name = file.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '');
  return file.startsWith('docs/') && file.endsWith('.md')
    ? `${name.slice('docs/'.length)}.html`
    : `source/${name}.html`;
}

function isPicture(file: string): boolean {
  return /\.(svg|png)$/.test(file);
}

/** Second-level headings of the contents page are groups, the first link of each list item is an entry. */
function navigationOf(page: Page): readonly NavigationGroup[] {
  const groups: { label: string; entries: NavigationEntry[] }[] = [];
  for (const token of page.tokens) {
    if (token.type === 'heading' && (token as Tokens.Heading).depth === 2) {
      groups.push({ label: plainText((token as Tokens.Heading).tokens), entries: [] });
    }
    if (token.type !== 'list') continue;
    for (const item of (token as Tokens.List).items) {
      const link = firstLink(item.tokens);
      const target = link && resolveLink(page, link.href);
      if (link && target) groups.at(-1)?.entries.push({ file: target.file, label: plainText(link.tokens) });
    }
  }
  return groups;
}

function firstLink(tokens: readonly Token[]): Tokens.Link | undefined {
  for (const token of tokens) {
    if (token.type === 'link') return token as Tokens.Link;
    const inner = 'tokens' in token && token.tokens !== undefined ? firstLink(token.tokens) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

function sectionsOf(page: Page): readonly Section[] {
  const sections: { id: string; page: string; heading: string; text: string }[] = [];
  const headings = page.headings[Symbol.iterator]();
  for (const token of page.tokens) {
    if (token.type === 'heading') {
      const { text, anchor } = headings.next().value as Heading;
      sections.push({ id: `${urlOf(page.file)}#${anchor}`, page: page.title, heading: text, text: '' });
    } else if (token.type !== 'space') {
      const section = sections.at(-1);
      if (section) section.text += ` ${token.raw.replace(/[`*|#]|\]\([^)]*\)|<[^>]*>/g, ' ')}`;
    }
  }
  return sections;
}

function renderPage(page: Page, navigation: readonly NavigationGroup[]): string {
  const headings = page.headings[Symbol.iterator]();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const { anchor } = headings.next().value as Heading;
        const link = depth === 1 ? '' : ` <a class="anchor" href="#${anchor}" aria-label="Link to this heading">#</a>`;
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`;
      },
      code({ text, lang }) {
        return `<pre><code>${highlight(text, lang?.split(' ')[0] ?? '')}</code></pre>\n`;
      },
      table(token) {
        const row = (cells: readonly Tokens.TableCell[], tag: string) =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return `<div class="table"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
    walkTokens(token) {
      if (token.type !== 'link' && token.type !== 'image') return;
      const link = token as Tokens.Link | Tokens.Image;
      link.href = siteLink(page, link.href);
    },
  });
  const toc = page.headings
    .filter(({ depth }) => depth === 2 || depth === 3)
    .map(({ depth, text, anchor }) => `<li class="depth-${depth}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`);
  return layout({
    file: page.file,
    title: page.title,
    // Tokens are parsed again: the renderer changes links in place.
    body: marked.parse(page.tokens.map(({ raw }) => raw).join('')) as string,
    toc:
      toc.length > 1
        ? `<nav class="toc" aria-label="On this page"><b>On this page</b><ul>${toc.join('')}</ul></nav>`
        : '',
    navigation,
  });
}

function siteLink(page: Page, link: string): string {
  const target = resolveLink(page, link);
  if (target === undefined) return link;
  const url = posix.relative(posix.dirname(urlOf(page.file)), urlOf(indexOf(target.file)));
  return target.anchor === undefined ? url : `${url}#${target.anchor}`;
}

/** A link to `docs` or to a folder with a README leads to its page. */
function indexOf(file: string): string {
  return existsSync(join(repository, file, 'README.md')) ? posix.join(file, 'README.md') : file;
}

const repository = fileURLToPath(new URL('../..', import.meta.url));

function renderSource(root: string, file: string, navigation: readonly NavigationGroup[]): string {
  const path = join(root, file);
  const text = statSync(path).isDirectory() ? readdirSync(path).sort().join('\n') : readFileSync(path, 'utf8');
  const lines = text.split('\n').map((_, index) => `<span id="L${index + 1}">${index + 1}</span>`);
  const code = highlight(text, posix.extname(file).slice(1));
  return layout({
    file,
    title: file,
    body: `<h1>${escapeHtml(file)}</h1><pre class="source"><code class="lines">${lines.join('\n')}</code><code>${code}</code></pre>`,
    toc: '',
    navigation,
  });
}

type Layout = {
  readonly file: string;
  readonly title: string;
  readonly body: string;
  readonly toc: string;
  readonly navigation: readonly NavigationGroup[];
};

function layout({ file, title, body, toc, navigation }: Layout): string {
  const base = posix.relative(posix.dirname(urlOf(file)), '.') || '.';
  const groups = navigation.map(({ label, entries }) => {
    const items = entries.map((entry) => {
      const current = entry.file === file ? ' aria-current="page"' : '';
      return `<li><a href="${base}/${urlOf(entry.file)}"${current}>${escapeHtml(entry.label)}</a></li>`;
    });
    const isOpen = entries.some((entry) => entry.file === file) || file === contents;
    return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(label)}</summary><ul>${items.join('')}</ul></details>`;
  });
  return `<!doctype html>
<html lang="en" data-base="${base}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Kruise</title>
<link rel="stylesheet" href="${base}/assets/theme.css">
<script src="${base}/assets/minisearch.js" defer></script>
<script src="${base}/assets/search-index.js" defer></script>
<script src="${base}/assets/page.js" defer></script>
<header>
<a class="brand" href="${base}/index.html">Kruise</a>
<div class="search"><input type="search" placeholder="Search (press /)" aria-label="Search" autocomplete="off"><ol hidden></ol></div>
</header>
<div class="columns">
<nav class="pages" aria-label="Pages">${groups.join('')}</nav>
<main>
${body}</main>
${toc}
</div>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

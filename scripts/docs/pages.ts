/** The Markdown pages of the repository: their titles, headings and links. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, normalize, posix } from 'node:path';
import { lexer, type Token, type Tokens, walkTokens } from 'marked';

/** A heading with its anchor, which is formed as code hosts form it. */
export type Heading = { readonly depth: number; readonly text: string; readonly anchor: string };

/** A Markdown file of the repository. */
export type Page = {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly title: string;
  readonly tokens: readonly Token[];
  readonly headings: readonly Heading[];
  /** Targets of links and pictures, as written. */
  readonly links: readonly string[];
};

/** Target of a relative link: a path from the root of the repository, and an anchor if there is one. */
export type LinkTarget = { readonly file: string; readonly anchor: string | undefined };

/** Reads a page. */
export function readPage(root: string, file: string): Page {
  return parsePage(file, readFileSync(join(root, file), 'utf8'));
}

/** Parses the text of a page. */
export function parsePage(file: string, text: string): Page {
  const tokens = lexer(text);
  const headings = headingsOf(tokens);
  const links: string[] = [];
  walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') links.push((token as Tokens.Link | Tokens.Image).href);
  });
  return { file, title: headings[0]?.text ?? file, tokens, headings, links };
}

/** Returns every Markdown page of the repository that git tracks or would track. */
export function readPages(root: string): readonly Page[] {
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)))
    .sort()
    .map((file) => readPage(root, file));
}

/** Resolves a link of a page; undefined for links that leave the repository. */
export function resolveLink(page: Page, link: string): LinkTarget | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return undefined;
  const [path = '', anchor] = link.split('#', 2);
  const file = path === '' ? page.file : posix.normalize(posix.join(posix.dirname(page.file), decodeURI(path)));
  return { file: file.replace(/\/$/, ''), anchor };
}

/** Returns the links of some pages that lead to no file or to no heading, as `page: link`. */
export function deadLinks(root: string, pages: readonly Page[]): readonly string[] {
  const byFile = new Map(pages.map((page) => [page.file, page]));
  return pages.flatMap((page) =>
    page.links.flatMap((link) => {
      const target = resolveLink(page, link);
      if (target === undefined) return [];
      const isDead =
        normalize(target.file).startsWith('..') ||
        (!byFile.has(target.file) && !existsSync(join(root, target.file))) ||
        (target.anchor !== undefined &&
          byFile.has(target.file) &&
          !byFile.get(target.file)!.headings.some(({ anchor }) => anchor === target.anchor));
      return isDead ? [`${page.file}: ${link}`] : [];
    }),
  );
}

/** Returns the text of inline tokens, without their markup. */
export function plainText(tokens: readonly Token[] | undefined): string {
  return (tokens ?? [])
    .map((token) => {
      if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens);
      if (token.type === 'br') return ' ';
      return 'text' in token ? unescapeHtml(String(token.text)) : '';
    })
    .join('');
}

/** Lower case, no punctuation, hyphens for spaces, and a number for repeated headings. */
function headingsOf(tokens: readonly Token[]): readonly Heading[] {
  const used = new Map<string, number>();
  return tokens.flatMap((token) => {
    if (token.type !== 'heading') return [];
    const { depth, tokens: inline } = token as Tokens.Heading;
    const text = plainText(inline);
    const base = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replace(/ /g, '-');
    const count = used.get(base) ?? 0;
    used.set(base, count + 1);
    return [{ depth, text, anchor: count === 0 ? base : `${base}-${count}` }];
  });
}

function unescapeHtml(text: string): string {
  return text
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');
}

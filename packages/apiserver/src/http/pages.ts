import type { RequestContext } from '../context.ts';
import { noSuchPath, wrongMethod } from '../handlers/refusal.ts';
import { serverVersion } from '../server-version.ts';
import type { Exchange, Headers } from './exchange.ts';

/** Handler of a non-resource endpoint. */
export type Page = (exchange: Exchange, context: RequestContext, headers: Headers) => Promise<void>;

/** Non-resource endpoints of a server. */
export type Pages = { readonly serve: Page };

/** Dynamic set of non-resource endpoints. */
export type PageTree = {
  readonly serve: Page;
  /** Returns the current paths, for the path index. */
  paths(): readonly string[];
};

export type PageParts = {
  /** Endpoints below `/api` and `/apis`. */
  readonly discovery: PageTree;
  /** Endpoints by exact path; a path with a trailing slash also matches everything below it. */
  readonly pages: ReadonlyMap<string, Page>;
};

/** Creates the non-resource endpoints, with routing by path. */
export function createPages({ discovery, pages }: PageParts): Pages {
  const prefixes = [...pages.keys()].filter((path) => path.endsWith('/'));

  function pageOf(path: string): Page | undefined {
    const exact = pages.get(path);
    if (exact) return exact;
    if (/^\/apis?(?:\/|$)/.test(path)) return discovery.serve;
    const prefix = prefixes.find((each) => path.startsWith(each));
    return prefix === undefined ? undefined : pages.get(prefix);
  }

  const index: Page = async (exchange, _context, headers) => {
    const paths = [...pages.keys(), ...discovery.paths(), '/apis', '/apis/'].sort();
    await sendRawJson(exchange, headers, { paths: [...new Set(paths)] });
  };

  return {
    async serve(exchange, context, headers) {
      const { path } = context.info;
      const page = path === '/' || path === '/index.html' ? index : (pageOf(path) ?? pageOf(withoutSlash(path)));
      if (!page) throw noSuchPath();
      await page(exchange, context, headers);
    },
  };
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Serves `/version`. */
export const versionPage: Page = async (exchange, _context, headers) => {
  if (exchange.method !== 'GET') throw wrongMethod(['GET']);
  await sendRawJson(exchange, headers, serverVersion);
};

async function sendRawJson(exchange: Exchange, headers: Headers, value: unknown): Promise<void> {
  await exchange.send(200, { ...headers, 'content-type': 'application/json' }, JSON.stringify(value, null, 2));
}

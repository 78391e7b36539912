import type { RequestContext } from '../context.ts';
import { unknownPath, unsupportedMethod } from '../handlers/http-errors.ts';
import { serverVersion } from '../server-version.ts';
import type { Headers, HttpRequest } from './http-request.ts';

/** Handler of a non-resource endpoint. */
export type EndpointHandler = (httpRequest: HttpRequest, context: RequestContext, headers: Headers) => Promise<void>;

/** Non-resource endpoints of a server. */
export type NonResourceEndpoints = { readonly serve: EndpointHandler };

/** Dynamic set of non-resource endpoints. */
export type EndpointTree = {
  readonly serve: EndpointHandler;
  /** Returns the current paths, for the path index. */
  paths(): readonly string[];
};

export type EndpointOptions = {
  /** Endpoints below `/api` and `/apis`. */
  readonly discovery: EndpointTree;
  /** Endpoints by exact path; a path with a trailing slash also matches everything below it. */
  readonly endpoints: ReadonlyMap<string, EndpointHandler>;
};

/** Creates the non-resource endpoints, with routing by path. */
export function createNonResourceEndpoints({ discovery, endpoints }: EndpointOptions): NonResourceEndpoints {
  const prefixes = [...endpoints.keys()].filter((path) => path.endsWith('/'));

  function findHandler(path: string): EndpointHandler | undefined {
    const exact = endpoints.get(path);
    if (exact) return exact;
    if (/^\/apis?(?:\/|$)/.test(path)) return discovery.serve;
    const prefix = prefixes.find((each) => path.startsWith(each));
    return prefix === undefined ? undefined : endpoints.get(prefix);
  }

  const index: EndpointHandler = async (httpRequest, _context, headers) => {
    const paths = [...endpoints.keys(), ...discovery.paths(), '/apis', '/apis/'].sort();
    await sendRawJson(httpRequest, headers, { paths: [...new Set(paths)] });
  };

  return {
    async serve(httpRequest, context, headers) {
      const { path } = context.info;
      const handler =
        path === '/' || path === '/index.html' ? index : (findHandler(path) ?? findHandler(withoutSlash(path)));
      if (!handler) throw unknownPath();
      await handler(httpRequest, context, headers);
    },
  };
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Serves `/version`. */
export const versionEndpoint: EndpointHandler = async (httpRequest, _context, headers) => {
  if (httpRequest.method !== 'GET') throw unsupportedMethod(['GET']);
  await sendRawJson(httpRequest, headers, serverVersion);
};

async function sendRawJson(httpRequest: HttpRequest, headers: Headers, value: unknown): Promise<void> {
  await httpRequest.send(200, { ...headers, 'content-type': 'application/json' }, JSON.stringify(value, null, 2));
}

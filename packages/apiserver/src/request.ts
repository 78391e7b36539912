import { PlainRefusal } from './handlers/refusal.ts';

/** What a request is about, told from its method and path alone. */
export type RequestInfo = {
  readonly isResource: boolean;
  readonly path: string;
  /** `get`, `list`, `watch`, `create`, … for resources; the method in lower case otherwise. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly subresource: string;
  readonly name: string;
  /** What follows the subresource, as proxies need it. */
  readonly rest: readonly string[];
};

const verbs: { readonly [method: string]: string } = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Subresources that a namespace itself has; any other second segment below one names a resource inside it. */
const namespaceSubresources = new Set(['status', 'finalize']);

/** Reads a request's method, path and query. */
export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const nowhere = { isResource: false, path, verb: method.toLowerCase(), group: '', version: '', namespace: '' };
  const notAResource = { ...nowhere, plural: '', subresource: '', name: '', rest: [] };
  // An empty segment counts: nothing has an empty name.
  const segments = decodedPath(path)
    .replace(/^\/|\/$/g, '')
    .split('/');
  let at: number;
  let group = '';
  if (segments[0] === 'api' && segments.length >= 3) at = 1;
  else if (segments[0] === 'apis' && segments.length >= 4) {
    group = segments[1]!;
    at = 2;
  } else return notAResource;
  const version = segments[at++]!;

  let verb = verbs[method] ?? '';
  if (segments[at] === 'watch' && segments.length > at + 1) {
    verb = 'watch';
    at++;
  }
  let namespace = '';
  if (segments[at] === 'namespaces' && segments.length > at + 1) {
    namespace = segments[at + 1]!;
    const inside = segments[at + 2];
    if (inside !== undefined && !namespaceSubresources.has(inside)) at += 2;
  }
  const [plural = '', name = '', subresource = '', ...rest] = segments.slice(at);
  if (plural === 'namespaces' && group === '' && name !== '') namespace = name;

  const named = name !== '' ? name : nameInFieldSelector(query);
  if (name === '' && verb === 'get') verb = isWatch(query) ? 'watch' : 'list';
  if (name === '' && verb === 'delete') verb = 'deletecollection';
  const collection = verb === 'list' || verb === 'watch' || verb === 'deletecollection';
  return {
    isResource: true,
    path,
    verb,
    group,
    version,
    namespace,
    plural,
    subresource,
    name: collection ? named : name,
    rest,
  };
}

/** A slash that is written as `%2F` is a slash all the same: a name cannot have one. */
function decodedPath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw new PlainRefusal(400, '400 Bad Request');
  }
}

function isWatch(query: URLSearchParams): boolean {
  return isTrue(query.get('watch'));
}

/** A boolean of a query string: present without a value means yes, as `0` and `false` mean no. */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== '0' && text.toLowerCase() !== 'false';
}

/** `metadata.name=x` on a collection is a way to name one object, and counts as naming it. */
function nameInFieldSelector(query: URLSearchParams): string {
  const selector = query.get('fieldSelector');
  if (!selector) return '';
  for (const term of selector.split(',')) {
    const match = /^metadata\.name==?([^=!]+)$/.exec(term);
    if (match) return match[1]!;
  }
  return '';
}

import { type FieldSelector, parseFieldSelector, requiredField } from '@kruise/machinery/field-selector';
import { ParseError } from '@kruise/values/parse-error';
import { decodePath } from './url-path.ts';

/** Request attributes derived from the method and path alone. */
export type RequestInfo = {
  readonly isResource: boolean;
  /** Path, decoded once; an encoded slash (`%2F`) counts as a slash, because names contain none. */
  readonly path: string;
  /** Verb: `get`, `list`, `watch`, `create`, … for resources; the lower-case method otherwise. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly subresource: string;
  readonly name: string;
  /** Path segments after the subresource, for proxies. */
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

/** Subresources of namespaces; any other segment after a namespace is a resource in it. */
const namespaceSubresources = new Set(['status', 'finalize']);

/** Parses the method, raw path and query of a request. */
export function requestInfo(method: string, rawPath: string, query: URLSearchParams): RequestInfo {
  const path = decodePath(rawPath);
  const nonResource = { isResource: false, path, verb: method.toLowerCase(), group: '', version: '', namespace: '' };
  const notAResource = { ...nonResource, plural: '', subresource: '', name: '', rest: [] };
  // Empty segments count: no object has an empty name.
  const segments = path.replace(/^\/|\/$/g, '').split('/');
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

function isWatch(query: URLSearchParams): boolean {
  return isTrue(query.get('watch'));
}

/** Parses a boolean of a query string: a parameter without a value is true; `0` and `false` are false. */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== '0' && text.toLowerCase() !== 'false';
}

/**
 * Returns the name that `metadata.name=x` on a collection requires: authorization uses it as the name of the request.
 * The same parser selects the objects, so that authorization and selection agree on the object.
 */
function nameInFieldSelector(query: URLSearchParams): string {
  const text = query.get('fieldSelector');
  if (!text) return '';
  let selector: FieldSelector;
  try {
    selector = parseFieldSelector(text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    // The list handler rejects the selector, after the request has been authorized.
    return '';
  }
  const name = requiredField(selector, 'metadata.name') ?? '';
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}

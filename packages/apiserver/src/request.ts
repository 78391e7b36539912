import { type FieldSelector, parseFieldSelector, requiredField } from '@kruise/machinery/field-selector';
import { ParseError } from '@kruise/values/parse-error';
import { decodePath } from './url-path.ts';

/** What a request is about, told from its method and path alone. */
export type RequestInfo = {
  readonly isResource: boolean;
  /** The path, decoded once; a slash written as `%2F` is a slash, since no name has one. */
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

/** Reads a request's method, path as it was sent, and query. */
export function requestInfo(method: string, rawPath: string, query: URLSearchParams): RequestInfo {
  const path = decodePath(rawPath);
  const nowhere = { isResource: false, path, verb: method.toLowerCase(), group: '', version: '', namespace: '' };
  const notAResource = { ...nowhere, plural: '', subresource: '', name: '', rest: [] };
  // An empty segment counts: nothing has an empty name.
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

/** A boolean of a query string: present without a value means yes, as `0` and `false` mean no. */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== '0' && text.toLowerCase() !== 'false';
}

/**
 * Returns the name that `metadata.name=x` on a collection requires: authorization takes it for the name of the request.
 * The same parser selects the objects, or the two could disagree on which object is meant.
 */
function nameInFieldSelector(query: URLSearchParams): string {
  const text = query.get('fieldSelector');
  if (!text) return '';
  let selector: FieldSelector;
  try {
    selector = parseFieldSelector(text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    // The list refuses the selector itself, after the request has been authorized.
    return '';
  }
  const name = requiredField(selector, 'metadata.name') ?? '';
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}

/**
 * Request target of the kubelet API, parsed once. Authorization and dispatch receive the same segments, so that the
 * authorized path is the served path.
 */
import { KubeletError } from './view.ts';

/** Decoded path segments and query of a request. */
export type RequestTarget = { readonly segments: readonly string[]; readonly query: URLSearchParams };

/**
 * Parses a request target in origin form. Throws a `KubeletError` of code 400 for a path with dot segments, empty
 * segments, slashes or backslashes within a segment, raw or percent-encoded: different parsers read such paths
 * differently. One trailing slash is allowed, since `/logs/` and `/runningpods/` are served with it.
 */
export function parseRequestTarget(text: string): RequestTarget {
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  if (!path.startsWith('/')) throw invalidPath();
  const raw = path.slice(1).split('/');
  if (raw.at(-1) === '') raw.pop();
  return { segments: raw.map(decodeSegment), query: new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1)) };
}

function decodeSegment(raw: string): string {
  let segment: string;
  try {
    segment = decodeURIComponent(raw);
  } catch {
    throw invalidPath();
  }
  if (segment === '' || segment === '.' || segment === '..' || /[/\\\0]/.test(segment)) throw invalidPath();
  return segment;
}

function invalidPath(): KubeletError {
  return new KubeletError(400, 'invalid path');
}

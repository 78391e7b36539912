import { PlainTextError } from './handlers/http-errors.ts';

/**
 * Decodes the path of a request target. This is the only place that decodes: authorization, routing and backends all
 * use the result, so that none of them sees another path than the authorized one.
 */
export function decodePath(rawPath: string): string {
  if (!rawPath.includes('%')) return rawPath;
  try {
    return decodeURIComponent(rawPath);
  } catch {
    throw new PlainTextError(400, '400 Bad Request');
  }
}

/** Escapes a decoded path as Go writes it in a request line. */
export function escapePath(path: string): string {
  return encodeURI(path.toWellFormed()).replace(/[?#!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Splits a request target into its decoded path and its query. Dots and empty segments stay as they are. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  return mark < 0
    ? { path: decodePath(target), query: '' }
    : { path: decodePath(target.slice(0, mark)), query: target.slice(mark + 1) };
}

/** Reports whether a path has a segment that some URL parsers resolve: `.` or `..`. */
export function hasDotSegment(path: string): boolean {
  return path.split(/[/\\]/).some((segment) => segment === '.' || segment === '..');
}

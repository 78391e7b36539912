/** Paths inside a container or a volume. */
import { type Cause, invalid } from '@kruise/schema/field-error';

/** A path that leads nowhere but down from where it starts. */
export function* validateDescendingPath(path: string, field: string): Generator<Cause> {
  if (path.startsWith('/')) yield invalid(field, path, 'must be a relative path');
  yield* validateNoBacksteps(path, field);
}

export function* validateNoBacksteps(path: string, field: string): Generator<Cause> {
  if (hasBackstep(path)) yield invalid(field, path, "must not contain '..'");
}

export function hasBackstep(path: string): boolean {
  return path.includes('..') && path.split('/').includes('..');
}

/** A descending path that does not start as the names do which the kubelet keeps for itself. */
export function* validateFilePath(path: string, field: string): Generator<Cause> {
  yield* validateDescendingPath(path, field);
  if (path.startsWith('..') && !path.startsWith('../')) yield invalid(field, path, "must not start with '..'");
}

/** The permissions of a file. */
export function* validateMode(mode: number | undefined, field: string): Generator<Cause> {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) {
    yield invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive');
  }
}

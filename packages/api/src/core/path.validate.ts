/** Why a path inside a container or a volume is refused, in Kubernetes' words; nothing if it is not. */
import type { Faults } from '@kruise/values/names';

const none: Faults = [];

/** A path that leads nowhere but down from where it starts. */
export function validateDescendingPath(path: string): Faults {
  if (!path.startsWith('/')) return validateNoBacksteps(path);
  return ['must be a relative path', ...validateNoBacksteps(path)];
}

export function validateNoBacksteps(path: string): Faults {
  return hasBackstep(path) ? ["must not contain '..'"] : none;
}

export function hasBackstep(path: string): boolean {
  return path.includes('..') && path.split('/').includes('..');
}

/** A descending path that does not start as the names do which the kubelet keeps for itself. */
export function validateFilePath(path: string): Faults {
  const faults = validateDescendingPath(path);
  return path.startsWith('..') && !path.startsWith('../') ? [...faults, "must not start with '..'"] : faults;
}

/** The permissions of a file. */
export function validateMode(mode: number | undefined): Faults {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return none;
  return ['must be a number between 0 and 0777 (octal), both inclusive'];
}

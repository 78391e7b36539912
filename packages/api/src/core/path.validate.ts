/** Validation of paths inside a container or a volume, with the messages of Kubernetes. */
import type { Faults } from '@kruise/values/names';

const none: Faults = [];

/** Validates a relative path without `..`. */
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

/** Validates a relative path whose name does not start with `..`, which the kubelet reserves. */
export function validateFilePath(path: string): Faults {
  const faults = validateDescendingPath(path);
  return path.startsWith('..') && !path.startsWith('../') ? [...faults, "must not start with '..'"] : faults;
}

/** Validates file permissions. */
export function validateMode(mode: number | undefined): Faults {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return none;
  return ['must be a number between 0 and 0777 (octal), both inclusive'];
}

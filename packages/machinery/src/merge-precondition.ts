import { formatValue } from '@kruise/values/go-syntax';
import { isObject, type JsonObject, own } from './json-value.ts';

/** What must hold of a patch before it is sent: `kubectl apply` changes no object's name or kind. */
export type Precondition = (patch: JsonObject) => boolean;

/** The patch does not touch this field of the object. */
export function requireKeyUnchanged(name: string): Precondition {
  return (patch) => !Object.hasOwn(patch, name);
}

/** The patch does not touch this field of the object's metadata. */
export function requireMetadataKeyUnchanged(name: string): Precondition {
  return (patch) => {
    const metadata = own(patch, 'metadata');
    return !isObject(metadata) || !Object.hasOwn(metadata, name);
  };
}

/** A patch would do what a precondition forbids. */
export class PreconditionError extends Error {
  override readonly name = 'PreconditionError';

  constructor(patch: JsonObject) {
    super(`precondition failed for: ${formatValue(patch)}`);
  }
}

/** What a patch sets was changed otherwise in the meantime. */
export class MergeConflictError extends Error {
  override readonly name = 'MergeConflictError';
  readonly patch: JsonObject;
  readonly changes: JsonObject;

  constructor(patch: JsonObject, changes: JsonObject) {
    const [ours, theirs] = [JSON.stringify(patch), JSON.stringify(changes)];
    super(`patch:\n${ours}\nconflicts with changes made from original to current:\n${theirs}\n`);
    this.patch = patch;
    this.changes = changes;
  }
}

/** Throws a `PreconditionError` unless a patch meets all preconditions. */
export function requirePreconditions(patch: JsonObject, preconditions: readonly Precondition[]): void {
  if (!preconditions.every((holds) => holds(patch))) throw new PreconditionError(patch);
}

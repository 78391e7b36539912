import { formatValue } from '@kruise/values/go-syntax';
import { isObject, type JsonObject, own } from './json-value.ts';

/** Precondition of a patch: `kubectl apply` does not change the name or kind of an object. */
export type Precondition = (patch: JsonObject) => boolean;

/** Requires that a patch does not change a field of the object. */
export function requireKeyUnchanged(name: string): Precondition {
  return (patch) => !Object.hasOwn(patch, name);
}

/** Requires that a patch does not change a metadata field. */
export function requireMetadataKeyUnchanged(name: string): Precondition {
  return (patch) => {
    const metadata = own(patch, 'metadata');
    return !isObject(metadata) || !Object.hasOwn(metadata, name);
  };
}

/** A patch violates a precondition. */
export class PreconditionError extends Error {
  override readonly name = 'PreconditionError';

  constructor(patch: JsonObject) {
    super(`precondition failed for: ${formatValue(patch)}`);
  }
}

/** A field of the patch was changed to another value meanwhile. */
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

import { compareStrings, quote } from '@kruise/values/go-syntax';
import { type FieldPath, printFieldPath } from '../field-set/field-path.ts';
import { pathsOf } from '../field-set/field-set.ts';
import type { Manager } from './managers.ts';
import type { OwnedByOthers } from './updater.ts';

/** A field that an apply sets, and that another manager owns with a different value. */
export type Conflict = { readonly manager: Manager; readonly path: FieldPath };

/** Returns the conflicts field by field, grouped by manager. */
export function conflictsOf(ownedByOthers: OwnedByOthers): readonly Conflict[] {
  return ownedByOthers
    .toSorted((a, b) => compareStrings(a.identity, b.identity))
    .flatMap(({ manager, fields }) => Array.from(pathsOf(fields), (path) => ({ manager, path })));
}

/** Message and causes of conflicts for a Status. */
export type ConflictReport = {
  readonly message: string;
  readonly causes: readonly {
    readonly reason: 'FieldManagerConflict';
    readonly message: string;
    readonly field: string;
  }[];
};

/**
 * Formats conflicts as the API does: `Apply failed with 1 conflict: conflict with "x" using v1: .spec.replicas`.
 *
 * ```ts
 * const { message } = reportConflicts(conflicts);
 * ```
 */
export function reportConflicts(conflicts: readonly Conflict[]): ConflictReport {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict' as const,
    message: `conflict with ${printManager(manager)}`,
    field: printFieldPath(path),
  }));
  const [only] = causes;
  if (causes.length === 1 && only) {
    return { message: `Apply failed with 1 conflict: ${only.message}: ${only.field}`, causes };
  }
  const lines: string[] = [];
  for (const [index, { manager, path }] of conflicts.entries()) {
    if (conflicts[index - 1]?.manager !== manager) lines.push(`conflicts with ${printManager(manager)}:`);
    lines.push(`- ${printFieldPath(path)}`);
  }
  return { message: `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`, causes };
}

function printManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = subresource === '' ? quote(manager) : `${quote(manager)} with subresource ${quote(subresource)}`;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}

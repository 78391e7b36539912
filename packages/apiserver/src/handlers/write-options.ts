import { validateFieldManager } from '@kruise/api/meta/object-meta.validate';
import { invalid as invalidStatus } from '@kruise/machinery/status';
import { type Cause, forbidden, notSupported, required } from '@kruise/schema/field-error';
import { isTrue } from '../request-info.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Options of a create, update or patch. */
export type WriteOptions = {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Server-side apply: takes over fields from other managers. */
  readonly force: boolean | undefined;
};

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

export function writeOptions(query: URLSearchParams, kind: OptionsKind, patchType = ''): WriteOptions {
  const causes = [...faults(query, kind, patchType)];
  if (causes.length > 0) throw invalidStatus({ group: 'meta.k8s.io', kind }, '', causes);
  const force = query.get('force');
  return {
    dryRun: query.getAll('dryRun').length > 0,
    fieldManager: query.get('fieldManager') ?? '',
    fieldValidation: (query.get('fieldValidation') || 'Warn') as FieldValidation,
    force: force === null ? undefined : isTrue(force),
  };
}

const applyPatch = 'application/apply-patch+yaml';

function* faults(query: URLSearchParams, kind: OptionsKind, patchType: string): Generator<Cause> {
  const manager = query.get('fieldManager') ?? '';
  if (kind === 'PatchOptions') {
    if (patchType === applyPatch) {
      if (manager === '') yield required('fieldManager', 'is required for apply patch');
    } else if (query.get('force') !== null) {
      yield forbidden('force', 'may not be specified for non-apply patch');
    }
  }
  yield* validateFieldManager(manager, 'fieldManager');
  yield* dryRunFaults(query.getAll('dryRun'));
  const validation = query.get('fieldValidation') ?? '';
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(validation)) {
    yield notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']);
  }
}

/** Validates dryRun: the only supported value is All. */
export function* dryRunFaults(values: readonly string[]): Generator<Cause> {
  const wrong = values.filter((value) => value !== 'All');
  if (wrong.length > 0) yield notSupported('dryRun', values, ['All']);
}

import type { Draft } from '@kruise/schema/draft';
import { type Cause, invalid } from '@kruise/schema/field-error';
import { validateQualifiedName } from '@kruise/values/names';
import { labelName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { refusals } from '../meta/value.validate.ts';
import type { Namespace } from './namespace.ts';

const contentFinalizer = 'kubernetes';
const standardFinalizers = [contentFinalizer, 'orphan', 'foregroundDeletion'];

/** A new namespace is active, and has a finalizer until its content is deleted. */
export function prepareNamespaceForCreate(namespace: Draft<Namespace>): void {
  namespace.status = { phase: 'Active' };
  const spec = (namespace.spec ??= {});
  const finalizers = spec.finalizers ?? [];
  if (!finalizers.includes(contentFinalizer)) spec.finalizers = [...finalizers, contentFinalizer];
}

export function prepareNamespaceForUpdate(namespace: Draft<Namespace>, { spec }: Namespace): void {
  if (spec?.finalizers) (namespace.spec ??= {}).finalizers = [...spec.finalizers];
  else delete namespace.spec?.finalizers;
}

export function* validateNamespace({ metadata, spec = {} }: Namespace): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: false, name: labelName });
  for (const finalizer of spec.finalizers ?? []) yield* validateFinalizer(finalizer, 'spec.finalizers');
}

function* validateFinalizer(finalizer: string, path: string): Generator<Cause> {
  yield* refusals(path, finalizer, validateQualifiedName(finalizer));
  if (finalizer.includes('/') || standardFinalizers.includes(finalizer)) return;
  yield invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified');
}

export function* validateNamespaceUpdate(namespace: Namespace, old: Namespace): Generator<Cause> {
  yield* validateNamespace(namespace);
  yield* validateKindMetaUpdate(namespace.metadata, old.metadata);
}

export function* validateNamespaceStatusUpdate({ metadata, status }: Namespace, old: Namespace): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  const expected = metadata.deletionTimestamp ? 'Terminating' : 'Active';
  if (status?.phase === expected) return;
  const when = metadata.deletionTimestamp ? 'is not empty' : 'is empty';
  yield invalid('status.Phase', status?.phase ?? '', `may only be '${expected}' if \`deletionTimestamp\` ${when}`);
}

/** Validates an update of the `finalize` subresource, which removes finalizers after the content was deleted. */
export function* validateNamespaceFinalizeUpdate({ metadata, spec }: Namespace, old: Namespace): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  for (const [index, finalizer] of (spec?.finalizers ?? []).entries()) {
    yield* validateFinalizer(finalizer, `spec.finalizers[${index}]`);
  }
}

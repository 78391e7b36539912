import { type Cause, required } from '@kruise/schema/field-error';
import { invalidStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, nonNegative } from '../meta/value.validate.ts';
import type { ControllerRevision } from './controllerrevision.ts';

export function* validateControllerRevision(revision: ControllerRevision): Generator<Cause> {
  yield* validateCommon(revision);
  const { data } = revision;
  if (data === undefined || data === null) yield required('data', 'data is mandatory');
  else if (typeof data !== 'object' || Array.isArray(data)) yield required('data', 'data must be a valid JSON object');
}

export function* validateControllerRevisionUpdate(
  revision: ControllerRevision,
  old: ControllerRevision,
): Generator<Cause> {
  yield* validateKindMetaUpdate(revision.metadata, old.metadata);
  yield* validateCommon(revision);
  if (!isSame(revision.data, old.data)) {
    yield invalidStructure('data', 'runtime.RawExtension', revision.data ?? {}, isImmutable);
  }
}

function* validateCommon({ metadata, revision }: ControllerRevision): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  yield* nonNegative('revision', revision);
}

import { subdomainName } from '@kruise/api/meta/name-rules';
import { validateObjectMeta, validateObjectMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import { fieldPath } from '@kruise/machinery/field-set/field-path';
import { fieldSetOf } from '@kruise/machinery/field-set/field-set';
import { isSame } from '@kruise/machinery/json-value';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import { quote } from '@kruise/values/go-syntax';
import { validateQualifiedName } from '@kruise/values/names';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { copyField } from '../resources/rules.ts';
import { validateScaleSpec, validateScaleStatus } from './scale.ts';
import type { CustomVersion } from './version.ts';

const statusFields = fieldSetOf(fieldPath('status'));
const specFields = fieldSetOf(fieldPath('spec'));

const common = {
  createOnUpdate: false,
  unconditionalUpdate: false,
  propagation: 'Background',
  returnsDeleted: false,
} as const;

/** Creates the write strategy of a version. With a status subresource, writes to the object ignore the status. */
export function customStrategy(version: CustomVersion, namespaced: boolean): Strategy {
  const { subresources } = version.facts;
  const hasStatus = subresources?.status !== undefined;
  return {
    ...common,
    ...(hasStatus ? { resetFields: statusFields } : {}),
    prepareForCreate(draft) {
      if (hasStatus) delete draft['status'];
      draft.metadata.generation = 1;
    },
    prepareForUpdate(draft, old) {
      if (hasStatus) copyField(draft, old, 'status');
      if (!isSame(withoutMetadata(draft), withoutMetadata(old))) {
        draft.metadata.generation = (old.metadata.generation ?? 0) + 1;
      }
    },
    *validate(object) {
      const earlier = [...validateObjectMeta(object.metadata, { namespaced, name: subdomainName })];
      yield* earlier;
      yield* version.structural.validate(object, earlier);
      yield* validateScale(version, object);
    },
    *validateUpdate(object, old, context) {
      const earlier = [...validateObjectMetaUpdate(object.metadata, old.metadata)];
      yield* earlier;
      yield* ratcheted(context, (warnings) => version.structural.validateUpdate(object, old, warnings, earlier));
      yield* validateScale(version, object);
    },
    warnings: finalizerWarnings,
  };
}

/** Creates the write strategy of the status subresource: all other fields are ignored. */
export function customStatusStrategy(version: CustomVersion): Strategy {
  const scale = version.facts.subresources?.scale;
  return {
    ...common,
    resetFields: specFields,
    prepareForCreate() {},
    prepareForUpdate(draft, old) {
      for (const field of new Set([...Object.keys(draft), ...Object.keys(old)])) {
        if (field !== 'status' && field !== 'metadata') copyField(draft, old, field);
      }
      const { managedFields } = draft.metadata;
      // Parts of the old object are shared and never mutated; only the draft's own root and metadata change.
      draft.metadata = { ...old.metadata, managedFields } as Draft<KubeObject['metadata']>;
      if (managedFields === undefined) delete draft.metadata.managedFields;
    },
    validate: () => [],
    *validateUpdate(object, old, context) {
      yield* validateObjectMetaUpdate(object.metadata, old.metadata);
      yield* ratcheted(context, (warnings) => version.structural.validateStatusUpdate(object, old, warnings));
      if (scale) yield* validateScaleStatus(object, scale);
    },
  };
}

function* validateScale({ facts }: CustomVersion, object: KubeObject): Generator<Cause> {
  const scale = facts.subresources?.scale;
  if (!scale) return;
  yield* validateScaleSpec(object, scale);
  yield* validateScaleStatus(object, scale);
}

/** Ratcheting validation: violations that existed before the update become warnings. */
function ratcheted(context: RequestContext, validate: (warnings: string[]) => readonly Cause[]): readonly Cause[] {
  const warnings: string[] = [];
  const causes = validate(warnings);
  for (const warning of warnings) context.warnings.add(warning);
  return causes;
}

function withoutMetadata(object: object): object {
  const { metadata: _, ...rest } = object as { readonly metadata?: unknown };
  return rest;
}

const standardFinalizers = ['orphan', 'foregroundDeletion', 'kubernetes'];

/** Warns about finalizers without a domain; custom resources allow finalizers with any name. */
function* finalizerWarnings(object: KubeObject, old: KubeObject | undefined): Generator<string> {
  const before = new Set(old?.metadata.finalizers);
  for (const finalizer of [...new Set(object.metadata.finalizers)].filter((each) => !before.has(each)).sort()) {
    const about = `metadata.finalizers: ${quote(finalizer)}`;
    for (const fault of validateQualifiedName(finalizer)) yield `${about}: ${fault}`;
    if (finalizer.includes('/') || standardFinalizers.includes(finalizer)) continue;
    const path = finalizer.includes('.') ? ' including a path (/)' : '';
    yield `${about}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
  }
}

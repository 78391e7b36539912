import assert from 'node:assert/strict';
import { parseFieldSelector } from '@kruise/machinery/field-selector';
import { parseSelector } from '@kruise/machinery/label-selector';
import { badRequest } from '@kruise/machinery/status';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** Label and field selection of a resource's objects. */
export type Selection = {
  readonly selectsAll: boolean;
  /** Reports whether a stored object matches. */
  readonly matches: (object: KubeObject) => boolean;
  /** The object must be converted before `matches` is called, because its version may require a webhook. */
  readonly needsConversion: boolean;
};

const everything: Selection = { selectsAll: true, matches: () => true, needsConversion: false };

/** Returns the selection of a request. */
export function selectionOf(
  resource: Resource,
  { labelSelector, fieldSelector }: { readonly labelSelector: string; readonly fieldSelector: string },
): Selection {
  if (labelSelector === '' && fieldSelector === '') return everything;
  const labels = labelSelector === '' ? undefined : labelPredicate(labelSelector);
  const fields = fieldSelector === '' ? undefined : fieldPredicate(resource, fieldSelector);
  if (!labels && !fields) return everything;
  return {
    selectsAll: false,
    matches: (object) => (labels?.(object) ?? true) && (fields?.matches(object) ?? true),
    needsConversion: fields?.needsConversion ?? false,
  };
}

function labelPredicate(text: string): ((object: KubeObject) => boolean) | undefined {
  const selector = asBadRequest(() => parseSelector(text));
  if (selector.requirements.length === 0) return undefined;
  return (object) => selector.matches(object.metadata.labels);
}

function fieldPredicate(resource: Resource, text: string): Omit<Selection, 'selectsAll'> | undefined {
  const terms = asBadRequest(() => parseFieldSelector(text)).terms.map(({ field, operator, value }) => ({
    field,
    read: readerOf(resource, field),
    wanted: operator !== '!=',
    value,
  }));
  if (terms.length === 0) return undefined;
  const { conversion } = resource;
  // Metadata is equal in every version.
  const needsConversion =
    conversion.prepare !== undefined && terms.some(({ field }) => !/^metadata\.name(space)?$/.test(field));
  return {
    needsConversion,
    matches(stored) {
      const converted = conversion.fromStorage(stored);
      assert(!needsConversion || !(converted instanceof Promise), 'objects are converted before they are matched');
      const object = converted instanceof Promise ? stored : converted;
      return terms.every(({ read, wanted, value }) => (read(object) === value) === wanted);
    },
  };
}

function readerOf({ selectableFields }: Resource, field: string): (object: KubeObject) => string {
  if (field === 'metadata.name') return ({ metadata }) => metadata.name ?? '';
  if (field === 'metadata.namespace' && selectableFields.namespaced) return ({ metadata }) => metadata.namespace ?? '';
  const read = Object.hasOwn(selectableFields.fields, field) ? selectableFields.fields[field] : undefined;
  if (!read) throw badRequest(selectableFields.unsupported(field));
  return read;
}

function asBadRequest<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}

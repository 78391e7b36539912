import { parseFieldSelector } from '@kruise/machinery/field-selector';
import { parseSelector } from '@kruise/machinery/label-selector';
import { badRequest } from '@kruise/machinery/status';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** Which objects of a resource are meant. */
export type Selection = {
  readonly selectsAll: boolean;
  readonly matches: (object: KubeObject) => boolean;
};

const everything: Selection = { selectsAll: true, matches: () => true };

/** What the selectors of a request select. */
export function selectionOf(
  resource: Resource,
  { labelSelector, fieldSelector }: { readonly labelSelector: string; readonly fieldSelector: string },
): Selection {
  if (labelSelector === '' && fieldSelector === '') return everything;
  const labels = labelSelector === '' ? undefined : labelPredicate(labelSelector);
  const fields = fieldSelector === '' ? undefined : fieldPredicate(resource, fieldSelector);
  if (!labels && !fields) return everything;
  return { selectsAll: false, matches: (object) => (labels?.(object) ?? true) && (fields?.(object) ?? true) };
}

function labelPredicate(text: string): ((object: KubeObject) => boolean) | undefined {
  const selector = asBadRequest(() => parseSelector(text));
  if (selector.requirements.length === 0) return undefined;
  return (object) => selector.matches(object.metadata.labels);
}

function fieldPredicate(resource: Resource, text: string): ((object: KubeObject) => boolean) | undefined {
  const terms = asBadRequest(() => parseFieldSelector(text)).terms.map(({ field, operator, value }) => ({
    read: readerOf(resource, field),
    wanted: operator !== '!=',
    value,
  }));
  if (terms.length === 0) return undefined;
  const { conversion } = resource;
  return (stored) => {
    // A version that only a webhook can make is not waited for: its fields are looked for where the stored object has
    // them.
    const converted = conversion.fromStorage(stored);
    const object = converted instanceof Promise ? stored : converted;
    return terms.every(({ read, wanted, value }) => (read(object) === value) === wanted);
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

import { isSame } from '@kruise/machinery/json-value';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import type { Kind } from '@kruise/schema/kind';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Strategy } from '../resource.ts';

/**
 * What is particular about a built-in kind. Everything left out is as with most kinds: a status is the server's
 * business, the generation counts changes of the spec, a name is taken once.
 */
export type Rules = {
  readonly createOnUpdate?: boolean;
  readonly unconditionalUpdate?: boolean;
  readonly propagation?: Strategy['propagation'];
  readonly returnsDeleted?: boolean;
  readonly ttlSeconds?: number;
  /** `none`: objects have no generation. `spec`: it counts changes outside metadata and status. */
  readonly generation?: 'none' | 'spec' | ((object: KubeObject, old: KubeObject) => boolean);
  /** Who creates an object may say what its status is. */
  readonly keepsStatusOnCreate?: boolean;
  readonly resetFields?: Strategy['resetFields'];
  readonly statusResetFields?: Strategy['resetFields'];
  default?(draft: Draft<KubeObject>): void;
  prepareForCreate?(draft: Draft<KubeObject>, context: RequestContext): void;
  prepareForUpdate?(draft: Draft<KubeObject>, old: KubeObject, context: RequestContext): void;
  validate?(object: KubeObject, context: RequestContext): Iterable<Cause>;
  validateUpdate?(object: KubeObject, old: KubeObject, context: RequestContext): Iterable<Cause>;
  prepareForStatusUpdate?(draft: Draft<KubeObject>, old: KubeObject, context: RequestContext): void;
  validateStatusUpdate?(object: KubeObject, old: KubeObject, context: RequestContext): Iterable<Cause>;
  warnings?(object: KubeObject, old: KubeObject | undefined): Iterable<string>;
  gracePeriodSeconds?: Strategy['gracePeriodSeconds'];
  planDeletion?: Strategy['planDeletion'];
  reserve?: Strategy['reserve'];
  released?: Strategy['released'];
};

const nothing: readonly never[] = [];

/** How objects of a kind are written. */
export function strategyOf(kind: Kind, rules: Rules): Strategy {
  const hasStatus = kind.subresources.includes('status');
  const generation = rules.generation ?? (hasStatus ? 'spec' : 'none');
  const optional = <K extends keyof Rules>(...names: readonly K[]) =>
    Object.fromEntries(names.flatMap((name) => (rules[name] === undefined ? [] : [[name, rules[name]]])));
  return {
    createOnUpdate: rules.createOnUpdate ?? false,
    unconditionalUpdate: rules.unconditionalUpdate ?? true,
    propagation: rules.propagation ?? 'Background',
    returnsDeleted: rules.returnsDeleted ?? false,
    ...optional('ttlSeconds', 'resetFields', 'warnings', 'gracePeriodSeconds', 'planDeletion', 'reserve', 'released'),
    prepareForCreate(draft, context) {
      if (hasStatus && !rules.keepsStatusOnCreate) delete draft.status;
      if (generation !== 'none') draft.metadata.generation = 1;
      rules.prepareForCreate?.(draft, context);
    },
    prepareForUpdate(draft, old, context) {
      if (hasStatus) copyField(draft, old, 'status');
      rules.prepareForUpdate?.(draft, old, context);
      if (generation === 'none') return;
      const changed = generation === 'spec' ? differs(draft as KubeObject, old) : generation(draft as KubeObject, old);
      if (changed) draft.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validate: (object, context) => rules.validate?.(object, context) ?? nothing,
    validateUpdate: (object, old, context) => rules.validateUpdate?.(object, old, context) ?? nothing,
  };
}

/** How the status of a kind is written: everything else stays as it is, but for labels and annotations. */
export function statusStrategyOf(_kind: Kind, rules: Rules): Strategy {
  return {
    createOnUpdate: false,
    unconditionalUpdate: rules.unconditionalUpdate ?? true,
    propagation: 'Background',
    returnsDeleted: false,
    ...(rules.statusResetFields === undefined ? {} : { resetFields: rules.statusResetFields }),
    prepareForCreate() {},
    prepareForUpdate(draft, old, context) {
      for (const field of new Set([...Object.keys(draft), ...Object.keys(old)])) {
        if (field !== 'status' && field !== 'metadata') copyField(draft, old, field);
      }
      rules.prepareForStatusUpdate?.(draft, old, context);
    },
    validate: () => nothing,
    validateUpdate: (object, old, context) => rules.validateStatusUpdate?.(object, old, context) ?? nothing,
  };
}

/** Gives a draft a field of another object, or takes it away where that has none. */
export function copyField(draft: Draft<KubeObject>, from: KubeObject, field: string): void {
  if (from[field] === undefined) delete draft[field];
  else draft[field] = from[field];
}

/** Whether two objects differ in anything but metadata and status. */
export function differs(object: KubeObject, old: KubeObject): boolean {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (field === 'metadata' || field === 'status' || field === 'kind' || field === 'apiVersion') continue;
    if (!isSame(object[field], old[field])) return true;
  }
  return false;
}

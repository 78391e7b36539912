import { fieldPath } from '@kruise/machinery/field-set/field-path';
import { fieldSetOf } from '@kruise/machinery/field-set/field-set';
import { isSame } from '@kruise/machinery/json-value';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import type { Kind } from '@kruise/schema/kind';
import type { RequestContext } from '../context.ts';
import type { DeleteOptions, DeletionPlan } from '../handlers/deletion.ts';
import type { KubeObject } from '../object.ts';
import type { Resource, Strategy } from '../resource.ts';

/**
 * What is particular about a built-in kind. Everything left out is as with most kinds: a status is the server's
 * business, the generation counts changes of the spec, a name is taken once.
 */
export type Rules<T extends object = KubeObject> = {
  readonly createOnUpdate?: boolean;
  readonly unconditionalUpdate?: boolean;
  readonly propagation?: Strategy['propagation'];
  readonly returnsDeleted?: boolean;
  readonly ttlSeconds?: number;
  /** Each answer carries it in a Warning header. */
  readonly deprecation?: string;
  readonly namesAsAsked?: boolean;
  readonly fieldAnnotations?: Resource['fieldAnnotations'];
  /**
   * `none`: objects have no generation. `spec`: it counts changes outside metadata and status. A function says whether
   * what was sent counts, whatever of it is dropped then.
   */
  readonly generation?: 'none' | 'spec' | ((object: T, old: T) => boolean);
  /** Who creates an object may say what its status is. */
  readonly keepsStatusOnCreate?: boolean;
  /** Who writes the status writes no metadata either. */
  readonly statusKeepsMetadata?: boolean;
  /** The fields that who writes the object does not write; its status, where it has one, unless others are named. */
  readonly resetFields?: Strategy['resetFields'];
  readonly statusResetFields?: Strategy['resetFields'];
  default?(draft: Draft<T>): void;
  /** What one part of an object lacks follows from another: there is no filling in a part by itself. */
  readonly defaultsWhole?: boolean;
  prepareForCreate?(draft: Draft<T>, context: RequestContext): void;
  completeCreate?(draft: Draft<T>, context: RequestContext): void;
  prepareForUpdate?(draft: Draft<T>, old: T, context: RequestContext): void;
  /** A change is asked as well what a new object is; some faults are then told twice, as clients know them. */
  readonly validatesWholeOnUpdate?: boolean;
  validate?(object: T, context: RequestContext): Iterable<Cause>;
  validateUpdate?(object: T, old: T, context: RequestContext): Iterable<Cause>;
  prepareForStatusUpdate?(draft: Draft<T>, old: T, context: RequestContext): void;
  validateStatusUpdate?(object: T, old: T, context: RequestContext): Iterable<Cause>;
  warnings?(object: T, old: T | undefined): Iterable<string>;
  statusWarnings?(object: T): Iterable<string>;
  /** Ways to write a part of an object other than its status. */
  readonly parts?: { readonly [subresource: string]: PartRules<T> };
  gracePeriodSeconds?(object: T, asked: number | undefined): number;
  checkPreconditions?: Strategy['checkPreconditions'];
  deletionWarnings?: Strategy['deletionWarnings'];
  planDeletion?(object: T, options: DeleteOptions, context: RequestContext): DeletionPlan | undefined;
};

/** The rules of some kinds, by their resources: `deployments.apps`. */
export type RulesByResource = { readonly [resource: string]: Rules };

/** How a part of an object is written. */
export type PartRules<T extends object = KubeObject> = {
  readonly verbs: readonly string[];
  readonly resetFields?: Strategy['resetFields'];
  prepareForUpdate(draft: Draft<T>, old: T, context: RequestContext): void;
  validateUpdate(object: T, old: T, context: RequestContext): Iterable<Cause>;
  warnings?(object: T, old: T | undefined): Iterable<string>;
};

/** The rules of a kind, which know the type of its objects, where all kinds are treated alike. */
export function rulesFor<T extends object>(rules: Rules<T>): Rules {
  // Only objects of that kind, decoded by its own schema, ever come here.
  return rules as unknown as Rules;
}

const statusFields = fieldSetOf(fieldPath('status'));
const specFields = fieldSetOf(fieldPath('spec'));
const metadataAndSpecFields = fieldSetOf(fieldPath('metadata'), fieldPath('spec'));

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
    ...(hasStatus ? { resetFields: rules.resetFields ?? statusFields } : {}),
    ...optional(
      'ttlSeconds',
      'namesAsAsked',
      'completeCreate',
      'warnings',
      'gracePeriodSeconds',
      'checkPreconditions',
      'deletionWarnings',
      'planDeletion',
    ),
    prepareForCreate(draft, context) {
      if (hasStatus && !rules.keepsStatusOnCreate) delete draft.status;
      if (generation !== 'none') draft.metadata.generation = 1;
      rules.prepareForCreate?.(draft, context);
    },
    prepareForUpdate(draft, old, context) {
      if (hasStatus) copyField(draft, old, 'status');
      const changedAsSent = typeof generation === 'function' && generation(draft as KubeObject, old);
      rules.prepareForUpdate?.(draft, old, context);
      if (changedAsSent || (generation === 'spec' && differs(draft as KubeObject, old)))
        draft.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validate: (object, context) => rules.validate?.(object, context) ?? nothing,
    *validateUpdate(object, old, context) {
      if (rules.validatesWholeOnUpdate) yield* rules.validate?.(object, context) ?? nothing;
      yield* rules.validateUpdate?.(object, old, context) ?? nothing;
    },
  };
}

/** How the status of a kind is written: everything else stays as it is, but for labels and annotations. */
export function statusStrategyOf(rules: Rules): Strategy {
  const usualReset = rules.statusKeepsMetadata ? metadataAndSpecFields : specFields;
  return partStrategy(rules, {
    verbs: [],
    resetFields: rules.statusResetFields ?? usualReset,
    prepareForUpdate(draft, old, context) {
      for (const field of new Set([...Object.keys(draft), ...Object.keys(old)])) {
        if (field !== 'status' && field !== 'metadata') copyField(draft, old, field);
      }
      if (rules.statusKeepsMetadata) keepMetadata(draft, old);
      rules.prepareForStatusUpdate?.(draft, old, context);
    },
    validateUpdate: (object, old, context) => rules.validateStatusUpdate?.(object, old, context) ?? nothing,
    ...(rules.statusWarnings ? { warnings: rules.statusWarnings } : {}),
  });
}

/** How a part of an object is written, by rules of its own. */
export function partStrategy(rules: Rules, part: PartRules): Strategy {
  return {
    createOnUpdate: false,
    unconditionalUpdate: rules.unconditionalUpdate ?? true,
    propagation: 'Background',
    returnsDeleted: false,
    ...(part.resetFields === undefined ? {} : { resetFields: part.resetFields }),
    prepareForCreate() {},
    prepareForUpdate: (draft, old, context) => part.prepareForUpdate(draft, old, context),
    validate: () => nothing,
    validateUpdate: (object, old, context) => part.validateUpdate(object, old, context),
    ...(part.warnings ? { warnings: part.warnings } : {}),
  };
}

function keepMetadata(draft: Draft<KubeObject>, { metadata }: KubeObject): void {
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
    // The types of the fields differ, the assignment is the same for each.
    if (metadata[field] === undefined) delete draft.metadata[field];
    else (draft.metadata as { [name: string]: unknown })[field] = metadata[field];
  }
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

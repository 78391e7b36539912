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
 * Special rules of a built-in kind. The defaults fit most kinds: the status is reset on writes to the object, the
 * generation counts spec changes, and creates fail if the name exists.
 */
export type Rules<T extends object = KubeObject> = {
  readonly createOnUpdate?: boolean;
  readonly unconditionalUpdate?: boolean;
  readonly propagation?: Strategy['propagation'];
  readonly returnsDeleted?: boolean;
  readonly ttlSeconds?: number;
  /** Deprecation warning for every response. */
  readonly deprecation?: string;
  readonly namesAsAsked?: boolean;
  readonly fieldAnnotations?: Resource['fieldAnnotations'];
  /**
   * Generation counting. `none`: objects have no generation. `spec`: counts changes outside metadata and status. A
   * function decides on the sent object, before fields are reset.
   */
  readonly generation?: 'none' | 'spec' | ((object: T, old: T) => boolean);
  /** A create may set the status. */
  readonly keepsStatusOnCreate?: boolean;
  /** A status update does not change metadata. */
  readonly statusKeepsMetadata?: boolean;
  /** Fields that a write to the object resets; defaults to the status if the kind has one. */
  readonly resetFields?: Strategy['resetFields'];
  readonly statusResetFields?: Strategy['resetFields'];
  default?(draft: Draft<T>): void;
  /** Defaults of one part depend on another part, so parts cannot be defaulted separately. */
  readonly defaultsWhole?: boolean;
  prepareForCreate?(draft: Draft<T>, context: RequestContext): void;
  completeCreate?(draft: Draft<T>, context: RequestContext): void;
  prepareForUpdate?(draft: Draft<T>, old: T, context: RequestContext): void;
  /** Updates run the create validation as well; some errors are then repeated, as in Kubernetes. */
  readonly validatesWholeOnUpdate?: boolean;
  validate?(object: T, context: RequestContext): Iterable<Cause>;
  validateUpdate?(object: T, old: T, context: RequestContext): Iterable<Cause>;
  prepareForStatusUpdate?(draft: Draft<T>, old: T, context: RequestContext): void;
  validateStatusUpdate?(object: T, old: T, context: RequestContext): Iterable<Cause>;
  warnings?(object: T, old: T | undefined): Iterable<string>;
  statusWarnings?(object: T): Iterable<string>;
  /** Subresources other than status that write a part of the object. */
  readonly parts?: { readonly [subresource: string]: PartRules<T> };
  gracePeriodSeconds?(object: T, requested: number | undefined): number;
  checkPreconditions?: Strategy['checkPreconditions'];
  deletionWarnings?: Strategy['deletionWarnings'];
  planDeletion?(object: T, options: DeleteOptions, context: RequestContext): DeletionPlan | undefined;
};

/** Rules by resource: `deployments.apps`. */
export type RulesByResource = { readonly [resource: string]: Rules };

/** Rules of a subresource that writes a part of the object. */
export type PartRules<T extends object = KubeObject> = {
  readonly verbs: readonly string[];
  readonly resetFields?: Strategy['resetFields'];
  prepareForUpdate(draft: Draft<T>, old: T, context: RequestContext): void;
  validateUpdate(object: T, old: T, context: RequestContext): Iterable<Cause>;
  warnings?(object: T, old: T | undefined): Iterable<string>;
};

/** Erases the object type of a kind's rules, for code that handles all kinds alike. */
export function rulesFor<T extends object>(rules: Rules<T>): Rules {
  // The rules are only called with objects of that kind, decoded by its schema.
  return rules as unknown as Rules;
}

const statusFields = fieldSetOf(fieldPath('status'));
const specFields = fieldSetOf(fieldPath('spec'));
const metadataAndSpecFields = fieldSetOf(fieldPath('metadata'), fieldPath('spec'));

const nothing: readonly never[] = [];

/** Creates the write strategy of a kind. */
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

/** Creates the status strategy of a kind: all other fields are kept, except labels and annotations. */
export function statusStrategyOf(rules: Rules): Strategy {
  const defaultResetFields = rules.statusKeepsMetadata ? metadataAndSpecFields : specFields;
  return partStrategy(rules, {
    verbs: [],
    resetFields: rules.statusResetFields ?? defaultResetFields,
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

/** Creates the strategy of a subresource with its own rules. */
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
    // The field types differ, but the assignment is the same for each.
    if (metadata[field] === undefined) delete draft.metadata[field];
    else (draft.metadata as { [name: string]: unknown })[field] = metadata[field];
  }
}

/** Copies a field of another object into a draft; deletes the field if the other object has none. */
export function copyField(draft: Draft<KubeObject>, from: KubeObject, field: string): void {
  if (from[field] === undefined) delete draft[field];
  else draft[field] = from[field];
}

/** Reports whether two objects differ outside metadata and status. */
export function differs(object: KubeObject, old: KubeObject): boolean {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (field === 'metadata' || field === 'status' || field === 'kind' || field === 'apiVersion') continue;
    if (!isSame(object[field], old[field])) return true;
  }
  return false;
}

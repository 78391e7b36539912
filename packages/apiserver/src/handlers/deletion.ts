import type { KubeObject } from '../object.ts';
import type { Strategy } from '../resource.ts';

/** Options of a DELETE. */
export type DeleteOptions = {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly orphanDependents?: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun: boolean;
};

/** Outcome of a DELETE: the object is removed, or marked as terminating, or already terminating. */
export type DeletionPlan =
  /** `last` is the final state that watchers see, if it differs from the stored state. */
  | { readonly action: 'remove'; readonly last?: KubeObject }
  | { readonly action: 'mark'; readonly object: KubeObject }
  | { readonly action: 'nothing' };

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

/** Decides how a DELETE affects an object. */
export function planDeletion(
  strategy: Strategy,
  object: KubeObject,
  options: DeleteOptions,
  nowMs: number,
): DeletionPlan {
  const { metadata } = object;
  const finalizers = finalizersAfter(strategy, object, options);
  const grace = strategy.gracePeriodSeconds?.(object, options.gracePeriodSeconds) ?? 0;

  if (!metadata.deletionTimestamp) {
    if (grace === 0 && finalizers.length === 0) return removal(strategy, object, nowMs);
    return { action: 'mark', object: marked(object, nowMs + grace * 1000, grace, finalizers) };
  }

  const pending = metadata.deletionGracePeriodSeconds ?? 0;
  if (pending > 0) {
    // Graceful deletion is in progress. A later DELETE can only shorten the grace period; the propagation policy stays.
    if (grace >= pending) return { action: 'nothing' };
    const startMs = Date.parse(metadata.deletionTimestamp) - pending * 1000;
    const kept = metadata.finalizers ?? [];
    if (grace === 0) {
      if (kept.length === 0) return removal(strategy, object, startMs);
      return { action: 'mark', object: marked(object, startMs, 0, kept) };
    }
    const ends = startMs + grace * 1000;
    if (ends < nowMs) return { action: 'mark', object: marked(object, nowMs, 1, kept) };
    return { action: 'mark', object: marked(object, ends, grace, kept) };
  }
  if (finalizers.length === 0) return { action: 'remove' };
  const same = JSON.stringify(finalizers) === JSON.stringify(metadata.finalizers ?? []);
  if (same) return { action: 'nothing' };
  return { action: 'mark', object: { ...object, metadata: { ...metadata, finalizers } } };
}

/** Removal of a kind with graceful deletion sets a grace period of zero. */
function removal(strategy: Strategy, object: KubeObject, atMs: number): DeletionPlan {
  if (!strategy.gracePeriodSeconds) return { action: 'remove' };
  return { action: 'remove', last: marked(object, atMs, 0, object.metadata.finalizers ?? []) };
}

function marked(object: KubeObject, atMs: number, graceSeconds: number, finalizers: readonly string[]): KubeObject {
  const { metadata } = object;
  const { generation, deletionTimestamp } = metadata;
  const grown = generation !== undefined && generation > 0 && !deletionTimestamp ? { generation: generation + 1 } : {};
  const { finalizers: _, ...rest } = metadata;
  return {
    ...object,
    metadata: {
      ...rest,
      ...grown,
      deletionTimestamp: `${new Date(atMs).toISOString().slice(0, 19)}Z`,
      deletionGracePeriodSeconds: graceSeconds,
      ...(finalizers.length === 0 ? {} : { finalizers }),
    },
  };
}

/**
 * Returns the finalizers after a DELETE. The options take precedence over existing finalizers, which take precedence
 * over the kind's default.
 */
export function finalizersAfter(
  strategy: Pick<Strategy, 'propagation'>,
  object: Pick<KubeObject, 'metadata'>,
  options: DeleteOptions,
): readonly string[] {
  const present = object.metadata.finalizers ?? [];
  if (strategy.propagation === 'Unsupported') return present;
  const policy = requestedPolicy(options) ?? existingPolicy(present) ?? strategy.propagation;
  const others = present.filter((finalizer) => finalizer !== orphan && finalizer !== foreground);
  if (policy === 'Background') return others;
  const wanted = policy === 'Orphan' ? orphan : foreground;
  return present.includes(wanted) && others.length === present.length - 1 ? present : [...others, wanted];
}

function requestedPolicy({ propagationPolicy, orphanDependents }: DeleteOptions): DeleteOptions['propagationPolicy'] {
  if (propagationPolicy !== undefined) return propagationPolicy;
  if (orphanDependents === undefined) return undefined;
  return orphanDependents ? 'Orphan' : 'Background';
}

function existingPolicy(finalizers: readonly string[]): DeleteOptions['propagationPolicy'] {
  if (finalizers.includes(orphan)) return 'Orphan';
  return finalizers.includes(foreground) ? 'Foreground' : undefined;
}

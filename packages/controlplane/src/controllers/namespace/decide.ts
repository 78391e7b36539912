import type { Namespace, NamespaceCondition } from '@kruise/api/core/namespace';
import type { DiscoveryFailure } from '@kruise/client/discovery';
import { withCondition } from '@kruise/machinery/conditions';
import type { Instant } from '@kruise/values/time';

/** Remaining objects of one resource after the deletion. */
export type Remainder = {
  readonly resource: { readonly group: string; readonly version: string; readonly plural: string };
  readonly count: number;
  /** Number of objects per finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Remaining grace period of objects with graceful deletion. */
  readonly graceSeconds: number;
  /** Reason why the deletion failed. */
  readonly error?: string;
};

export type Observed = {
  readonly namespace: Namespace;
  readonly discoveryFailures: readonly DiscoveryFailure[];
  readonly remainders: readonly Remainder[];
};

/** State of a namespace deletion. */
export type State = {
  readonly conditions: readonly NamespaceCondition[];
  /** No content remains; the finalizer can be removed. */
  readonly isEmpty: boolean;
  /** Errors that need a retry. */
  readonly errors: readonly string[];
  /** Requeue delay if no watch event arrives. */
  readonly requeueAfterSeconds?: number;
};

/** Estimated time until a finalizer is removed. */
const finalizerSeconds = 15;

/** Derives the conditions of a terminating namespace, and whether its finalizer can be removed. */
export function decide({ namespace, discoveryFailures, remainders }: Observed, now: Instant): State {
  const contentErrors = remainders.flatMap((remainder) => errorOf(namespace, remainder) ?? []).sort();
  const reports = [
    discoveryReport(discoveryFailures),
    report('NamespaceDeletionGroupVersionParsingFailure'),
    contentReport(contentErrors),
    remainingReport(remainders),
    finalizersReport(remainders),
  ];
  const conditions = reports.reduce<readonly NamespaceCondition[]>(
    (before, each) => withCondition(before, each, now),
    namespace.status?.conditions ?? [],
  );
  const errors = [
    ...discoveryFailures.map(({ groupVersion, message }) => `${groupVersion}: ${message}`),
    ...contentErrors,
  ];
  const estimate = Math.max(0, ...remainders.map(estimateSeconds));
  return {
    conditions,
    errors,
    isEmpty: errors.length === 0 && estimate === 0,
    ...(estimate > 0 && errors.length === 0 ? { requeueAfterSeconds: Math.floor(estimate / 2) + 1 } : {}),
  };
}

/**
 * Returns the remaining grace period of the Pods: the longest of all Pods, minus the time since the namespace was
 * deleted.
 */
export function podGraceSeconds(
  pods: readonly {
    readonly status?: { readonly phase?: string };
    readonly spec?: { readonly terminationGracePeriodSeconds?: number };
  }[],
  namespaceDeletedAt: Instant,
  now: Instant,
): number {
  let longest = 0;
  for (const { status, spec } of pods) {
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') continue;
    longest = Math.max(longest, Number(spec?.terminationGracePeriodSeconds ?? 0));
  }
  return now - namespaceDeletedAt >= longest * 1000 ? 0 : longest;
}

function estimateSeconds({ count, finalizers, graceSeconds }: Remainder): number {
  if (count === 0) return 0;
  return graceSeconds || (finalizers.size > 0 ? finalizerSeconds : 0);
}

/** Objects without a finalizer should be gone; if they remain, that is an error. */
function errorOf({ metadata }: Namespace, remainder: Remainder): string | undefined {
  const { resource, count, error } = remainder;
  if (error !== undefined) return error;
  if (count === 0 || estimateSeconds(remainder) > 0) return undefined;
  const { group, version, plural } = resource;
  return `unexpected items still remain in namespace: ${metadata.name} for gvr: ${group}/${version}, Resource=${plural}`;
}

type ConditionReport = Omit<NamespaceCondition, 'lastTransitionTime'>;

/** Reasons and messages of conditions without errors. */
const successReasons: { readonly [type: string]: readonly [reason: string, message: string] } = {
  NamespaceDeletionDiscoveryFailure: ['ResourcesDiscovered', 'All resources successfully discovered'],
  NamespaceDeletionGroupVersionParsingFailure: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  NamespaceDeletionContentFailure: [
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  NamespaceContentRemaining: ['ContentRemoved', 'All content successfully removed'],
  NamespaceFinalizersRemaining: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
};

function report(type: string, problem?: { readonly reason: string; readonly message: string }): ConditionReport {
  if (problem) return { type, status: 'True', ...problem };
  const [reason, message] = successReasons[type]!;
  return { type, status: 'False', reason, message };
}

function discoveryReport(failures: readonly DiscoveryFailure[]): ConditionReport {
  const type = 'NamespaceDeletionDiscoveryFailure';
  if (failures.length === 0) return report(type);
  const groups = failures.map(({ groupVersion, message }) => `${groupVersion}: ${message}`).sort();
  const message = `Discovery failed for some groups, ${failures.length} failing: unable to retrieve the complete list of server APIs: ${groups.join(', ')}`;
  return report(type, { reason: 'DiscoveryFailed', message });
}

function contentReport(errors: readonly string[]): ConditionReport {
  const type = 'NamespaceDeletionContentFailure';
  if (errors.length === 0) return report(type);
  const message = `Failed to delete all resource types, ${errors.length} remaining: ${errors.join(', ')}`;
  return report(type, { reason: 'ContentDeletionFailed', message });
}

function remainingReport(remainders: readonly Remainder[]): ConditionReport {
  const type = 'NamespaceContentRemaining';
  const left = remainders
    .filter(({ count }) => count > 0)
    .map(({ resource: { group, plural }, count }) => `${plural}.${group} has ${count} resource instances`)
    .sort();
  if (left.length === 0) return report(type);
  return report(type, { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${left.join(', ')}` });
}

function finalizersReport(remainders: readonly Remainder[]): ConditionReport {
  const type = 'NamespaceFinalizersRemaining';
  const totals = new Map<string, number>();
  for (const { finalizers } of remainders) {
    for (const [finalizer, count] of finalizers) totals.set(finalizer, (totals.get(finalizer) ?? 0) + count);
  }
  if (totals.size === 0) return report(type);
  const left = Array.from(totals, ([finalizer, count]) => `${finalizer} in ${count} resource instances`).sort();
  const message = `Some content in the namespace has finalizers remaining: ${left.join(', ')}`;
  return report(type, { reason: 'SomeFinalizersRemain', message });
}

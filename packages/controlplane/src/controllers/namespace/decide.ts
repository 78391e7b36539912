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
export type Standing = {
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
export function decide({ namespace, discoveryFailures, remainders }: Observed, now: Instant): Standing {
  const contentErrors = remainders.flatMap((remainder) => errorOf(namespace, remainder) ?? []).sort();
  const claims = [
    discoveryClaim(discoveryFailures),
    claim('NamespaceDeletionGroupVersionParsingFailure'),
    contentClaim(contentErrors),
    remainingClaim(remainders),
    finalizersClaim(remainders),
  ];
  const conditions = claims.reduce<readonly NamespaceCondition[]>(
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

type Claim = Omit<NamespaceCondition, 'lastTransitionTime'>;

/** Reasons and messages of conditions without errors. */
const wellReasons: { readonly [type: string]: readonly [reason: string, message: string] } = {
  NamespaceDeletionDiscoveryFailure: ['ResourcesDiscovered', 'All resources successfully discovered'],
  NamespaceDeletionGroupVersionParsingFailure: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  NamespaceDeletionContentFailure: [
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  NamespaceContentRemaining: ['ContentRemoved', 'All content successfully removed'],
  NamespaceFinalizersRemaining: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
};

function claim(type: string, trouble?: { readonly reason: string; readonly message: string }): Claim {
  if (trouble) return { type, status: 'True', ...trouble };
  const [reason, message] = wellReasons[type]!;
  return { type, status: 'False', reason, message };
}

function discoveryClaim(failures: readonly DiscoveryFailure[]): Claim {
  const type = 'NamespaceDeletionDiscoveryFailure';
  if (failures.length === 0) return claim(type);
  const groups = failures.map(({ groupVersion, message }) => `${groupVersion}: ${message}`).sort();
  const message = `Discovery failed for some groups, ${failures.length} failing: unable to retrieve the complete list of server APIs: ${groups.join(', ')}`;
  return claim(type, { reason: 'DiscoveryFailed', message });
}

function contentClaim(errors: readonly string[]): Claim {
  const type = 'NamespaceDeletionContentFailure';
  if (errors.length === 0) return claim(type);
  const message = `Failed to delete all resource types, ${errors.length} remaining: ${errors.join(', ')}`;
  return claim(type, { reason: 'ContentDeletionFailed', message });
}

function remainingClaim(remainders: readonly Remainder[]): Claim {
  const type = 'NamespaceContentRemaining';
  const left = remainders
    .filter(({ count }) => count > 0)
    .map(({ resource: { group, plural }, count }) => `${plural}.${group} has ${count} resource instances`)
    .sort();
  if (left.length === 0) return claim(type);
  return claim(type, { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${left.join(', ')}` });
}

function finalizersClaim(remainders: readonly Remainder[]): Claim {
  const type = 'NamespaceFinalizersRemaining';
  const totals = new Map<string, number>();
  for (const { finalizers } of remainders) {
    for (const [finalizer, count] of finalizers) totals.set(finalizer, (totals.get(finalizer) ?? 0) + count);
  }
  if (totals.size === 0) return claim(type);
  const left = Array.from(totals, ([finalizer, count]) => `${finalizer} in ${count} resource instances`).sort();
  const message = `Some content in the namespace has finalizers remaining: ${left.join(', ')}`;
  return claim(type, { reason: 'SomeFinalizersRemain', message });
}

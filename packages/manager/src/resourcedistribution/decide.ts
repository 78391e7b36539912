/**
 * ResourceDistribution reconciler: keeps copies of a Secret or ConfigMap in the target namespaces, and in no others.
 */
import type { Namespace } from '@kruise/api/core/namespace';
import type { ResourceDistribution, ResourceDistributionStatus } from '@kruise/api/kruise/resourcedistribution';
import {
  asIndependent,
  create,
  isBeingDeleted,
  type ObjectAction,
  parallelByKind,
  remove,
  update,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import { isControlledBy } from '@kruise/machinery/owner-references';
import { errorText } from '@kruise/values/error-text';
import type { Instant } from '@kruise/values/time';
import { copyFor, isUpToDate, type Resource } from './copy.ts';
import { type Fault, statusOf } from './status.ts';
import { nameOf, targetedNames } from './targets.ts';

export type Observed = {
  readonly distribution: ResourceDistribution;
  readonly namespaces: readonly Namespace[];
  /** Finds the object with the kind and name of the distributed resource in a namespace. */
  readonly find: (namespace: string) => Resource | undefined;
};

export function decide(observed: Observed, now: Instant): Decision<ResourceDistributionStatus> {
  const { distribution, namespaces } = observed;
  if (isBeingDeleted(distribution)) return { actions: [] };
  const targeted = targetedNames(distribution.spec.targets, namespaces);
  const usable = new Set(namespaces.filter((namespace) => !isBeingDeleted(namespace)).map(nameOf));
  const steps = targeted.map((name) => (usable.has(name) ? distribute(observed, name) : missing(name)));
  const targetSet = new Set(targeted);
  const removals = [...usable].filter((name) => !targetSet.has(name)).flatMap((name) => deleteCopy(observed, name));
  const actions = [...steps.flatMap(({ actions }) => actions), ...removals].map(asIndependent);
  const faults = steps.flatMap(({ fault }) => fault ?? []);
  return {
    actions: parallelByKind(actions),
    status: (outcome) => statusOf(distribution, targeted, [...faults, ...faultsOf(outcome)], now),
  };
}

type Step = { readonly actions: readonly ObjectAction[]; readonly fault?: Fault };

function missing(namespace: string): Step {
  const reason = 'namespace not found or is terminating';
  return { actions: [], fault: { type: 'NamespaceNotExists', namespace, reason } };
}

function distribute({ distribution, find }: Observed, namespace: string): Step {
  const live = find(namespace);
  if (!live) return { actions: [create(copyFor(distribution, namespace))] };
  if (!isControlledBy(live, distribution)) {
    const reason = 'conflict with existing resources because of the same namespace, group, version, kind and name';
    return { actions: [], fault: { type: 'ConflictOccurred', namespace, reason } };
  }
  if (isUpToDate(live, distribution.spec.resource)) return { actions: [] };
  return { actions: [update(copyFor(distribution, namespace, live))] };
}

function deleteCopy({ distribution, find }: Observed, namespace: string): readonly ObjectAction[] {
  const live = find(namespace);
  return live && isControlledBy(live, distribution) ? [remove(live)] : [];
}

const failedTypes = {
  create: 'CreateResourceFailed',
  update: 'UpdateResourceFailed',
  remove: 'DeleteResourceFailed',
} as const;

function faultsOf({ failures }: Outcome): readonly Fault[] {
  return failures.flatMap(({ action, error }) => {
    if (action.type !== 'create' && action.type !== 'update' && action.type !== 'remove') return [];
    const reason = errorText(error);
    return [{ type: failedTypes[action.type], namespace: action.object.metadata.namespace ?? '', reason }];
  });
}

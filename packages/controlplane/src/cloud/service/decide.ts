import type { Node } from '@kruise/api/core/node';
import type { Service } from '@kruise/api/core/service';
import { type Action, effect, hasFinalizer, isBeingDeleted, type PatchAction, record } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';

export const finalizer = 'service.kubernetes.io/load-balancer-cleanup';

/** Last state applied to a load balancer. */
export type AppliedState = { readonly service: Service; readonly nodes: readonly Node[] };

export type Observed = {
  readonly service: Service;
  readonly nodes: readonly Node[];
  /** Undefined if this process has not applied any state yet. */
  readonly applied: AppliedState | undefined;
};

/**
 * Reports whether this cloud provisions a load balancer for the Service: type LoadBalancer without a load balancer
 * class.
 */
export function wantsLoadBalancer({ spec }: Service): boolean {
  return spec?.type === 'LoadBalancer' && spec.loadBalancerClass == null;
}

/** Reports whether the load balancer of a Service must be released. */
export function needsCleanup(service: Service): boolean {
  return hasFinalizer(service, finalizer) && (isBeingDeleted(service) || service.spec?.type !== 'LoadBalancer');
}

/** Reports whether load balancers send traffic to the node. */
export function isBalanced({ metadata, spec }: Node): boolean {
  return (
    metadata.deletionTimestamp == null &&
    metadata.labels?.['node.kubernetes.io/exclude-from-external-load-balancers'] === undefined &&
    !spec?.taints?.some(({ key }) => key === 'ToBeDeletedByClusterAutoscaler')
  );
}

/**
 * Adds the finalizer before the load balancer is created, and removes it after the load balancer is deleted. The patch
 * goes through the status subresource, the only part of a Service that this controller may write.
 */
export function decide({ service, nodes, applied }: Observed): Decision<Service['status']> {
  if (needsCleanup(service) || (applied && !wantsLoadBalancer(service))) {
    return { actions: [effect('release', service), releasePatch(service), loadBalancerEvent(service, 'Deleted')] };
  }
  if (!wantsLoadBalancer(service)) return { actions: [] };
  if (!applied || needsUpdate(applied.service, service)) {
    const warnings = nodes.length === 0 ? [noNodes(service)] : [];
    const finalizers = hasFinalizer(service, finalizer) ? [] : [patchFinalizers(service, [finalizer])];
    return {
      actions: [
        loadBalancerEvent(service, 'Ensuring'),
        ...finalizers,
        ...warnings,
        effect('ensure', { service, nodes }),
      ],
    };
  }
  if (areSameInstances(applied.nodes, nodes)) return { actions: [] };
  return { actions: [effect('updateNodes', { service, nodes })] };
}

/** Reports whether an update of a Service needs a reconcile; the controller's own writes do not. */
export function needsReconcile(before: Service, now: Service): boolean {
  if (wantsLoadBalancer(before) !== wantsLoadBalancer(now) || needsCleanup(now)) return true;
  return wantsLoadBalancer(now) && needsUpdate(before, now);
}

/** Reports whether the load balancer must be created or updated for the new spec. */
function needsUpdate(before: Service, now: Service): boolean {
  return before.metadata.uid !== now.metadata.uid || !isSame(desiredStateOf(before), desiredStateOf(now));
}

function desiredStateOf({ metadata, spec }: Service): readonly unknown[] {
  return [
    metadata.annotations ?? {},
    spec?.loadBalancerSourceRanges ?? [],
    spec?.ports ?? [],
    spec?.sessionAffinity,
    spec?.sessionAffinityConfig,
    spec?.loadBalancerIP,
    spec?.externalIPs ?? [],
    spec?.externalTrafficPolicy,
    spec?.healthCheckNodePort,
    spec?.ipFamilies,
  ];
}

/** Reports whether two node lists refer to the same instances. */
function areSameInstances(before: readonly Node[], now: readonly Node[]): boolean {
  const instanceIds = (nodes: readonly Node[]) =>
    nodes.map(({ metadata, spec }) => `${metadata.name} ${spec?.providerID ?? ''}`).sort();
  return isSame(instanceIds(before), instanceIds(now));
}

/** Removes the finalizer and the addresses of the deleted load balancer. */
function releasePatch(service: Service): PatchAction {
  const { patch, ...action } = patchFinalizers(service, []);
  return { ...action, patch: { ...(patch as object), status: { loadBalancer: { ingress: null } } } };
}

function patchFinalizers(service: Service, own: readonly string[]): PatchAction {
  const { resourceVersion, finalizers = [] } = service.metadata;
  const others = finalizers.filter((each) => each !== finalizer);
  const metadata = { resourceVersion, finalizers: [...others, ...own] };
  return { type: 'patch', object: service, patch: { metadata }, patchType: 'merge', subresource: 'status' };
}

const eventTexts = {
  Ensuring: { reason: 'EnsuringLoadBalancer', message: 'Ensuring load balancer' },
  Ensured: { reason: 'EnsuredLoadBalancer', message: 'Ensured load balancer' },
  Updated: { reason: 'UpdatedLoadBalancer', message: 'Updated load balancer with new hosts' },
  Deleting: { reason: 'DeletingLoadBalancer', message: 'Deleting load balancer' },
  Deleted: { reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' },
} as const;

export function loadBalancerEvent(about: Service, what: keyof typeof eventTexts): Action & { readonly type: 'record' } {
  return record({ about, type: 'Normal', ...eventTexts[what] });
}

export function noNodes(about: Service): Action & { readonly type: 'record' } {
  const message = 'There are no available nodes for LoadBalancer';
  return record({ about, type: 'Warning', reason: 'UnAvailableLoadBalancer', message });
}

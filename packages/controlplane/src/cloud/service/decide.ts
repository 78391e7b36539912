import type { Node } from '@kruise/api/core/node';
import type { Service } from '@kruise/api/core/service';
import { type Action, effect, hasFinalizer, isBeingDeleted, type PatchAction, record } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';

export const finalizer = 'service.kubernetes.io/load-balancer-cleanup';

/** Last state applied to a load balancer. */
export type Told = { readonly service: Service; readonly nodes: readonly Node[] };

export type Observed = {
  readonly service: Service;
  readonly nodes: readonly Node[];
  /** Undefined if this process has not applied any state yet. */
  readonly told: Told | undefined;
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
export function decide({ service, nodes, told }: Observed): Decision<Service['status']> {
  if (needsCleanup(service) || (told && !wantsLoadBalancer(service))) {
    return { actions: [effect('release', service), letGo(service), tell(service, 'Deleted')] };
  }
  if (!wantsLoadBalancer(service)) return { actions: [] };
  if (!told || isOtherwiseWanted(told.service, service)) {
    const warnings = nodes.length === 0 ? [noNodes(service)] : [];
    const finalizers = hasFinalizer(service, finalizer) ? [] : [patchFinalizers(service, [finalizer])];
    return {
      actions: [tell(service, 'Ensuring'), ...finalizers, ...warnings, effect('ensure', { service, nodes })],
    };
  }
  if (areSameNodes(told.nodes, nodes)) return { actions: [] };
  return { actions: [effect('updateNodes', { service, nodes })] };
}

/** Reports whether an update of a Service needs a reconcile; the controller's own writes do not. */
export function isNews(before: Service, now: Service): boolean {
  if (wantsLoadBalancer(before) !== wantsLoadBalancer(now) || needsCleanup(now)) return true;
  return wantsLoadBalancer(now) && isOtherwiseWanted(before, now);
}

/** Reports whether the load balancer must be created or updated for the new spec. */
function isOtherwiseWanted(before: Service, now: Service): boolean {
  return before.metadata.uid !== now.metadata.uid || !isSame(wishesOf(before), wishesOf(now));
}

function wishesOf({ metadata, spec }: Service): readonly unknown[] {
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
function areSameNodes(before: readonly Node[], now: readonly Node[]): boolean {
  const machines = (nodes: readonly Node[]) =>
    nodes.map(({ metadata, spec }) => `${metadata.name} ${spec?.providerID ?? ''}`).sort();
  return isSame(machines(before), machines(now));
}

/** Removes the finalizer and the addresses of the deleted load balancer. */
function letGo(service: Service): PatchAction {
  const { patch, ...action } = patchFinalizers(service, []);
  return { ...action, patch: { ...(patch as object), status: { loadBalancer: { ingress: null } } } };
}

function patchFinalizers(service: Service, own: readonly string[]): PatchAction {
  const { resourceVersion, finalizers = [] } = service.metadata;
  const others = finalizers.filter((each) => each !== finalizer);
  const metadata = { resourceVersion, finalizers: [...others, ...own] };
  return { type: 'patch', object: service, patch: { metadata }, patchType: 'merge', subresource: 'status' };
}

const words = {
  Ensuring: { reason: 'EnsuringLoadBalancer', message: 'Ensuring load balancer' },
  Ensured: { reason: 'EnsuredLoadBalancer', message: 'Ensured load balancer' },
  Updated: { reason: 'UpdatedLoadBalancer', message: 'Updated load balancer with new hosts' },
  Deleting: { reason: 'DeletingLoadBalancer', message: 'Deleting load balancer' },
  Deleted: { reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' },
} as const;

export function tell(about: Service, what: keyof typeof words): Action & { readonly type: 'record' } {
  return record({ about, type: 'Normal', ...words[what] });
}

export function noNodes(about: Service): Action & { readonly type: 'record' } {
  const message = 'There are no available nodes for LoadBalancer';
  return record({ about, type: 'Warning', reason: 'UnAvailableLoadBalancer', message });
}

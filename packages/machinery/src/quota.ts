/**
 * Resource quota usage of objects: the resource names of a quota that match an object, and the amounts it uses.
 * Admission evaluates a single object, the quota controller all of them.
 */
import type { PodAffinityTerm } from '@kruise/api/core/affinity';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { computeQosClass } from '@kruise/api/core/pod-qos';
import { isExtendedResource, isHugePages, isNativeResource } from '@kruise/api/core/resource-name';
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '@kruise/api/core/resourcequota';
import type { Service } from '@kruise/api/core/service';
import { resourceOf } from '@kruise/schema/kind';
import { compareQuantities, parseQuantity, type Quantity, quantityOf, roundUpQuantity } from '@kruise/values/quantity';
import { podLimits, podRequests } from './pod-resources.ts';
import { type Amounts, addAmounts, amountsOf, type ResourceList } from './resource-list.ts';

/** Quota evaluator of a resource. */
export type QuotaEvaluator<T = unknown> = {
  /** Reports whether a resource name of a quota applies to these objects. */
  counts(name: string): boolean;
  /** Returns the usage of an object under all resource names. */
  usage(object: T, nowMs: number): Amounts;
  /** Reports whether an object matches a scope; without this method no scope matches. */
  inScope?(requirement: ScopedResourceSelectorRequirement, object: T): boolean;
  /** Returns the resources that a quota on these names requires but the object does not specify; empty if none. */
  lacks?(names: readonly string[], object: T): string;
};

const one = quantityOf(1);
const none = quantityOf(0);

/**
 * Returns the quota evaluator of a resource: object count, and further usage for a few resources.
 *
 * ```ts
 * const usage = quotaEvaluatorOf({ group: '', plural: 'pods' }).usage(web, clock.now());
 * ```
 */
export function quotaEvaluatorOf(resource: { readonly group: string; readonly plural: string }): QuotaEvaluator {
  const name = resourceOf(resource);
  const special = evaluators[name];
  if (special) return special;
  const count = `count/${name}`;
  const alias = countedByPlural.has(name) ? name : undefined;
  const usage: Amounts = new Map(
    alias === undefined
      ? [[count, one]]
      : [
          [count, one],
          [alias, one],
        ],
  );
  return { counts: (each) => each === count || each === alias, usage: () => usage };
}

/** Resources with a quota name from before `count/<resource>` existed. */
const countedByPlural = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

/** Reports whether a quota applies to an object: by at least one resource name and by all scopes. */
export function quotaMatches<T>(evaluator: QuotaEvaluator<T>, { spec, status }: ResourceQuota, object: T): boolean {
  if (!Object.keys(status?.hard ?? {}).some((name) => evaluator.counts(name))) return false;
  return isInScopes(evaluator, spec, object);
}

/** Reports whether an object matches all scopes of a quota. */
export function isInScopes<T>(evaluator: QuotaEvaluator<T>, spec: ResourceQuota['spec'], object: T): boolean {
  return scopesOf(spec ?? {}).every((scope) => evaluator.inScope?.(scope, object) ?? false);
}

function scopesOf({ scopes, scopeSelector }: NonNullable<ResourceQuota['spec']>): ScopedResourceSelectorRequirement[] {
  return [
    ...(scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' as const })),
    ...(scopeSelector?.matchExpressions ?? []),
  ];
}

const podNames = new Set([
  'count/pods',
  'pods',
  ...['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);

/** Quotas on these resources require that every container specifies them. */
const requiredComputeResources = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
]);

const pods: QuotaEvaluator<Pod> = {
  counts: (name) =>
    podNames.has(name) ||
    isHugePages(name) ||
    name.startsWith('requests.hugepages-') ||
    (!isNativeResource(name) && name.startsWith('requests.')),
  usage(pod, nowMs) {
    const counted: Amounts = new Map([['count/pods', one]]);
    if (isFinished(pod, nowMs)) return counted;
    const spec = pod.spec!;
    const { status } = pod;
    return addAmounts(counted, computeUsage(podRequests(spec, { status }), podLimits(spec, { status })));
  },
  inScope({ scopeName, operator, values }, { spec }) {
    switch (scopeName) {
      case 'Terminating':
        return isTerminating(spec!);
      case 'NotTerminating':
        return !isTerminating(spec!);
      case 'BestEffort':
        return computeQosClass(spec!) === 'BestEffort';
      case 'NotBestEffort':
        return computeQosClass(spec!) !== 'BestEffort';
      case 'PriorityClass':
        return matchesClass(operator, values ?? [], spec?.priorityClassName ?? '');
      case 'CrossNamespacePodAffinity':
        return usesOtherNamespaces(spec!);
      default:
        return false;
    }
  },
  lacks(names, { spec }) {
    const wanted = names.filter((name) => requiredComputeResources.has(name)).sort();
    if (wanted.length === 0) return '';
    const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ name, resources }) => ({
      name,
      specified: computeUsage(amountsOf(resources?.requests), amountsOf(resources?.limits)),
    }));
    const missing = wanted.flatMap((name) => {
      const unspecified = containers.filter(({ specified }) => !specified.has(name)).map((container) => container.name);
      return unspecified.length === 0 ? [] : [`${name} for: ${[...new Set(unspecified)].sort().join(',')}`];
    });
    return missing.length === 0 ? '' : `must specify ${missing.join('; ')}`;
  },
};

/** Returns requests and limits under the resource names of quotas. */
function computeUsage(requests: Amounts, limits: Amounts): Map<string, Quantity> {
  const usage = new Map<string, Quantity>([['pods', one]]);
  for (const [name, amount] of requests) {
    if (podNames.has(name) || isHugePages(name)) usage.set(name, amount).set(`requests.${name}`, amount);
    else if (isExtendedResource(name)) usage.set(`requests.${name}`, amount);
  }
  for (const [name, amount] of limits) {
    if (podNames.has(`limits.${name}`)) usage.set(`limits.${name}`, amount);
  }
  return usage;
}

/** A finished Pod uses no quota, nor does a Pod that is past its deletion grace period. */
function isFinished({ status, metadata }: Pod, nowMs: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (!deletionTimestamp || deletionGracePeriodSeconds == null) return false;
  return nowMs > Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000;
}

function isTerminating({ activeDeadlineSeconds }: NonNullable<Pod['spec']>): boolean {
  return activeDeadlineSeconds != null && activeDeadlineSeconds >= 0;
}

function matchesClass(operator: string, values: readonly string[], className: string): boolean {
  switch (operator) {
    case 'Exists':
      return className !== '';
    case 'DoesNotExist':
      return className === '';
    case 'In':
      return className !== '' && values.includes(className);
    case 'NotIn':
      return !values.includes(className);
    default:
      return false;
  }
}

function usesOtherNamespaces({ affinity }: NonNullable<Pod['spec']>): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((each) =>
    [
      ...(each?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(each?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
    ].some((term: PodAffinityTerm) => (term.namespaces ?? []).length > 0 || term.namespaceSelector != null),
  );
}

const serviceNames = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers']);

const services: QuotaEvaluator<Service> = {
  counts: (name) => serviceNames.has(name),
  usage({ spec }) {
    const ports = spec?.ports ?? [];
    const isBalanced = spec?.type === 'LoadBalancer';
    const chosen = isBalanced && spec.allocateLoadBalancerNodePorts === false;
    const nodePorts = chosen ? ports.filter(({ nodePort }) => nodePort).length : ports.length;
    return new Map([
      ['count/services', one],
      ['services', one],
      ['services.loadbalancers', isBalanced ? one : none],
      ['services.nodeports', isBalanced || spec?.type === 'NodePort' ? quantityOf(nodePorts) : none],
    ]);
  },
};

const claimNames = ['persistentvolumeclaims', 'requests.storage'];
const ofClass = '.storageclass.storage.k8s.io/';

const claims: QuotaEvaluator<PersistentVolumeClaim> = {
  counts: (name) =>
    name === 'count/persistentvolumeclaims' ||
    claimNames.includes(name) ||
    claimNames.some((each) => name.endsWith(`${ofClass}${each}`)),
  usage(claim) {
    const usage = new Map<string, Quantity>([
      ['persistentvolumeclaims', one],
      ['count/persistentvolumeclaims', one],
    ]);
    const className = storageClassOf(claim);
    if (className !== '') usage.set(`${className}${ofClass}persistentvolumeclaims`, one);
    const storage = storageOf(claim);
    if (!storage) return usage;
    usage.set('requests.storage', storage);
    if (className !== '') usage.set(`${className}${ofClass}requests.storage`, storage);
    return usage;
  },
};

/** Returns the storage class of a PVC from the field or the deprecated annotation; empty if none. */
export function storageClassOf({ metadata, spec }: PersistentVolumeClaim): string {
  return metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';
}

/** The allocated storage counts if it is larger than the request. The result is in whole bytes. */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = (spec?.resources?.requests as ResourceList | undefined)?.['storage'];
  if (asked === undefined) return undefined;
  const request = roundUpQuantity(parseQuantity(asked), 0);
  const allocated = (status?.allocatedResources as ResourceList | undefined)?.['storage'];
  if (allocated === undefined) return request;
  const held = parseQuantity(allocated);
  return compareQuantities(held, request) > 0 ? roundUpQuantity(held, 0) : request;
}

// Each evaluator receives only objects of its own resource.
const evaluators: { readonly [resource: string]: QuotaEvaluator | undefined } = {
  pods: pods as QuotaEvaluator,
  services: services as QuotaEvaluator,
  persistentvolumeclaims: claims as QuotaEvaluator,
};

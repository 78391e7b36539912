/** Resource names: `cpu`, `hugepages-2Mi`, `example.com/gpu`. */
import { validateQualifiedName } from '@kruise/values/names';

export const hugePagesPrefix = 'hugepages-';
const quotaPrefix = 'requests.';

const containerResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const countedResources: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const standardResources: ReadonlySet<string> = new Set([
  ...containerResources,
  ...countedResources,
  'storage',
  'requests.storage',
  ...[...containerResources].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);

/** Reports whether a resource is memory in pages of one size. */
export function isHugePages(name: string): boolean {
  return name.startsWith(hugePagesPrefix);
}

/** Reports whether Kubernetes itself provides a resource, rather than a device plugin. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** Reports whether a device plugin provides a resource. Such resources are integers and are never overcommitted. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith(quotaPrefix)) return false;
  return validateQualifiedName(quotaPrefix + name).length === 0;
}

/** Reports whether a resource is counted in integers. */
export function isIntegerResource(name: string): boolean {
  return countedResources.has(name) || isExtendedResource(name);
}

/** Reports whether a container may request a resource by an unqualified name. */
export function isStandardContainerResource(name: string): boolean {
  return containerResources.has(name) || isHugePages(name);
}

/** Reports whether quotas and limit ranges may use an unqualified resource name. */
export function isStandardResource(name: string): boolean {
  return standardResources.has(name) || isHugePages(name) || name.startsWith(quotaPrefix + hugePagesPrefix);
}

/** Reports whether a limit may exceed the request. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

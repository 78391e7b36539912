/** What kinds of resources there are: `cpu`, `hugepages-2Mi`, `example.com/gpu`. */
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

/** Memory in pages of one size. */
export function isHugePages(name: string): boolean {
  return name.startsWith(hugePagesPrefix);
}

/** Known to Kubernetes itself rather than to a device plugin. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** Offered by a device plugin: counted in whole numbers, never shared. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith(quotaPrefix)) return false;
  return validateQualifiedName(quotaPrefix + name).length === 0;
}

/** Counted in whole numbers. */
export function isIntegerResource(name: string): boolean {
  return countedResources.has(name) || isExtendedResource(name);
}

/** What a container can ask for without naming its provider. */
export function isStandardContainerResource(name: string): boolean {
  return containerResources.has(name) || isHugePages(name);
}

/** What quotas and limits may be about without naming a provider. */
export function isStandardResource(name: string): boolean {
  return standardResources.has(name) || isHugePages(name) || name.startsWith(quotaPrefix + hugePagesPrefix);
}

/** Whether more may be used than was requested. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

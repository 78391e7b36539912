/** What an update of a Pod is to its budget (protection.md §A8.1). */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { computeQosClass } from '@kruise/api/core/pod-qos';
import type { ProtectedOperation } from '@kruise/api/kruise/podunavailablebudget';
import { isSame } from '@kruise/machinery/json-value';
import type { ResourceList } from '@kruise/machinery/resource-list';
import { compareQuantities, parseQuantity } from '@kruise/values/quantity';
import { isMarkedUnavailable } from './availability.ts';

/** A resize if containers go on with more or less than they had; nothing where the Pod stays available for sure. */
export function operationOf(old: Pod, updated: Pod): ProtectedOperation | undefined {
  if (isMarkedUnavailable(updated) && !isMarkedUnavailable(old)) return 'UPDATE';
  if (isSame(old.spec, updated.spec)) return undefined;
  return isResize(old, updated) ? 'RESIZE' : 'UPDATE';
}

function isResize(old: Pod, updated: Pod): boolean {
  if (!old.spec || !updated.spec || isStatic(old) || isStatic(updated)) return false;
  if (!isSame(withoutResources(old.spec), withoutResources(updated.spec))) return false;
  if (computeQosClass(old.spec) !== computeQosClass(updated.spec)) return false;
  // But for their resources the containers are the same.
  const { containers } = old.spec;
  return updated.spec.containers.every((container, index) => goesOn(containers[index]!, container));
}

type Spec = NonNullable<Pod['spec']>;

function withoutResources({ containers, ...rest }: Spec): object {
  return { ...rest, containers: containers.map(({ resources: _, ...container }) => container) };
}

/** Whether a container need not be started anew for what changes of its resources. */
function goesOn(old: Container, updated: Container): boolean {
  const lists = [
    [old.resources?.requests, updated.resources?.requests],
    [old.resources?.limits, updated.resources?.limits],
  ] as const;
  return lists.every(([before, after]) => changedNames(before, after).every((name) => isResizable(updated, name)));
}

function changedNames(before: ResourceList = {}, after: ResourceList = {}): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isSameAmount(before[name], after[name]));
}

function isSameAmount(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return compareQuantities(parseQuantity(a), parseQuantity(b)) === 0;
}

function isResizable({ resizePolicy = [] }: Container, name: string): boolean {
  const { restartPolicy = '' } = resizePolicy.find(({ resourceName }) => resourceName === name) ?? {};
  return (name === 'cpu' || name === 'memory') && (restartPolicy === '' || restartPolicy === 'NotRequired');
}

/** Whether a node runs it of its own accord, so that the server has no say in it. */
function isStatic({ metadata }: Pod): boolean {
  const source = metadata.annotations?.['kubernetes.io/config.source'];
  return source !== undefined && source !== 'api';
}

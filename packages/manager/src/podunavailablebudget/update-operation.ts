/** Classification of a Pod update for its PodUnavailableBudget. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { computeQosClass } from '@kruise/api/core/pod-qos';
import type { ProtectedOperation } from '@kruise/api/kruise/podunavailablebudget';
import { isSame } from '@kruise/machinery/json-value';
import type { ResourceList } from '@kruise/machinery/resource-list';
import { compareQuantities, parseQuantity } from '@kruise/values/quantity';
import { isMarkedUnavailable } from './availability.ts';

/** Returns RESIZE if containers keep running with other resources; undefined if the Pod certainly stays available. */
export function operationOf(old: Pod, updated: Pod): ProtectedOperation | undefined {
  if (isMarkedUnavailable(updated) && !isMarkedUnavailable(old)) return 'UPDATE';
  if (isSame(old.spec, updated.spec)) return undefined;
  return isResize(old, updated) ? 'RESIZE' : 'UPDATE';
}

function isResize(old: Pod, updated: Pod): boolean {
  if (!old.spec || !updated.spec || isStatic(old) || isStatic(updated)) return false;
  if (!isSame(withoutResources(old.spec), withoutResources(updated.spec))) return false;
  if (computeQosClass(old.spec) !== computeQosClass(updated.spec)) return false;
  // Apart from their resources, the containers are the same.
  const { containers } = old.spec;
  return updated.spec.containers.every((container, index) => keepsRunning(containers[index]!, container));
}

type Spec = NonNullable<Pod['spec']>;

function withoutResources({ containers, ...rest }: Spec): object {
  return { ...rest, containers: containers.map(({ resources: _, ...container }) => container) };
}

/** Reports whether the change of resources needs no restart of the container. */
function keepsRunning(old: Container, updated: Container): boolean {
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

/** Reports whether the Pod is a static Pod, which its node runs without the API server's control. */
function isStatic({ metadata }: Pod): boolean {
  const source = metadata.annotations?.['kubernetes.io/config.source'];
  return source !== undefined && source !== 'api';
}

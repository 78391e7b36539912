/** Simulated Pods and their objects without a server: decided actions are applied, and kubelets run the Pods. */
import type { Pod, PodCondition } from '@kruise/api/core/pod';
import { flattenSteps, type Step } from '@kruise/client/actions';
import type { KubernetesObject } from '@kruise/client/object-key';
import { isConditionTrue } from '@kruise/machinery/conditions';
import type { JsonObject } from '@kruise/machinery/json-value';
import { applyMergePatch } from '@kruise/machinery/merge-patch';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { formatTime, type Instant } from '@kruise/values/time';
import { podType } from '../workload/patch-pod.ts';

/** Objects by kind and name. */
export type Objects = Map<string, KubernetesObject>;

/** Returns the objects of a kind in creation order. */
export function objectsOf<T extends KubernetesObject>(objects: Objects, kind: string): readonly T[] {
  // The caller knows the type of the kind.
  return [...objects.values()].filter((object) => object.kind === kind) as unknown as readonly T[];
}

export function put(objects: Objects, ...added: readonly KubernetesObject[]): void {
  for (const object of added) objects.set(`${object.kind}/${object.metadata.name}`, object);
}

/** Applies the actions of a decision. Objects with only a generateName are numbered. */
export function carryOut(objects: Objects, steps: readonly Step[], now: Instant): void {
  for (const action of flattenSteps(steps)) {
    if (action.type === 'record' || action.type === 'effect') continue;
    const { kind, metadata } = action.object;
    const key = `${kind}/${metadata.name}`;
    const present = objects.get(key);
    switch (action.type) {
      case 'create': {
        const name = metadata.name ?? `${metadata.generateName}${now}-${objects.size}`;
        const uid = `uid-${name}-${now}`;
        const status = kind === 'Pod' ? { status: { phase: 'Pending' } } : {};
        const made = { ...metadata, name, uid, creationTimestamp: formatTime(now) };
        put(objects, { ...action.object, metadata: made, ...status } as KubernetesObject);
        break;
      }
      case 'remove':
        objects.delete(key);
        break;
      case 'update':
        if (present) put(objects, action.object);
        break;
      case 'patch': {
        if (!present) break;
        const [before, patch] = [present as unknown as JsonObject, action.patch as JsonObject];
        const after =
          action.patchType === 'strategic'
            ? applyStrategicMergePatch(before, patch, podType)
            : applyMergePatch(before, patch);
        put(objects, after as unknown as KubernetesObject);
      }
    }
  }
}

/** Returns the Pod after all its containers have started: ready, unless a gate is closed or `isReady` is false. */
export function run(pod: Pod, now: Instant, { isReady = true }: { readonly isReady?: boolean } = {}): Pod {
  const gates = pod.spec?.readinessGates ?? [];
  const conditions = pod.status?.conditions ?? [];
  const isOpen = gates.every(({ conditionType }) => isConditionTrue(conditions, conditionType));
  const condition = (type: string, isTrue: boolean): PodCondition => {
    const status = isTrue ? 'True' : 'False';
    const former = conditions.find((each) => each.type === type && each.status === status);
    return former ?? { type, status, lastTransitionTime: formatTime(now) };
  };
  return {
    ...pod,
    spec: { ...pod.spec!, nodeName: pod.spec?.nodeName ?? 'node' },
    status: {
      phase: 'Running',
      conditions: [
        ...conditions.filter(({ type }) => type !== 'ContainersReady' && type !== 'Ready'),
        condition('ContainersReady', isReady),
        condition('Ready', isReady && isOpen),
      ],
      containerStatuses: (pod.spec?.containers ?? []).map(({ name, image = '' }) => ({
        name,
        image,
        imageID: `sha256:${image}`,
        ready: isReady,
        restartCount: 0,
        state: {},
        lastState: {},
      })),
    },
  };
}

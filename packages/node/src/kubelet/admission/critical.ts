/** Static, mirror and critical Pods. */
import type { Pod } from '@kruise/api/core/pod';

/** Annotation with the config source of a Pod; only the kubelet's own copy of the Pod has it. */
export const sourceAnnotation = 'kubernetes.io/config.source';
export const seenAnnotation = 'kubernetes.io/config.seen';
export const hashAnnotation = 'kubernetes.io/config.hash';
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

const systemCriticalPriority = 2_000_000_000;

/** Reports whether a Pod is a static Pod, which comes from the node instead of the API server. */
export function isStaticPod({ metadata }: Pod): boolean {
  const source = metadata.annotations?.[sourceAnnotation];
  return source !== undefined && source !== 'api';
}

/** Reports whether a Pod is the mirror Pod of a static Pod. */
export function isMirrorPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}

/** Reports whether a Pod is critical: it may preempt other Pods and is never evicted. */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec?.priority ?? 0) >= systemCriticalPriority;
}

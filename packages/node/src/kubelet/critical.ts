/** Which Pods a node must not be without. */
import type { Pod } from '@kruise/api/core/pod';

/** Where a kubelet has a Pod from; only its own copy says so. */
export const sourceAnnotation = 'kubernetes.io/config.source';
export const seenAnnotation = 'kubernetes.io/config.seen';
export const hashAnnotation = 'kubernetes.io/config.hash';
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

const systemCriticalPriority = 2_000_000_000;

/** Whether a Pod comes from the node itself rather than from the API. */
export function isStaticPod({ metadata }: Pod): boolean {
  const source = metadata.annotations?.[sourceAnnotation];
  return source !== undefined && source !== 'api';
}

/** Whether a Pod only shows a static Pod in the API. */
export function isMirrorPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}

/** Whether others make room for a Pod. */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec?.priority ?? 0) >= systemCriticalPriority;
}

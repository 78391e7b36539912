import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { sidecarSetBaseAnnotation, sidecarSetCanaryAnnotation } from '@kruise/api/kruise/well-known';

/**
 * Returns the name of the SidecarSet that this one is a canary of: Pods that both match get the sidecars of the canary.
 * Undefined if it is not a canary.
 */
export function baseOf({ metadata: { annotations } }: SidecarSet): string | undefined {
  const base = annotations?.[sidecarSetBaseAnnotation];
  return annotations?.[sidecarSetCanaryAnnotation] === 'true' && base ? base : undefined;
}

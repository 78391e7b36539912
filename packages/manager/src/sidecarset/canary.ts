import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { sidecarSetBaseAnnotation, sidecarSetCanaryAnnotation } from '@kruise/api/kruise/well-known';

/** The SidecarSet this one is a trial of: Pods that both match get this one's sidecars. Nothing if it is no trial. */
export function baseOf({ metadata: { annotations } }: SidecarSet): string | undefined {
  const base = annotations?.[sidecarSetBaseAnnotation];
  return annotations?.[sidecarSetCanaryAnnotation] === 'true' && base ? base : undefined;
}

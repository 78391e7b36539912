import type { Pod } from '@kruise/api/core/pod';
import { containerProbeContextAnnotation, enhancedLivenessAnnotation } from '@kruise/api/kruise/well-known';
import { stringify } from '@kruise/values/go-json';
import type { WebhookContext } from '../webhooks/context.ts';
import { isOwnedByKruise } from '../workload/readiness/readiness-gate.ts';

/**
 * Removes liveness probes from the Pods of Kruise that opt into enhanced liveness, where the kubelet does not run them.
 */
export function withoutLivenessProbes(pod: Pod, { settings }: Pick<WebhookContext, 'settings'>): Pod {
  const { metadata, spec } = pod;
  const isWanted = metadata.annotations?.[enhancedLivenessAnnotation] === 'true';
  if (!settings.gates.EnhancedLivenessProbe || !isWanted || !isOwnedByKruise(pod) || !spec) return pod;
  const probes = spec.containers.flatMap(({ name, livenessProbe }) => (livenessProbe ? [{ name, livenessProbe }] : []));
  if (probes.length === 0) return pod;
  const containers = spec.containers.map(({ livenessProbe: _, ...container }) => container);
  const annotations = { ...metadata.annotations, [containerProbeContextAnnotation]: stringify(probes) };
  return { ...pod, metadata: { ...metadata, annotations }, spec: { ...spec, containers } };
}

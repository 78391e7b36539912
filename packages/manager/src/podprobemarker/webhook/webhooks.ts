import { type PodProbeMarker, podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import type { Webhook } from '@kruise/client/webhook';
import { refuse, refuseFaults, validatingWebhook, type WebhookContext } from '../../webhooks/context.ts';
import { validatePodProbeMarker } from './validate.ts';

export function podProbeMarkerValidating({ settings: { gates } }: WebhookContext): Webhook {
  return validatingWebhook<PodProbeMarker>({ v1alpha1: podProbeMarker }, (marker, old) => {
    for (const gate of ['PodProbeMarkerGate', 'KruiseDaemon'] as const) {
      if (!gates[gate]) return refuse(403, `feature-gate ${gate} is not enabled`);
    }
    return refuseFaults(validatePodProbeMarker(marker, old), 400);
  });
}

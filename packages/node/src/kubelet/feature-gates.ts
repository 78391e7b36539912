/** Feature gates of the kubelet (`--feature-gates`). */
import { type Gates, resolveGates } from '@kruise/client/feature-gates';

export const kubeletGates = {
  /** Container changes come from runtime events instead of a relist every second. */
  EventedPLEG: { default: true, stage: 'Beta' },
} as const satisfies Gates;

export type KubeletGate = keyof typeof kubeletGates;

/** State of each feature gate. */
export type KubeletGates = { readonly [name in KubeletGate]: boolean };

/** Returns all feature gates: the given ones, and the defaults of the others. */
export function kubeletFeatureGates(overrides: Partial<KubeletGates> = {}): KubeletGates {
  return resolveGates<KubeletGate>(kubeletGates, overrides);
}

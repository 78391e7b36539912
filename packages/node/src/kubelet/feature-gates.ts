/** The switches of a kubelet (`--feature-gates`). */
import { type Gates, settleGates } from '@kruise/client/feature-gates';

export const kubeletGates = {
  /** Containers are heard of when something happens to them, and not by asking for all of them once a second. */
  EventedPLEG: { default: true, stage: 'Beta' },
} as const satisfies Gates;

export type KubeletGate = keyof typeof kubeletGates;

/** Whether each gate is open. */
export type KubeletGates = { readonly [name in KubeletGate]: boolean };

/** Some gates set, the others as they are by default. */
export function kubeletFeatureGates(asked: Partial<KubeletGates> = {}): KubeletGates {
  return settleGates<KubeletGate>(kubeletGates, asked);
}

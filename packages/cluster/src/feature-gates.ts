import { parseGates } from '@kruise/client/feature-gates';
import { type FeatureGate, type FeatureGates, featureGates, kruiseGates } from '@kruise/manager/feature-gates';
import {
  type KubeletGate,
  type KubeletGates,
  kubeletFeatureGates,
  kubeletGates,
} from '@kruise/node/kubelet/feature-gates';

/** The gates of what runs together. */
export type ClusterGates = {
  /** Of kruise-manager and kruise-daemon. */
  readonly kruise: FeatureGates;
  readonly kubelet: KubeletGates;
};

/** Reads the flag `--feature-gates` of a process with several components: each takes what is meant for it. */
export function clusterGates(text: string): ClusterGates {
  const asked = parseGates<FeatureGate | KubeletGate>({ ...kruiseGates, ...kubeletGates }, text);
  return { kruise: featureGates(asked), kubelet: kubeletFeatureGates(asked) };
}

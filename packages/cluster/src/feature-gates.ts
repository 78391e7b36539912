import { parseGates } from '@kruise/client/feature-gates';
import {
  type FeatureGate,
  type FeatureGates,
  featureGates,
  kruiseGates,
} from '@kruise/manager/configuration/feature-gates';
import {
  type KubeletGate,
  type KubeletGates,
  kubeletFeatureGates,
  kubeletGates,
} from '@kruise/node/kubelet/feature-gates';

/** Feature gates of all components of a process. */
export type ClusterGates = {
  /** Gates of kruise-manager and kruise-daemon. */
  readonly kruise: FeatureGates;
  readonly kubelet: KubeletGates;
};

/** Parses the flag `--feature-gates` of a process with several components: each component takes its own gates. */
export function clusterGates(text: string): ClusterGates {
  const asked = parseGates<FeatureGate | KubeletGate>({ ...kruiseGates, ...kubeletGates }, text);
  return { kruise: featureGates(asked), kubelet: kubeletFeatureGates(asked) };
}

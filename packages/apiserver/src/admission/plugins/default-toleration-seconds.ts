import { type Pod, pod } from '@kruise/api/core/pod';
import type { Toleration } from '@kruise/api/core/toleration';
import { type AdmissionPlugin, draftOf, isWriteTo } from '../admission.ts';

const taintKeys = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const tolerationSeconds = 300;

/**
 * DefaultTolerationSeconds plugin: Pods tolerate an unreachable or not-ready node for a while, so that a short outage
 * evicts no Pods.
 */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') && isWriteTo(attributes, pod),
  mutate(attributes) {
    const spec = draftOf<Pod>(attributes).spec!;
    const given: readonly Toleration[] = spec.tolerations ?? [];
    const added = taintKeys
      .filter((key) => !given.some((toleration) => tolerates(toleration, key)))
      .map((key) => ({
        key,
        operator: 'Exists' as const,
        effect: 'NoExecute' as const,
        tolerationSeconds: tolerationSeconds,
      }));
    if (added.length > 0) spec.tolerations = [...given, ...added];
  },
};

function tolerates({ key, effect }: Toleration, taintKey: string): boolean {
  return (!key || key === taintKey) && (!effect || effect === 'NoExecute');
}

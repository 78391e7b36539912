import type { Draft } from '@kruise/schema/draft';
import { defaultPodTemplate } from '../core/pod-spec.default.ts';
import type { DaemonSet } from './daemonset.ts';

/** Annotation with the template generation, which used to be a field of the spec and is kept for older readers. */
export const templateGeneration = 'deprecated.daemonset.template.generation';

export function defaultDaemonSet({ metadata, spec }: Draft<DaemonSet>): void {
  const annotations = (metadata.annotations ??= {});
  annotations[templateGeneration] ??= '0';
  if (spec === undefined) return;
  const strategy = (spec.updateStrategy ??= {});
  strategy.type ||= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    const rollingUpdate = (strategy.rollingUpdate ??= {});
    rollingUpdate.maxUnavailable ??= 1;
    rollingUpdate.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplate(spec.template);
}

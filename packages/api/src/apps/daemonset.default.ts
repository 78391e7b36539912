import type { Draft } from '@kruise/schema/draft';
import { defaultPodTemplate } from '../core/pod-spec.default.ts';
import type { DaemonSet } from './daemonset.ts';

export function defaultDaemonSet({ spec }: Draft<DaemonSet>): void {
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

import type { Draft } from '@kruise/schema/draft';
import { defaultPodTemplate } from '../core/pod-spec.default.ts';
import type { Deployment } from './deployment.ts';

export function defaultDeployment({ spec }: Draft<Deployment>): void {
  if (spec === undefined) return;
  spec.replicas ??= 1;
  const strategy = (spec.strategy ??= {});
  strategy.type ||= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    const rollingUpdate = (strategy.rollingUpdate ??= {});
    rollingUpdate.maxUnavailable ??= '25%';
    rollingUpdate.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  defaultPodTemplate(spec.template);
}

import type { Draft } from '@kruise/schema/draft';
import { defaultPodTemplate } from '../core/pod-spec.default.ts';
import type { ReplicaSet } from './replicaset.ts';

export function defaultReplicaSet({ spec }: Draft<ReplicaSet>): void {
  if (spec === undefined) return;
  spec.replicas ??= 1;
  defaultPodTemplate((spec.template ??= {}));
}

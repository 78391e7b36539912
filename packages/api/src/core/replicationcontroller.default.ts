import type { Draft } from '@kruise/schema/draft';
import { defaultPodTemplate } from './pod-spec.default.ts';
import type { ReplicationController } from './replicationcontroller.ts';

export function defaultReplicationController(controller: Draft<ReplicationController>): void {
  const spec = (controller.spec ??= {});
  const labels = spec.template?.metadata?.labels;
  if (labels !== undefined) {
    if (isEmpty(spec.selector)) spec.selector = { ...labels };
    if (isEmpty(controller.metadata.labels)) controller.metadata.labels = { ...labels };
  }
  spec.replicas ??= 1;
  if (spec.template !== undefined) defaultPodTemplate(spec.template);
}

function isEmpty(map: { readonly [key: string]: string } | undefined): boolean {
  return map === undefined || Object.keys(map).length === 0;
}

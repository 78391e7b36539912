import { type Cause, required } from '@kruise/schema/field-error';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { nonNegative } from '../meta/value.validate.ts';
import { validatePodTemplateSpec } from './pod-spec.validate.ts';
import type { ReplicationController, ReplicationControllerSpec } from './replicationcontroller.ts';
import { validateCounts, validateEndless, validateParts, validateSelected } from './workload.validate.ts';

export function* validateReplicationController({ metadata, spec = {} }: ReplicationController): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  yield* validateSpec(spec);
}

export function* validateReplicationControllerUpdate(
  controller: ReplicationController,
  old: ReplicationController,
): Generator<Cause> {
  yield* validateReplicationController(controller);
  yield* validateKindMetaUpdate(controller.metadata, old.metadata);
  yield* validateSpec(controller.spec ?? {});
}

function* validateSpec({
  minReadySeconds,
  selector = {},
  replicas,
  template,
}: ReplicationControllerSpec): Generator<Cause> {
  yield* nonNegative('spec.minReadySeconds', minReadySeconds);
  if (Object.keys(selector).length === 0) yield required('spec.selector');
  if (replicas === undefined) yield required('spec.replicas');
  else yield* nonNegative('spec.replicas', replicas);
  if (!template) return yield required('spec.template');
  yield* validateSelected({ matchLabels: selector }, template, 'spec.template');
  yield* validatePodTemplateSpec(template, 'spec.template');
  yield* validateEndless(template, 'ReplicationController', 'spec.template');
}

export function* validateReplicationControllerStatusUpdate(
  { metadata, status = { replicas: 0 } }: ReplicationController,
  old: ReplicationController,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  yield* validateCounts(status, [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
  ]);
  yield* validateParts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']);
}

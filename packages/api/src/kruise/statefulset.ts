import * as s from '@kruise/schema';
import type { PersistentVolumeClaim } from '../core/persistentvolumeclaim.ts';
import type { PodTemplateSpec } from '../core/pod-template.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { ageColumn, containerColumns } from './columns.ts';
import { condition } from './condition.ts';
import { inPlaceUpdateStrategy, podUpdatePolicy } from './in-place-update.ts';
import { lifecycle } from './lifecycle.ts';
import { scalePaths } from './scale.ts';
import { updatePriorityStrategy } from './update-order.ts';

const doc =
  'Keeps numbered Pods with stable names, addresses and volumes, and updates them in parallel and in place where asked.';

const unorderedUpdate = s.object({
  priorityStrategy: s.pointer(updatePriorityStrategy, 'Which Pods are updated first.'),
});

export const rollingUpdateStatefulSetStrategy = s.object({
  partition: s.pointer(s.int32(), 'How many Pods stay at the old revision: those updated last. Default 0.'),
  maxUnavailable: s.pointer(
    s.intOrString(),
    'How many Pods may be unavailable during an update: a number, or a percentage of replicas rounded down to at ' +
      'least 1. Default 1; anything else needs podManagementPolicy Parallel.',
  ),
  podUpdatePolicy: s.optional(
    podUpdatePolicy,
    'ReCreate (the default), InPlaceIfPossible or InPlaceOnly. The last two need readiness gate InPlaceUpdateReady ' +
      'in the template.',
  ),
  paused: s.optional(s.boolean(), 'Pauses updates; scaling continues. Default false.'),
  unorderedUpdate: s.pointer(
    unorderedUpdate,
    'Update by priority instead of from the highest number down. Needs podManagementPolicy Parallel.',
  ),
  inPlaceUpdateStrategy: s.pointer(inPlaceUpdateStrategy, 'Settings of in-place updates.'),
  minReadySeconds: s.pointer(
    s.int32(),
    'Seconds a Pod must have been ready before it counts as available, 0 to 300. Default 0.',
  ),
});
export type RollingUpdateStatefulSetStrategy = s.TypeOf<typeof rollingUpdateStatefulSetStrategy>;

export const statefulSetUpdateStrategy = s.object({
  type: s.optional(
    s.oneOf(['RollingUpdate', 'OnDelete']),
    'RollingUpdate (the default) updates Pods to a new template; OnDelete updates a Pod only after it is deleted.',
  ),
  rollingUpdate: s.pointer(
    rollingUpdateStatefulSetStrategy,
    'How a rolling update proceeds. Must be absent with type OnDelete.',
  ),
});
export type StatefulSetUpdateStrategy = s.TypeOf<typeof statefulSetUpdateStrategy>;

const volumeClaimUpdateStrategy = s.object({
  type: s.optional(
    s.oneOf(['OnDelete', 'OnPodRollingUpdate']),
    'OnDelete (the default) leaves existing claims alone; OnPodRollingUpdate enlarges the claims of a Pod as it is updated.',
  ),
});

const retentionPolicy = s.oneOf(['Retain', 'Delete']);

const persistentVolumeClaimRetentionPolicy = s.object({
  whenDeleted: s.optional(retentionPolicy, 'What becomes of the claims when the set is deleted. Default Retain.'),
  whenScaled: s.optional(retentionPolicy, 'What becomes of the claims of Pods that are scaled in. Default Retain.'),
});

const ordinals = s.object({
  start: s.present(s.int32(), 'Number of the first Pod. Default 0; needs feature gate StatefulSetStartOrdinal.'),
});

const scaleStrategy = s.object({
  maxUnavailable: s.pointer(
    s.intOrString(),
    'How many Pods may be unavailable while scaling out: a number or a percentage of replicas. Unset: no limit. ' +
      'Only with podManagementPolicy Parallel.',
  ),
});

const leadingFields = {
  replicas: s.pointer(s.int32(), 'How many Pods to keep running; reserved numbers do not count. Default 1.'),
  selector: s.required(
    labelSelector,
    'Which Pods belong to the set, by label. Must match the labels of the template; cannot be changed.',
    { pointer: true },
  ),
  template: s.required(s.preserved<PodTemplateSpec>(), 'What a Pod looks like. A change makes a new revision.'),
  volumeClaimTemplates: s.optional(
    s.preserved<readonly PersistentVolumeClaim[]>(),
    'Volume claims each Pod keeps for life, named by template, set and number. Each replaces the volume of the ' +
      'template that has its name.',
  ),
};

const middleFields = {
  serviceName: s.optional(
    s.string(),
    'The headless Service that gives the Pods their DNS names. Not checked to exist; cannot be changed.',
  ),
  podManagementPolicy: s.optional(
    s.oneOf(['OrderedReady', 'Parallel']),
    'OrderedReady (the default) starts and stops Pods one by one; Parallel all at once. Cannot be changed.',
  ),
  updateStrategy: s.optional(statefulSetUpdateStrategy, 'Strategy for updating Pods to a changed template.'),
  revisionHistoryLimit: s.pointer(s.int32(), 'Number of unused revisions to keep. Default 10.'),
};

export const statefulSetSpec = s.object({
  ...leadingFields,
  volumeClaimUpdateStrategy: s.optional(
    volumeClaimUpdateStrategy,
    'What a change of volumeClaimTemplates does to existing claims. Needs feature gate StatefulSetAutoResizePVCGate.',
  ),
  ...middleFields,
  reserveOrdinals: s.optional(
    s.list(s.intOrString()),
    'Numbers no Pod may have: single ones, or closed ranges such as "2-5". A Pod that has one moves to a free number.',
  ),
  lifecycle: s.pointer(lifecycle, 'Lifecycle hooks, at which Pods wait for another controller.'),
  scaleStrategy: s.pointer(scaleStrategy, 'How fast the set is scaled out.'),
  persistentVolumeClaimRetentionPolicy: s.pointer(
    persistentVolumeClaimRetentionPolicy,
    'When volume claims are deleted. Needs feature gate StatefulSetAutoDeletePVC; without it they are kept.',
  ),
  ordinals: s.pointer(ordinals, 'Where the numbering of the Pods begins.'),
});
export type StatefulSetSpec = s.TypeOf<typeof statefulSetSpec>;

export const statefulSetSpecV1alpha1 = s.object({ ...leadingFields, ...middleFields });

const volumeClaimStatus = s.object({
  volumeClaimName: s.required(s.string(), 'Name of the volume claim template.'),
  compatibleReplicas: s.required(s.int32(), 'Pods whose claim asks for at least what the template asks.'),
  compatibleReadyReplicas: s.required(s.int32(), 'Pods whose volume has grown to what its claim asks for.'),
});

const statusFields = {
  observedGeneration: s.optional(s.int64(), 'The metadata.generation that this status was observed for.'),
  replicas: s.required(s.int32(), 'Pods that have been created, also those being deleted.'),
  readyReplicas: s.required(s.int32(), 'Pods that are running and ready.'),
  availableReplicas: s.required(s.int32(), 'Pods that have been ready for minReadySeconds.'),
  currentReplicas: s.required(s.int32(), 'Pods at the current revision.'),
  updatedReplicas: s.required(s.int32(), 'Pods at the update revision.'),
};

const trailingStatusFields = {
  currentRevision: s.optional(s.string(), 'Name of the ControllerRevision the Pods are updated from.'),
  updateRevision: s.optional(s.string(), 'Name of the ControllerRevision of the current template.'),
  collisionCount: s.pointer(s.int32(), 'Number of hash collisions of revision names.'),
  conditions: s.optional(s.list(condition), 'The last errors, of types FailedCreatePod and FailedUpdatePod.'),
  labelSelector: s.optional(s.string(), 'The selector as text, for autoscalers.'),
};

export const statefulSetStatus = s.object({
  ...statusFields,
  updatedReadyReplicas: s.optional(s.int32(), 'Pods at the update revision that are ready.'),
  updatedAvailableReplicas: s.optional(s.int32(), 'Pods at the update revision that are available.'),
  ...trailingStatusFields,
  volumeClaims: s.optional(s.list(volumeClaimStatus), 'How far each volume claim template has been carried out.'),
});
export type StatefulSetStatus = s.TypeOf<typeof statefulSetStatus>;

export const statefulSetStatusV1alpha1 = s.object({ ...statusFields, ...trailingStatusFields });

const facts = {
  group: 'apps.kruise.io',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  scope: 'Namespaced',
  shortNames: ['sts', 'asts'],
  subresources: ['scale', 'status'],
  scale: scalePaths,
  columns: [
    { name: 'DESIRED', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'CURRENT', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'UPDATED', type: 'integer', jsonPath: '.status.updatedReplicas' },
    { name: 'READY', type: 'integer', jsonPath: '.status.readyReplicas' },
    ageColumn,
    ...containerColumns,
  ],
} as const;

export const statefulSet = kind('io.kruise.apps.v1beta1.StatefulSet', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(statefulSetSpec, 'Desired state of the Pods, and how to reach it.'),
    status: s.optional(statefulSetStatus, 'Observed state of the Pods.'),
  },
});
export type StatefulSet = s.TypeOf<typeof statefulSet>;

export const statefulSetV1alpha1 = kind('io.kruise.apps.v1alpha1.StatefulSet', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(statefulSetSpecV1alpha1, 'Desired state of the Pods, and how to reach it.'),
    status: s.optional(statefulSetStatusV1alpha1, 'Observed state of the Pods.'),
  },
});
export type StatefulSetV1alpha1 = s.TypeOf<typeof statefulSetV1alpha1>;

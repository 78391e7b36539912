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
  'StatefulSet maintains numbered Pods with stable names, addresses and volumes, and updates them optionally in parallel and in place.';

const unorderedUpdate = s.object({
  priorityStrategy: s.pointer(updatePriorityStrategy, 'Update order of Pods.'),
});

export const rollingUpdateStatefulSetStrategy = s.object({
  partition: s.pointer(
    s.int32(),
    'Number of Pods that stay at the old revision: those that are last in the update order. Default 0.',
  ),
  maxUnavailable: s.pointer(
    s.intOrString(),
    'Maximum number of unavailable Pods during an update: a number, or a percentage of replicas rounded down to at ' +
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
    'Parameters of the rolling update. Must be absent with type OnDelete.',
  ),
});
export type StatefulSetUpdateStrategy = s.TypeOf<typeof statefulSetUpdateStrategy>;

const volumeClaimUpdateStrategy = s.object({
  type: s.optional(
    s.oneOf(['OnDelete', 'OnPodRollingUpdate']),
    'Type: OnDelete (the default) does not change existing PVCs; OnPodRollingUpdate expands the PVCs of a Pod when the Pod is updated.',
  ),
});

const retentionPolicy = s.oneOf(['Retain', 'Delete']);

const persistentVolumeClaimRetentionPolicy = s.object({
  whenDeleted: s.optional(retentionPolicy, 'Policy for PVCs when the set is deleted. Default Retain.'),
  whenScaled: s.optional(retentionPolicy, 'Policy for PVCs of Pods that are scaled in. Default Retain.'),
});

const ordinals = s.object({
  start: s.present(s.int32(), 'Number of the first Pod. Default 0; needs feature gate StatefulSetStartOrdinal.'),
});

const scaleStrategy = s.object({
  maxUnavailable: s.pointer(
    s.intOrString(),
    'Maximum number of unavailable Pods while scaling out: a number or a percentage of replicas. Unset: no limit. ' +
      'Only with podManagementPolicy Parallel.',
  ),
});

const leadingFields = {
  replicas: s.pointer(s.int32(), 'Desired number of Pods; reserved ordinals do not count. Default 1.'),
  selector: s.required(
    labelSelector,
    'Label selector of the Pods that belong to the set. Must match the labels of the template; immutable.',
    { pointer: true },
  ),
  template: s.required(s.preserved<PodTemplateSpec>(), 'Template of the Pods. A change creates a new revision.'),
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
    'Management policy: OrderedReady (the default) creates and deletes Pods one at a time; Parallel all at once. Immutable.',
  ),
  updateStrategy: s.optional(statefulSetUpdateStrategy, 'Strategy for updating Pods to a changed template.'),
  revisionHistoryLimit: s.pointer(s.int32(), 'Number of unused revisions to keep. Default 10.'),
};

export const statefulSetSpec = s.object({
  ...leadingFields,
  volumeClaimUpdateStrategy: s.optional(
    volumeClaimUpdateStrategy,
    'Policy for existing PVCs when volumeClaimTemplates changes. Requires the feature gate StatefulSetAutoResizePVCGate.',
  ),
  ...middleFields,
  reserveOrdinals: s.optional(
    s.list(s.intOrString()),
    'Numbers no Pod may have: single ones, or closed ranges such as "2-5". A Pod that has one moves to a free number.',
  ),
  lifecycle: s.pointer(lifecycle, 'Lifecycle hooks, at which Pods wait for another controller.'),
  scaleStrategy: s.pointer(scaleStrategy, 'Limit of scaling out.'),
  persistentVolumeClaimRetentionPolicy: s.pointer(
    persistentVolumeClaimRetentionPolicy,
    'Retention of PVCs. Requires the feature gate StatefulSetAutoDeletePVC; without it PVCs are kept.',
  ),
  ordinals: s.pointer(ordinals, 'Ordinals of the Pods, in particular the first one.'),
});
export type StatefulSetSpec = s.TypeOf<typeof statefulSetSpec>;

export const statefulSetSpecV1alpha1 = s.object({ ...leadingFields, ...middleFields });

const volumeClaimStatus = s.object({
  volumeClaimName: s.required(s.string(), 'Name of the volume claim template.'),
  compatibleReplicas: s.required(s.int32(), 'Number of Pods whose PVC requests at least the size in the template.'),
  compatibleReadyReplicas: s.required(s.int32(), 'Number of Pods whose volume has the size that the PVC requests.'),
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
  volumeClaims: s.optional(s.list(volumeClaimStatus), 'Progress of each PVC template.'),
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

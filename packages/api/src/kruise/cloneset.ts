import * as s from '@kruise/schema';
import type { PersistentVolumeClaim } from '../core/persistentvolumeclaim.ts';
import type { PodTemplateSpec } from '../core/pod-template.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { ageColumn, containerColumns } from './columns.ts';
import { inPlaceUpdateStrategy, podUpdatePolicy } from './in-place-update.ts';
import { lifecycle } from './lifecycle.ts';
import { scalePaths } from './scale.ts';
import { updatePriorityStrategy, updateScatterStrategy } from './update-order.ts';

const doc =
  'CloneSet maintains a number of identical Pods, optionally with PVCs for each Pod, and updates them in place where possible.';

const scaleFields = {
  podsToDelete: s.optional(
    s.list(s.string()),
    'Names of Pods to delete first. A name is removed from the list when its Pod is deleted.',
  ),
  maxUnavailable: s.pointer(
    s.intOrString(),
    'Maximum number of unavailable Pods while scaling out: it limits the Pods that are created at once. ' +
      'A number or a percentage of replicas; unset: no limit.',
  ),
};

const enablePVCReuse = s.boolean({ default: false });
const enablePVCReuseDoc = 'Reuses the PVCs of deleted Pods for the Pods that replace them. Default false.';
const excludePreparingDelete = s.optional(
  s.boolean(),
  'Do not count Pods in state PreparingDelete among the replicas, so that they are replaced at once. Default false.',
);

export const cloneSetScaleStrategy = s.object({
  ...scaleFields,
  enablePVCReuse: s.optional(enablePVCReuse, enablePVCReuseDoc, { omitEmpty: false }),
  excludePreparingDelete,
});
export type CloneSetScaleStrategy = s.TypeOf<typeof cloneSetScaleStrategy>;

export const cloneSetScaleStrategyV1alpha1 = s.object({
  ...scaleFields,
  disablePVCReuse: s.optional(
    s.boolean(),
    'Disables the reuse of PVCs: new PVCs are created for every Pod. Default false.',
  ),
});

const rollingFields = {
  partition: s.pointer(
    s.intOrString(),
    'Number of Pods that stay at the old revision: a number, or a percentage of replicas rounded up, where anything ' +
      'below 100% updates at least one. Default 0.',
  ),
  maxUnavailable: s.pointer(
    s.intOrString(),
    'Maximum number of unavailable Pods during an update, a specified deletion or scaling in: a number or a percentage ' +
      'of replicas, rounded up, or down if maxSurge is set. Default 20%.',
  ),
  maxSurge: s.pointer(
    s.intOrString(),
    'Maximum number of Pods above replicas during an update or a specified deletion: a number or a percentage rounded ' +
      'up. Default 0; not with InPlaceOnly.',
  ),
  paused: s.optional(s.boolean(), 'Pauses updates; scaling continues. Default false.'),
  priorityStrategy: s.pointer(
    updatePriorityStrategy,
    'Update order of Pods. Unset: first Pods that are not ready, then the newest.',
  ),
  scatterStrategy: s.optional(
    updateScatterStrategy,
    'Labels whose Pods are spread evenly over the update. Applied after the priority; best used with one term.',
  ),
  inPlaceUpdateStrategy: s.pointer(inPlaceUpdateStrategy, 'Settings of in-place updates.'),
};

export const cloneSetRollingUpdate = s.object({
  podUpdatePolicy: s.optional(
    podUpdatePolicy,
    'ReCreate (the default) replaces Pods; InPlaceIfPossible changes the running Pod where the change allows it; ' +
      'InPlaceOnly refuses changes that need a new Pod.',
  ),
  ...rollingFields,
});
export type CloneSetRollingUpdate = s.TypeOf<typeof cloneSetRollingUpdate>;

export const cloneSetUpdateStrategy = s.object({
  type: s.optional(
    s.oneOf(['RollingUpdate', 'OnDelete']),
    'RollingUpdate (the default) updates Pods to a new template; OnDelete updates a Pod only after it is deleted.',
  ),
  rollingUpdate: s.pointer(
    cloneSetRollingUpdate,
    'Parameters of the rolling update. Set by default with type RollingUpdate.',
  ),
});
export type CloneSetUpdateStrategy = s.TypeOf<typeof cloneSetUpdateStrategy>;

export const cloneSetUpdateStrategyV1alpha1 = s.object({
  type: s.optional(
    podUpdatePolicy,
    'ReCreate (the default) replaces Pods; InPlaceIfPossible changes the running Pod where the change allows it; ' +
      'InPlaceOnly refuses changes that need a new Pod.',
  ),
  ...rollingFields,
});

const identityFields = {
  replicas: s.pointer(s.int32(), 'Number of desired Pods. Default 1.'),
  selector: s.required(
    labelSelector,
    'Label selector of the Pods that belong to the set. Must match the labels of the template; immutable.',
    { pointer: true },
  ),
  template: s.required(s.preserved<PodTemplateSpec>(), 'Template of the Pods. A change creates a new revision.'),
  volumeClaimTemplates: s.optional(
    s.preserved<readonly PersistentVolumeClaim[]>(),
    'Templates of PVCs that are created for every Pod and deleted with it. A change alone creates no new revision.',
  ),
};

const restFields = {
  revisionHistoryLimit: s.pointer(s.int32(), 'Number of unused revisions to keep. Default 10.'),
  minReadySeconds: s.optional(
    s.int32(),
    'Seconds a Pod must have been ready before it counts as available. Default 0.',
  ),
  lifecycle: s.pointer(lifecycle, 'Lifecycle hooks, at which Pods wait for another controller.'),
  progressDeadlineSeconds: s.pointer(
    s.int32(),
    'Seconds until the condition Progressing of an update becomes False; the update continues. Unset, or ' +
      '2147483647: no such condition.',
  ),
};

export const cloneSetSpec = s.object({
  ...identityFields,
  scaleStrategy: s.optional(cloneSetScaleStrategy, 'Strategy for scaling.'),
  updateStrategy: s.optional(cloneSetUpdateStrategy, 'Strategy for updating Pods to a changed template.'),
  ...restFields,
});
export type CloneSetSpec = s.TypeOf<typeof cloneSetSpec>;

const scaleStrategyAsWritten = s.object({
  ...scaleFields,
  enablePVCReuse: s.optional(enablePVCReuse, enablePVCReuseDoc),
  excludePreparingDelete,
});

/** The spec as Go writes it, without the default that the server adds: `enablePVCReuse` is omitted if it is false. */
export const cloneSetSpecAsWritten = s.object({
  ...identityFields,
  scaleStrategy: s.optional(scaleStrategyAsWritten, 'Strategy for scaling.'),
  updateStrategy: s.optional(cloneSetUpdateStrategy, 'Strategy for updating Pods to a changed template.'),
  ...restFields,
});

export const cloneSetSpecV1alpha1 = s.object({
  ...identityFields,
  scaleStrategy: s.optional(cloneSetScaleStrategyV1alpha1, 'Strategy for scaling.'),
  updateStrategy: s.optional(cloneSetUpdateStrategyV1alpha1, 'Strategy for updating Pods to a changed template.'),
  ...restFields,
});

export const cloneSetCondition = s.object({
  type: s.required(
    s.oneOf(['Progressing', 'FailedScale', 'FailedUpdate']),
    'Type: Progressing, or FailedScale and FailedUpdate for the last error.',
  ),
  status: s.required(s.oneOf(['True', 'False', 'Unknown']), 'Status of the condition: True, False or Unknown.'),
  lastUpdateTime: s.optional(
    s.dateTime(),
    'Time at which status or reason last changed; the progress deadline is counted from it.',
  ),
  lastTransitionTime: s.optional(s.dateTime(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(s.string(), 'Machine-readable reason, such as CloneSetAvailable or ProgressDeadlineExceeded.'),
  message: s.optional(s.string(), 'Human-readable message with details.'),
});
export type CloneSetCondition = s.TypeOf<typeof cloneSetCondition>;

export const cloneSetStatus = s.object({
  observedGeneration: s.optional(s.int64(), 'The metadata.generation that this status was observed for.'),
  replicas: s.required(s.int32(), 'Pods of the set that are neither finished nor being deleted.'),
  readyReplicas: s.required(s.int32(), 'Pods that are ready.'),
  availableReplicas: s.required(s.int32(), 'Pods that have been ready for minReadySeconds and wait in no hook.'),
  updatedReplicas: s.required(s.int32(), 'Pods at the update revision.'),
  updatedReadyReplicas: s.required(s.int32(), 'Pods at the update revision that are ready.'),
  updatedAvailableReplicas: s.optional(s.int32(), 'Pods at the update revision that are available.'),
  expectedUpdatedReplicas: s.optional(
    s.int32(),
    'Pods that should be at the update revision: replicas less partition.',
  ),
  updateRevision: s.optional(s.string(), 'Name of the ControllerRevision of the current template.'),
  currentRevision: s.optional(
    s.string(),
    'Name of the ControllerRevision every Pod was at before; becomes the update revision when all Pods have it.',
  ),
  collisionCount: s.pointer(s.int32(), 'Number of hash collisions of revision names.'),
  conditions: s.optional(s.list(cloneSetCondition), 'Conditions of scaling and updating.'),
  labelSelector: s.optional(s.string(), 'The selector as text, for autoscalers.'),
});
export type CloneSetStatus = s.TypeOf<typeof cloneSetStatus>;

const facts = {
  group: 'apps.kruise.io',
  kind: 'CloneSet',
  plural: 'clonesets',
  scope: 'Namespaced',
  shortNames: ['clone'],
  subresources: ['scale', 'status'],
  scale: scalePaths,
  columns: [
    { name: 'DESIRED', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'UPDATED', type: 'integer', jsonPath: '.status.updatedReplicas' },
    { name: 'UPDATED_READY', type: 'integer', jsonPath: '.status.updatedReadyReplicas' },
    { name: 'UPDATED_AVAILABLE', type: 'integer', jsonPath: '.status.updatedAvailableReplicas' },
    { name: 'READY', type: 'integer', jsonPath: '.status.readyReplicas' },
    { name: 'TOTAL', type: 'integer', jsonPath: '.status.replicas' },
    ageColumn,
    ...containerColumns,
    { name: 'SELECTOR', type: 'string', jsonPath: '.status.labelSelector', priority: 1 },
  ],
} as const;

export const cloneSet = kind('io.kruise.apps.v1beta1.CloneSet', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(cloneSetSpec, 'Desired state of the Pods, and how to reach it.'),
    status: s.optional(cloneSetStatus, 'Observed state of the Pods.'),
  },
});
export type CloneSet = s.TypeOf<typeof cloneSet>;

export const cloneSetV1alpha1 = kind('io.kruise.apps.v1alpha1.CloneSet', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(cloneSetSpecV1alpha1, 'Desired state of the Pods, and how to reach it.'),
    status: s.optional(cloneSetStatus, 'Observed state of the Pods.'),
  },
});
export type CloneSetV1alpha1 = s.TypeOf<typeof cloneSetV1alpha1>;

import * as s from '@kruise/schema';
import type { PodTemplateSpec } from '../core/pod-template.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { ageColumn, containerColumns } from './columns.ts';
import { condition } from './condition.ts';
import { lifecycle } from './lifecycle.ts';

const doc =
  'DaemonSet maintains one Pod on every matching node, and updates them node by node, optionally in place or with a surge.';

function rollingUpdateWith<N extends s.Node>(rollingUpdateType: N) {
  return s.object({
    rollingUpdateType: s.optional(
      rollingUpdateType,
      'Standard (the default) replaces Pods; InPlaceIfPossible changes the running Pod where the change allows it.',
    ),
    maxUnavailable: s.pointer(
      s.intOrString(),
      'Maximum number of nodes without an available Pod during an update: a number, or a percentage of the desired nodes ' +
        'rounded up. Default 1; must be 0 with maxSurge.',
    ),
    maxSurge: s.pointer(
      s.intOrString(),
      'Maximum number of nodes on which the new Pod is started before the old one is deleted: a number, or a percentage rounded up. Default 0; ' +
        'not with InPlaceIfPossible.',
    ),
    selector: s.pointer(labelSelector, 'Update only Pods on nodes with these labels. Unset: on all nodes.'),
    partition: s.pointer(
      s.intOrString(),
      'Number of Pods that stay at the old revision: a number, or a percentage of the desired nodes rounded down. Default 0.',
    ),
    paused: s.pointer(s.boolean(), 'Stops updating Pods; new nodes still get theirs. Default false.'),
  });
}

export const rollingUpdateDaemonSet = rollingUpdateWith(s.oneOf(['Standard', 'InPlaceIfPossible']));
export type RollingUpdateDaemonSet = s.TypeOf<typeof rollingUpdateDaemonSet>;

// Surging is an old name for Standard with maxSurge. Admission replaces it.
const rollingUpdateDaemonSetV1alpha1 = rollingUpdateWith(s.oneOf(['Standard', 'InPlaceIfPossible', 'Surging']));

function updateStrategyWith<N extends s.Node>(rollingUpdate: N) {
  return s.object({
    type: s.optional(
      s.oneOf(['RollingUpdate', 'OnDelete']),
      'RollingUpdate (the default) updates Pods to a new template; OnDelete updates a Pod only after it is deleted.',
    ),
    rollingUpdate: s.pointer(
      rollingUpdate,
      'Parameters of the rolling update. Set by default with type RollingUpdate.',
    ),
  });
}

export const daemonSetUpdateStrategy = updateStrategyWith(rollingUpdateDaemonSet);
export type DaemonSetUpdateStrategy = s.TypeOf<typeof daemonSetUpdateStrategy>;

const scaleStrategy = s.object({
  partitionedScaling: s.optional(
    s.boolean(),
    'Applies partition also to the creation of Pods on new nodes. Default false: every node gets its Pod at once.',
  ),
});

const leadingFields = {
  selector: s.required(
    labelSelector,
    'Label selector of the Pods that belong to the set. Must match the labels of the template; immutable.',
    { pointer: true },
  ),
  template: s.required(
    s.preserved<PodTemplateSpec>(),
    'Template of the Pods; its node selector, affinity and tolerations select the nodes. A change creates a new revision.',
  ),
};

const trailingFields = {
  minReadySeconds: s.optional(
    s.int32(),
    'Seconds a Pod must have been ready before it counts as available. Default 0.',
  ),
  burstReplicas: s.pointer(
    s.intOrString(),
    'Maximum number of Pods that are created, deleted or updated in one step: a number, or a percentage of the desired nodes ' +
      'rounded down. Default 250.',
  ),
  revisionHistoryLimit: s.pointer(s.int32(), 'Number of unused revisions to keep. Default 10.'),
  lifecycle: s.pointer(
    lifecycle,
    'Lifecycle hooks, at which Pods wait for another controller. Only preDelete has an effect.',
  ),
};

export const daemonSetSpec = s.object({
  ...leadingFields,
  updateStrategy: s.optional(daemonSetUpdateStrategy, 'Strategy for updating Pods to a changed template.'),
  ...trailingFields,
  scaleStrategy: s.pointer(scaleStrategy, 'Strategy of creating Pods on nodes without one.'),
});
export type DaemonSetSpec = s.TypeOf<typeof daemonSetSpec>;

export const daemonSetSpecV1alpha1 = s.object({
  ...leadingFields,
  updateStrategy: s.optional(
    updateStrategyWith(rollingUpdateDaemonSetV1alpha1),
    'Strategy for updating Pods to a changed template.',
  ),
  ...trailingFields,
});

const statusFields = {
  currentNumberScheduled: s.required(s.int32(), 'Nodes that should have a Pod and have at least one.'),
  numberMisscheduled: s.required(s.int32(), 'Nodes that have a Pod and should not.'),
  desiredNumberScheduled: s.required(s.int32(), 'Nodes that should have a Pod.'),
  numberReady: s.required(s.int32(), 'Nodes that should have a Pod and whose Pod is ready.'),
  observedGeneration: s.optional(s.int64(), 'The metadata.generation that this status was observed for.'),
  updatedNumberScheduled: s.required(s.int32(), 'Nodes whose Pod is at the newest revision.'),
  numberAvailable: s.optional(s.int32(), 'Nodes whose Pod has been ready for minReadySeconds.'),
  numberUnavailable: s.optional(s.int32(), 'Nodes that should have a Pod and have none that is available.'),
  collisionCount: s.pointer(s.int32(), 'Number of hash collisions of revision names.'),
  conditions: s.optional(s.list(condition), 'Not written by Kruise; for compatibility with other workloads.'),
};

export const daemonSetStatus = s.object({
  ...statusFields,
  updateRevision: s.optional(s.string(), 'The controller-revision-hash of the newest revision.'),
});
export type DaemonSetStatus = s.TypeOf<typeof daemonSetStatus>;

export const daemonSetStatusV1alpha1 = s.object({
  ...statusFields,
  daemonSetHash: s.optional(s.string(), 'The controller-revision-hash of the newest revision.'),
});

const facts = {
  group: 'apps.kruise.io',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  scope: 'Namespaced',
  shortNames: ['daemon', 'ads'],
  subresources: ['status'],
  columns: [
    { name: 'DESIRED', type: 'integer', jsonPath: '.status.desiredNumberScheduled' },
    { name: 'CURRENT', type: 'integer', jsonPath: '.status.currentNumberScheduled' },
    { name: 'READY', type: 'integer', jsonPath: '.status.numberReady' },
    { name: 'UP-TO-DATE', type: 'integer', jsonPath: '.status.updatedNumberScheduled' },
    { name: 'AVAILABLE', type: 'integer', jsonPath: '.status.numberAvailable' },
    ageColumn,
    ...containerColumns,
  ],
} as const;

export const daemonSet = kind('io.kruise.apps.v1beta1.DaemonSet', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(daemonSetSpec, 'Desired state of the Pods, and how to reach it.'),
    status: s.optional(daemonSetStatus, 'The nodes, counted by what their Pods are like.'),
  },
});
export type DaemonSet = s.TypeOf<typeof daemonSet>;

export const daemonSetV1alpha1 = kind('io.kruise.apps.v1alpha1.DaemonSet', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(daemonSetSpecV1alpha1, 'Desired state of the Pods, and how to reach it.'),
    status: s.optional(daemonSetStatusV1alpha1, 'The nodes, counted by what their Pods are like.'),
  },
});
export type DaemonSetV1alpha1 = s.TypeOf<typeof daemonSetV1alpha1>;

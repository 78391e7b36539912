import * as s from '@kruise/schema';
import { type Container, container } from '../core/container.ts';
import { localObjectReference } from '../core/reference.ts';
import { objectFieldSelector } from '../core/value-source.ts';
import type { Volume } from '../core/volume.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { ageColumn } from './columns.ts';
import { updatePriorityStrategy, updateScatterStrategy } from './update-order.ts';

const doc = 'SidecarSet injects sidecar containers into newly created Pods, and updates their images in place.';

const upgradeStrategy = s.object({
  upgradeType: s.optional(
    s.oneOf(['ColdUpgrade', 'HotUpgrade']),
    'ColdUpgrade (the default) restarts the container with the new image; HotUpgrade keeps two containers, which ' +
      'take turns, so that the sidecar is never gone.',
  ),
  hotUpgradeEmptyImage: s.optional(s.string(), 'Image of the idle container, for type HotUpgrade.'),
});

const shareVolumePolicy = s.object({
  type: s.optional(s.oneOf(['enabled', 'disabled']), 'enabled or disabled (the default).'),
});

const sourceContainerNameFrom = s.object({
  fieldRef: s.pointer(
    objectFieldSelector,
    'A field of the Pod that holds the name: metadata.name, a label or an annotation.',
  ),
});

const transferEnv = s.object({
  sourceContainerName: s.optional(s.string(), 'The container to copy from.'),
  sourceContainerNameFrom: s.pointer(
    sourceContainerNameFrom,
    'Source in the Pod that determines the container to copy from.',
  ),
  envName: s.optional(s.string(), 'The variable to copy.'),
  envNames: s.optional(s.list(s.string()), 'More variables to copy.'),
});

const resourceExpressions = s.object({
  cpu: s.optional(s.string(), 'An expression in cpu, such as max(cpu*50%, 50m).'),
  memory: s.optional(s.string(), 'An expression in memory, such as memory*30%.'),
});

const resourcesPolicy = s.object({
  targetContainersMode: s.required(
    s.enumeration(['sum', 'max']),
    'Mode of calculation for cpu and memory: the sum over the measured containers, or the maximum of them.',
  ),
  targetContainersNameRegex: s.optional(
    s.string({ default: '.*' }),
    'Regular expression of the names of the measured containers; other sidecars are never measured. Default .*',
  ),
  resourcesExpr: s.required(
    s.object({
      limits: s.pointer(resourceExpressions, 'The limits. One is left unset if a container measured has none.'),
      requests: s.pointer(resourceExpressions, 'The requests. A container measured without one counts as 0.'),
    }),
    'Resources of the sidecar; at least one of limits and requests.',
  ),
});

const sidecarFields = {
  podInjectPolicy: s.optional(
    s.oneOf(['BeforeAppContainer', 'AfterAppContainer']),
    'Position: before the containers of the Pod (the default), or after them (the default for init containers).',
  ),
  upgradeStrategy: s.optional(upgradeStrategy, 'Upgrade strategy of the image.'),
  shareVolumePolicy: s.optional(shareVolumePolicy, 'Mounts all volumes that the containers of the Pod mount.'),
  shareVolumeDevicePolicy: s.pointer(shareVolumePolicy, 'Adds all block devices of the containers of the Pod.'),
  transferEnv: s.optional(s.list(transferEnv), 'Environment variables copied from containers of the Pod.'),
  resourcesPolicy: s.pointer(
    resourcesPolicy,
    'Calculates the resources from those of the Pod when the Pod is created. Excludes resources.',
  ),
};

/** A container with all fields of a Pod's container, and the additional fields of a SidecarSet. */
export type SidecarContainer = Container & s.FieldsType<typeof sidecarFields>;
export const sidecarContainer = s.preserved<SidecarContainer>({ partial: sidecarFields });

/** A sidecar with all fields known, in Go's order, for hashes and revisions. */
export const typedSidecarContainer = s.object({ ...container.fields, ...sidecarFields });

export const sidecarSetUpdateStrategy = s.object({
  type: s.optional(
    s.oneOf(['NotUpdate', 'RollingUpdate']),
    'Type: RollingUpdate (the default) updates the sidecars of running Pods; NotUpdate does not.',
  ),
  paused: s.optional(s.boolean(), 'Stops updating sidecars; new Pods still get theirs. Default false.'),
  selector: s.pointer(labelSelector, 'Update only these Pods, by label. Unset: all.'),
  partition: s.pointer(
    s.intOrString(),
    'Number of Pods that keep the old sidecars: a number or a percentage, rounded up. Default 0.',
  ),
  maxUnavailable: s.pointer(
    s.intOrString(),
    'Maximum number of unavailable Pods during an update: a number or a percentage, rounded up. Default 1.',
  ),
  priorityStrategy: s.pointer(updatePriorityStrategy, 'Update order of Pods.'),
  scatterStrategy: s.optional(
    updateScatterStrategy,
    'Labels by which Pods are distributed evenly over the update; the value * means every value of the key.',
  ),
});
export type SidecarSetUpdateStrategy = s.TypeOf<typeof sidecarSetUpdateStrategy>;

const injectRevision = s.object({
  customVersion: s.pointer(s.string(), 'Custom version: new Pods get the newest revision with this customVersion.'),
  revisionName: s.pointer(s.string(), 'Name of the ControllerRevision that new Pods get. Overrides customVersion.'),
  policy: s.optional(
    s.enumeration(['Always', 'Partial'], { default: 'Always' }),
    'Policy: Always (the default) injects the revision into every new Pod. Partial: only into Pods that updateStrategy.selector does not match, ' +
      'and of the others the share that a percentage in partition names.',
  ),
});

export const sidecarSetInjectionStrategy = s.object({
  paused: s.optional(s.boolean(), 'New Pods get no sidecars; those that have them keep being updated. Default false.'),
  revision: s.pointer(injectRevision, 'Revision that new Pods get. Unset: the newest.'),
});
export type SidecarSetInjectionStrategy = s.TypeOf<typeof sidecarSetInjectionStrategy>;

const patchPodMetadata = s.object({
  annotations: s.optional(s.map(s.string()), 'Annotations to set on the Pod.'),
  patchPolicy: s.optional(
    s.oneOf(['Retain', 'Overwrite', 'MergePatchJson']),
    'Policy for existing annotations: Retain (the default) keeps the value, Overwrite replaces it, MergePatchJson merges the ' +
      'two values as JSON.',
  ),
});

const selectorField = {
  selector: s.pointer(labelSelector, 'Label selector of the Pods that get sidecars. Required, and not empty.'),
};

const sharedFields = {
  namespaceSelector: s.pointer(labelSelector, 'Only Pods in namespaces with these labels. Unset: in all.'),
  initContainers: s.optional(
    s.list(sidecarContainer),
    'Init containers of new Pods. One with restartPolicy Always is a sidecar that starts before the other containers.',
    { patchStrategy: 'merge', patchMergeKey: 'name' },
  ),
  containers: s.optional(s.list(sidecarContainer), 'The sidecar containers.', {
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  volumes: s.optional(
    s.preserved<readonly Volume[]>(),
    'Volumes for the sidecars; a Pod gets those that one of its sidecars mounts.',
    { patchStrategy: 'merge', patchMergeKey: 'name' },
  ),
  updateStrategy: s.optional(sidecarSetUpdateStrategy, 'Update strategy of the sidecars of running Pods.'),
  injectionStrategy: s.optional(sidecarSetInjectionStrategy, 'Injection into new Pods.'),
  imagePullSecrets: s.optional(s.list(localObjectReference), 'Secrets to fetch the images with, added to the Pods.', {
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  revisionHistoryLimit: s.pointer(s.int32(), 'Number of revisions to keep. Default 10.'),
  patchPodMetadata: s.optional(s.list(patchPodMetadata), 'Annotations to set on the Pods.'),
};

export const sidecarSetSpec = s.object({
  ...selectorField,
  ...sharedFields,
  customVersion: s.optional(s.string(), 'A version of your own for the present revision, to choose it by later.'),
});
export type SidecarSetSpec = s.TypeOf<typeof sidecarSetSpec>;

export const sidecarSetSpecV1alpha1 = s.object({
  ...selectorField,
  namespace: s.optional(s.string(), 'Only Pods in this namespace. Unset: in all.'),
  ...sharedFields,
});

export const sidecarSetStatus = s.object({
  observedGeneration: s.optional(s.int64(), 'The metadata.generation that this status was observed for.'),
  matchedPods: s.required(s.int32(), 'Pods that have the sidecars.'),
  updatedPods: s.required(s.int32(), 'Number of Pods with updated sidecars.'),
  readyPods: s.required(s.int32(), 'Pods that are ready, with the images they should have.'),
  updatedReadyPods: s.optional(s.int32(), 'Pods that are updated and ready.'),
  latestRevision: s.optional(s.string(), 'Name of the ControllerRevision of the current spec.'),
  collisionCount: s.pointer(s.int32(), 'Number of hash collisions of revision names.'),
});
export type SidecarSetStatus = s.TypeOf<typeof sidecarSetStatus>;

const facts = {
  group: 'apps.kruise.io',
  kind: 'SidecarSet',
  plural: 'sidecarsets',
  scope: 'Cluster',
  subresources: ['status'],
  columns: [
    { name: 'MATCHED', type: 'integer', jsonPath: '.status.matchedPods' },
    { name: 'UPDATED', type: 'integer', jsonPath: '.status.updatedPods' },
    { name: 'READY', type: 'integer', jsonPath: '.status.readyPods' },
    ageColumn,
  ],
} as const;

export const sidecarSet = kind('io.kruise.apps.v1beta1.SidecarSet', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(sidecarSetSpec, 'The sidecars, the Pods that get them, and how they are updated.'),
    status: s.optional(sidecarSetStatus, 'The Pods that have them.'),
  },
});
export type SidecarSet = s.TypeOf<typeof sidecarSet>;

export const sidecarSetV1alpha1 = kind('io.kruise.apps.v1alpha1.SidecarSet', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(sidecarSetSpecV1alpha1, 'The sidecars, the Pods that get them, and how they are updated.'),
    status: s.optional(sidecarSetStatus, 'The Pods that have them.'),
  },
});
export type SidecarSetV1alpha1 = s.TypeOf<typeof sidecarSetV1alpha1>;

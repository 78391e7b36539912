import * as s from '@kruise/schema';
import { type Container, container } from '../core/container.ts';
import { localObjectReference } from '../core/reference.ts';
import { objectFieldSelector } from '../core/value-source.ts';
import type { Volume } from '../core/volume.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { ageColumn } from './columns.ts';
import { updatePriorityStrategy, updateScatterStrategy } from './update-order.ts';

const doc = 'Adds sidecar containers to Pods as they are created, and later updates their images in place.';

const upgradeStrategy = s.object({
  upgradeType: s.optional(
    s.oneOf(['ColdUpgrade', 'HotUpgrade']),
    'ColdUpgrade (the default) restarts the container with the new image; HotUpgrade keeps two containers, which ' +
      'take turns, so that the sidecar is never gone.',
  ),
  hotUpgradeEmptyImage: s.optional(
    s.string(),
    'For HotUpgrade: the image that idles in the container whose turn it is not.',
  ),
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
  sourceContainerNameFrom: s.pointer(sourceContainerNameFrom, 'Where in the Pod to find which container to copy from.'),
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
    'Whether cpu and memory stand for the sum over the containers measured or for the greatest of them.',
  ),
  targetContainersNameRegex: s.optional(
    s.string({ default: '.*' }),
    'Which containers of the Pod are measured, by name; other sidecars never are. Default .*',
  ),
  resourcesExpr: s.required(
    s.object({
      limits: s.pointer(resourceExpressions, 'The limits. One is left unset if a container measured has none.'),
      requests: s.pointer(resourceExpressions, 'The requests. A container measured without one counts as 0.'),
    }),
    'What the sidecar gets; at least one of limits and requests.',
  ),
});

const sidecarFields = {
  podInjectPolicy: s.optional(
    s.oneOf(['BeforeAppContainer', 'AfterAppContainer']),
    'Put it before the containers of the Pod (the default), or after them (the default for init containers).',
  ),
  upgradeStrategy: s.optional(upgradeStrategy, 'How its image is exchanged.'),
  shareVolumePolicy: s.optional(shareVolumePolicy, 'Whether it mounts all that the containers of the Pod mount.'),
  shareVolumeDevicePolicy: s.pointer(
    shareVolumePolicy,
    'Whether it gets all block devices the containers of the Pod have.',
  ),
  transferEnv: s.optional(s.list(transferEnv), 'Environment variables copied from containers of the Pod.'),
  resourcesPolicy: s.pointer(
    resourcesPolicy,
    'Works out its resources from those of the Pod, when the Pod is created. Not together with resources.',
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
    'RollingUpdate (the default) updates the sidecars of running Pods; NotUpdate leaves them as they are.',
  ),
  paused: s.optional(s.boolean(), 'Stops updating sidecars; new Pods still get theirs. Default false.'),
  selector: s.pointer(labelSelector, 'Update only these Pods, by label. Unset: all.'),
  partition: s.pointer(
    s.intOrString(),
    'How many Pods keep the old sidecars: a number or a percentage, rounded up. Default 0.',
  ),
  maxUnavailable: s.pointer(
    s.intOrString(),
    'How many Pods may be unavailable during an update: a number or a percentage, rounded up. Default 1.',
  ),
  priorityStrategy: s.pointer(updatePriorityStrategy, 'Which Pods are updated first.'),
  scatterStrategy: s.optional(
    updateScatterStrategy,
    'Labels whose Pods are spread evenly over the update; the value * stands for every value the key has.',
  ),
});
export type SidecarSetUpdateStrategy = s.TypeOf<typeof sidecarSetUpdateStrategy>;

const injectRevision = s.object({
  customVersion: s.pointer(s.string(), 'Give new Pods the newest revision that has this customVersion.'),
  revisionName: s.pointer(s.string(), 'Give new Pods the ControllerRevision of this name. Wins over customVersion.'),
  policy: s.optional(
    s.enumeration(['Always', 'Partial'], { default: 'Always' }),
    'Always (the default): every new Pod gets that revision. Partial: only Pods updateStrategy.selector leaves out, ' +
      'and of the others the share that a percentage in partition names.',
  ),
});

export const sidecarSetInjectionStrategy = s.object({
  paused: s.optional(s.boolean(), 'New Pods get no sidecars; those that have them keep being updated. Default false.'),
  revision: s.pointer(injectRevision, 'Give new Pods an older revision. Unset: the newest.'),
});
export type SidecarSetInjectionStrategy = s.TypeOf<typeof sidecarSetInjectionStrategy>;

const patchPodMetadata = s.object({
  annotations: s.optional(s.map(s.string()), 'The annotations to put on the Pod.'),
  patchPolicy: s.optional(
    s.oneOf(['Retain', 'Overwrite', 'MergePatchJson']),
    'If the Pod has the annotation: Retain (the default) leaves it, Overwrite replaces it, MergePatchJson merges the ' +
      'two values as JSON.',
  ),
});

const selectorField = {
  selector: s.pointer(labelSelector, 'Which Pods get sidecars, by label. Must be given, and not be empty.'),
};

const sharedFields = {
  namespaceSelector: s.pointer(labelSelector, 'Only Pods in namespaces with these labels. Unset: in all.'),
  initContainers: s.optional(
    s.list(sidecarContainer),
    'Init containers for new Pods. One with restartPolicy Always is a sidecar that starts before all else.',
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
  updateStrategy: s.optional(sidecarSetUpdateStrategy, 'How sidecars of running Pods are updated.'),
  injectionStrategy: s.optional(sidecarSetInjectionStrategy, 'What new Pods get.'),
  imagePullSecrets: s.optional(s.list(localObjectReference), 'Secrets to fetch the images with, added to the Pods.', {
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  revisionHistoryLimit: s.pointer(s.int32(), 'How many revisions are kept. Default 10.'),
  patchPodMetadata: s.optional(s.list(patchPodMetadata), 'Annotations to put on the Pods.'),
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
  updatedPods: s.required(s.int32(), 'Pods whose sidecars are as the spec wants them.'),
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

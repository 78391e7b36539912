import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CloneSet, CloneSetRollingUpdate } from '@kruise/api/kruise/cloneset';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import { imagePreDownloadCreatedLabel, imagePreDownloadIgnoredLabel } from '@kruise/api/kruise/well-known';
import { type Action, flattenSteps } from '@kruise/client/actions';
import { featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
import { decide } from './decide.ts';
import { cloneSetOf, now, podOf, revisionOf } from './fixtures.ts';

const [v1, v2] = [revisionOf('app:v1', 1), revisionOf('app:v2', 2)];
const status = {
  replicas: 5,
  readyReplicas: 5,
  availableReplicas: 5,
  updatedReplicas: 0,
  updatedReadyReplicas: 0,
  currentRevision: v1.metadata.name ?? '',
  updateRevision: v2.metadata.name ?? '',
};
const inPlace: CloneSetRollingUpdate = { podUpdatePolicy: 'InPlaceIfPossible', maxUnavailable: 1 };

type World = {
  rolling?: CloneSetRollingUpdate;
  replicas?: number;
  known?: CloneSet['status'];
  jobs?: readonly ImagePullJob[];
  update?: typeof v2;
  isOn?: boolean;
};

/** Returns the actions about images. */
function done({
  rolling = inPlace,
  replicas = 5,
  known = status,
  jobs = [],
  update = v2,
  isOn = true,
}: World): readonly Action[] {
  const revisions = [v1, update];
  const observed = {
    cloneSet: { ...cloneSetOf({ replicas, updateStrategy: { rollingUpdate: rolling } }), status: known },
    pods: Array.from({ length: replicas }, (_, index) => podOf({ name: `p${index}` })),
    claims: [],
    revisions,
    findRevision: () => undefined,
    nodeLabels: () => undefined,
    imagePullJobs: jobs,
    findBudget: () => undefined,
  };
  const settings = managerSettings({ gates: featureGates({ PreDownloadImageForInPlaceUpdate: isOn }) });
  return flattenSteps(decide(observed, settings, now).actions).filter(
    (action) => 'isOptional' in action && action.isOptional,
  );
}

function formatAction(actions: readonly Action[]): readonly string[] {
  return actions.map((action) => {
    if (action.type === 'create' || action.type === 'remove') return `${action.type} ${action.object.metadata.name}`;
    const { metadata } = (action as { readonly patch: { readonly metadata: { readonly labels: object } } }).patch;
    return imagePreDownloadCreatedLabel in metadata.labels ? 'created' : 'ignored';
  });
}

const job = `create ${v2.metadata.name}-main`;
const noted = (label: string) => ({
  ...v2,
  metadata: { ...v2.metadata, labels: { ...v2.metadata.labels, [label]: 'true' } },
});
const waiting = { ...inPlace, inPlaceUpdateStrategy: { imagePreDownloadMinUpdatedReadyPods: 2 } };
const cases: { is: string; world: World; does: readonly string[] }[] = [
  { is: 'of an in-place update are pulled', world: {}, does: [job, 'created'] },
  { is: 'that were pulled are not pulled again', world: { update: noted(imagePreDownloadCreatedLabel) }, does: [] },
  {
    is: 'that need no pull are not considered again',
    world: { update: noted(imagePreDownloadIgnoredLabel) },
    does: [],
  },
  { is: 'of recreated Pods are not pulled', world: { rolling: { maxUnavailable: 1 } }, does: ['ignored'] },
  { is: 'of few Pods are not pulled', world: { replicas: 3 }, does: ['ignored'] },
  {
    is: 'of Pods that are updated all at once are not pulled',
    world: { rolling: { ...inPlace, maxUnavailable: '100%' } },
    does: ['ignored'],
  },
  {
    is: 'are pulled if the partition keeps some Pods',
    world: { rolling: { ...inPlace, maxUnavailable: '100%', partition: 1 } },
    does: [job, 'created'],
  },
  { is: 'wait until enough Pods are ready', world: { rolling: waiting }, does: [] },
  {
    is: 'are pulled when enough Pods are ready',
    world: { rolling: waiting, known: { ...status, updatedReadyReplicas: 2 } },
    does: [job, 'created'],
  },
  { is: 'are not pulled without the feature gate', world: { isOn: false }, does: [] },
];
for (const { is, world, does } of cases) {
  test(`images ${is}`, () => {
    assert.deepEqual(formatAction(done(world)), does);
  });
}

test('an ImagePullJob selects the nodes of outdated Pods', () => {
  const strategy = { imagePreDownloadParallelism: 2, imagePreDownloadTimeoutSeconds: 60 };
  const [action] = done({ rolling: { ...inPlace, inPlaceUpdateStrategy: strategy } });
  assert.ok(action?.type === 'create');
  const { spec } = action.object as ImagePullJob;
  const hash = v2.metadata.labels?.['controller.kubernetes.io/hash'] ?? '';
  assert.deepEqual(spec, {
    image: 'app:v2',
    podSelector: {
      matchLabels: { app: 'web' },
      matchExpressions: [{ key: 'controller-revision-hash', operator: 'NotIn', values: [v2.metadata.name, hash] }],
    },
    parallelism: 2,
    pullPolicy: { backoffLimit: 1, timeoutSeconds: 60 },
    completionPolicy: { type: 'Always', ttlSecondsAfterFinished: 600 },
    sandboxConfig: { labels: { app: 'web', 'controller.kubernetes.io/hash': hash } },
  });
});

test('ImagePullJobs are deleted when the update is complete', () => {
  const left = {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'ImagePullJob',
    metadata: { name: 'job' },
  } as ImagePullJob;
  const known = { ...status, currentRevision: v2.metadata.name ?? '' };
  assert.deepEqual(formatAction(done({ known, jobs: [left] })), ['remove job']);
});

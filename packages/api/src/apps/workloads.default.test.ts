import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Kind, KubernetesObject } from '@kruise/schema/kind';
import { defaultCronJob } from '../batch/cronjob.default.ts';
import { cronJob } from '../batch/cronjob.ts';
import { defaultJob } from '../batch/job.default.ts';
import { job } from '../batch/job.ts';
import { defaultReplicationController } from '../core/replicationcontroller.default.ts';
import { replicationController } from '../core/replicationcontroller.ts';
import { defaultDaemonSet } from './daemonset.default.ts';
import { daemonSet } from './daemonset.ts';
import { defaultDeployment } from './deployment.default.ts';
import { deployment } from './deployment.ts';
import { defaultReplicaSet } from './replicaset.default.ts';
import { replicaSet } from './replicaset.ts';
import { defaultStatefulSet } from './statefulset.default.ts';
import { statefulSet } from './statefulset.ts';

type Json = { readonly [key: string]: unknown };

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'nginx:1' }] } };

function defaulted<T extends KubernetesObject>(kind: Kind<T>, fill: (draft: Draft<T>) => void, spec: Json): T {
  const draft = codecOf(kind.root).fromJson({ spec }) as Draft<T>;
  fill(draft);
  return draft as T;
}

test('a Deployment rolls over by quarters', () => {
  assert.partialDeepStrictEqual(defaulted(deployment, defaultDeployment, { template }).spec, {
    progressDeadlineSeconds: 600,
    replicas: 1,
    revisionHistoryLimit: 10,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    template: { spec: { restartPolicy: 'Always' } },
  });
});

test('a Deployment with the type Recreate gets no rolling update', () => {
  const { spec } = defaulted(deployment, defaultDeployment, { template, strategy: { type: 'Recreate' } });
  assert.deepEqual(spec!.strategy, { type: 'Recreate' });
});

test('a template gets no requests from its limits, and no service links', () => {
  const limited = { spec: { containers: [{ name: 'main', resources: { limits: { cpu: '1' } } }] } };
  const { template } = defaulted(deployment, defaultDeployment, { template: limited }).spec!;
  assert.equal(template.spec!.containers[0]!.resources!.requests, undefined);
  assert.equal(template.spec!.enableServiceLinks, undefined);
});

test('a ReplicaSet has one replica', () => {
  assert.equal(defaulted(replicaSet, defaultReplicaSet, { template }).spec!.replicas, 1);
});

test('a DaemonSet updates node by node', () => {
  assert.partialDeepStrictEqual(defaulted(daemonSet, defaultDaemonSet, { template }).spec, {
    revisionHistoryLimit: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  });
});

test('a StatefulSet is ordered and retains its PVCs', () => {
  const { spec } = defaulted(statefulSet, defaultStatefulSet, { template, volumeClaimTemplates: [{}] });
  assert.partialDeepStrictEqual(spec, {
    podManagementPolicy: 'OrderedReady',
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    replicas: 1,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    volumeClaimTemplates: [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        spec: { volumeMode: 'Filesystem' },
        status: { phase: 'Pending' },
      },
    ],
  });
});

test('a StatefulSet with an explicit RollingUpdate gets no partition', () => {
  const { spec } = defaulted(statefulSet, defaultStatefulSet, { template, updateStrategy: { type: 'RollingUpdate' } });
  assert.deepEqual(spec!.updateStrategy, { type: 'RollingUpdate' });
});

const jobs = [
  {
    name: 'runs one Pod to its end',
    given: {},
    part: { completions: 1, parallelism: 1, backoffLimit: 6, completionMode: 'NonIndexed' },
  },
  {
    name: 'with a number of completions runs one Pod at a time',
    given: { completions: 3 },
    part: { completions: 3, parallelism: 1 },
  },
  {
    name: 'limited for each index is not limited for all',
    given: { backoffLimitPerIndex: 1 },
    part: { backoffLimit: 2147483647 },
  },
  {
    name: 'with a failure policy replaces only failed Pods',
    given: { podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'A' }] }] } },
    part: { podReplacementPolicy: 'Failed', podFailurePolicy: { rules: [{ onPodConditions: [{ status: 'True' }] }] } },
  },
];
for (const { name, given, part } of jobs) {
  test(`a Job ${name}`, () => {
    assert.partialDeepStrictEqual(defaulted(job, defaultJob, { template, ...given }).spec, part);
  });
}

test('a Job with only a parallelism gets no completions', () => {
  assert.equal(defaulted(job, defaultJob, { template, parallelism: 2 }).spec!.completions, undefined);
});

test('a Job and a ReplicationController take the labels of their template', () => {
  assert.deepEqual(defaulted(job, defaultJob, { template }).metadata.labels, { app: 'a' });
  const controller = defaulted(replicationController, defaultReplicationController, { template });
  assert.deepEqual(controller.metadata.labels, { app: 'a' });
  assert.deepEqual(controller.spec!.selector, { app: 'a' });
});

test('a CronJob keeps three successful Jobs and one failed Job', () => {
  const { spec } = defaulted(cronJob, defaultCronJob, { schedule: '* * * * *', jobTemplate: { spec: { template } } });
  assert.partialDeepStrictEqual(spec, {
    concurrencyPolicy: 'Allow',
    failedJobsHistoryLimit: 1,
    successfulJobsHistoryLimit: 3,
    suspend: false,
  });
  assert.equal(spec!.jobTemplate.spec!.completions, undefined);
});

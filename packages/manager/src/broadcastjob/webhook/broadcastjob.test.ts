import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BroadcastJob } from '@kruise/api/kruise/broadcastjob';
import { summary } from '@kruise/schema/field-error';
import { featureGates } from '../../configuration/feature-gates.ts';
import { defaultBroadcastJob } from './default.ts';
import { validateBroadcastJob } from './validate.ts';

const gates = featureGates();
const pods = (restartPolicy: string, labels = {}) => ({
  metadata: { labels: { app: 'web', ...labels } },
  spec: { restartPolicy: restartPolicy as 'Never', containers: [{ name: 'main', image: 'app:v1' }] },
});
const job = (spec: Partial<BroadcastJob['spec']> = {}, name = 'all'): BroadcastJob => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'BroadcastJob',
  metadata: { name, namespace: 'default' },
  spec: { template: pods('Never'), ...spec },
});
const filled = (spec?: Partial<BroadcastJob['spec']>) => defaultBroadcastJob(job(spec), undefined, gates).spec;

test('a minimal job runs on all nodes at once, completes, and fails with its first Pod', () => {
  const { parallelism, completionPolicy, failurePolicy } = filled();
  assert.equal(parallelism, 2147483647);
  assert.deepEqual(completionPolicy, { type: 'Always' });
  assert.deepEqual(failurePolicy, { type: 'FailFast' });
});

test('a new template gets defaults', () => {
  assert.equal(filled().template.spec?.dnsPolicy, 'ClusterFirst');
  assert.equal(defaultBroadcastJob(job(), job(), gates).spec.template.spec?.dnsPolicy, undefined);
});

test('a template without defaulted fields is valid', () => {
  assert.deepEqual([...validateBroadcastJob(defaultBroadcastJob(job(), job(), gates), gates)], []);
});

const cases: { is: string; job: BroadcastJob; expected?: RegExp }[] = [
  { is: 'that is complete', job: job() },
  { is: 'whose Pods try again', job: job({ template: pods('OnFailure') }) },
  {
    is: 'whose Pods never end',
    job: job({ template: pods('Always') }),
    expected:
      /^spec.template.spec.restartPolicy: Invalid value: "Always": pod restartPolicy can only be Never or OnFailure$/,
  },
  { is: 'with a dot in its name', job: job({}, 'a.b'), expected: /BroadcastJob name must consist of alphanumeric/ },
  { is: 'with a long name', job: job({}, 'n'.repeat(64)), expected: /must be no more than 63 characters/ },
  {
    is: 'with labels of its own',
    job: job({ template: pods('Never', { 'broadcastjob-name': 'x' }) }),
    expected: /"broadcastjob-name" and "broadcastjob-controller-uid" are not allowed to preset in pod labels$/,
  },
  {
    is: 'that never ends, in time',
    job: job({ completionPolicy: { type: 'Never', activeDeadlineSeconds: 5 } }),
    expected:
      /^spec.completionPolicy.activeDeadlineSeconds: Invalid value: 5: activeDeadlineSeconds can just work with Always/,
  },
  {
    is: 'without containers',
    job: job({ template: { spec: { restartPolicy: 'Never', containers: [] } } }),
    expected: /containers: Required value/,
  },
];
for (const { is, job, expected } of cases) {
  test(`a job ${is} is ${expected ? 'refused' : 'accepted'}`, () => {
    const faults = [...validateBroadcastJob(defaultBroadcastJob(job, undefined, gates), gates)];
    if (expected) assert.match(summary(faults), expected);
    else assert.deepEqual(faults, []);
  });
}

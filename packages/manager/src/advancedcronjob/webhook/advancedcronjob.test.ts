import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdvancedCronJob, CronJobTemplate } from '@kruise/api/kruise/advancedcronjob';
import { summary } from '@kruise/schema/field-error';
import { featureGates } from '../../configuration/feature-gates.ts';
import { defaultAdvancedCronJob } from './default.ts';
import { validateAdvancedCronJob } from './validate.ts';

const gates = featureGates();
const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'app:v1' }] } };
const jobs: CronJobTemplate = { jobTemplate: { spec: { template } } };
const images = (spec: object = {}): CronJobTemplate => ({
  imageListPullJobTemplate: { spec: { images: ['app:v1'], completionPolicy: {}, ...spec } },
});
const given = (spec: Partial<AdvancedCronJob['spec']> = {}): AdvancedCronJob => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'AdvancedCronJob',
  metadata: { name: 'nightly', namespace: 'default', uid: 'u', resourceVersion: '1' },
  spec: { schedule: '0 0 * * *', template: jobs, ...spec },
});
const filled = (spec?: Partial<AdvancedCronJob['spec']>) => defaultAdvancedCronJob(given(spec), undefined, gates);

test('a minimal AdvancedCronJob keeps three successful jobs and one failed job', () => {
  const { concurrencyPolicy, paused, successfulJobsHistoryLimit, failedJobsHistoryLimit } = filled().spec;
  assert.deepEqual(
    [concurrencyPolicy, paused, successfulJobsHistoryLimit, failedJobsHistoryLimit],
    ['Allow', false, 3, 1],
  );
});

test('Pod templates of jobs get the defaults of workloads', () => {
  assert.equal(filled().spec.template.jobTemplate?.spec?.template.spec?.dnsPolicy, 'ClusterFirst');
  const { broadcastJobTemplate } = filled({ template: { broadcastJobTemplate: { spec: { template } } } }).spec.template;
  assert.equal(broadcastJobTemplate?.spec.template.spec?.containers[0]?.imagePullPolicy, 'Always');
});

test('an image list job replaces the previous one by default', () => {
  const { spec } = filled({ template: images() });
  assert.equal(spec.concurrencyPolicy, 'Replace');
  const list = spec.template.imageListPullJobTemplate?.spec;
  assert.deepEqual(list?.pullPolicy, { timeoutSeconds: 600, backoffLimit: 3 });
  assert.equal(list?.imagePullPolicy, 'IfNotPresent');
});

test('a list with a completion policy gets no defaults', () => {
  const { spec } = filled({ template: images({ completionPolicy: { type: 'Always' } }) });
  assert.equal(spec.template.imageListPullJobTemplate?.spec.pullPolicy, undefined);
});

const cases: { is: string; spec: Partial<AdvancedCronJob['spec']>; expected?: string }[] = [
  { is: 'that is complete', spec: {} },
  { is: 'at every hour', spec: { schedule: '@hourly' } },
  { is: 'for images', spec: { template: images() } },
  {
    is: 'without a schedule',
    spec: { schedule: '' },
    expected:
      '[spec.schedule: Invalid value: "": schedule cannot be empty, please provide valid cron schedule., spec.schedule: Invalid value: "": empty spec string]',
  },
  {
    is: 'with a zone twice',
    spec: { schedule: 'TZ=UTC 0 0 * * *', timeZone: 'UTC' },
    expected:
      'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule',
  },
  {
    is: 'in an unknown time zone',
    spec: { timeZone: 'Nowhere/Land' },
    expected: 'spec.timeZone: Invalid value: "Nowhere/Land": unknown time zone Nowhere/Land',
  },
  {
    is: 'of nothing',
    spec: { template: {} },
    expected:
      'spec.template: Forbidden: spec must have one template, either JobTemplate or BroadcastJobTemplate or ImageListPullJobTemplate should be provided',
  },
  {
    is: 'of two things',
    spec: { template: { ...jobs, broadcastJobTemplate: { spec: { template } } } },
    expected:
      'spec.template: Forbidden: spec can have only one template, either JobTemplate or BroadcastJobTemplate or ImageListPullJobTemplate should be provided',
  },
  {
    is: 'with less than no history',
    spec: { failedJobsHistoryLimit: -1 },
    expected: 'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
  },
  {
    is: 'that pulls images concurrently',
    spec: { template: images(), concurrencyPolicy: 'Allow' },
    expected:
      'spec.spec.concurrencyPolicy: Invalid value: "Allow": concurrencyPolicy should be Replace or Forbid, but current value is: Allow',
  },
  {
    is: 'that pulls images for more than a day',
    spec: { template: images({ completionPolicy: { activeDeadlineSeconds: 86401 } }) },
    expected:
      'spec.template.imageListPullJobTemplate.spec.completionPolicy.activeDeadlineSeconds: Invalid value: 86401: activeDeadlineSeconds must be less than 86400, current value is: 86401',
  },
  {
    is: 'that never deletes its image pulls',
    spec: { template: images({ completionPolicy: { ttlSecondsAfterFinished: 1 } }) },
    expected:
      'spec.template.imageListPullJobTemplate.spec.completionPolicy.ttlSecondsAfterFinished: Invalid value: 1: ttlSecondsAfterFinished is not supported in advancedCronJob',
  },
];
for (const { is, spec, expected } of cases) {
  test(`a cron job ${is} is ${expected ? 'refused' : 'accepted'}`, () => {
    const faults = [...validateAdvancedCronJob(filled(spec))];
    assert.equal(faults.length > 0 ? summary(faults) : undefined, expected);
  });
}

const updates: { to: string; spec: Partial<AdvancedCronJob['spec']>; from?: CronJobTemplate; isAllowed: boolean }[] = [
  { to: 'another time', spec: { schedule: '@daily' }, isAllowed: true },
  { to: 'other images', spec: { template: images({ images: ['b'] }) }, from: images(), isAllowed: true },
  { to: 'images instead of jobs', spec: { template: images() }, isAllowed: false },
  { to: 'jobs instead of images', spec: {}, from: images(), isAllowed: false },
];
for (const { to, spec, from = jobs, isAllowed } of updates) {
  test(`a cron job can ${isAllowed ? '' : 'not '}change to ${to}`, () => {
    const faults = [...validateAdvancedCronJob(filled(spec), filled({ template: from }))];
    assert.equal(
      faults.some(({ message }) => message.includes('are forbidden')),
      !isAllowed,
    );
  });
}

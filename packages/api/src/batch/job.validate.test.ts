import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import { formatErrors, type Json } from '../core/pod.fixtures.ts';
import { defaultJob } from './job.default.ts';
import { prepareJobForCreate } from './job.strategy.ts';
import { type Job, job as jobKind } from './job.ts';
import { validateJob, validateJobUpdate } from './job.validate.ts';
import { validateJobStatusUpdate } from './job-status.validate.ts';

const uid = '11111111-2222-4333-8444-555555555555';
const podSpec = { containers: [{ name: 'main', image: 'nginx:1' }], restartPolicy: 'Never' };

function someJob(spec: Json = {}, rest: Json = {}): Job {
  const codec = codecOf(jobKind.root);
  const metadata = { name: 'one', namespace: 'default', uid, resourceVersion: '1' };
  const draft = codec.fromJson({ metadata, spec: { template: { spec: podSpec }, ...spec } }) as Draft<Job>;
  defaultJob(draft);
  prepareJobForCreate(draft);
  return codec.canonical({ ...draft, ...rest } as Job);
}

const indexed = { completionMode: 'Indexed', completions: 5, parallelism: 5 };
const failurePolicy = (rule: Json) => ({ podFailurePolicy: { rules: [rule] } });

const specs: readonly (readonly [given: Json, faults: readonly string[]])[] = [
  [{}, []],
  [indexed, []],
  [failurePolicy({ action: 'FailJob', onExitCodes: { operator: 'In', values: [1, 2] } }), []],
  [{ ...indexed, successPolicy: { rules: [{ succeededIndexes: '0-2,4', succeededCount: 4 }] } }, []],
  [{ parallelism: -1 }, ['spec.parallelism: Invalid value: -1: must be greater than or equal to 0']],
  [
    { completionMode: 'Indexed', parallelism: 1 },
    ['spec.completions: Required value: when completion mode is Indexed'],
  ],
  [{ backoffLimitPerIndex: 1 }, ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode']],
  [
    { template: { spec: { ...podSpec, restartPolicy: 'Always' } } },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    { managedBy: 'me' },
    ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    failurePolicy({ action: 'FailJob' }),
    ['spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required'],
  ],
  [
    failurePolicy({ action: 'FailIndex', onExitCodes: { operator: 'In', values: [0] } }),
    [
      'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator',
    ],
  ],
  [
    failurePolicy({ action: 'Ignore', onExitCodes: { operator: 'In', values: [2, 1] } }),
    ['spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: []int32{2, 1}: must be ordered'],
  ],
  [
    { ...indexed, successPolicy: { rules: [{ succeededIndexes: '0-5' }] } },
    [
      'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-5": error parsing succeededIndexes: too large index: "5"',
    ],
  ],
  [
    { ...indexed, successPolicy: { rules: [{ succeededIndexes: '1,2', succeededCount: 3 }] } },
    [
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
    ],
  ],
  [
    { podReplacementPolicy: 'x' },
    ['spec.podReplacementPolicy: Unsupported value: "x": supported values: "Failed", "TerminatingOrFailed"'],
  ],
];
for (const [given, faults] of specs) {
  test(`a Job with ${JSON.stringify(given)} is ${faults.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(formatErrors(validateJob(someJob(given))), faults);
  });
}

test('a Job selects by its own UID, and takes the labels of its Pods if it has none', () => {
  const { metadata, spec } = someJob();
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': 'one',
    'controller-uid': uid,
    'job-name': 'one',
  };
  assert.deepEqual(spec!.selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } });
  assert.deepEqual(spec!.template.metadata!.labels, labels);
  assert.deepEqual(metadata.labels, labels);
});

test('a selector of the user is not replaced by a generated one', () => {
  const [fault] = formatErrors(validateJob(someJob({ selector: { matchLabels: { a: 'b' } } })));
  assert.match(fault!, /^spec\.selector: .*`selector` not auto-generated$/);
});

const waiting = { suspend: true };
const updates: readonly {
  readonly name: string;
  readonly old: Json;
  readonly now: Json;
  readonly faults: readonly RegExp[];
}[] = [
  { name: 'may run more Pods at once', old: {}, now: { completions: 1, parallelism: 3 }, faults: [] },
  {
    name: 'may not need more completions',
    old: { completions: 1 },
    now: { completions: 2 },
    faults: [/^spec\.completions: Invalid value: 2: field is immutable$/],
  },
  {
    name: 'with indexes may have more of them, all at once',
    old: indexed,
    now: { ...indexed, completions: 7, parallelism: 7 },
    faults: [],
  },
  {
    name: 'with indexes may not have more of them in turn',
    old: indexed,
    now: { ...indexed, completions: 7 },
    faults: [/can only be modified in tandem with spec\.parallelism$/],
  },
  {
    name: 'may not have other Pods',
    old: {},
    now: { template: { spec: { ...podSpec, hostNetwork: true } } },
    faults: [/^spec\.template: .*field is immutable$/],
  },
  {
    name: 'that waits may be sent elsewhere',
    old: waiting,
    now: { ...waiting, template: { spec: { ...podSpec, nodeSelector: { a: 'b' } } } },
    faults: [],
  },
  {
    name: 'that runs may not be sent elsewhere',
    old: {},
    now: { template: { spec: { ...podSpec, nodeSelector: { a: 'b' } } } },
    faults: [/^spec\.template: /],
  },
];
for (const { name, old, now, faults } of updates) {
  test(`a Job ${name}`, () => {
    const causes = formatErrors(validateJobUpdate(someJob(now), someJob(old)));
    assert.equal(causes.length, faults.length, causes.join('\n'));
    for (const [index, fault] of faults.entries()) assert.match(causes[index]!, fault);
  });
}

const done = (type: string) => ({ type, status: 'True' });
const started = '2026-01-01T00:00:00Z';
const finished = '2026-01-01T01:00:00Z';
const complete = {
  conditions: [done('SuccessCriteriaMet'), done('Complete')],
  startTime: started,
  completionTime: finished,
};
const statuses: readonly {
  readonly name: string;
  readonly old: Json;
  readonly now: Json;
  readonly faults: readonly string[];
}[] = [
  { name: 'a Job may complete', old: { startTime: started }, now: complete, faults: [] },
  {
    name: 'a Job does not complete without a time',
    old: {},
    now: { conditions: complete.conditions, startTime: started },
    faults: ['status.completionTime: Required value: completionTime is required for Complete jobs'],
  },
  {
    name: 'a Job does not complete and fail',
    old: {},
    now: { ...complete, conditions: [...complete.conditions, done('FailureTarget'), done('Failed')] },
    faults: [
      'status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
      'status.conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions',
      'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions',
      'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
    ],
  },
  {
    name: 'a complete Job stays so',
    old: complete,
    now: { ...complete, conditions: [done('SuccessCriteriaMet')] },
    faults: [
      'status.completionTime: Invalid value: 2026-01-01 01:00:00 +0000 UTC: cannot set completionTime when there is no Complete=True condition',
      'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
    ],
  },
  {
    name: 'a resumed Job gets a new start time',
    old: { startTime: started, conditions: [done('Suspended')] },
    now: { startTime: finished, conditions: [{ ...done('Suspended'), status: 'False' }] },
    faults: [],
  },
  {
    name: 'a Job that is resumed has started',
    old: { startTime: started, conditions: [done('Suspended')] },
    now: { conditions: [{ ...done('Suspended'), status: 'False' }] },
    faults: ['status.startTime: Required value: startTime cannot be removed for unsuspended job'],
  },
  {
    name: 'a running Job keeps its start time',
    old: { startTime: started },
    now: { startTime: finished },
    faults: ['status.startTime: Required value: startTime cannot be removed for unsuspended job'],
  },
  {
    name: 'no fewer Pods fail than before',
    old: { failed: 2 },
    now: { failed: 1 },
    faults: ['status.failed: Invalid value: 1: cannot decrease the failed counter'],
  },
  {
    name: 'no more Pods are ready than there are',
    old: {},
    now: { ready: 2, active: 1 },
    faults: ['status.ready: Invalid value: 2: cannot set more ready pods than active'],
  },
];
for (const { name, old, now, faults } of statuses) {
  test(`in the status of a Job: ${name}`, () => {
    assert.deepEqual(
      formatErrors(validateJobStatusUpdate(someJob({}, { status: now }), someJob({}, { status: old }))),
      faults,
    );
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { BroadcastJob, BroadcastJobStatus } from '@kruise/api/kruise/broadcastjob';
import { type CreateAction, flattenSteps } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { formatTime } from '@kruise/values/time';
import { countActions } from '@kruise/workload-kit/testing/summarize-actions';
import { decide } from './decide.ts';
import { jobOf, makeNodes, nodeOf, now, podOn } from './fixtures.ts';

const settings = { broadcastJobsUseScheduler: true };

/** Returns the actions, and the status if all actions succeed. */
function decided(job: BroadcastJob, nodes: readonly Node[], pods: readonly Pod[] = []) {
  const { actions: steps, status, events = [], requeueAfterSeconds } = decide({ job, nodes, pods }, settings, now);
  const actions = flattenSteps(steps);
  const made = actions
    .filter((action) => action.type === 'create')
    .map(({ object }, index) => [`${index}`, object] as const);
  const outcome: Outcome = { failures: [], isStale: false, written: new Map(made) };
  const result = (typeof status === 'function' ? status(outcome) : status) as BroadcastJobStatus | undefined;
  const { phase, active, succeeded, failed, desired } = result ?? {};
  return {
    does: countActions(actions),
    figures: result && `${phase}: ${active} of ${desired}, ${succeeded} ok, ${failed} failed`,
    ends: result?.conditions?.map(({ type, message }) => `${type}: ${message}`) ?? [],
    recorded: events.map(({ reason, message }) => `${reason}: ${message}`),
    actions,
    status: result,
    requeueAfterSeconds,
  };
}

const running = jobOf({}, {});
const continuing = jobOf({ failurePolicy: { type: 'Continue' } }, {});

const cases: readonly {
  readonly is: string;
  readonly job: BroadcastJob;
  readonly nodes: readonly Node[];
  readonly pods?: readonly Pod[];
  readonly does: string;
  readonly figures: string | undefined;
  readonly ends?: readonly string[];
}[] = [
  {
    is: 'creates a Pod on each node at once',
    job: jobOf({ parallelism: 20 }),
    nodes: makeNodes('a b c d e f g h i j'),
    does: 'create job- ×10',
    figures: 'running: 10 of 10, 0 ok, 0 failed',
  },
  {
    is: 'keeps within parallelism',
    job: jobOf({ parallelism: 2 }),
    nodes: makeNodes('a b c'),
    pods: [podOn(running, 'a', 'Running')],
    does: 'create job-',
    figures: 'running: 2 of 3, 0 ok, 0 failed',
  },
  {
    is: 'resolves a percentage of the nodes, rounded up',
    job: jobOf({ parallelism: '40%' }),
    nodes: makeNodes('a b c d e'),
    pods: [podOn(running, 'a', 'Running')],
    does: 'create job-',
    figures: 'running: 2 of 5, 0 ok, 0 failed',
  },
  {
    is: 'records an event where more Pods run than allowed',
    job: jobOf({ parallelism: 1 }),
    nodes: makeNodes('a b c'),
    pods: [podOn(running, 'a', 'Running'), podOn(running, 'b', 'Running')],
    does: 'record TooManyActivePods',
    figures: 'running: 2 of 3, 0 ok, 0 failed',
  },
  {
    is: 'skips nodes that accept no Pods',
    job: jobOf(),
    nodes: [nodeOf('a'), nodeOf('b', { unschedulable: true })],
    does: 'create job-',
    figures: 'running: 1 of 1, 0 ok, 0 failed',
  },
  {
    is: 'waits where no node is eligible',
    job: jobOf(),
    nodes: [],
    does: '',
    figures: 'running: 0 of 0, 0 ok, 0 failed',
  },
  {
    is: 'fails with the first failed Pod',
    job: running,
    nodes: makeNodes('a b c'),
    pods: [podOn(running, 'a', 'Succeeded'), podOn(running, 'b', 'Succeeded'), podOn(running, 'c', 'Failed')],
    does: 'record failed pod is found',
    figures: 'failed: 0 of 3, 2 ok, 1 failed',
    ends: ['Failed: failure policy is FailurePolicyTypeFailFast and failed pod is found'],
  },
  {
    is: 'deletes the other Pods when one fails',
    job: running,
    nodes: makeNodes('a b c'),
    pods: [podOn(running, 'a', 'Failed'), podOn(running, 'b', 'Running'), podOn(running, 'c', 'Pending')],
    does: 'record failed pod is found, delete b, delete c',
    figures: 'failed: 0 of 3, 0 ok, 3 failed',
    ends: ['Failed: failure policy is FailurePolicyTypeFailFast and failed pod is found'],
  },
  {
    is: 'continues after a failure with the policy Continue',
    job: continuing,
    nodes: makeNodes('a b c'),
    pods: [podOn(continuing, 'a', 'Succeeded'), podOn(continuing, 'b', 'Failed')],
    does: 'create job-',
    figures: 'running: 1 of 3, 1 ok, 1 failed',
  },
  {
    is: 'pauses after a failure with the policy Pause',
    job: jobOf({ failurePolicy: { type: 'Pause' } }, {}),
    nodes: makeNodes('a b c'),
    pods: [podOn(running, 'a', 'Succeeded'), podOn(running, 'b', 'Failed')],
    does: 'record Paused',
    figures: 'paused: 0 of 3, 1 ok, 1 failed',
  },
  {
    is: 'creates no Pods while paused',
    job: jobOf({ paused: true }),
    nodes: makeNodes('a b c d'),
    pods: [podOn(running, 'a', 'Running')],
    does: '',
    figures: 'paused: 1 of 4, 0 ok, 0 failed',
  },
  {
    is: 'records an event when it resumes',
    job: jobOf({}, { phase: 'paused' }),
    nodes: makeNodes('a'),
    does: 'record Continue, create job-',
    figures: 'running: 1 of 1, 0 ok, 0 failed',
  },
  {
    is: 'completes when all Pods have finished',
    job: continuing,
    nodes: makeNodes('a b'),
    pods: [podOn(continuing, 'a', 'Succeeded'), podOn(continuing, 'b', 'Failed')],
    does: '',
    figures: 'completed: 0 of 2, 1 ok, 1 failed',
    ends: ['Complete: Job completed, 1 pods succeeded, 1 pods failed'],
  },
  {
    is: 'never completes with the policy Never',
    job: jobOf({ completionPolicy: { type: 'Never' } }, {}),
    nodes: makeNodes('a'),
    pods: [podOn(running, 'a', 'Succeeded')],
    does: '',
    figures: 'running: 0 of 1, 1 ok, 0 failed',
  },
  {
    is: 'does nothing more after a failure, even with the policy Never',
    job: jobOf({ completionPolicy: { type: 'Never' } }, { phase: 'failed' }),
    nodes: makeNodes('a b'),
    pods: [podOn(running, 'a', 'Failed')],
    does: '',
    figures: 'failed: 0 of 2, 0 ok, 1 failed',
  },
  {
    is: 'deletes its Pod on a node that is not eligible any more, finished or not',
    job: running,
    nodes: [nodeOf('a', { unschedulable: true }), nodeOf('b')],
    pods: [podOn(running, 'a', 'Running'), podOn(running, 'b', 'Running')],
    does: 'delete a',
    figures: 'running: 1 of 1, 0 ok, 0 failed',
  },
  {
    is: 'records an event for a second Pod on a node',
    job: running,
    nodes: makeNodes('a'),
    pods: [
      podOn(running, 'a', 'Running'),
      { ...podOn(running, 'a', 'Running'), metadata: { ...podOn(running, 'a', '').metadata, name: 'second' } },
    ],
    does: 'record DuplicatePodCreatedOnSameNode',
    figures: 'running: 2 of 1, 0 ok, 0 failed',
  },
  {
    is: 'counts a Pod that exceeds the restart limit as failed',
    job: jobOf({ failurePolicy: { type: 'Continue', restartLimit: 1 } }, {}, { restartPolicy: 'OnFailure' }),
    nodes: makeNodes('a b'),
    pods: [
      podOn(jobOf({}, {}, { restartPolicy: 'OnFailure' }), 'a', 'Running', 2),
      podOn(jobOf({}, {}, { restartPolicy: 'OnFailure' }), 'b', 'Running', 1),
    ],
    does: '',
    figures: 'running: 1 of 2, 0 ok, 1 failed',
  },
  {
    is: 'fails past its deadline',
    job: jobOf({ completionPolicy: { type: 'Always', activeDeadlineSeconds: 0 } }, {}),
    nodes: makeNodes('a b'),
    pods: [podOn(running, 'a', 'Running'), podOn(running, 'b', 'Running')],
    does: 'delete a, delete b',
    figures: 'failed: 0 of 2, 0 ok, 2 failed',
    ends: ['Failed: Job default/job was active longer than specified deadline'],
  },
  {
    is: 'ignores Pods without its labels',
    job: running,
    nodes: makeNodes('a'),
    pods: [{ ...podOn(running, 'a', 'Running'), metadata: { name: 'a', labels: { app: 'all' } } }],
    does: 'create job-',
    figures: 'running: 1 of 1, 0 ok, 0 failed',
  },
];

for (const { is, job, nodes, pods, does, figures, ends = [] } of cases) {
  test(`a job ${is}`, () => {
    const result = decided(job, nodes, pods);
    assert.deepEqual([result.does, result.figures, result.ends], [does, figures, ends]);
  });
}

test('a Pod has an affinity for its node, or a node name', () => {
  const job = jobOf({}, undefined, {
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  });
  const made = (usesScheduler: boolean) => {
    const { actions } = decide(
      { job, nodes: makeNodes('a'), pods: [] },
      { broadcastJobsUseScheduler: usesScheduler },
      now,
    );
    return (flattenSteps(actions)[0] as CreateAction).object as Pod;
  };
  assert.equal(made(true).spec?.nodeName, undefined);
  assert.equal(targetNodeOf(made(true)), 'a');
  assert.deepEqual(made(true).spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution, []);
  assert.equal(made(false).spec?.nodeName, 'a');
  assert.deepEqual(made(true).metadata.labels, {
    app: 'all',
    'broadcastjob-name': 'job',
    'broadcastjob-controller-uid': 'job-uid',
  });
});

test('a failure is recorded when it is found, and with the final counts', () => {
  const { actions, recorded } = decided(running, makeNodes('a b'), [
    podOn(running, 'a', 'Failed'),
    podOn(running, 'b', 'Running'),
  ]);
  const [first] = actions.flatMap((action) => (action.type === 'record' ? [action.event.message] : []));
  const why = 'failure policy is FailurePolicyTypeFailFast and failed pod is found';
  assert.equal(first, `${why}: 0 pods succeeded, 1 pods failed`);
  assert.deepEqual(recorded, [`failed pod is found: ${why}: 0 pods succeeded, 2 pods failed`]);
});

test('a job that could not delete all its Pods has not failed yet', () => {
  const pods = [podOn(running, 'a', 'Failed'), podOn(running, 'b', 'Running')];
  const { actions, status } = decide({ job: running, nodes: makeNodes('a b'), pods }, settings, now);
  const outcome: Outcome = {
    failures: [{ action: flattenSteps(actions)[1]!, error: 'no' }],
    isStale: false,
    written: new Map(),
  };
  assert.equal((status as (outcome: Outcome) => BroadcastJobStatus)(outcome).phase, 'running');
});

test('a job with a deadline is requeued for the deadline', () => {
  const job = jobOf(
    { completionPolicy: { type: 'Always', activeDeadlineSeconds: 30 } },
    { startTime: formatTime(now - 10_000) },
  );
  assert.equal(decided(job, makeNodes('a')).requeueAfterSeconds, 20);
});

test('a finished job is deleted after its TTL, and not before', () => {
  const over = (secondsAgo: number, ttlSecondsAfterFinished?: number) =>
    decided(
      jobOf(
        {
          completionPolicy: {
            type: 'Always',
            ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }),
          },
        },
        {
          phase: 'completed',
          completionTime: formatTime(now - secondsAgo * 1000),
          conditions: [{ type: 'Complete', status: 'True' }],
        },
      ),
      makeNodes('a'),
    );
  assert.deepEqual([over(5).does, over(5).requeueAfterSeconds], ['', undefined]);
  assert.deepEqual([over(5, 30).does, over(5, 30).requeueAfterSeconds], ['', 25]);
  assert.equal(over(30, 30).does, 'delete job');
});

test('an invalid parallelism is refused', () => {
  assert.throws(() => decided(jobOf({ parallelism: 'many' }), makeNodes('a')), /not a percentage/);
});

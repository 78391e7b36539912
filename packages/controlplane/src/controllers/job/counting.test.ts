import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job, JobStatus } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import { flattenSteps } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import type { KubernetesObject } from '@kruise/client/object-key';
import { findFinishedCondition } from '@kruise/machinery/jobs';
import { isPodFinished } from '@kruise/machinery/pods';
import { pick, type Random, randomInteger, seededRandom } from '@kruise/values/random';
import { formatTime } from '@kruise/values/time';
import fc from 'fast-check';
import { decide } from './decide.ts';
import { jobOf, now as start } from './fixtures.ts';
import { isTracked, trackingFinalizer } from './job-pods.ts';

/** A Job and its Pods as stored, and the real outcome of every Pod that ever existed. */
type World = {
  job: Job;
  readonly pods: Map<string, Pod>;
  readonly outcomes: Map<string, 'Succeeded' | 'Failed'>;
  now: number;
};

/** Reconciles, and executes the actions up to a random one, as if the process were killed. */
function reconcile(world: World, random: Random, killChance: number): void {
  const { actions, status } = decide({ job: world.job, pods: [...world.pods.values()] }, world.now);
  const written = new Map<string, KubernetesObject>();
  for (const action of flattenSteps(actions)) {
    if (random.next() < killChance) return;
    if (action.type === 'effect' || action.type === 'record') continue;
    const { uid = '' } = action.object.metadata;
    if (action.type === 'create') {
      const name = `${action.object.metadata.generateName}${world.outcomes.size}-${world.pods.size}-${randomInteger(random, 1e6)}`;
      const metadata = { ...action.object.metadata, name, uid: name, creationTimestamp: formatTime(world.now) };
      world.pods.set(name, { ...(action.object as Pod), metadata, status: { phase: 'Pending' } });
    } else if (action.type === 'update') {
      world.job = action.object as Job;
    } else if (action.type === 'patch') {
      const pod = world.pods.get(uid)!;
      const { finalizers: _, ...metadata } = pod.metadata;
      const free = { ...pod, metadata };
      written.set(uid, free);
      if (metadata.deletionTimestamp && isPodFinished(free)) world.pods.delete(uid);
      else world.pods.set(uid, free);
    } else if (action.type === 'remove') {
      const pod = world.pods.get(uid)!;
      const deletionTimestamp = formatTime(world.now);
      world.pods.set(uid, { ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0 } });
    }
  }
  if (random.next() < killChance) return;
  const outcome: Outcome = { failures: [], isStale: false, written };
  const next = typeof status === 'function' ? status(outcome) : status;
  if (next) world.job = { ...world.job, status: next as JobStatus };
}

/**
 * Simulates nodes and users: Pods progress, terminating Pods are deleted unless finalizers hold them, and some are
 * deleted.
 */
function simulateNodes({ pods, outcomes, now }: World, random: Random): void {
  for (const [uid, pod] of pods) {
    const isTerminating = pod.metadata.deletionTimestamp !== undefined;
    if (isTerminating && !isTracked(pod) && random.next() < 0.5) {
      pods.delete(uid);
    } else if (!isTerminating && random.next() < 0.05) {
      pods.set(uid, { ...pod, metadata: { ...pod.metadata, deletionTimestamp: formatTime(now) } });
    } else if (!isPodFinished(pod) && random.next() < 0.4) {
      const phase = pick(random, ['Running', 'Succeeded', 'Failed'] as const);
      const terminated = { exitCode: phase === 'Failed' ? 1 : 0, finishedAt: formatTime(now) };
      const state = phase === 'Running' ? { running: {} } : { terminated };
      const containerStatuses = [{ name: 'main', state, ready: false, restartCount: 0, image: '', imageID: '' }];
      pods.set(uid, { ...pod, status: { phase, containerStatuses } });
      if (phase !== 'Running' && pod.metadata.finalizers?.includes(trackingFinalizer)) outcomes.set(uid, phase);
    }
  }
}

const anyJob = fc.record({
  completions: fc.integer({ min: 1, max: 5 }),
  parallelism: fc.integer({ min: 1, max: 4 }),
  backoffLimit: fc.nat(4),
  completionMode: fc.constantFrom('Indexed', 'NonIndexed'),
  podReplacementPolicy: fc.constantFrom('Failed', 'TerminatingOrFailed'),
});

function runToEnd(job: Job, seed: number, killChance: number): World {
  const random = seededRandom(seed);
  const world: World = { job, pods: new Map(), outcomes: new Map(), now: start };
  for (let step = 0; step < 2000 && !findFinishedCondition(world.job.status); step++) {
    reconcile(world, random, killChance);
    simulateNodes(world, random);
    world.now += 5000;
  }
  return world;
}

test('every finished Pod is counted once, however often the controller is killed', () => {
  fc.assert(
    fc.property(anyJob, fc.integer(), fc.double({ min: 0, max: 0.5, noNaN: true }), (spec, seed, killChance) => {
      const { job, pods, outcomes } = runToEnd(jobOf(spec, {}), seed, killChance);
      const { status } = job;
      assert.ok(findFinishedCondition(status), 'the Job finishes');
      assert.deepEqual(status?.uncountedTerminatedPods, { succeeded: [], failed: [] });
      assert.ok(
        pods.values().every((pod) => !isTracked(pod)),
        'no Pod keeps its finalizer',
      );
      const isComplete = status?.conditions?.some(({ type }) => type === 'Complete');
      const count = (expectedOutcome: string) =>
        outcomes
          .values()
          .filter((each) => each === expectedOutcome)
          .toArray().length;
      const [succeeded, failed] = [status?.succeeded ?? 0, status?.failed ?? 0];
      const isEnough = succeeded >= spec.completions;
      // A completed index stays completed, even if its Pod was deleted and the Job failed for that.
      assert.ok(isEnough === isComplete || (isEnough && spec.completionMode === 'Indexed'));
      if (spec.completionMode === 'NonIndexed') assert.ok(succeeded <= count('Succeeded'));
      // Pods deleted because the Job failed count as failed before they finish; others do by the replacement policy.
      if (isComplete && spec.podReplacementPolicy === 'Failed') {
        assert.equal(failed, count('Failed'));
        if (spec.completionMode === 'NonIndexed') assert.equal(succeeded, count('Succeeded'));
      } else assert.ok(failed >= count('Failed') || isComplete);
    }),
    { numRuns: 150 },
  );
});

test('active Pods never exceed the parallelism', () => {
  fc.assert(
    fc.property(anyJob, fc.integer(), (spec, seed) => {
      const random = seededRandom(seed);
      const world: World = { job: jobOf(spec, {}), pods: new Map(), outcomes: new Map(), now: start };
      for (let step = 0; step < 100; step++) {
        reconcile(world, random, 0.2);
        const active = world.pods.values().filter((pod) => !isPodFinished(pod) && !pod.metadata.deletionTimestamp);
        const count = active.toArray().length;
        assert.ok(count <= spec.parallelism, `${count} active Pods`);
        simulateNodes(world, random);
        world.now += 5000;
      }
    }),
  );
});

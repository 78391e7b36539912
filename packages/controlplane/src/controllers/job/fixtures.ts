/** Fixtures: Jobs and their Pods with only the relevant fields. */
import type { Job, JobSpec, JobStatus } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import { formatTime, instantOf } from '@kruise/values/time';
import { trackingFinalizer } from './job-pods.ts';

export const now = instantOf(2026, 1, 1, 12);
export const secondsAgo = (seconds: number): string => formatTime(now - seconds * 1000);

export function jobOf(spec: Partial<JobSpec> = {}, status: JobStatus = { startTime: secondsAgo(3600) }): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'sum', namespace: 'default', uid: 'job' },
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      selector: { matchLabels: { job: 'sum' } },
      template: {
        metadata: { labels: { job: 'sum' } },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'sum' }] },
      },
      ...spec,
    },
    status,
  };
}

export type Shape = {
  readonly phase?: NonNullable<Pod['status']>['phase'];
  readonly isTerminating?: boolean;
  /** The Pod is not counted yet. */
  readonly isTracked?: boolean;
  readonly finishedSecondsAgo?: number;
  readonly exitCode?: number;
  readonly conditions?: NonNullable<Pod['status']>['conditions'];
  readonly isReady?: boolean;
  readonly restarts?: number;
  readonly index?: number;
  readonly failuresBefore?: number;
};

export function podOf(name: string, shape: Shape = {}): Pod {
  const {
    phase = 'Running',
    isTerminating,
    isTracked = true,
    finishedSecondsAgo = 3600,
    index,
    failuresBefore,
  } = shape;
  const isFinished = phase === 'Failed' || phase === 'Succeeded';
  const exitCode = shape.exitCode ?? (phase === 'Failed' ? 1 : 0);
  const state = isFinished
    ? { terminated: { exitCode, finishedAt: secondsAgo(finishedSecondsAgo) } }
    : { running: { startedAt: secondsAgo(60) } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: name,
      creationTimestamp: secondsAgo(3600),
      labels: { job: 'sum' },
      annotations: {
        ...(index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': String(index) }),
        ...(failuresBefore === undefined
          ? {}
          : { 'batch.kubernetes.io/job-index-failure-count': String(failuresBefore) }),
      },
      ...(isTracked ? { finalizers: [trackingFinalizer] } : {}),
      ...(isTerminating ? { deletionTimestamp: secondsAgo(finishedSecondsAgo), deletionGracePeriodSeconds: 0 } : {}),
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'sum', uid: 'job', controller: true, blockOwnerDeletion: true },
      ],
    },
    status: {
      phase,
      conditions: [...(shape.isReady ? [{ type: 'Ready', status: 'True' }] : []), ...(shape.conditions ?? [])],
      containerStatuses: [
        { name: 'main', state, ready: false, restartCount: shape.restarts ?? 0, image: 'sum', imageID: '' },
      ],
    },
  };
}

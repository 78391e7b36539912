/** BroadcastJobs, nodes and Pods for tests. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { BroadcastJob, BroadcastJobStatus } from '@kruise/api/kruise/broadcastjob';
import { formatTime, instantOf } from '@kruise/values/time';
import { podFor } from './pods.ts';

export const now = instantOf(2026, 1, 1, 12);

type PodSpec = NonNullable<BroadcastJob['spec']['template']['spec']>;

export function jobOf(
  spec: Partial<BroadcastJob['spec']> = {},
  status?: Partial<BroadcastJobStatus>,
  pod: Partial<PodSpec> = {},
): BroadcastJob {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'BroadcastJob',
    metadata: { name: 'job', namespace: 'default', uid: 'job-uid' },
    spec: {
      template: {
        metadata: { labels: { app: 'all' } },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:v1' }], ...pod },
      },
      completionPolicy: { type: 'Always' },
      failurePolicy: { type: 'FailFast' },
      ...spec,
    },
    ...(status
      ? {
          status: {
            startTime: formatTime(now),
            active: 0,
            succeeded: 0,
            failed: 0,
            desired: 0,
            phase: 'running',
            ...status,
          },
        }
      : {}),
  };
}

export function nodeOf(name: string, spec: Node['spec'] = {}, allocatable: { [name: string]: string } = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { name } },
    spec,
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...allocatable } },
  };
}

export const makeNodes = (names: string): readonly Node[] => names.split(' ').map((name) => nodeOf(name));

/** Returns the Pod of a node, with the name of the node. */
export function podOn(job: BroadcastJob, node: string, phase: string, restarts = 0): Pod {
  const made = podFor(job, node, { usesScheduler: true });
  const restarted = {
    name: 'main',
    image: '',
    imageID: '',
    ready: false,
    restartCount: restarts,
    state: {},
    lastState: {},
  };
  return {
    ...made,
    metadata: { ...made.metadata, name: node, uid: `uid-${node}` },
    status: { phase: phase as NonNullable<Pod['status']>['phase'] & string, containerStatuses: [restarted] },
  };
}

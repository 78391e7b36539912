// Hollow nodes with only the API behaviour of a kubelet: leases, Pods that run immediately, container restarts after
// image changes, readiness with readiness gates, and final deletions. They allow measuring a control plane alone, ours
// or that of Kubernetes, beside `kruise up --nodes 0`, until interrupted. With few workers, the nodes are the
// bottleneck of a fast server.
//   node bench/plain-nodes.ts --kubeconfig FILE [--nodes 10] [--workers 64]
import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { lease } from '@kruise/api/coordination/lease';
import { namespace } from '@kruise/api/core/namespace';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';

import { connect } from '@kruise/client/connect';
import { startInformer } from '@kruise/client/informer';
import type { KubernetesObject } from '@kruise/client/object-key';
import { isAlreadyExists, isNotFound } from '@kruise/machinery/status';
import { systemClock, systemRandom } from '@kruise/values/system';
import { formatMicroTime, formatTime } from '@kruise/values/time';

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    nodes: { type: 'string', default: '10' },
    workers: { type: 'string', default: '64' },
  },
});
if (values.kubeconfig === undefined) throw new Error('--kubeconfig FILE says which cluster gets the nodes');

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

const stop = new AbortController();
const { client, close } = connect(systemClock, { path: values.kubeconfig, userAgent: 'plain-nodes' });
const names = Array.from({ length: Number(values.nodes) }, (_, i) => `plain-${i}`);
const digests = new Map<string, string>();
/** Last written version of each Pod: the cache may be stale. */
const written = new Map<string, Pod>();
let started = 0;

await Promise.all(names.map(join));
const renewing = setInterval(() => void Promise.all(names.map(renew)).catch(fail), 10_000);

// Like a kubelet, the informer receives Pods with a node, and keeps only the fields that are needed: less work here
// means less waiting for the control plane.
const heard = { fieldSelector: 'spec.nodeName!=', transform: (object: KubernetesObject) => inShort(object as Pod) };
const pods = startInformer(client, systemClock, systemRandom, pod, heard, stop.signal);
const waiting = new Set<string>();
const busy = new Set<string>();
const idle: (() => void)[] = [];
pods.handle(({ type, object }) => {
  if (type === 'deleted') written.delete(object.metadata.uid ?? '');
  if (type === 'deleted' || !names.includes(object.spec?.nodeName ?? '')) return;
  waiting.add(`${object.metadata.namespace}/${object.metadata.name}`);
  idle.pop()?.();
});
for (let i = 0; i < Number(values.workers); i++) void work().catch(fail);
console.log(`${names.length} nodes joined`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop.abort();
    clearInterval(renewing);
    close();
    process.exit();
  });
}

function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}

async function join(name: string): Promise<void> {
  const capacity = { cpu: '1000', memory: '4Ti', pods: '1000', 'ephemeral-storage': '4Ti' };
  const now = formatTime(systemClock.now());
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
  await client.create(node, { metadata: { name, labels } }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  await client.patch(
    node,
    { name },
    { status: { capacity, allocatable: capacity, conditions: [ready] } },
    {
      type: 'strategic',
      subresource: 'status',
    },
  );
  await client.create(namespace, { metadata: { name: 'kube-node-lease' } }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatMicroTime(systemClock.now()) };
  await client.create(lease, { metadata: { name, namespace: 'kube-node-lease' }, spec }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

async function renew(name: string): Promise<void> {
  const spec = { renewTime: formatMicroTime(systemClock.now()) };
  await client.patch(lease, { name, namespace: 'kube-node-lease' }, { spec }, { type: 'merge' });
}

/** Processes one Pod after the other; two workers never process the same Pod. */
async function work(): Promise<void> {
  while (!stop.signal.aborted) {
    const key = waiting.values().find((candidate) => !busy.has(candidate));
    if (key === undefined) {
      await new Promise<void>((resolve) => idle.push(resolve));
      continue;
    }
    waiting.delete(key);
    busy.add(key);
    const [namespace = '', name = ''] = key.split('/');
    const current = pods.get({ namespace, name });
    if (current !== undefined) await attend(newest(current));
    busy.delete(key);
    if (waiting.has(key)) idle.pop()?.();
  }
}

/** Returns a Pod with only the fields that are needed. */
function inShort({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata;
  const { nodeName, containers = [], readinessGates } = spec ?? {};
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, deletionTimestamp },
    spec: { nodeName, readinessGates, containers: containers.map(({ name, image }) => ({ name, image })) },
    status,
  } as Pod;
}

function newest(cached: Pod): Pod {
  const mine = written.get(cached.metadata.uid ?? '');
  const versionOf = ({ metadata }: Pod) => Number(metadata.resourceVersion);
  return mine !== undefined && versionOf(mine) > versionOf(cached) ? mine : cached;
}

async function attend(current: Pod): Promise<void> {
  const { name = '', namespace = '', uid = '', deletionTimestamp } = current.metadata;
  try {
    if (deletionTimestamp != null) {
      await client.delete(pod, { name, namespace }, { gracePeriodSeconds: 0, preconditions: { uid } });
      return;
    }
    const status = statusOf(current);
    if (status === undefined) return;
    const body = { metadata: { uid }, status };
    const options = { type: 'strategic', subresource: 'status' } as const;
    written.set(uid, inShort(await client.patch(pod, { name, namespace }, body, options)));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Returns the status to write; undefined if it is already written. */
function statusOf(current: Pod): object | undefined {
  const now = formatTime(systemClock.now());
  const { spec, status } = current;
  const reported = new Map(status?.containerStatuses?.map((container) => [container.name, container]));
  let changed = status?.phase !== 'Running';
  const containerStatuses = (spec?.containers ?? []).map(({ name, image = '' }): ContainerStatus => {
    const before = reported.get(name);
    if (before?.image === image) return before;
    changed = true;
    const id = `sim://${(started++).toString(16).padStart(16, '0')}`;
    const restartCount = before === undefined ? 0 : (before.restartCount ?? 0) + 1;
    const state = { running: { startedAt: now } };
    return { name, image, imageID: digestOf(image), containerID: id, restartCount, ready: true, started: true, state };
  });
  const before = new Map(status?.conditions?.map((condition) => [condition.type, condition]));
  const conditions: Condition[] = [];
  const setCondition = (type: string, holds: boolean): void => {
    const value = holds ? 'True' : 'False';
    if (before.get(type)?.status === value) return;
    conditions.push({ type, status: value, lastTransitionTime: now });
  };
  const gates = spec?.readinessGates ?? [];
  for (const type of ['PodReadyToStartContainers', 'Initialized', 'ContainersReady']) setCondition(type, true);
  setCondition(
    'Ready',
    gates.every((gate) => before.get(gate.conditionType ?? '')?.status === 'True'),
  );
  if (!changed && conditions.length === 0) return undefined;
  if (!changed) return { conditions };
  const address = status?.podIP ?? `10.${128 + (started >> 16)}.${(started >> 8) & 255}.${started & 255}`;
  return {
    phase: 'Running',
    startTime: status?.startTime ?? now,
    hostIP: '127.0.0.1',
    podIP: address,
    podIPs: [{ ip: address }],
    conditions,
    containerStatuses,
  };
}

function digestOf(image: string): string {
  let digest = digests.get(image);
  if (digest === undefined) {
    digest = `${image.replace(/:[^:/]*$/, '')}@sha256:${createHash('sha256').update(image).digest('hex')}`;
    digests.set(image, digest);
  }
  return digest;
}

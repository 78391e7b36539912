/**
 * Cost of nodes per Pod: kubelets with simulated runtimes, and an API that only stores objects, whose cost is included.
 * `node bench/kubelet.ts [Pods] [nodes]`. Pods have two containers with two probes each, three volumes and a token.
 */
import type { Pod } from '@kruise/api/core/pod';
import { podStatus } from '@kruise/api/core/pod';
import { createClient } from '@kruise/client/client';
import type { Change } from '@kruise/client/informer';
import type { ApiRequest, Transport } from '@kruise/client/transport';
import type { JsonObject } from '@kruise/machinery/json-value';
import { isPodReady } from '@kruise/machinery/pods';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { createSimulatedNetwork } from '@kruise/node/cri/simulated/network';
import { createRegistry } from '@kruise/node/cri/simulated/registry';
import { createSimulatedRuntime } from '@kruise/node/cri/simulated/simulated-runtime';
import { createKubelet } from '@kruise/node/kubelet/kubelet';
import type { Sources } from '@kruise/node/kubelet/pods/sources';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import { systemClock as clock, systemRandom as random } from '@kruise/values/system';
import { formatTime } from '@kruise/values/time';

const podCount = Number(process.argv[2] ?? 1000);
const nodeCount = Number(process.argv[3] ?? 12);
const images = ['registry.local/shop/web:1.0.0', 'registry.local/mesh/proxy:1.9.0'];
const statusType = mergeTypeOf(podStatus);
const stop = new AbortController();

/** Returns an object with its stored metadata. */
let revision = 0;
const stored = <T extends { readonly metadata?: object }>(object: T) => ({
  ...object,
  metadata: { uid: crypto.randomUUID(), ...object.metadata, resourceVersion: String(++revision) },
});

const pods = new Map<string, Pod>();
const ready = new Set<string>();
const handlers = new Map<string, (change: Change<Pod>) => void>();
let writes = 0;
let events = 0;
let onChange = () => {};

function notify(type: 'added' | 'updated' | 'deleted', object: Pod): void {
  const key = object.metadata.name ?? '';
  const previous = pods.get(key);
  if (type === 'deleted') pods.delete(key);
  else pods.set(key, object);
  if (type !== 'deleted' && isPodReady(object)) ready.add(key);
  else ready.delete(key);
  const change =
    type === 'updated' && previous
      ? ({ type, object, previous, cause: 'event' } as const)
      : ({ type: type === 'deleted' ? 'deleted' : 'added', object, cause: 'event' } as const);
  handlers.get(object.spec?.nodeName ?? '')?.(change);
  onChange();
}

async function answer({ method, path, body }: ApiRequest): Promise<unknown> {
  await undefined;
  const name = path.split('/')[6] ?? '';
  if (path.endsWith('/events')) events++;
  if (path.endsWith('/token')) {
    return { status: { token: 'x'.repeat(900), expirationTimestamp: formatTime(clock.now() + 3_600_000) } };
  }
  const found = path.includes('/pods/') ? pods.get(name) : undefined;
  if (found && method === 'PATCH') {
    writes++;
    const { status } = body as { readonly status: JsonObject };
    const merged = applyStrategicMergePatch((found.status ?? {}) as JsonObject, status, statusType);
    const next = stored({ ...found, status: merged as Pod['status'] }) as Pod;
    notify('updated', next);
    return next;
  }
  if (found && method === 'DELETE') {
    writes++;
    notify('deleted', found);
    return found;
  }
  return stored((body ?? {}) as object);
}
const transport: Transport = {
  request: async (request) => ({ code: 200, object: await answer(request), warnings: [] }),
  async *watch() {
    await new Promise(() => {});
  },
};
const client = createClient(transport);

const certificate = { metadata: { name: 'kube-root-ca.crt', namespace: 'shop' }, data: { 'ca.crt': 'x'.repeat(1100) } };
const sourcesOf = (nodeName: string): Sources => ({
  watchPods: async (handler) => void handlers.set(nodeName, handler),
  watchNode() {},
  services: async () => [],
  configMap: async (_namespace, name) => (name === 'kube-root-ca.crt' ? (certificate as never) : undefined),
  secret: async () => undefined,
  claim: async () => undefined,
  volume: async () => undefined,
  runtimeClass: async () => undefined,
  watchReferences() {},
  unwatchReferences() {},
});

const container = (name: string, image: string, port: number) => ({
  name,
  image,
  imagePullPolicy: 'IfNotPresent',
  command: ['/usr/local/bin/server'],
  args: [`--listen=:${port}`, '--config=/etc/app/config.yaml', '--log-format=json', '--drain-timeout=25s'],
  ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
  env: [
    { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
    ...Array.from({ length: 6 }, (_, index) => ({ name: `SETTING_${index}`, value: `value-of-setting-${index}` })),
  ],
  resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '500m', memory: '128Mi' } },
  readinessProbe: {
    httpGet: { path: '/ready', port, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    failureThreshold: 3,
  },
  livenessProbe: {
    httpGet: { path: '/live', port, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    failureThreshold: 3,
  },
  volumeMounts: [
    { name: 'config', mountPath: '/etc/app' },
    { name: 'scratch', mountPath: '/var/run/app' },
    { name: 'kube-api-access', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
  ],
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 1000,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  },
});

const podOf = (name: string, nodeName: string) =>
  stored({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      generation: 1,
      labels: { app: 'shop' },
      creationTimestamp: formatTime(clock.now()),
    },
    spec: {
      nodeName,
      restartPolicy: 'Always',
      serviceAccountName: 'default',
      terminationGracePeriodSeconds: 30,
      containers: [container('web', images[0]!, 8080), container('proxy', images[1]!, 15001)],
      volumes: [
        { name: 'config', configMap: { name: 'shop-config', optional: true, defaultMode: 420 } },
        { name: 'scratch', emptyDir: {} },
        {
          name: 'kube-api-access',
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
              {
                downwardAPI: {
                  items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
                },
              },
            ],
          },
        },
      ],
    },
    status: {
      phase: 'Pending',
      qosClass: 'Burstable',
      conditions: [
        { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: formatTime(clock.now()) },
      ],
    },
  }) as unknown as Pod;

const network = createSimulatedNetwork();
const registry = createRegistry();
const log = { info() {}, warn: (fields: object, message: string) => console.error(message, fields), error() {} };
const kubelets = Array.from({ length: nodeCount }, (_, index) => {
  const nodeName = `node-${index + 1}`;
  const nodeAddress = `172.18.0.${index + 2}`;
  const runtime = createSimulatedRuntime({
    clock,
    random,
    network,
    registry,
    images,
    nodeAddress,
    podCidr: `10.244.${index}.0/22`,
  });
  const capacity = { cpu: '64', memory: '256Gi', pods: '2000' };
  return createKubelet(
    { client, clock, random, runtime, nodeName, addresses: [nodeAddress], capacity, sources: sourcesOf(nodeName), log },
    stop.signal,
  );
});
await Promise.all(kubelets.map(({ registered }) => registered));
await new Promise((resolve) => setTimeout(resolve, 100));

async function until(isDone: () => boolean): Promise<void> {
  await new Promise<void>((resolve) => {
    onChange = () => {
      if (isDone()) resolve();
    };
    onChange();
  });
  onChange = () => {};
}

let names = 0;
async function round(count: number): Promise<{ readonly up: number; readonly down: number; readonly writes: number }> {
  writes = 0;
  const startMs = process.cpuUsage();
  for (let index = 0; index < count; index++) {
    notify('added', podOf(`shop-${names++}`, `node-${(index % nodeCount) + 1}`));
    if (index % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => ready.size === count);
  await drained();
  const up = process.cpuUsage(startMs);
  const before = process.cpuUsage();
  for (const pod of [...pods.values()]) {
    const metadata = {
      ...pod.metadata,
      deletionTimestamp: formatTime(clock.now()),
      deletionGracePeriodSeconds: 30,
      generation: 2,
    };
    notify('updated', stored({ ...pod, metadata }) as Pod);
  }
  await until(() => pods.size === 0);
  await drained();
  const down = process.cpuUsage(before);
  const ms = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000 / count;
  return { up: ms(up), down: ms(down), writes: writes / count };
}

/** Waits until no more events are written. */
async function drained(): Promise<void> {
  for (let before = -1; before !== events; ) {
    before = events;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

await round(Math.min(podCount, 500));
await round(Math.min(podCount, 500));
events = 0;
const result = await round(podCount);
console.log(
  `${podCount} Pods: ${result.up.toFixed(2)} ms of processor time each until ready, ${result.down.toFixed(2)} ms until gone; ` +
    `${result.writes.toFixed(1)} writes, ${(events / podCount).toFixed(1)} events`,
);
stop.abort();
process.exit(0);

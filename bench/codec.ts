/**
 * Cost of the codecs, as multiples of `JSON.parse` of the same Pod in the same run: this cancels out the speed and
 * noise of the machine. Run with `node bench/codec.ts`.
 */
import { codecOf } from '@kruise/schema/codec';
import { scanBytes } from '@kruise/schema/json-text';

const heapBefore = process.memoryUsage().heapUsed;
const importStart = process.hrtime.bigint();
const { builtinKinds } = await import('@kruise/api/builtin');
const importMs = Number(process.hrtime.bigint() - importStart) / 1e6;
globalThis.gc?.();
const importMb = (process.memoryUsage().heapUsed - heapBefore) / 2 ** 20;

const pod = builtinKinds.find(({ kind }) => kind === 'Pod');
if (!pod) throw new Error('there is no Pod among the kinds');
const codec = codecOf<unknown>(pod.root);

const object = codec.fromJson(realisticPod());
const text = codec.toJson(object);
const bytes = Buffer.from(text);
const message = codec.toProtobuf(object);
const value: unknown = JSON.parse(text);
const reordered = reverseKeys(value);

const cases: readonly (readonly [name: string, run: () => unknown])[] = [
  ['JSON.parse', () => JSON.parse(text)],
  ['JSON.stringify', () => JSON.stringify(value)],
  ['survey', () => scanBytes(bytes)],
  ['decode', () => codec.decode(bytes)],
  ['fromJson', () => codec.fromJson(value)],
  ['fromJson, keys reversed', () => codec.fromJson(reordered)],
  ['canonical', () => codec.canonical(object)],
  ['toJson', () => codec.toJson(object)],
  ['toProtobuf', () => codec.toProtobuf(object)],
  ['fromProtobuf', () => codec.fromProtobuf(message)],
];

const best = new Map(cases.map(([name]) => [name, Number.POSITIVE_INFINITY]));
for (let round = 0; round < 15; round++) {
  for (const [name, run] of cases) best.set(name, Math.min(best.get(name)!, microseconds(run)));
}
const unit = best.get('JSON.parse')!;
console.log(`Pod of ${bytes.length} bytes of JSON, ${message.length} of protobuf`);
for (const [name, time] of best) console.log(`${name.padEnd(26)} ${(time / unit).toFixed(2)}  (${time.toFixed(1)} µs)`);
console.log(`import of every kind       ${importMs.toFixed(0)} ms, ${importMb.toFixed(1)} MB`);

function microseconds(run: () => unknown): number {
  const times = 1000;
  const start = process.hrtime.bigint();
  for (let index = 0; index < times; index++) run();
  return Number(process.hrtime.bigint() - start) / 1e3 / times;
}

function reverseKeys(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(reverseKeys);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json)
      .reverse()
      .map(([key, member]) => [key, reverseKeys(member)]),
  );
}

function realisticPod(): unknown {
  const probe = (path: string) => ({
    httpGet: { path, port: 'http', scheme: 'HTTP' },
    initialDelaySeconds: 5,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  const container = (name: string, port: number) => ({
    name,
    image: `registry.example.com/shop/${name}:v1.42.0`,
    args: ['--listen', `:${port}`, '--log-level=info'],
    ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      { name: 'DATABASE', value: 'postgres://shop-db.shop.svc:5432/shop' },
    ],
    resources: { limits: { cpu: '1', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    volumeMounts: [
      { name: 'config', readOnly: true, mountPath: '/etc/shop' },
      { name: 'kube-api-access-x7k2p', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ],
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    securityContext: { allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
  });
  const condition = (type: string) => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: '2026-01-02T03:04:09Z',
  });
  const status = (name: string) => ({
    name,
    state: { running: { startedAt: '2026-01-02T03:04:07Z' } },
    ready: true,
    restartCount: 0,
    image: `registry.example.com/shop/${name}:v1.42.0`,
    imageID: `registry.example.com/shop/${name}@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
    containerID: 'containerd://2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    started: true,
  });
  const owned = (...names: string[]) => Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: 'shop-frontend-6d5f7c9b8d-x7k2p',
      generateName: 'shop-frontend-6d5f7c9b8d-',
      namespace: 'shop',
      uid: '0b1f7c0e-6f5c-4c33-9f43-3a1f9f2a7a11',
      resourceVersion: '1234567',
      creationTimestamp: '2026-01-02T03:04:05Z',
      labels: { app: 'shop-frontend', 'pod-template-hash': '6d5f7c9b8d', team: 'web' },
      annotations: { 'prometheus.io/port': '9090', 'prometheus.io/scrape': 'true' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'shop-frontend-6d5f7c9b8d',
          uid: '5d1b8f4e-93ad-4f6d-a0a5-51f7e2f0b3c2',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          apiVersion: 'v1',
          time: '2026-01-02T03:04:05Z',
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': { 'f:generateName': {}, 'f:labels': { '.': {}, ...owned('app', 'team') } },
            'f:spec': {
              'f:containers': {
                'k:{"name":"web"}': { '.': {}, ...owned('args', 'image', 'name', 'ports', 'resources') },
              },
              ...owned('dnsPolicy', 'restartPolicy', 'schedulerName', 'volumes'),
            },
          },
        },
      ],
    },
    spec: {
      volumes: [
        { name: 'config', configMap: { name: 'shop-frontend', defaultMode: 420 } },
        {
          name: 'kube-api-access-x7k2p',
          projected: {
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            ],
            defaultMode: 420,
          },
        },
      ],
      containers: [container('web', 8080), container('sidecar', 9090)],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'shop',
      serviceAccount: 'shop',
      nodeName: 'node-17',
      securityContext: { fsGroup: 2000 },
      schedulerName: 'default-scheduler',
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    status: {
      phase: 'Running',
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
      hostIP: '10.0.0.17',
      hostIPs: [{ ip: '10.0.0.17' }],
      podIP: '10.244.3.21',
      podIPs: [{ ip: '10.244.3.21' }],
      startTime: '2026-01-02T03:04:05Z',
      containerStatuses: [status('web'), status('sidecar')],
      qosClass: 'Burstable',
    },
  };
}

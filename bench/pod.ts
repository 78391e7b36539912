// Cost of a realistic Pod in a write request: decoding, defaulting, validation, managed fields, encoding; each as a
// ratio to JSON.parse of the same bytes in the same run. `node bench/pod.ts`

import { pod } from '@kruise/api/core/pod';
import { defaultPod } from '@kruise/api/core/pod.default';
import { validatePod } from '@kruise/api/core/pod.validate';
import { applyPatch, trackUpdate } from '@kruise/machinery/server-side-apply/field-manager';
import { codecOf } from '@kruise/schema/codec';
import { mergeTypeOf } from '@kruise/schema/merge-type';

const container = (name: string) => ({
  name,
  image: `registry.example.com/team/${name}:1.29.3`,
  command: ['/bin/server', '--listen=:8080', '--log=json'],
  env: Array.from({ length: 12 }, (_, index) => ({ name: `SETTING_${index}`, value: `value number ${index}` })),
  ports: [
    { name: 'http', containerPort: 8080 },
    { name: 'metrics', containerPort: 9090 },
  ],
  resources: { requests: { cpu: '250m', memory: '256Mi' }, limits: { cpu: '1', memory: '512Mi' } },
  readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5 },
  livenessProbe: { httpGet: { path: '/live', port: 8080 }, initialDelaySeconds: 10 },
  volumeMounts: [
    { name: 'config', mountPath: '/etc/app', readOnly: true },
    { name: 'cache', mountPath: '/var/cache/app' },
  ],
  securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
});
const manifest = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-7d4b9c6f5-x2x7k',
    namespace: 'production',
    labels: { app: 'web', tier: 'front', 'pod-template-hash': '7d4b9c6f5' },
    annotations: { 'example.com/owner': 'team-web', 'example.com/revision': '42' },
  },
  spec: {
    containers: [container('web'), container('sidecar')],
    volumes: [
      { name: 'config', configMap: { name: 'web-config' } },
      { name: 'cache', emptyDir: { sizeLimit: '1Gi' } },
    ],
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'web', effect: 'NoSchedule' }],
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } },
          },
        ],
      },
    },
  },
};

const codec = codecOf(pod.root);
const text = JSON.stringify(manifest);
const bytes = Buffer.from(text);
const fresh = () => {
  const draft = codec.fromJson(manifest) as Parameters<typeof defaultPod>[0];
  defaultPod(draft);
  return draft;
};
const ready = codec.canonical(fresh() as never);
const kind = {
  apiVersion: 'v1',
  kind: 'Pod',
  type: mergeTypeOf(pod.root),
  empty: codec.canonical({ apiVersion: 'v1', kind: 'Pod', metadata: {} } as never) as never,
};
const message = codec.toProtobuf(ready);

const work: { readonly [name: string]: () => unknown } = {
  'JSON.parse': () => JSON.parse(text),
  'decode (parse and canonical form)': () => codec.decode(bytes),
  'decode and default': fresh,
  validate: () => [...validatePod(ready as never)],
  'encode JSON': () => codec.toJson(ready),
  'encode protobuf': () => codec.toProtobuf(ready),
  'decode protobuf': () => codec.fromProtobuf(message),
  'track a create': () => trackUpdate(kind, { updated: ready as never, manager: 'bench', now: 0 }),
  'apply (create)': () => applyPatch(kind, { applied: manifest as never, manager: 'bench', now: 0 }),
};

/** Returns the time of one run in microseconds: the best of several rounds, which is the least disturbed. */
function microseconds(run: () => unknown): number {
  const rounds = 7;
  const times = 3000;
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const startMs = process.cpuUsage();
    for (let time = 0; time < times; time++) run();
    const { user, system } = process.cpuUsage(startMs);
    best = Math.min(best, (user + system) / times);
  }
  return best;
}

console.log(`a Pod of ${bytes.length} bytes, ${text.length === bytes.length ? 'ASCII' : 'UTF-8'}`);
let unit = 0;
for (const [name, run] of Object.entries(work)) {
  const cost = microseconds(run);
  unit ||= cost;
  console.log(`${name.padEnd(36)} ${cost.toFixed(1).padStart(8)} µs ${(cost / unit).toFixed(2).padStart(8)} ×`);
}

/**
 * Cost of managed fields, server-side apply and strategic merge on a Pod of about 5 KB. Run with `node bench/merge.ts`.
 */
import { pod } from '@kruise/api/core/pod';
import { applyPatch, trackUpdate } from '@kruise/machinery/server-side-apply/field-manager';
import { createThreeWayMergePatch } from '@kruise/machinery/strategic-merge-diff';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { codecOf } from '@kruise/schema/codec';
import { mergeTypeOf } from '@kruise/schema/merge-type';

type Json = { readonly [name: string]: unknown };
const codec = codecOf(pod.root);
const canonical = (value: Json) => codec.fromJson(value) as unknown as Json;
const kind = {
  apiVersion: 'v1',
  kind: 'Pod',
  type: mergeTypeOf(pod.root),
  empty: canonical({ apiVersion: 'v1', kind: 'Pod' }),
};
const now = Date.UTC(2024, 0, 1);

const container = (name: string) => ({
  name,
  image: `registry.example/${name}:1.0`,
  env: Array.from({ length: 8 }, (_, index) => ({ name: `VARIABLE_${index}`, value: `value-${index}` })),
  ports: [
    { containerPort: 8080, name: 'http', protocol: 'TCP' },
    { containerPort: 9090, name: 'metrics', protocol: 'TCP' },
  ],
  resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m', memory: '128Mi' } },
  livenessProbe: { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, timeoutSeconds: 1 },
  volumeMounts: [
    { name: 'config', mountPath: '/etc/config', readOnly: true },
    { name: 'data', mountPath: '/data' },
  ],
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
});
const spec = {
  containers: [container('app'), container('sidecar')],
  volumes: [
    { name: 'config', configMap: { name: 'app-config', defaultMode: 420 } },
    { name: 'data', emptyDir: {} },
  ],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ],
};
const conditions = (status: string) =>
  ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    ...{ type, status, lastProbeTime: null, lastTransitionTime: '2024-01-01T00:00:00Z' },
  }));
const statusOf = (ready: boolean) => ({
  phase: 'Running',
  conditions: conditions(ready ? 'True' : 'False'),
  podIP: '10.0.0.7',
  podIPs: [{ ip: '10.0.0.7' }],
  startTime: '2024-01-01T00:00:00Z',
  containerStatuses: ['app', 'sidecar'].map((name) => ({
    ...{ name, ready, restartCount: 0, image: `registry.example/${name}:1.0`, imageID: 'sha256:0', lastState: {} },
    state: { running: { startedAt: '2024-01-01T00:00:00Z' } },
  })),
});
const metadata = {
  ...{ name: 'web-0', namespace: 'default', labels: { app: 'web', tier: 'front' }, annotations: { note: 'x' } },
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'r', controller: true }],
};
const typed = { apiVersion: 'v1', kind: 'Pod' };

const submitted = canonical({ ...typed, metadata, spec });
const created = withUid(trackUpdate(kind, { updated: submitted, manager: 'kube-controller-manager', now }));
const scheduled = track(created, { spec: { ...(created['spec'] as Json), nodeName: 'n' } }, 'kube-scheduler');
const live = track(scheduled, { status: statusOf(false) }, 'kubelet', 'status');
const entriesText = JSON.stringify((live['metadata'] as Json)['managedFields']);
const liveText = JSON.stringify(live);
const ready = { ...live, status: canonical({ ...live, status: statusOf(true) })['status'] };
const readyText = JSON.stringify(ready);
const patch = { spec: { containers: [{ name: 'app', image: 'registry.example/app:2.0' }] } };
const manifest = {
  ...typed,
  metadata: { name: 'web-0', labels: { team: 'a' } },
  spec: { containers: [{ name: 'app', image: 'registry.example/app:2.0' }] },
};
const changedManifest = { ...manifest, metadata: { name: 'web-0', labels: { team: 'b' } } };
const applied = apply(live, manifest);
const current = applyStrategicMergePatch(live, { metadata: { annotations: { foreign: '1' } } }, kind.type);

function withUid(object: Json): Json {
  return { ...object, metadata: { ...(object['metadata'] as Json), uid: 'u' } };
}

function track(before: Json, change: Json, manager: string, subresource = ''): Json {
  return trackUpdate(kind, { live: before, updated: canonical({ ...before, ...change }), manager, subresource, now });
}

function apply(before: Json, value: Json): Json {
  const result = applyPatch(kind, { live: before, applied: value, manager: 'deployer', force: true, now });
  if (!('object' in result)) throw new Error('the apply is refused');
  return result.object;
}

/** Returns the time of one run in microseconds: the best of several rounds, because other work only slows it down. */
function measure(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 15; round++) {
    const runs = round === 0 ? 200 : Math.max(50, Math.min(100_000, Math.round(20_000 / Math.max(best, 0.05))));
    const start = process.hrtime.bigint();
    for (let index = 0; index < runs; index++) run();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / runs / 1000);
  }
  return best;
}

const status = { manager: 'kubelet', subresource: 'status', now };
const cases: Record<string, () => unknown> = {
  'update: nothing changed': () => trackUpdate(kind, { live, updated: { ...live }, manager: 'kubelet', now }),
  'update: new status, rest shared': () => trackUpdate(kind, { live, updated: ready, ...status }),
  'update: new status, entries just read': () => trackUpdate(kind, { live: freshEntries(), updated: ready, ...status }),
  '  of which reading the text of the entries': () => JSON.parse(entriesText),
  'update: whole object sent, nothing shared': () =>
    trackUpdate(kind, { live, updated: JSON.parse(readyText), ...status }),
  '  of which reading the text': () => JSON.parse(readyText),
  create: () => trackUpdate(kind, { updated: submitted, manager: 'kube-controller-manager', now }),
  'apply: nothing changed': () => apply(applied, manifest),
  'apply: a label changed': () => apply(applied, changedManifest),
  'apply: a field given up': () => apply(applied, { ...typed, metadata: manifest.metadata }),
  'strategic patch of an image': () => applyStrategicMergePatch(live, patch, kind.type),
  'three-way patch': () =>
    createThreeWayMergePatch({ original: submitted, modified: live, current }, kind.type, { overwrite: true }),
};

function freshEntries(): Json {
  return { ...live, metadata: { ...(live['metadata'] as Json), managedFields: JSON.parse(entriesText) } };
}

const managers = (live['metadata'] as { readonly managedFields: readonly unknown[] }).managedFields.length;
console.log(`a Pod of ${liveText.length} bytes with ${managers} managers`);
for (const [name, run] of Object.entries(cases)) {
  console.log(`${name.padEnd(44)} ${measure(run).toFixed(2).padStart(8)} µs`);
}

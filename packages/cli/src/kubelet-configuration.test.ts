import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { decodeConfiguration } from '@kruise/node/kubelet/configuration/configuration';
import { configurationFields } from '@kruise/node/kubelet/configuration/fields';
import { Command } from 'commander';
import { kubeletStart, maxPodsOf } from './kubelet-configuration.ts';
import { givenFlags, type KubeletFlags, kubeletFlags } from './kubelet-flags.ts';
import { resourceSettings } from './resource-flags.ts';

const folder = mkdtempSync(join(tmpdir(), 'kruise-kubelet-configuration-'));
after(() => rmSync(folder, { recursive: true }));

const header = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

function write(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const config = (name: string, text: string) => write(name, header + text);

function start(...line: readonly string[]) {
  const command = kubeletFlags(new Command()).exitOverride().parse(line, { from: 'user' });
  return kubeletStart(command.opts<KubeletFlags>(), givenFlags(command));
}

const configuration = (...line: readonly string[]) =>
  start(...line).options.configuration as { readonly [name: string]: unknown };

/** File that `kubeadm init` of v1.33 writes. */
const ofKubeadm = config(
  'kubeadm/config.yaml',
  `authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
  webhook:
    cacheAuthorizedTTL: 0s
    cacheUnauthorizedTTL: 0s
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
    text:
      infoBufferSize: "0"
  verbosity: 0
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
resolvConf: /run/systemd/resolve/resolv.conf
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`,
);

test('the file and the flags of kubeadm are accepted', () => {
  const { flags, ignored } = start(
    '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf',
    '--kubeconfig=/etc/kubernetes/kubelet.conf',
    `--config=${ofKubeadm}`,
    '--container-runtime-endpoint=unix:///var/run/containerd/containerd.sock',
    '--pod-infra-container-image=registry.k8s.io/pause:3.10',
    '--node-labels=tier=front',
  );
  const { clientCaFile, clusterDns, cgroupDriver, podManifestPath, containerRuntimeEndpoint, nodeLabels } = flags;
  assert.deepEqual(
    [clientCaFile, clusterDns, cgroupDriver, podManifestPath, containerRuntimeEndpoint, nodeLabels],
    [
      '/etc/kubernetes/pki/ca.crt',
      '10.96.0.10',
      'systemd',
      '/etc/kubernetes/manifests',
      'unix:///var/run/containerd/containerd.sock',
      'tier=front',
    ],
  );
  assert.deepEqual(ignored, ['--pod-infra-container-image']);
});

test('fields take effect as their flags', () => {
  const file = config(
    'fields.yaml',
    `kubeReserved: {cpu: 200m, memory: 1Gi}
systemReserved: {pid: "1000"}
systemReservedCgroup: /system.slice
enforceNodeAllocatable: [pods, system-reserved]
podPidsLimit: 500
cpuCFSQuota: false
cpuCFSQuotaPeriod: 0.02s
memorySwap: {swapBehavior: LimitedSwap}
evictionHard: {memory.available: 5%, nodefs.available: 0%}
evictionSoft: {memory.available: 1Gi}
evictionSoftGracePeriod: {memory.available: 1m30s}
registerWithTaints: [{key: a, value: b, effect: NoSchedule}, {key: c, effect: NoExecute}]
clusterDNS: [10.0.0.10, 10.0.0.11]
containerLogMaxSize: 5Mi
containerLogMonitorInterval: 1m
imageMinimumGCAge: 1h
imageGCLowThresholdPercent: 50
providerID: example://1
resolvConf: ""
serverTLSBootstrap: true
healthzBindAddress: 0.0.0.0
tlsCertFile: kubelet.crt
tlsPrivateKeyFile: /keys/kubelet.key
featureGates: {EventedPLEG: false}
podsPerCore: 1
`,
  );
  const started = start('--config', file);
  const { flags, options } = started;
  assert.deepEqual(resourceSettings(flags), {
    cgroupsPerQos: true,
    cgroupDriver: 'CGROUPFS',
    enforceNodeAllocatable: new Set(['pods', 'system-reserved']),
    kubeReserved: { cpu: '200m', memory: '1Gi' },
    systemReserved: { pid: '1000' },
    systemReservedCgroup: '/system.slice',
    podPidsLimit: 500,
    cpuQuota: { isEnforced: false, periodMicroseconds: 20_000 },
    swapBehavior: 'LimitedSwap',
  });
  assert.deepEqual(
    [flags.evictionHard, flags.evictionSoft, flags.evictionSoftGracePeriod, flags.registerWithTaints],
    ['memory.available<5%', 'memory.available<1Gi', 'memory.available=1m30s', 'a=b:NoSchedule,c:NoExecute'],
  );
  assert.deepEqual(
    [flags.clusterDns, flags.containerLogMaxSize, flags.rotateServerCertificates, flags.featureGates],
    ['10.0.0.10,10.0.0.11', '5Mi', true, 'EventedPLEG=false'],
  );
  assert.deepEqual(options.imageGC, { highPercent: 85, lowPercent: 50, minimumAgeMs: 3_600_000 });
  assert.deepEqual(
    [options.providerId, started.healthzBindAddress, started.logIntervalMs, started.hostDns.servers],
    ['example://1', '0.0.0.0', 60_000, []],
  );
  assert.deepEqual(started.servingFiles, { certificate: join(folder, 'kubelet.crt'), key: '/keys/kubelet.key' });
  assert.equal(maxPodsOf(flags, started), Math.min(110, cpus().length));
  assert.deepEqual(started.ignored, []);
});

test('flags on the command line override fields, and defaults of flags do not', () => {
  const file = config('flags.yaml', 'maxPods: 50\nport: 10300\nfeatureGates: {EventedPLEG: false}\n');
  const { flags } = start('--config', file, '--max-pods=110', '--feature-gates=ImagePullJobGate=true');
  assert.deepEqual(
    [flags.maxPods, flags.port, flags.featureGates],
    ['110', '10300', 'EventedPLEG=false,ImagePullJobGate=true'],
  );
  assert.equal(start('--config', file, '--feature-gates=EventedPLEG=true').flags.featureGates, 'EventedPLEG=true');
});

test('drop-ins are merged in lexical order, with maps merged and lists replaced', () => {
  const base = config('base.yaml', "maxPods: 50\nclusterDNS: [10.0.0.10]\nsystemReserved: {cpu: '1', memory: 1Gi}\n");
  config('drop/20-b.conf', 'maxPods: 70\nstaticPodPath: manifests\n');
  config('drop/10-a.conf', "maxPods: 60\nclusterDNS: [10.0.0.11]\nsystemReserved: {cpu: '2'}\n");
  config('drop/15/c.conf', 'port: 10400\n');
  write('drop/30-ignored.yaml', 'not: a configuration\n');
  const { maxPods, clusterDNS, systemReserved, port, staticPodPath } = configuration(
    ...['--config', base, '--config-dir', join(folder, 'drop')],
  );
  assert.deepEqual(
    [maxPods, clusterDNS, systemReserved, port],
    [70, ['10.0.0.11'], { cpu: '2', memory: '1Gi' }, 10_400],
  );
  assert.equal(staticPodPath, join(folder, 'drop', 'manifests'));
  assert.equal(configuration('--config-dir', join(folder, 'drop')).maxPods, 70);
});

test('fields without effect are listed', () => {
  const file = config('ignored.yaml', 'syncFrequency: 5m\nserializeImagePulls: false\nrotateCertificates: true\n');
  assert.deepEqual(start('--config', file).ignored, ['syncFrequency', 'serializeImagePulls', 'rotateCertificates']);
});

test('a configuration with faults names all of them', () => {
  const unknown = config('unknown.yaml', 'maxPod: 5\nport: 1\nport: 2\n');
  assert.throws(
    () => start('--config', unknown),
    /unknown\.yaml: \[line 5: key "port" already set in map, unknown field "maxPod"\]/,
  );
  const invalid = config('invalid.yaml', 'port: 70000\nseccompDefault: true\n');
  assert.throws(() => start('--config', invalid), /\[port 70000 must be .*, seccompDefault true is not supported/);
  assert.throws(() => start('--config', invalid, '--port=10250', '--max-pods=many'), /\[maxPods NaN/);
  assert.throws(() => start('--config', join(folder, 'none.yaml')), /failed to load kubelet config file .*none\.yaml/);
  config('broken/a.conf', 'kind: Other\n');
  assert.throws(() => start('--config-dir', join(folder, 'broken')), /a\.conf: /);
});

test('without a file the flags stay as they are, and the configuration describes them', () => {
  const line = ['--max-pods=20', '--eviction-hard=memory.available<1Gi', '--register-with-taints=a=b:NoSchedule'];
  const command = kubeletFlags(new Command()).parse(line, { from: 'user' });
  assert.deepEqual(start(...line).flags, command.opts<KubeletFlags>());
  const { maxPods, evictionHard, registerWithTaints, clusterDNS } = configuration(...line);
  assert.deepEqual(
    [maxPods, evictionHard, registerWithTaints, clusterDNS],
    [20, { 'memory.available': '1Gi' }, [{ key: 'a', value: 'b', effect: 'NoSchedule' }], ['10.96.0.10']],
  );
});

test('the configuration that the kubelet serves is a configuration', () => {
  const served = configuration('--config', ofKubeadm);
  const values = decodeConfiguration(
    { ...served, apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' },
    'configz',
  );
  assert.ok(Object.keys(values).length > Object.keys(configurationFields).length - 10);
});

/** A kubelet that kubeadm has configured: its file, a drop-in and its flags, on the simulated runtime. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { node } from '@kruise/api/core/node';
import { credentialsOf, freshEnvironment, kruise, kruiseArguments, startCluster, temporaryHome } from './cluster.ts';
import { until } from './states.ts';

test('a kubelet starts with the configuration and the flags of kubeadm, and serves the configuration', async (context) => {
  const home = temporaryHome();
  context.after(() => rmSync(home, { recursive: true, force: true }));
  const server = await startCluster(home, [], { command: 'apiserver' });
  context.after(() => server.stop());
  const { client, close } = server.connect();
  context.after(close);

  const port = await freePort();
  const config = join(home, 'config.yaml');
  writeFileSync(config, configurationOfKubeadm(join(server.data, 'pki', 'ca.crt'), join(home, 'manifests')));
  const dropIns = join(home, 'kubelet.conf.d');
  mkdirSync(dropIns);
  writeFileSync(
    join(dropIns, '10-node.conf'),
    `${header}port: ${port}\naddress: 127.0.0.1\nhealthzPort: 0\nmaxPods: 50\nregisterWithTaints:\n- {key: a, effect: NoSchedule}\n`,
  );
  const arguments_ = [
    ...['kubelet', '--bootstrap-kubeconfig', join(home, 'deleted-by-kubeadm.conf')],
    ...['--kubeconfig', await credentialsOf(home, server.data, 'system:node:one', ['system:nodes'])],
    ...['--config', config, '--config-dir', dropIns],
    ...['--container-runtime-endpoint=simulated', '--pod-infra-container-image=registry.k8s.io/pause:3.10'],
    ...['--node-labels=tier=front', '--hostname-override=one', '--node-ip=127.0.0.1', '--max-pods=40'],
    ...['--root-dir', join(home, 'one')],
  ];
  const child = spawn(process.execPath, kruiseArguments(arguments_), {
    env: freshEnvironment(home),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  context.after(() => child.kill('SIGKILL'));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    log += part;
  });

  // Without a controller-manager no Pod CIDR is allocated, so the node registers and does not become ready.
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', () => log.includes('node registered') && resolve());
    child.once('exit', (code) => reject(new Error(`the kubelet ended with ${code}:\n${log}`)));
  });
  const found = await until(client, node, ([each]) => each?.status?.capacity?.pods !== undefined && each);
  assert.deepEqual([found.metadata.labels?.tier, found.status?.capacity?.pods], ['front', '40']);
  assert.ok(found.spec?.taints?.some(({ key, effect }) => key === 'a' && effect === 'NoSchedule'));
  const admin = readFileSync(await credentialsOf(home, server.data, 'admin', ['system:masters']), 'utf8');
  const dataOf = (name: string) => Buffer.from(new RegExp(`${name}-data: (\\S+)`).exec(admin)?.[1] ?? '', 'base64');
  // The serving certificate is signed by itself.
  const options = { cert: dataOf('client-certificate'), key: dataOf('client-key'), rejectUnauthorized: false };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`https://127.0.0.1:${port}/configz`, { ...options, agent: false }, resolve).once('error', reject);
  });
  const { kubeletconfig } = JSON.parse(await text(response)) as {
    readonly kubeletconfig: { readonly [name: string]: unknown };
  };
  const { maxPods, clusterDNS, syncFrequency, staticPodPath, rotateCertificates } = kubeletconfig;
  assert.deepEqual(
    [kubeletconfig.port, maxPods, clusterDNS, syncFrequency, staticPodPath, rotateCertificates],
    [port, 40, ['10.96.0.10'], '1m0s', join(home, 'manifests'), true],
  );
  const warning = log.split('\n').find((line) => line.includes('configuration fields have no effect')) ?? '{}';
  assert.deepEqual(JSON.parse(warning).fields, ['rotateCertificates', '--pod-infra-container-image']);
});

test('a kubelet with an invalid configuration does not start and names all faults', async (context) => {
  const home = temporaryHome();
  context.after(() => rmSync(home, { recursive: true, force: true }));
  const config = join(home, 'config.yaml');
  writeFileSync(config, `${header}port: 0\nmaxPods: -1\nreadOnlyPort: 10255\n`);
  const { code, stderr } = await kruise(home, ['kubelet', '--config', config]);
  assert.equal(code, 1);
  assert.match(stderr, /maxPods -1 must be greater than or equal to 0, readOnlyPort 10255 is not supported/);
});

const header = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** Returns the file that kubeadm v1.33 writes, with other paths. */
function configurationOfKubeadm(clientCAFile: string, staticPodPath: string): string {
  return `${header}authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: ${clientCAFile}
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
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: ${staticPodPath}
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}

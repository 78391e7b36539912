import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { node as nodeKind } from '@kruise/api/core/node';
import { service as serviceKind } from '@kruise/api/core/service';
import { endpointSlice as sliceKind } from '@kruise/api/discovery/endpointslice';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { jsonLog } from '@kruise/client/log';
import { createMetrics } from '@kruise/client/metrics';
import type { ProxyConfiguration } from '@kruise/network/proxy/configuration';
import { runKubeProxy } from '@kruise/network/proxy/kube-proxy';
import { addresses, labObstacle, type PacketLab, startPacketLab } from '@kruise/network/proxy/testing/packet-lab';
import { systemClock, systemRandom } from '@kruise/values/system';
import { Command } from 'commander';
import { type ProxyFlags, proxyFlags } from '../proxy-flags.ts';
import { configurationOf } from './proxy.ts';

function parse(...line: readonly string[]): ProxyConfiguration {
  const command = proxyFlags(new Command())
    .exitOverride()
    .configureOutput({ writeErr() {} });
  return configurationOf(command.parse(line, { from: 'user' }).opts<ProxyFlags>());
}

describe('the flags of kube-proxy', () => {
  test('have the defaults of the configuration', async () => {
    const { defaultProxyConfiguration } = await import('@kruise/network/proxy/configuration');
    assert.deepEqual(parse(), defaultProxyConfiguration);
  });

  test('set the configuration', () => {
    const { mode, nodePortAddresses, conntrack, iptables, clusterCIDR } = parse(
      '--proxy-mode=iptables',
      '--nodeport-addresses=10.0.0.0/8,fd00::/8',
      '--conntrack-max-per-core=0',
      '--iptables-localhost-nodeports=false',
      '--iptables-sync-period=1m',
      '--masquerade-all',
      '--cluster-cidr=10.244.0.0/16',
    );
    assert.deepEqual([mode, nodePortAddresses, conntrack.maxPerCore], ['iptables', ['10.0.0.0/8', 'fd00::/8'], 0]);
    assert.deepEqual(
      [iptables.localhostNodePorts, iptables.syncPeriodMs, iptables.masqueradeAll],
      [false, 60_000, true],
    );
    assert.equal(clusterCIDR, '10.244.0.0/16');
  });

  for (const [flag, message] of [
    ['--proxy-mode=ipvs', /^mode: Unsupported value: "ipvs"/],
    ['--masquerade-all=perhaps', /must be true or false/],
    ['--iptables-sync-period=soon', /^--iptables-sync-period: /],
    ['--conntrack-min=many', /^--conntrack-min must be a number/],
    ['--profiling=true', /./],
  ] as const) {
    test(`reject ${flag}`, () => assert.throws(() => parse(flag), { message }));
  }
});

const obstacle = labObstacle();
const skip = obstacle !== undefined && process.env['CI'] !== 'true' ? obstacle : false;

describe('kube-proxy on a node', { skip }, () => {
  const { node, pod1, pod2 } = addresses.IPv4;
  const clusterIP = '10.96.7.7';
  let lab: PacketLab;
  let server: TestServer;
  before(async () => {
    lab = await startPacketLab();
    server = await startTestServer();
    const { client } = server;
    await client.create(nodeKind, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
    const status = { addresses: [{ type: 'InternalIP', address: node }] };
    await client.patch(nodeKind, { name: 'node-1' }, { status }, { type: 'strategic', subresource: 'status' });
    await client.create(serviceKind, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        type: 'NodePort',
        clusterIP,
        ports: [
          { name: 'http', port: 80, nodePort: 30_080 },
          { name: 'dns', port: 53, protocol: 'UDP', nodePort: 30_053 },
        ],
      },
    });
    await client.create(sliceKind, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'web-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [
        { name: 'http', port: 8080 },
        { name: 'dns', port: 8081, protocol: 'UDP' },
      ],
      endpoints: [{ addresses: [pod1] }],
    });
  });
  after(async () => {
    lab?.close();
    await server?.close();
  });

  async function startProxy(mode: 'nftables' | 'iptables') {
    const stop = new AbortController();
    const [healthPort, metricsPort] = [await freePort(), await freePort()];
    const logged: string[] = [];
    const registry = createMetrics();
    const running = Promise.withResolvers<void>();
    const ended = runKubeProxy(
      {
        client: server.clientOf({ username: 'system:kube-proxy', groups: [] }),
        clock: systemClock,
        random: systemRandom,
        log: jsonLog(systemClock.now, (line) => logged.push(line)),
        machine: {
          run: lab.run,
          cores: 1,
          localAddresses: () => ['127.0.0.1', node, addresses.IPv4.gateway],
          readSetting: () => undefined,
          writeSetting() {},
          setOomScore() {},
        },
        nodeName: 'node-1',
        configuration: parse(
          `--proxy-mode=${mode}`,
          '--cluster-cidr=10.244.0.0/16',
          '--iptables-min-sync-period=0s',
          `--healthz-bind-address=127.0.0.1:${healthPort}`,
          `--metrics-bind-address=127.0.0.1:${metricsPort}`,
        ),
        registry,
        onRunning: () => running.resolve(),
      },
      stop.signal,
    );
    await Promise.race([running.promise, ended]);
    const get = async (port: number, path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return [response.status, await response.text()] as const;
    };
    return {
      logged,
      health: (path: string) => get(healthPort, path),
      metrics: (path: string) => get(metricsPort, path),
      async stop() {
        stop.abort();
        await ended;
      },
    };
  }

  /** Returns the server that a connection of the second Pod reaches. */
  async function reached(protocol: 'TCP' | 'UDP', port: number, address = clusterIP): Promise<string> {
    const outcome = await lab.send(address === clusterIP ? 'pod2' : 'outside', protocol, address, port);
    return outcome.result === 'reached' ? outcome.server : outcome.result;
  }

  async function untilReached(protocol: 'TCP' | 'UDP', port: number, expected: string): Promise<void> {
    const until = systemClock.elapsedMs() + 20_000;
    for (;;) {
      const found = await reached(protocol, port);
      if (found === expected) return;
      assert.ok(systemClock.elapsedMs() < until, `${found}, expected ${expected}`);
    }
  }

  const setEndpoints = (...own: readonly string[]) =>
    server.client.patch(
      sliceKind,
      { name: 'web-1', namespace: 'default' },
      { endpoints: own.map((address) => ({ addresses: [address] })) },
      { type: 'merge' },
    );

  for (const mode of ['nftables', 'iptables'] as const) {
    test(`programs Services with ${mode} and keeps them when it ends`, async () => {
      await lab.run('nft', ['add', 'table', 'ip', 'foreign']);
      await setEndpoints(pod1);
      let proxy = await startProxy(mode);
      assert.equal(await reached('TCP', 80), `${pod1}:8080`);
      assert.equal(await reached('TCP', 30_080, node), `${pod1}:8080`);
      assert.equal(await reached('UDP', 53), `${pod1}:8081`);
      assert.deepEqual(await proxy.metrics('/proxyMode'), [200, mode]);
      assert.equal((await proxy.health('/healthz'))[0], 200);
      assert.equal((await proxy.health('/livez'))[0], 200);
      assert.equal((await proxy.health('/other'))[0], 404);
      const [, text] = await proxy.metrics('/metrics');
      assert.match(text, /^kubeproxy_sync_full_proxy_rules_duration_seconds_count\{ip_family="IPv4"\} [1-9]/m);
      assert.match(text, /^kubeproxy_sync_proxy_rules_service_changes_total [1-9]/m);
      assert.equal(JSON.parse((await proxy.metrics('/configz'))[1])['kubeproxy.config.k8s.io'].mode, mode);

      await setEndpoints(pod2);
      await untilReached('TCP', 80, `${pod2}:8080`);
      const flows = async () =>
        (await lab.run('conntrack', ['-L', '-p', 'udp'])).match(/src=\S+ dst=\S+ sport=8081/g) ?? [];
      const until = systemClock.elapsedMs() + 20_000;
      while ((await flows()).some((flow) => flow.startsWith(`src=${pod1} `))) {
        assert.ok(systemClock.elapsedMs() < until, 'flows to the deleted endpoint remain');
      }

      await setEndpoints();
      await untilReached('TCP', 80, 'refused');
      await setEndpoints(pod1);
      await untilReached('TCP', 80, `${pod1}:8080`);

      await proxy.stop();
      assert.equal(await reached('TCP', 80), `${pod1}:8080`, 'the rules stay');
      await setEndpoints(pod2);
      proxy = await startProxy(mode);
      assert.equal(await reached('TCP', 80), `${pod2}:8080`, 'a restart applies the changes in between');
      await proxy.stop();
      assert.match(await lab.run('nft', ['list', 'tables']), /^table ip foreign$/m);
      const errors = proxy.logged.filter((line) => line.includes('"level":"error"'));
      assert.deepEqual(errors, []);
    });
  }

  test('repairs rules that another program has removed', async () => {
    const proxy = await startProxy('nftables');
    assert.equal(await reached('TCP', 80), `${pod2}:8080`);
    await lab.run('nft', ['delete', 'table', 'ip', 'kube-proxy']);
    assert.notEqual(await reached('TCP', 80), `${pod2}:8080`);
    await setEndpoints(pod1);
    await untilReached('TCP', 80, `${pod1}:8080`);
    await proxy.stop();
  });

  test('changes the mode and leaves no rules of the other mode', async () => {
    await (await startProxy('iptables')).stop();
    assert.doesNotMatch(await lab.run('nft', ['list', 'tables']), /kube-proxy/);
    assert.match(await lab.run('iptables-save', []), /KUBE-SVC-/);
    await (await startProxy('nftables')).stop();
    assert.doesNotMatch(await lab.run('iptables-save', []), /KUBE-/);
    assert.equal(await reached('TCP', 80), `${pod1}:8080`);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

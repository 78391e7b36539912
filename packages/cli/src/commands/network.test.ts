/** The Pod network and NetworkPolicy of two machines, as network namespaces, beside an API server. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { node as nodeKind } from '@kruise/api/core/node';
import { pod as podKind } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { type NetworkPolicySpec, networkPolicy } from '@kruise/api/networking/networkpolicy';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { createCaches } from '@kruise/client/informer';
import { silentLog } from '@kruise/client/log';
import { createMetrics } from '@kruise/client/metrics';
import type { CniConfiguration } from '@kruise/network/cni/configuration';
import { systemFiles } from '@kruise/network/cni/host-files';
import { removePodNetwork, runPodNetwork } from '@kruise/network/cni/run';
import { createLab, type Machine, type TestPod } from '@kruise/network/cni/testing/machines';
import { withPlugins } from '@kruise/network/cni/testing/with-plugins';
import type { CommandRunner } from '@kruise/network/host/run-command';
import { trimForNetwork } from '@kruise/network/policy/policy-pod';
import { removeNetworkPolicies, runNetworkPolicies } from '@kruise/network/policy/run';
import { formatAddress, formatPrefix } from '@kruise/values/address';
import { systemClock, systemRandom } from '@kruise/values/system';
import { Command } from 'commander';
import { type NetworkFlags, networkFlags } from '../network-flags.ts';
import { networkSettings } from './network.ts';

function settingsOf(...line: readonly string[]) {
  return networkSettings(networkFlags(new Command()).exitOverride().parse(line, { from: 'user' }).opts<NetworkFlags>());
}

test('every part of kruise network is on by default and can be switched off', () => {
  const { hasPolicies, hasPodNetwork, hasConfiguration, hasMasquerade, routes, vxlan } = settingsOf();
  assert.deepEqual([hasPolicies, hasPodNetwork, hasConfiguration, hasMasquerade], [true, true, true, true]);
  assert.deepEqual([routes, vxlan], ['auto', { id: 4096, port: 4789 }]);
  assert.equal(settingsOf('--network-policies=false').hasPolicies, false);
  assert.equal(settingsOf('--pod-network=false').hasPodNetwork, false);
  assert.equal(settingsOf('--cni-config=false').hasConfiguration, false);
  assert.equal(settingsOf('--masquerade=false').hasMasquerade, false);
});

test('invalid flags of kruise network are rejected', () => {
  assert.throws(() => settingsOf('--route-mode=other'), /--route-mode must be one of auto, direct, vxlan, none/);
  assert.throws(() => settingsOf('--vxlan-id=16777216'), /--vxlan-id must be a number up to 16777215/);
  assert.throws(() => settingsOf('--mtu=big'), /--mtu must be a number/);
  assert.throws(() => settingsOf('--masquerade=maybe'), /--masquerade must be true or false/);
  assert.throws(() => settingsOf('--pod-cidr=10.0.0.0'), /no '\/'/);
});

withPlugins('two machines get a Pod network and enforce policies', async () => {
  const lab = await createLab(2);
  const server = await startTestServer();
  const stop = new AbortController();
  const directory = mkdtempSync(join(tmpdir(), 'kruise-network-'));
  try {
    const { client } = server;
    const onError = (error: unknown) => assert.ifError(stop.signal.aborted ? undefined : error);
    const transform = trimForNetwork;
    const caches = createCaches(client, systemClock, systemRandom, { onError, transform }, stop.signal);
    const machines = [
      await lab.addMachine({ name: 'm1', link: 1, host: 1 }),
      await lab.addMachine({ name: 'm2', link: 2, host: 2 }),
    ] as const;
    const common = { caches, clock: systemClock, log: silentLog, checkPeriodMs: 200 };
    const scripts: string[] = [];
    const recording =
      (run: CommandRunner): CommandRunner =>
      (program, args, options) => {
        if (args.includes('-f')) scripts.push(options?.input ?? '');
        return run(program, args, options);
      };
    const started = machines.map((machine) => {
      const { name } = machine.node;
      const paths = {
        configurations: join(directory, name, 'net.d'),
        plugins: ['/opt/cni/bin', '/usr/lib/cni'],
        kernelParameters: kernelParameters(join(directory, name, 'sys')),
      };
      const files = systemFiles(paths);
      const policiesStop = new AbortController();
      const metrics = createMetrics();
      const options = { ...common, nodeName: name, run: recording(machine.run), metrics };
      const policies = runNetworkPolicies(options, policiesStop.signal);
      const network = runPodNetwork(
        {
          ...options,
          files,
          leaseDirectory: join(directory, name, 'leases'),
          isReady: policies.hasSynced,
        },
        stop.signal,
      );
      stop.signal.addEventListener('abort', () => policiesStop.abort());
      return { machine, paths, files, policies, policiesStop, network, metrics };
    });
    for (const { node } of machines) {
      const podCIDRs = node.podCidrs.map(formatPrefix);
      await client.create(nodeKind, { metadata: { name: node.name }, spec: { podCIDR: podCIDRs[0]!, podCIDRs } });
      const addresses = node.addresses.map((address) => ({ type: 'InternalIP', address: formatAddress(address) }));
      const found = await client.get(nodeKind, { name: node.name });
      await client.update(nodeKind, { ...found, status: { addresses } }, { subresource: 'status' });
    }
    const configurationOf = ({ paths }: (typeof started)[number]): CniConfiguration | undefined => {
      const path = join(paths.configurations, '10-kruise.conflist');
      return list(paths.configurations).includes('10-kruise.conflist')
        ? (JSON.parse(readFileSync(path, 'utf8')) as CniConfiguration)
        : undefined;
    };
    await eventually('the CNI configurations are written', () =>
      started.every((each) => configurationOf(each)?.plugins[0]?.['mtu'] === 1450 && each.network.hasSynced()),
    );
    assert.deepEqual(
      readFileSync(join(started[0]!.paths.kernelParameters, 'ipv4/ip_forward'), 'utf8'),
      '1',
      'packets are forwarded',
    );
    assert.equal(readFileSync(join(started[0]!.paths.kernelParameters, 'ipv6/conf/eth0/accept_ra'), 'utf8'), '2');

    await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
    const addPod = async (name: string, at: (typeof started)[number]): Promise<TestPod> => {
      const configuration = configurationOf(at)!;
      // Pods of this test have no host ports; those plugins need iptables.
      const plugins = configuration.plugins.filter(({ type }) => type === 'ptp');
      const connected = await at.machine.addPod({ ...configuration, plugins });
      const created = await client.create(podKind, {
        metadata: { name, namespace: 'default', labels: { name } },
        spec: {
          nodeName: at.machine.node.name,
          automountServiceAccountToken: false,
          containers: [{ name: 'c', image: 'x', ports: [{ name: 'http', containerPort: 81 }] }],
        },
      });
      const podIPs = connected.addresses.map((ip) => ({ ip }));
      const status = { phase: 'Running' as const, podIP: podIPs[0]!.ip, podIPs };
      await client.update(podKind, { ...created, status }, { subresource: 'status' });
      return connected;
    };
    const web = await addPod('web', started[0]!);
    const near = await addPod('near', started[0]!);
    const far = await addPod('far', started[1]!);
    const reaches = async (from: TestPod | Machine, to: TestPod, port = 80) => {
      const [seen] = await from.probe([{ address: to.addresses[0]!, protocol: 'TCP', port, timeoutMs: 300 }]);
      return seen ?? undefined;
    };
    await eventually('Pods reach each other with their own addresses', async () => {
      const seen = [await reaches(near, web), await reaches(far, web)];
      return seen[0] === near.addresses[0] && seen[1] === far.addresses[0];
    });

    const policy = (name: string, spec: NetworkPolicySpec) =>
      client.create(networkPolicy, { metadata: { name, namespace: 'default' }, spec });
    const webOnly = { podSelector: { matchLabels: { name: 'web' } }, policyTypes: ['Ingress' as const] };
    await policy('deny', webOnly);
    await eventually(
      'the policy isolates the Pod',
      async () => !(await reaches(near, web)) && !(await reaches(far, web)),
    );
    assert.ok(await reaches(machines[0], web), 'the own node is allowed');
    assert.ok(await reaches(web, far), 'egress is not isolated');

    await policy('allow', {
      ...webOnly,
      ingress: [{ from: [{ podSelector: { matchLabels: { name: 'far' } } }], ports: [{ port: 'http' }] }],
    });
    await eventually('the named port is open for the selected peer', () => reaches(far, web, 81));
    assert.equal(await reaches(far, web), undefined);
    assert.equal(await reaches(near, web, 81), undefined);
    assert.match(started[0]!.metrics.text(), /kruise_network_policy_isolated_pods\{direction="ingress"\} 1\n/);

    // A restarted process finds its rules; only the base chains, whose rules it cannot read, are written.
    started[0]!.policiesStop.abort();
    await started[0]!.policies.stopped;
    scripts.length = 0;
    const { machine } = started[0]!;
    const again = runNetworkPolicies({ ...common, nodeName: 'm1', run: recording(machine.run) }, stop.signal);
    await eventually('the restarted process has synced', again.hasSynced);
    assert.deepEqual(
      scripts
        .join('')
        .split('\n')
        .filter((line) => !/ (forward|input)-(in|e)gress|^$/.test(line)),
      [],
    );
    assert.equal(await reaches(near, web), undefined);

    // Rules that another program removes come back.
    await machine.run('nft', ['flush', 'ruleset']);
    await eventually(
      'the rules are written again',
      async () => !(await reaches(near, web)) && (await reaches(far, web, 81)),
    );

    // Routes that another program removes come back.
    await machine.run('ip', ['route', 'flush', 'proto', '76']);
    await eventually('the routes are written again', () => reaches(far, web, 81));

    await client.delete(nodeKind, { name: 'm2' });
    const routes = () => machine.run('ip', ['route', 'show', 'proto', '76']);
    await eventually('routes of a deleted node are removed', async () => !(await routes()).includes('10.244.2.0'));

    // Another network plugin takes over.
    writeFileSync(
      join(started[0]!.paths.configurations, '05-other.conflist'),
      JSON.stringify({ cniVersion: '1.0.0', name: 'other', plugins: [{ type: 'other' }] }),
    );
    await eventually('the configuration and the routes are removed', async () => {
      return configurationOf(started[0]!) === undefined && (await routes()) === '';
    });
    await eventually('the reason is reported', () =>
      /kruise_network_cni_configuration\{state="otherNetwork"\} 1\n/.test(started[0]!.metrics.text()),
    );
    assert.match(await machine.run('nft', ['list', 'tables']), /kruise-policy/, 'policies stay enforced');

    stop.abort();
    await Promise.all(started.flatMap(({ policies, network }) => [policies.stopped, network.stopped]));
    await again.stopped;
    for (const { machine: each, files } of started) {
      await removeNetworkPolicies(each.run);
      await removePodNetwork(each.run, files);
      assert.equal(await each.run('nft', ['list', 'tables']), '');
      assert.equal(await each.run('ip', ['route', 'show', 'proto', '76']), '');
    }
  } finally {
    stop.abort();
    await server.close();
    await lab.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

/** Creates files like those of the kernel. */
function kernelParameters(root: string): string {
  for (const [path, value] of [
    ['ipv4/ip_forward', '0\n'],
    ['ipv6/conf/all/forwarding', '0\n'],
    ['ipv6/conf/all/accept_ra', '0\n'],
    ['ipv6/conf/eth0/accept_ra', '1\n'],
  ] as const) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), value);
  }
  return root;
}

function list(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

async function eventually(what: string, isTrue: () => unknown): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isTrue())) {
    assert.ok(performance.now() < deadline, `timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

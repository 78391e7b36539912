import { hostname } from 'node:os';
import { connect } from '@kruise/client/connect';
import { type HealthChecks, serveHealth } from '@kruise/client/health';
import { createCaches } from '@kruise/client/informer';
import { jsonLog } from '@kruise/client/log';
import { addProcessMetrics, createMetrics } from '@kruise/client/metrics';
import { defaultHostPaths, systemFiles } from '@kruise/network/cni/host-files';
import { type RouteMode, routeModes } from '@kruise/network/cni/route-plan';
import { removePodNetwork, runPodNetwork } from '@kruise/network/cni/run';
import { systemCommands } from '@kruise/network/host/run-command';
import { trimForNetwork } from '@kruise/network/policy/policy-pod';
import { removeNetworkPolicies, runNetworkPolicies } from '@kruise/network/policy/run';
import { parsePrefix } from '@kruise/values/address';
import { systemClock, systemRandom } from '@kruise/values/system';
import { isSet } from '../component.ts';
import { parseListenAddress } from '../listen-address.ts';
import type { NetworkFlags } from '../network-flags.ts';

/** Runs the Pod network and NetworkPolicy of this machine until the process receives a signal. */
export async function network(flags: NetworkFlags): Promise<number> {
  const settings = networkSettings(flags);
  const run = systemCommands();
  const files = systemFiles({ ...defaultHostPaths, configurations: flags.cniConfDir, plugins: settings.pluginDirs });
  if (flags.cleanup) {
    if (settings.hasPolicies) await removeNetworkPolicies(run);
    if (settings.hasPodNetwork) await removePodNetwork(run, files);
    return 0;
  }
  const log = jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const { signal } = stop;
  const { client, close } = connect(systemClock, {
    userAgent: 'kruise-network',
    ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
  });
  const metrics = createMetrics();
  addProcessMetrics(metrics, process, systemClock.now());
  const onError = (error: unknown) => log.warn({ error }, 'list or watch failed; retrying');
  const caches = createCaches(client, systemClock, systemRandom, { onError, transform: trimForNetwork }, signal);
  const { nodeName, podCidrs } = settings;
  const common = { nodeName, caches, clock: systemClock, log, run, metrics, ...(podCidrs ? { podCidrs } : {}) };
  const policies = settings.hasPolicies ? runNetworkPolicies(common, signal) : undefined;
  const podNetwork = settings.hasPodNetwork
    ? runPodNetwork(
        {
          ...common,
          files,
          routes: settings.routes,
          vxlan: settings.vxlan,
          masquerade: settings.hasMasquerade,
          writeConfiguration: settings.hasConfiguration,
          ...(settings.mtu === 0 ? {} : { mtu: settings.mtu }),
          // A node whose policies are not enforced yet must not start Pods.
          isReady: () => policies?.hasSynced() ?? true,
        },
        signal,
      )
    : undefined;
  const checks: HealthChecks = {
    ...(policies && { networkPolicies: () => requireSynced(policies) }),
    ...(podNetwork && { podNetwork: () => requireSynced(podNetwork) }),
  };
  const address = parseListenAddress(flags.healthzBindAddress);
  const health = address.port === 0 ? undefined : await serveHealth({ ...address, ready: checks, metrics });
  log.info({ node: nodeName, policies: settings.hasPolicies, podNetwork: settings.hasPodNetwork }, 'network started');
  await Promise.all([policies?.stopped, podNetwork?.stopped]);
  await health?.close();
  close();
  return 0;
}

function requireSynced({ hasSynced }: { hasSynced(): boolean }): void {
  if (!hasSynced()) throw new Error('not synced');
}

/** Validates the flags. */
export function networkSettings(flags: NetworkFlags) {
  const routes = routeModes.find((mode) => mode === flags.routeMode);
  if (!routes) throw new Error(`--route-mode must be one of ${routeModes.join(', ')}, not ${flags.routeMode}`);
  const podCidrs = flags.podCidr?.split(',').filter((each) => each !== '');
  for (const cidr of podCidrs ?? []) parsePrefix(cidr);
  return {
    nodeName: (flags.hostnameOverride ?? process.env['NODE_NAME'] ?? hostname()).toLowerCase(),
    hasPolicies: isSet('--network-policies', flags.networkPolicies),
    hasPodNetwork: isSet('--pod-network', flags.podNetwork),
    hasConfiguration: isSet('--cni-config', flags.cniConfig),
    hasMasquerade: isSet('--masquerade', flags.masquerade),
    pluginDirs: flags.cniBinDir.split(',').filter((each) => each !== ''),
    routes: routes satisfies RouteMode,
    vxlan: {
      id: numberOf('--vxlan-id', flags.vxlanId, 2 ** 24 - 1),
      port: numberOf('--vxlan-port', flags.vxlanPort, 65_535),
    },
    mtu: numberOf('--mtu', flags.mtu, 65_535),
    ...(podCidrs ? { podCidrs } : {}),
  };
}

function numberOf(flag: string, text: string, max: number): number {
  if (!/^\d{1,8}$/.test(text) || Number(text) > max)
    throw new Error(`${flag} must be a number up to ${max}, not ${text}`);
  return Number(text);
}

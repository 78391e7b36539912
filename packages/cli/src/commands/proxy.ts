import { hostname } from 'node:os';
import { connect } from '@kruise/client/connect';
import { jsonLog } from '@kruise/client/log';
import { addProcessMetrics, createMetrics } from '@kruise/client/metrics';
import {
  type DetectLocalMode,
  defaultProxyConfiguration,
  type ProxyConfiguration,
  readProxyConfiguration,
  validated,
} from '@kruise/network/proxy/configuration';
import { removeProxyRules, runKubeProxy } from '@kruise/network/proxy/kube-proxy';
import { localMachine } from '@kruise/network/proxy/machine';
import { parseYaml } from '@kruise/schema/yaml-text';
import { systemClock, systemRandom } from '@kruise/values/system';
import { integerOf, isSet, readFileOf, secondsOf } from '../component.ts';
import { boundHeapGrowth } from '../heap-growth.ts';
import { collectWhenIdle } from '../idle-collection.ts';
import type { ProxyFlags } from '../proxy-flags.ts';

/** Runs kube-proxy until the process receives a signal. The rules stay in the kernel. Returns the exit code. */
export async function proxy(flags: ProxyFlags): Promise<number> {
  const configuration = flags.config
    ? readProxyConfiguration(parseYaml(readFileOf('--config', flags.config)))
    : configurationOf(flags);
  const machine = localMachine();
  if (isSet('--cleanup', flags.cleanup)) {
    await removeProxyRules(machine);
    return 0;
  }
  const log = jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const path = flags.kubeconfig ?? (configuration.kubeconfig === '' ? undefined : configuration.kubeconfig);
  const connected = connect(systemClock, { userAgent: 'kube-proxy/v1.33', ...(path === undefined ? {} : { path }) });
  const registry = createMetrics();
  addProcessMetrics(registry, process, systemClock.now());
  boundHeapGrowth(systemClock, stop.signal);
  collectWhenIdle(systemClock, stop.signal);
  const nodeName = flags.hostnameOverride || configuration.hostnameOverride || hostname();
  try {
    await runKubeProxy(
      {
        client: connected.client,
        clock: systemClock,
        random: systemRandom,
        log,
        machine,
        nodeName: nodeName.trim().toLowerCase(),
        configuration,
        registry,
        onRunning: (running) => log.info(running, 'kube-proxy started'),
      },
      stop.signal,
    );
    return 0;
  } finally {
    stop.abort();
    connected.close();
  }
}

/** Returns the configuration that the flags describe. */
export function configurationOf(flags: ProxyFlags): ProxyConfiguration {
  const milliseconds = (name: string, text: string) => 1000 * secondsOf(name, text);
  const { iptables, nftables } = defaultProxyConfiguration;
  const rules = {
    masqueradeAll: isSet('--masquerade-all', flags.masqueradeAll),
    masqueradeBit: integerOf('--iptables-masquerade-bit', flags.iptablesMasqueradeBit),
    minSyncPeriodMs: milliseconds('--iptables-min-sync-period', flags.iptablesMinSyncPeriod),
    syncPeriodMs: milliseconds('--iptables-sync-period', flags.iptablesSyncPeriod),
  };
  return validated({
    ...defaultProxyConfiguration,
    // `validated` rejects other values of the two enumerations.
    mode: flags.proxyMode as ProxyConfiguration['mode'],
    detectLocalMode: flags.detectLocalMode as DetectLocalMode,
    bindAddress: flags.bindAddress,
    bindAddressHardFail: isSet('--bind-address-hard-fail', flags.bindAddressHardFail),
    clusterCIDR: flags.clusterCidr,
    bridgeInterface: flags.podBridgeInterface,
    interfaceNamePrefix: flags.podInterfaceNamePrefix,
    nodePortAddresses: flags.nodeportAddresses.split(',').filter((each) => each !== ''),
    healthzBindAddress: flags.healthzBindAddress,
    metricsBindAddress: flags.metricsBindAddress,
    configSyncPeriodMs: milliseconds('--config-sync-period', flags.configSyncPeriod),
    oomScoreAdj: integerOf('--oom-score-adj', flags.oomScoreAdj),
    iptables: {
      ...iptables,
      ...rules,
      localhostNodePorts: isSet('--iptables-localhost-nodeports', flags.iptablesLocalhostNodeports),
    },
    nftables: { ...nftables, ...rules },
    conntrack: {
      maxPerCore: integerOf('--conntrack-max-per-core', flags.conntrackMaxPerCore),
      min: integerOf('--conntrack-min', flags.conntrackMin),
      tcpBeLiberal: isSet('--conntrack-tcp-be-liberal', flags.conntrackTcpBeLiberal),
      tcpEstablishedTimeoutMs: milliseconds(
        '--conntrack-tcp-timeout-established',
        flags.conntrackTcpTimeoutEstablished,
      ),
      tcpCloseWaitTimeoutMs: milliseconds('--conntrack-tcp-timeout-close-wait', flags.conntrackTcpTimeoutCloseWait),
      udpTimeoutMs: milliseconds('--conntrack-udp-timeout', flags.conntrackUdpTimeout),
      udpStreamTimeoutMs: milliseconds('--conntrack-udp-timeout-stream', flags.conntrackUdpTimeoutStream),
    },
  });
}

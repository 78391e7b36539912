/** Kernel settings that Services need, and those of conntrack. */
import type { Log } from '@kruise/client/log';
import type { IPFamily } from '../service/service-port.ts';
import type { ConntrackConfiguration } from './configuration.ts';
import type { Machine } from './machine.ts';
import type { ProxyMode } from './proxier.ts';

/** Enables forwarding, and packets from loopback addresses where node ports are open on them. */
export function prepareKernel(
  machine: Machine,
  {
    mode,
    families,
    opensLoopback,
    log,
  }: {
    readonly mode: ProxyMode;
    readonly families: readonly IPFamily[];
    readonly opensLoopback: boolean;
    readonly log: Log;
  },
): void {
  const wanted: (readonly [string, string])[] = [];
  if (families.includes('IPv4')) wanted.push(['net/ipv4/ip_forward', '1']);
  if (families.includes('IPv6')) wanted.push(['net/ipv6/conf/all/forwarding', '1']);
  if (mode === 'iptables') {
    if (opensLoopback && families.includes('IPv4')) wanted.push(['net/ipv4/conf/all/route_localnet', '1']);
    // Traffic between Pods on one bridge passes iptables, so that replies of Services are translated back.
    wanted.push(['net/bridge/bridge-nf-call-iptables', '1'], ['net/bridge/bridge-nf-call-ip6tables', '1']);
  }
  for (const [name, value] of wanted) writeIfDifferent(machine, name, value, log);
}

/** Applies the conntrack settings; a value of 0 leaves a setting as it is. */
export function applyConntrackSettings(machine: Machine, conntrack: ConntrackConfiguration, log: Log): void {
  const { maxPerCore, min, tcpEstablishedTimeoutMs, tcpCloseWaitTimeoutMs, tcpBeLiberal } = conntrack;
  const prefix = 'net/netfilter/nf_conntrack';
  const max = maxPerCore > 0 ? Math.max(min, maxPerCore * machine.cores) : 0;
  // A larger table that the administrator has configured is kept.
  if (max > Number(machine.readSetting(`${prefix}_max`) ?? Number.POSITIVE_INFINITY)) {
    writeIfDifferent(machine, `${prefix}_max`, String(max), log);
  }
  const seconds = (name: string, milliseconds: number) => {
    if (milliseconds > 0) writeIfDifferent(machine, `${prefix}_${name}`, String(Math.round(milliseconds / 1000)), log);
  };
  seconds('tcp_timeout_established', tcpEstablishedTimeoutMs);
  seconds('tcp_timeout_close_wait', tcpCloseWaitTimeoutMs);
  seconds('udp_timeout', conntrack.udpTimeoutMs);
  seconds('udp_timeout_stream', conntrack.udpStreamTimeoutMs);
  if (tcpBeLiberal) writeIfDifferent(machine, `${prefix}_tcp_be_liberal`, '1', log);
}

function writeIfDifferent(machine: Machine, name: string, value: string, log: Log): void {
  const current = machine.readSetting(name);
  if (current === undefined || current === value) return;
  try {
    machine.writeSetting(name, value);
  } catch (error) {
    // Containers without privileges cannot change settings; the administrator of the node may have.
    log.warn({ setting: name.replaceAll('/', '.'), value, error }, 'failed to change a kernel setting');
  }
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultProxyConfiguration, readProxyConfiguration } from './configuration.ts';

const read = (fields: object = {}) =>
  readProxyConfiguration({ apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration', ...fields });

test('an empty configuration has the defaults', () => {
  assert.deepEqual(read(), defaultProxyConfiguration);
});

test('the configuration that kubeadm writes is accepted', () => {
  const written = {
    bindAddress: '0.0.0.0',
    bindAddressHardFail: false,
    clientConnection: {
      acceptContentTypes: '',
      burst: 0,
      contentType: '',
      kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf',
      qps: 0,
    },
    clusterCIDR: '10.244.0.0/16',
    configSyncPeriod: '0s',
    conntrack: {
      maxPerCore: null,
      min: null,
      tcpBeLiberal: false,
      tcpCloseWaitTimeout: null,
      tcpEstablishedTimeout: null,
      udpTimeout: '0s',
      udpStreamTimeout: '0s',
    },
    detectLocal: { bridgeInterface: '', interfaceNamePrefix: '' },
    detectLocalMode: '',
    enableProfiling: false,
    healthzBindAddress: '',
    hostnameOverride: '',
    iptables: {
      localhostNodePorts: null,
      masqueradeAll: false,
      masqueradeBit: null,
      minSyncPeriod: '0s',
      syncPeriod: '0s',
    },
    ipvs: { excludeCIDRs: null, minSyncPeriod: '0s', scheduler: '', strictARP: false, syncPeriod: '0s' },
    logging: { flushFrequency: 0, verbosity: 0 },
    metricsBindAddress: '',
    mode: '',
    nftables: { masqueradeAll: false, masqueradeBit: null, minSyncPeriod: '0s', syncPeriod: '0s' },
    nodePortAddresses: null,
    oomScoreAdj: null,
    portRange: '',
    showHiddenMetricsForVersion: '',
    winkernel: {},
  };
  const rules = { ...defaultProxyConfiguration.nftables, minSyncPeriodMs: 0 };
  assert.deepEqual(read(written), {
    ...defaultProxyConfiguration,
    clusterCIDR: '10.244.0.0/16',
    kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf',
    nftables: rules,
    iptables: { ...rules, localhostNodePorts: true },
  });
});

for (const [fields, message] of [
  [{ kind: 'Other' }, /no kind "Other" is registered/],
  [{ mode: 'ipvs' }, /^mode: Unsupported value: "ipvs"/],
  [{ clusterCIDR: '10.0.0.0' }, /^clusterCIDR: Invalid value: "10.0.0.0"/],
  [{ detectLocalMode: 'Magic' }, /^detectLocalMode: Unsupported value: "Magic"/],
  [{ detectLocalMode: 'BridgeInterface' }, /^detectLocal.bridgeInterface: Required value/],
  [{ detectLocal: { bridgeInterface: 'a" drop' } }, /^detectLocal: Invalid value/],
  [{ nftables: { syncPeriod: '1s', minSyncPeriod: '2s' } }, /^nftables.syncPeriod: Invalid value/],
  [{ iptables: { masqueradeBit: 32 } }, /^iptables.masqueradeBit: Invalid value: 32/],
  [{ iptables: { syncPeriod: 'soon' } }, /^iptables.syncPeriod: /],
  [{ nodePortAddresses: ['primary', '10.0.0.0/8'] }, /^nodePortAddresses\[0\]: Invalid value: "primary"/],
  [{ speed: 'fast' }, /^speed: unknown field/],
  [{ conntrack: { min: 'many' } }, /^conntrack.min: must be a whole number/],
] as const) {
  test(`a configuration with ${JSON.stringify(fields)} is rejected`, () => {
    assert.throws(() => read(fields), { message });
  });
}

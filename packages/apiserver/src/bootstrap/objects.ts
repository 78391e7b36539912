import type { KubeObject } from '../object.ts';

/** System namespaces. */
const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export function namespaces(): readonly KubeObject[] {
  return systemNamespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
}

/** Creates the system PriorityClasses, for Pods that a cluster or node cannot run without. */
export function priorityClasses(): readonly KubeObject[] {
  const made = (name: string, value: number, description: string) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
    description,
    preemptionPolicy: 'PreemptLowerPriority',
  });
  return [
    made(
      'system-node-critical',
      2_000_001_000,
      'Used for system critical pods that must not be moved from their current node.',
    ),
    made(
      'system-cluster-critical',
      2_000_000_000,
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    ),
  ];
}

/** CAs that aggregated servers trust, as PEM. */
export type Trust = {
  readonly clientAuthority?: string | undefined;
  readonly frontProxyAuthority?: string | undefined;
};

/** Creates the ConfigMap with the client CAs for aggregated servers. */
export function extensionAuthentication({ clientAuthority, frontProxyAuthority }: Trust): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
    data: {
      ...(clientAuthority === undefined ? {} : { 'client-ca-file': clientAuthority }),
      ...(frontProxyAuthority === undefined
        ? {}
        : {
            'requestheader-allowed-names': '["front-proxy-client"]',
            'requestheader-client-ca-file': frontProxyAuthority,
            'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
            'requestheader-group-headers': '["X-Remote-Group"]',
            'requestheader-username-headers': '["X-Remote-User"]',
          }),
    },
  };
}

/** Creates the ConfigMap with the date since which the use of legacy tokens is tracked. */
export function tokenTracking(today: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking', namespace: 'kube-system' },
    data: { since: today },
  };
}

/** Creates the default ServiceCIDR. */
export function serviceCidr(cidrs: readonly string[]): KubeObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'kubernetes' },
    spec: { cidrs },
  };
}

export function serviceCidrReady(now: string): KubeObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'kubernetes' },
    status: {
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          lastTransitionTime: now,
          message: 'Kubernetes default Service CIDR is ready',
        },
      ],
    },
  };
}

/** Generates clusters with NetworkPolicies for property tests. */
import type { NetworkPolicy, NetworkPolicySpec } from '@kruise/api/networking/networkpolicy';
import type { Labels } from '@kruise/machinery/label-selector';
import fc from 'fast-check';
import { type CompiledPolicy, compilePolicy } from '../compiled-policy.ts';
import { ownerOfAddress, type PolicyView } from '../is-allowed.ts';
import type { PolicyPod } from '../policy-pod.ts';

/** Node and addresses of a Pod; everything else is generated. */
export type PodPlace = { readonly nodeName: string; readonly addresses: readonly string[] };

export type PolicyWorld = {
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly pods: readonly PolicyPod[];
  readonly policies: readonly NetworkPolicy[];
};

const namespaceNames = ['a', 'b'];
const apps = ['web', 'db'];

const labels = fc.record({ app: fc.constantFrom(...apps) }, { requiredKeys: [] });
const selector = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 4, arbitrary: fc.record({ matchLabels: labels }) },
  {
    weight: 1,
    arbitrary: fc.record({
      matchExpressions: fc.constantFrom(
        [{ key: 'app', operator: 'Exists' }],
        [{ key: 'app', operator: 'DoesNotExist' }],
        [{ key: 'app', operator: 'NotIn', values: ['db'] }],
      ),
    }),
  },
);
const namespaceSelector = fc.oneof(
  fc.constant({}),
  fc.constantFrom(...namespaceNames).map((name) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } })),
  fc.constant({ matchLabels: { team: 'one' } }),
);
const port = fc.oneof(
  fc.record(
    { protocol: fc.constantFrom('TCP' as const, 'UDP' as const), port: fc.constantFrom(80, 81, 8080) },
    { requiredKeys: ['port'] },
  ),
  fc.constantFrom(
    { port: 'http' },
    { port: 'http', protocol: 'UDP' as const },
    { port: 80, endPort: 81 },
    { port: 81, endPort: 9000, protocol: 'TCP' as const },
    { protocol: 'UDP' as const },
    {},
  ),
);
const list = <T>(item: fc.Arbitrary<T>, maxLength = 3) =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 3, arbitrary: fc.array(item, { maxLength, minLength: 1 }) },
  );

const block = (places: readonly PodPlace[], outside: readonly string[]) => {
  const single = [...places.flatMap(({ addresses }) => addresses), ...outside].map(
    (address) => `${address}/${address.includes(':') ? 128 : 32}`,
  );
  const wide = ['0.0.0.0/0', '::/0', '10.244.0.0/16', '10.244.1.0/24', 'fd00:10:244::/48', '192.168.0.0/16'];
  return fc.oneof(
    fc.constantFrom(...single, ...wide).map((cidr) => ({ cidr })),
    fc
      .tuple(
        fc.constantFrom('0.0.0.0/0', '10.244.0.0/16'),
        fc.subarray([...single.filter((each) => each.startsWith('10.244.')), '10.244.2.0/24'], { maxLength: 4 }),
      )
      .map(([cidr, except]) => ({ cidr, except })),
    fc
      .tuple(
        fc.constant('::/0'),
        fc.subarray([...single.filter((each) => each.includes(':')), 'fd00:10:244:2::/64'], { maxLength: 4 }),
      )
      .map(([cidr, except]) => ({ cidr, except })),
  );
};

/** Generates a cluster whose Pods are at the given places. */
export function anyPolicyWorld(places: readonly PodPlace[], outside: readonly string[]): fc.Arbitrary<PolicyWorld> {
  const peer = fc.oneof(
    selector.map((podSelector) => ({ podSelector })),
    namespaceSelector.map((each) => ({ namespaceSelector: each })),
    fc.record({ podSelector: selector, namespaceSelector }),
    block(places, outside).map((ipBlock) => ({ ipBlock })),
  );
  const peers = list(peer);
  const ports = list(port, 2);
  const rules = <T>(rule: fc.Arbitrary<T>) => fc.array(rule, { maxLength: 2 });
  const spec: fc.Arbitrary<NetworkPolicySpec> = fc
    .tuple(
      selector,
      fc.option(rules(fc.tuple(peers, ports)), { nil: undefined }),
      fc.option(rules(fc.tuple(peers, ports)), { nil: undefined }),
    )
    .map(([podSelector, ingress, egress]) => ({
      podSelector,
      policyTypes: [...(ingress || !egress ? ['Ingress' as const] : []), ...(egress ? ['Egress' as const] : [])],
      ...(ingress
        ? { ingress: ingress.map(([from, each]) => ({ ...(from ? { from } : {}), ...(each ? { ports: each } : {}) })) }
        : {}),
      ...(egress
        ? { egress: egress.map(([to, each]) => ({ ...(to ? { to } : {}), ...(each ? { ports: each } : {}) })) }
        : {}),
    }));
  const policies = fc.array(fc.tuple(fc.constantFrom(...namespaceNames), spec), { maxLength: 4 }).map((all) =>
    all.map(
      ([namespace, each], index): NetworkPolicy => ({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { namespace, name: `policy-${index}` },
        spec: each,
      }),
    ),
  );
  const pods = fc.tuple(
    ...places.map((place, index) =>
      fc
        .record({
          namespace: fc.constantFrom(...namespaceNames),
          labels,
          named: fc.subarray([
            { name: 'http', protocol: 'TCP' as const, port: 80 },
            { name: 'http', protocol: 'TCP' as const, port: 81 },
            { name: 'http', protocol: 'UDP' as const, port: 80 },
          ]),
        })
        .map(
          ({ named, ...each }): PolicyPod => ({
            ...each,
            ...place,
            name: `pod-${index}`,
            // A Pod has one port of a name and protocol.
            ports: [...new Map(named.map((one) => [`${one.name}/${one.protocol}`, one])).values()],
            isTerminating: false,
            createdAt: '',
          }),
        ),
    ),
  );
  return fc.record({
    namespaces: fc
      .subarray(namespaceNames)
      .map(
        (ofTeam) =>
          new Map(
            namespaceNames.map((name) => [
              name,
              { 'kubernetes.io/metadata.name': name, ...(ofTeam.includes(name) ? { team: 'one' } : {}) },
            ]),
          ),
      ),
    pods,
    policies,
  });
}

/** Returns the view of a world that `isAllowed` evaluates. */
export function viewOf(
  { namespaces, pods, policies }: PolicyWorld,
  addressesOfNodes: ReadonlyMap<string, readonly string[]>,
): PolicyView {
  const compiled: readonly CompiledPolicy[] = policies.map(compilePolicy);
  return {
    podAt: (address) => ownerOfAddress(pods.filter(({ addresses }) => addresses.includes(address))),
    policiesIn: (namespace) => compiled.filter((each) => each.namespace === namespace),
    labelsOfNamespace: (name) => namespaces.get(name),
    isAddressOfNode: (address, nodeName) => addressesOfNodes.get(nodeName)?.includes(address) ?? false,
  };
}

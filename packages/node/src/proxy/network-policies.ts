/**
 * NetworkPolicy for simulated Pods. On a real node this is a table in the kernel; here each connection is evaluated
 * from the informer caches. Pods and Namespaces are watched from the first policy on.
 */
import { namespace } from '@kruise/api/core/namespace';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type NetworkPolicy, networkPolicy } from '@kruise/api/networking/networkpolicy';
import type { Caches } from '@kruise/client/informer';
import { type CompiledPolicy, compilePolicy } from '@kruise/network/policy/compiled-policy';
import { isAllowed, ownerOfAddress, type PolicyView } from '@kruise/network/policy/is-allowed';
import { type PolicyPod, policyPodOf } from '@kruise/network/policy/policy-pod';
import type { Clock } from '@kruise/values/clock';
import type { NetworkFilter } from '../cri/simulated/network.ts';

export type NetworkPoliciesOptions = {
  readonly caches: Caches;
  readonly clock: Clock;
  readonly isAddressOfNode: PolicyView['isAddressOfNode'];
};

/** Creates the filter of the simulated network. */
export function networkPolicies({ caches, clock, isAddressOfNode }: NetworkPoliciesOptions): NetworkFilter {
  const policies = caches.informer(networkPolicy);
  const compiled = new WeakMap<NetworkPolicy, CompiledPolicy>();
  const facts = new WeakMap<Pod, PolicyPod | 'exempt'>();

  const compile = (policy: NetworkPolicy): CompiledPolicy => {
    let found = compiled.get(policy);
    if (!found) compiled.set(policy, (found = compilePolicy(policy)));
    return found;
  };
  const factsOf = (each: Pod): readonly PolicyPod[] => {
    let found = facts.get(each);
    if (!found) facts.set(each, (found = policyPodOf(each) ?? 'exempt'));
    return found === 'exempt' ? [] : [found];
  };

  return {
    clock,
    isAllowed(connection) {
      if (policies.size === 0) return true;
      const pods = caches.informer(pod);
      const namespaces = caches.informer(namespace);
      // The first policy takes effect when the Pods are known.
      if (!pods.hasSynced() || !namespaces.hasSynced()) return true;
      return isAllowed(
        {
          podAt: (address) => ownerOfAddress(pods.byIndex(byAddress, address).flatMap(factsOf)),
          policiesIn: (name) => policies.list({ namespace: name }).map(compile),
          labelsOfNamespace: (name) => namespaces.get({ name })?.metadata.labels,
          isAddressOfNode,
        },
        connection,
      );
    },
  };
}

/** Addresses of simulated Pods are in canonical form. */
function byAddress({ status }: Pod): readonly string[] {
  return status?.podIPs?.flatMap(({ ip }) => ip ?? []) ?? (status?.podIP ? [status.podIP] : []);
}

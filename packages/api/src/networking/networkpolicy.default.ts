import type { Draft } from '@kruise/schema/draft';
import type { NetworkPolicy } from './networkpolicy.ts';

export function defaultNetworkPolicy(policy: Draft<NetworkPolicy>): void {
  const spec = (policy.spec ??= { podSelector: {} });
  const { ingress = [], egress = [] } = spec;
  for (const { ports } of [...ingress, ...egress]) for (const port of ports ?? []) port.protocol ??= 'TCP';
  if (spec.policyTypes?.length) return;
  spec.policyTypes = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

/** Leader election: of several processes of a component, only the one that holds the lease writes. */
import { lease } from '@kruise/api/coordination/lease';
import type { Heard } from '../world.ts';
import type { Invariant } from './invariant.ts';

/** The lease of each component that can run more than once. */
const leases: readonly { readonly component: string; readonly lease: string }[] = [
  { component: 'controller-manager', lease: 'kube-controller-manager' },
  { component: 'scheduler', lease: 'kube-scheduler' },
  { component: 'manager', lease: 'kruise-manager' },
];

/**
 * Writes of every replica: leases, to become the leader; events; the registration of the webhooks it serves; and, since
 * any replica's webhook may be called, the statuses by which webhooks count what they allowed.
 */
const writtenByAll =
  /\/(?:leases|events|(?:mutating|validating)webhookconfigurations)(?:\/|$)|reviews$|\/(?:workloadspreads|podunavailablebudgets|uniteddeployments)\/[^/]+\/status$/;

export const onlyLeadersWrite: Invariant = {
  name: 'no process acts while the lease of its component is held by another',
  begin({ onRequest, view }) {
    let broken: string | undefined;
    onRequest(({ process, request }: Heard) => {
      const led = leases.find(({ component }) => process === component || process === `${component}-2`);
      if (!led || request.method === 'GET' || writtenByAll.test(request.path)) return undefined;
      const found = view()
        ?.list(lease)
        .find(({ metadata }) => metadata.name === led.lease && metadata.namespace === 'kube-system');
      const holder = found?.spec?.holderIdentity?.split('/')[0];
      if (holder && holder !== process)
        broken ??= `${process} sends ${request.method} ${request.path}, and ${holder} leads`;
      return undefined;
    });
    return () => broken;
  },
};

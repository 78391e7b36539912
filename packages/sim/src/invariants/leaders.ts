/** Leader election: only the replica of a component that holds the lease writes. */
import { lease } from '@kruise/api/coordination/lease';
import type { ObservedRequest } from '../world.ts';
import type { Invariant } from './invariant.ts';

/** Lease of each component that can have several replicas. */
const leases: readonly { readonly component: string; readonly lease: string }[] = [
  { component: 'controller-manager', lease: 'kube-controller-manager' },
  { component: 'scheduler', lease: 'kube-scheduler' },
  { component: 'manager', lease: 'kruise-manager' },
];

/**
 * Writes of every replica: leases, to become the leader; events; the registration of its webhooks; and statuses in
 * which webhooks count admitted requests, since the webhook of any replica may be called.
 */
const writtenByAll =
  /\/(?:leases|events|(?:mutating|validating)webhookconfigurations)(?:\/|$)|reviews$|\/(?:workloadspreads|podunavailablebudgets|uniteddeployments)\/[^/]+\/status$/;

export const onlyLeadersWrite: Invariant = {
  name: 'only the leader of a component writes',
  observe({ onRequest, view }) {
    let broken: string | undefined;
    onRequest(({ process, request }: ObservedRequest) => {
      const led = leases.find(({ component }) => process === component || process === `${component}-2`);
      if (!led || request.method === 'GET' || writtenByAll.test(request.path)) return undefined;
      const found = view()
        ?.list(lease)
        .find(({ metadata }) => metadata.name === led.lease && metadata.namespace === 'kube-system');
      const holder = found?.spec?.holderIdentity?.split('/')[0];
      if (holder && holder !== process)
        broken ??= `${process} sends ${request.method} ${request.path}while ${holder} is the leader`;
      return undefined;
    });
    return () => broken;
  },
};

import { type IPAddress, ipAddress } from '@kruise/api/networking/ipaddress';
import { serviceCIDR } from '@kruise/api/networking/servicecidr';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import { keyOf } from '@kruise/client/object-key';
import { decide } from './decide.ts';

const ofServices = 'ipallocator.k8s.io';
const byManager = ({ metadata }: IPAddress) => {
  const manager = metadata.labels?.['ipaddress.kubernetes.io/managed-by'];
  return manager === undefined ? [] : [manager];
};

/** Enqueues terminating ranges when other ranges or addresses change. */
const terminatingRanges = (_: unknown, caches: Caches) =>
  caches.of(serviceCIDR).list().filter(isBeingDeleted).map(keyOf);

/** ServiceCIDR controller: prevents the deletion of Service CIDRs that are in use. */
export const serviceCidrController: Controller = defineController({
  name: 'service-cidr',
  component: 'service-cidr-controller',
  for: serviceCIDR,
  watches: [watch(serviceCIDR, terminatingRanges), watch(ipAddress, terminatingRanges)],
  observe(caches, key) {
    const range = caches.of(serviceCIDR).get(key);
    if (!range) return undefined;
    const isTerminating = isBeingDeleted(range);
    return {
      range,
      ranges: isTerminating ? caches.of(serviceCIDR).list() : [],
      addresses: isTerminating ? caches.of(ipAddress).byIndex(byManager, ofServices) : [],
    };
  },
  decide,
});

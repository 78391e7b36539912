import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { containerRecreateRequest } from '@kruise/api/kruise/containerrecreaterequest';
import { type Controller, defineController } from '@kruise/client/controller';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { isVirtualNode } from '../workload/nodes.ts';
import { decide, requestName } from './decide.ts';
import { isBlockedBySidecars } from './sidecars.ts';

export function sidecarTerminatorController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'sidecarterminator'),
    for: pod,
    predicate: ({ type, object }) => type !== 'deleted' && isBlockedBySidecars(object),
    uses: [node, containerRecreateRequest],
    observe(caches, key) {
      const found = caches.of(pod).get(key);
      const place = found && caches.of(node).get(found.spec?.nodeName ?? '');
      if (!found || !place) return undefined;
      const { namespace = '' } = found.metadata;
      const request = caches.of(containerRecreateRequest).get({ namespace, name: requestName(found) });
      return { pod: found, isVirtual: isVirtualNode(place), isRequested: request !== undefined };
    },
    decide,
  });
}

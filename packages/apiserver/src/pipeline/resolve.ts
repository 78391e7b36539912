import { checkCustomRequest } from '../custom/request-checks.ts';
import type { Stage } from './request.ts';
import { checkRoute } from './routing.ts';

/**
 * Finds the resource or the backend of a request, once for all later stages. Rejects paths and methods that are not
 * served.
 */
export const resolve: Stage = {
  name: 'Resolve',
  transports: 'all',
  failsWith: [400, 404, 405],
  run(request) {
    const { context, core } = request;
    const { info } = context;
    const resource = core.resources.find(info.group, info.version, info.plural);
    request.backend = request.findBackend(resource);
    if (request.backend) return undefined;
    if (resource?.custom) checkCustomRequest(context, resource);
    else checkRoute(info);
    request.resource = resource;
    return undefined;
  },
};

import { endpoints } from '@kruise/api/core/endpoints';
import { service } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { isBeingDeleted } from '@kruise/client/actions';
import { defineController, watch } from '@kruise/client/controller';
import { keyOf } from '@kruise/client/object-key';
import { byServiceOf } from '../endpointslice/slice-set.ts';
import { hasSelector } from '../service-endpoints/membership.ts';
import { decide, managedBy } from './decide.ts';

const byService = byServiceOf(managedBy);

/** EndpointSlice mirroring controller: mirrors custom Endpoints to EndpointSlices. */
export const endpointSliceMirroringController = defineController({
  name: 'endpoint-slice-mirroring',
  for: endpoints,
  watches: [
    watch(service, ({ type, object, previous }) =>
      type !== 'updated' || hasSelector(object) !== (previous && hasSelector(previous)) ? [keyOf(object)] : [],
    ),
    watch(endpointSlice, ({ object, previous }) => [...byService(object), ...(previous ? byService(previous) : [])]),
  ],
  observe(caches, key) {
    const slices = caches
      .of(endpointSlice)
      .byIndex(byService, key)
      .filter((slice) => !isBeingDeleted(slice));
    const found = caches.of(endpoints).get(key);
    if (!found && slices.length === 0) return undefined;
    return { endpoints: found, service: caches.of(service).get(key), slices };
  },
  decide,
});

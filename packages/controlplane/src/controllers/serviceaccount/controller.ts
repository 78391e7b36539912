import { namespace } from '@kruise/api/core/namespace';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { decide, defaultAccount } from './decide.ts';

/** ServiceAccount controller: creates the default ServiceAccount of every namespace. */
export const serviceAccountController: Controller = defineController({
  name: 'serviceaccount',
  for: namespace,
  watches: [
    watch(serviceAccount, ({ type, object: { metadata } }) =>
      type === 'deleted' && metadata.name === defaultAccount ? [metadata.namespace ?? ''] : [],
    ),
  ],
  observe(caches, key) {
    const found = caches.of(namespace).get(key);
    return (
      found && { namespace: found, account: caches.of(serviceAccount).get({ namespace: key, name: defaultAccount }) }
    );
  },
  decide,
});

import { configMap } from '@kruise/api/core/configmap';
import { namespace } from '@kruise/api/core/namespace';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { decide, publishedName } from './decide.ts';

/** Root CA certificate publisher: publishes the CA bundle of the API server in every namespace. */
export function rootCaCertificatePublisher(authorities: string): Controller {
  return defineController({
    name: 'root-ca-certificate-publisher',
    for: namespace,
    watches: [
      watch(configMap, ({ type, object: { metadata } }) =>
        type !== 'added' && metadata.name === publishedName ? [metadata.namespace ?? ''] : [],
      ),
    ],
    observe(caches, key) {
      const found = caches.of(namespace).get(key);
      const published = caches.of(configMap).get({ namespace: key, name: publishedName });
      return found && { namespace: found, published, authorities };
    },
    decide,
  });
}

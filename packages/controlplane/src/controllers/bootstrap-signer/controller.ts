import { configMap } from '@kruise/api/core/configmap';
import { secret } from '@kruise/api/core/secret';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { keyOf } from '@kruise/client/object-key';
import { bootstrapTokens, byBootstrapToken, isBootstrapToken } from '../bootstrap-token.ts';
import { decide } from './decide.ts';

const infoKey = 'kube-public/cluster-info';

/**
 * Bootstrap signer: signs the `cluster-info` ConfigMap, so that a client with a bootstrap token can verify it before it
 * trusts the API server.
 */
export const bootstrapSigner: Controller = defineController({
  name: 'bootstrap-signer',
  for: configMap,
  predicate: ({ object }) => keyOf(object) === infoKey,
  watches: [watch(secret, ({ object }) => (isBootstrapToken(object) ? [infoKey] : []))],
  workers: 1,
  observe(caches, key) {
    const info = caches.of(configMap).get(key);
    return info && { info, tokens: caches.of(secret).byIndex(byBootstrapToken, bootstrapTokens) };
  },
  decide,
});

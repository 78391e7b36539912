import { secret } from '@kruise/api/core/secret';
import { type Controller, defineController } from '@kruise/client/controller';
import { isBootstrapToken } from '../bootstrap-token.ts';
import { decide } from './decide.ts';

/** Token cleaner: deletes expired bootstrap tokens. */
export const tokenCleaner: Controller = defineController({
  name: 'token-cleaner',
  for: secret,
  predicate: ({ object }) => isBootstrapToken(object),
  workers: 1,
  observe(caches, key) {
    const found = caches.of(secret).get(key);
    return found && isBootstrapToken(found) ? found : undefined;
  },
  decide,
});

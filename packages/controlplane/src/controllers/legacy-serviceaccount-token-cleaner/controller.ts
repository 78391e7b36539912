import { configMap } from '@kruise/api/core/configmap';
import { type Pod, pod } from '@kruise/api/core/pod';
import { secret } from '@kruise/api/core/secret';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { podReferences } from '@kruise/apiserver/authorization/pod-references';
import { type Controller, defineController } from '@kruise/client/controller';
import { keyFor } from '@kruise/client/object-key';
import { accountNameOf, tokenType } from '../serviceaccount-token/decide.ts';
import { decide } from './decide.ts';

/** ConfigMap in which the API server records since when it tracks the use of tokens. */
const tracking = { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' };

/** Indexes Pods by the Secrets they mount. */
function bySecret(found: Pod): readonly string[] {
  const { namespace = '' } = found.metadata;
  return [...podReferences(found)].flatMap(([resource, name]) =>
    resource === 'secrets' ? [keyFor({ namespace, name })] : [],
  );
}

/** Legacy ServiceAccount token cleaner: invalidates and deletes unused tokens. */
export const legacyServiceAccountTokenCleaner: Controller = defineController({
  name: 'legacy-serviceaccount-token-cleaner',
  for: secret,
  predicate: ({ type, object }) => type !== 'deleted' && object.type === tokenType,
  uses: [serviceAccount, pod, configMap],
  observe(caches, key) {
    const found = caches.of(secret).get(key);
    const name = found && accountNameOf(found);
    if (found?.type !== tokenType || name === undefined) return undefined;
    return {
      secret: found,
      account: caches.of(serviceAccount).get({ namespace: found.metadata.namespace ?? '', name }),
      isMounted: caches.of(pod).byIndex(bySecret, key).length > 0,
      trackedSince: caches.of(configMap).get(tracking)?.data?.['since'],
    };
  },
  decide,
});

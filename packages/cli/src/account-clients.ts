import type { Client } from '@kruise/client/client';
import { serviceAccountCredentials } from '@kruise/controlplane/controllers/service-account-credentials';
import { systemClock, systemRandom } from '@kruise/values/system';
import { type ComponentContext, isSet } from './component.ts';

/**
 * Returns the API clients of a component's controllers: one per service account, or the component's own client for all.
 */
export function accountClients(
  component: string,
  { client, as }: ComponentContext,
  { useServiceAccountCredentials }: { readonly useServiceAccountCredentials: string | boolean },
): (account: string) => Client {
  if (!isSet('--use-service-account-credentials', useServiceAccountCredentials)) return () => client;
  const clients = new Map<string, Client>();
  return (account) => {
    let found = clients.get(account);
    if (!found) {
      const credentials = serviceAccountCredentials(client, systemClock, systemRandom, account);
      found = as(credentials, { userAgent: `${component}/v1.33 ${account}` });
      clients.set(account, found);
    }
    return found;
  };
}

/**
 * Ensures, on every replica, that the webhooks have valid certificates and are registered in the cluster: at the start,
 * when one of the objects changes, and every minute.
 */
import { mutatingWebhookConfiguration } from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import { validatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { secret } from '@kruise/api/core/secret';
import { appsGroup } from '@kruise/api/kruise/well-known';
import { effect } from '@kruise/client/actions';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { mutatingConfigurationName, validatingConfigurationName } from '../webhooks/configurations.ts';

const key = 'webhooks';
const everySeconds = 60;

type Certificate = { readonly namespace: string; readonly secretName: string };

export function webhookController({ namespace, secretName }: Certificate, sync: () => Promise<void>): Controller {
  const named = (name: string) => ({ selection: { fieldSelector: `metadata.name=${name}` } });
  return defineController({
    name: 'webhook-controller',
    component: 'webhook-controller',
    for: validatingWebhookConfiguration,
    ...named(validatingConfigurationName),
    // There is a single key to reconcile, whatever object changed.
    predicate: () => false,
    watches: [
      watch(validatingWebhookConfiguration, () => [key], named(validatingConfigurationName)),
      watch(mutatingWebhookConfiguration, () => [key], named(mutatingConfigurationName)),
      watch(secret, () => [key], { selection: { namespace, fieldSelector: `metadata.name=${secretName}` } }),
      watch(customResourceDefinition, ({ object }) => (object.spec.group === appsGroup ? [key] : [])),
    ],
    initialKeys: [key],
    workers: 1,
    observe: () => key,
    decide: () => ({ actions: [effect('sync', undefined)], requeueAfterSeconds: everySeconds }),
    effects: { sync },
  });
}

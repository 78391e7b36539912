/** Makes a cluster know websites: their definition, and whom to ask about them. */
import { mutatingWebhookConfiguration } from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import { validatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import {
  type CustomResourceDefinition,
  customResourceDefinition,
} from '@kruise/api/apiextensions/customresourcedefinition';
import type { Client } from '@kruise/client/client';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { customResourceDefinition as definitionOf } from '@kruise/schema/crd';
import { website } from './kind.ts';

const fieldManager = 'website-installer';

/** `url` is where the webhooks are, `caBundle` the authority, in PEM, that vouches for them. */
export async function install(client: Client, { url, caBundle }: { url: string; caBundle: string }): Promise<void> {
  // A definition made from a kind is a CustomResourceDefinition with all that one needs.
  const definition = definitionOf({ kinds: [website], storage: 'v1' }) as unknown as CustomResourceDefinition;
  await client.apply(customResourceDefinition, definition, { fieldManager, force: true });
  await established(client);
  const webhook = (path: string, name: string) => ({
    name: `${name}.example.com`,
    clientConfig: { url: `${url}${path}`, caBundle: Buffer.from(caBundle).toString('base64') },
    rules: [
      {
        apiGroups: ['example.com'],
        apiVersions: ['v1'],
        operations: ['CREATE', 'UPDATE'] as const,
        resources: ['websites'],
      },
    ],
    sideEffects: 'None' as const,
    admissionReviewVersions: ['v1'],
  });
  const metadata = { name: 'websites.example.com' };
  const options = { fieldManager, force: true };
  await client.apply(
    mutatingWebhookConfiguration,
    { metadata, webhooks: [webhook('/default-websites', 'default')] },
    options,
  );
  await client.apply(
    validatingWebhookConfiguration,
    { metadata, webhooks: [webhook('/validate-websites', 'validate')] },
    options,
  );
}

/** A definition is served a moment after it is written. */
async function established(client: Client): Promise<void> {
  const fieldSelector = `metadata.name=${website.plural}.${website.group}`;
  for await (const { object } of client.watch(customResourceDefinition, { fieldSelector, timeoutSeconds: 30 })) {
    if (isConditionTrue(object.status?.conditions, 'Established')) return;
  }
  throw new Error('the definition was not established in time');
}

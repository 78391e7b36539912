/** Installs the CRD and the webhook configurations of websites. */
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

/** `url` is the address of the webhooks, `caBundle` the CA certificate in PEM that signs theirs. */
export async function install(client: Client, { url, caBundle }: { url: string; caBundle: string }): Promise<void> {
  // A definition of a kind has all fields of a CustomResourceDefinition.
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

/** A CRD is served a moment after it is created. */
async function established(client: Client): Promise<void> {
  const fieldSelector = `metadata.name=${website.plural}.${website.group}`;
  for await (const { object } of client.watch(customResourceDefinition, { fieldSelector, timeoutSeconds: 30 })) {
    if (isConditionTrue(object.status?.conditions, 'Established')) return;
  }
  throw new Error('the definition was not established in time');
}

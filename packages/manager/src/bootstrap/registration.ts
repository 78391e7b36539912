/**
 * Keeps the registration of the webhooks up to date: the two webhook configurations and the conversion of Kruise's CRDs
 * refer to the current CA bundle, the current address, and only paths that are served.
 */
import {
  type MutatingWebhookConfiguration,
  mutatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import {
  type ValidatingWebhookConfiguration,
  validatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import type { WebhookClientConfig } from '@kruise/api/admissionregistration/webhook-client';
import {
  type CustomResourceDefinition,
  customResourceDefinition,
} from '@kruise/api/apiextensions/customresourcedefinition';
import { appsGroup, policyGroup } from '@kruise/api/kruise/well-known';
import type { Client } from '@kruise/client/client';
import { isSame } from '@kruise/machinery/json-value';
import { stringify } from '@kruise/values/go-json';
import { mutatingConfigurationName, validatingConfigurationName } from '../webhooks/configurations.ts';
import type { ManagerEnvironment } from './environment.ts';

/** Address of the webhooks, and the CA that signed their certificate. */
export type WebhookAddress = Pick<ManagerEnvironment, 'namespace' | 'serviceName' | 'webhookHost' | 'webhookPort'> & {
  /** The CA certificate, in PEM. */
  readonly authority: string;
};

type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;
type Webhook = { readonly clientConfig: WebhookClientConfig };

/** Annotation with the configuration as it was installed, so that a disabled webhook can be enabled again. */
const templateAnnotation = 'template';

/** Returns the desired configuration, derived from the installed one. */
export function desiredConfiguration<C extends Configuration>(
  configuration: C,
  place: WebhookAddress,
  isServed: (path: string) => boolean,
): C {
  const { metadata, webhooks = [] } = configuration;
  const kept = metadata.annotations?.[templateAnnotation];
  const template = (kept ? JSON.parse(kept) : webhooks) as readonly Webhook[];
  const settled = template
    .filter(({ clientConfig }) => isServed(pathOf(clientConfig)))
    .map((webhook) => ({ ...webhook, clientConfig: clientConfigAt(place, pathOf(webhook.clientConfig)) }));
  return {
    ...configuration,
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, [templateAnnotation]: kept || stringify(webhooks) },
    },
    webhooks: settled,
  };
}

/** Returns the desired CRD. The installer decides whether its versions are converted by a webhook at all. */
export function desiredConversion(
  definition: CustomResourceDefinition,
  place: WebhookAddress,
): CustomResourceDefinition {
  const { spec } = definition;
  const isOurs = spec.group === appsGroup || spec.group === policyGroup;
  if (!isOurs || spec.conversion?.strategy !== 'Webhook') return definition;
  const clientConfig = clientConfigAt(place, '/convert', 443);
  if (isSame(spec.conversion.webhook?.clientConfig, clientConfig)) return definition;
  const webhook = { clientConfig, conversionReviewVersions: ['v1', 'v1beta1'] };
  return { ...definition, spec: { ...spec, conversion: { strategy: 'Webhook', webhook } } };
}

function pathOf({ service, url }: WebhookClientConfig): string {
  if (service) return service.path ?? '';
  return url ? new URL(url).pathname : '';
}

function clientConfigAt(place: WebhookAddress, path: string, port?: number): WebhookClientConfig {
  const { namespace, serviceName: name, webhookHost: host, webhookPort } = place;
  const caBundle = Buffer.from(place.authority).toString('base64');
  if (host) return { url: `https://${host}:${webhookPort}${path}`, caBundle };
  return { service: { namespace, name, path, ...(port === undefined ? {} : { port }) }, caBundle };
}

/** Updates the objects that differ from their desired state. */
export async function register(
  client: Client,
  place: WebhookAddress,
  isServed: (path: string) => boolean,
): Promise<void> {
  const mutating = await client.get(mutatingWebhookConfiguration, { name: mutatingConfigurationName });
  const validating = await client.get(validatingWebhookConfiguration, { name: validatingConfigurationName });
  const mutatingWanted = withPorts(desiredConfiguration(mutating, place, isServed), mutating);
  if (!isSame(mutatingWanted, mutating)) await client.update(mutatingWebhookConfiguration, mutatingWanted);
  const validatingWanted = withPorts(desiredConfiguration(validating, place, isServed), validating);
  if (!isSame(validatingWanted, validating)) await client.update(validatingWebhookConfiguration, validatingWanted);
  for (const definition of (await client.list(customResourceDefinition)).items) {
    const wanted = desiredConversion(definition, place);
    if (wanted !== definition) await client.update(customResourceDefinition, wanted);
  }
}

/**
 * Sets the ports of Services as the API server defaults them, so that a comparison with the stored object finds no
 * difference.
 */
function withPorts<C extends Configuration>(wanted: C, found: C): C {
  const hasPort = (found.webhooks as readonly Webhook[] | undefined)?.some(
    ({ clientConfig }) => clientConfig.service?.port,
  );
  if (!hasPort) return wanted;
  const webhooks = ((wanted.webhooks ?? []) as readonly Webhook[]).map(({ clientConfig, ...webhook }) => ({
    ...webhook,
    clientConfig: clientConfig.service
      ? { ...clientConfig, service: { port: 443, ...clientConfig.service } }
      : clientConfig,
  }));
  return { ...wanted, webhooks };
}

/**
 * Checks the registration without changing it: where an external issuer provides the certificates, it also injects the
 * CA bundle. Throws if the registration is wrong.
 */
export async function checkRegistration(
  client: Client,
  { authority }: Pick<WebhookAddress, 'authority'>,
  isServed: (path: string) => boolean,
): Promise<void> {
  const bundle = Buffer.from(authority).toString('base64');
  const mutating = await client.get(mutatingWebhookConfiguration, { name: mutatingConfigurationName });
  const validating = await client.get(validatingWebhookConfiguration, { name: validatingConfigurationName });
  const webhooks = [...(mutating.webhooks ?? []), ...(validating.webhooks ?? [])];
  const stray = webhooks.find(({ clientConfig }) => isServed(pathOf(clientConfig)) && clientConfig.caBundle !== bundle);
  if (stray) throw new Error(`caBundle of webhook ${stray.name} does not match external caBundle`);
  for (const { metadata, spec } of (await client.list(customResourceDefinition)).items) {
    const isOurs = spec.group === appsGroup || spec.group === policyGroup;
    if (!isOurs || spec.conversion?.strategy !== 'Webhook') continue;
    if (spec.conversion.webhook?.clientConfig?.caBundle !== bundle) {
      throw new Error(`caBundle of CustomResourceDefinition ${metadata.name} does not match external caBundle`);
    }
  }
}

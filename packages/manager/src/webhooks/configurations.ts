/** The two webhook configurations through which an API server finds kruise-manager's webhooks. */
import {
  type MutatingWebhookConfiguration,
  mutatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import {
  type ValidatingWebhookConfiguration,
  validatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import type { WebhookClientConfig } from '@kruise/api/admissionregistration/webhook-client';
import { deleteProtectionLabel } from '@kruise/api/kruise/well-known';
import type { Client } from '@kruise/client/client';
import type { ManagerSettings } from '../configuration/settings.ts';
import { type WebhookEntry, webhookCatalogue } from './catalogue.ts';

export const mutatingConfigurationName = 'kruise-mutating-webhook-configuration';
export const validatingConfigurationName = 'kruise-validating-webhook-configuration';

/** The Service of the webhooks in kruise-manager's namespace. */
export const webhookServiceName = 'kruise-webhook-service';

/** Registers the webhooks that these settings enable, and replaces earlier configurations. */
export async function installConfigurations(client: Client, settings: ManagerSettings): Promise<void> {
  const { mutating, validating } = webhookConfigurations(settings, ({ path }) => ({
    service: { namespace: settings.namespace, name: webhookServiceName, path },
  }));
  const options = { fieldManager: 'kruise-manager', force: true };
  await client.apply(mutatingWebhookConfiguration, mutating, options);
  await client.apply(validatingWebhookConfiguration, validating, options);
}

type ClientConfigOf = (entry: WebhookEntry) => WebhookClientConfig;

export function webhookConfigurations(settings: ManagerSettings, clientConfigOf: ClientConfigOf) {
  const entries = webhookCatalogue.filter(({ isOn = () => true }) => isOn(settings));
  const webhooksOf = (type: WebhookEntry['type']) =>
    entries.filter((entry) => entry.type === type).map((entry) => webhookOf(entry, settings, clientConfigOf));
  const mutating: MutatingWebhookConfiguration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: mutatingConfigurationName },
    webhooks: webhooksOf('mutating'),
  };
  const validating: ValidatingWebhookConfiguration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: validatingConfigurationName },
    webhooks: webhooksOf('validating'),
  };
  return { mutating, validating };
}

/** Excludes Kruise's own Pods and those of the cluster itself, which must be able to start without Kruise. */
const ordinaryNamespaces = {
  matchExpressions: [
    { key: 'control-plane', operator: 'NotIn' as const, values: ['openkruise'] },
    { key: 'kubernetes.io/metadata.name', operator: 'NotIn' as const, values: ['kube-system'] },
  ],
};
const protectedObjects = { matchExpressions: [{ key: deleteProtectionLabel, operator: 'Exists' as const }] };
const outsideSystem = {
  matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn' as const, values: ['kube-system'] }],
};

function webhookOf(entry: WebhookEntry, settings: ManagerSettings, clientConfigOf: ClientConfigOf) {
  const { name, group, versions, resource, operations: asked, scope } = entry;
  const operations = typeof asked === 'function' ? asked(settings) : asked;
  return {
    name,
    clientConfig: clientConfigOf(entry),
    rules: [{ apiGroups: [group], apiVersions: versions, resources: [resource], operations }],
    // An unavailable webhook must not block deletions.
    failurePolicy: scope === 'protected' ? ('Ignore' as const) : ('Fail' as const),
    sideEffects: 'None' as const,
    admissionReviewVersions: ['v1', 'v1beta1'],
    timeoutSeconds: 30,
    ...(scope === 'pods' ? { namespaceSelector: ordinaryNamespaces } : {}),
    ...(scope === 'protected' ? { namespaceSelector: outsideSystem, objectSelector: protectedObjects } : {}),
  };
}

import type { Draft } from '@kruise/schema/draft';
import type { MutatingWebhookConfiguration } from './mutatingwebhookconfiguration.ts';
import type { MatchResources, Rule } from './rule.ts';
import type { ValidatingAdmissionPolicy } from './validatingadmissionpolicy.ts';
import type { ValidatingAdmissionPolicyBinding } from './validatingadmissionpolicybinding.ts';
import type { ValidatingWebhook, ValidatingWebhookConfiguration } from './validatingwebhookconfiguration.ts';

export function defaultMutatingWebhookConfiguration({ webhooks }: Draft<MutatingWebhookConfiguration>): void {
  for (const webhook of webhooks ?? []) {
    defaultWebhook(webhook);
    webhook.reinvocationPolicy ??= 'Never';
  }
}

export function defaultValidatingWebhookConfiguration({ webhooks }: Draft<ValidatingWebhookConfiguration>): void {
  for (const webhook of webhooks ?? []) defaultWebhook(webhook);
}

type Webhook = Pick<
  Draft<ValidatingWebhook>,
  'clientConfig' | 'failurePolicy' | 'matchPolicy' | 'namespaceSelector' | 'objectSelector' | 'rules' | 'timeoutSeconds'
>;

function defaultWebhook(webhook: Webhook): void {
  webhook.failurePolicy ??= 'Fail';
  webhook.matchPolicy ??= 'Equivalent';
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= 10;
  if (webhook.clientConfig?.service) webhook.clientConfig.service.port ??= 443;
  defaultRules(webhook.rules);
}

function defaultRules(rules: Draft<readonly Rule[]> | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= '*';
}

export function defaultValidatingAdmissionPolicy({ spec }: Draft<ValidatingAdmissionPolicy>): void {
  if (!spec) return;
  spec.failurePolicy ??= 'Fail';
  defaultMatchResources(spec.matchConstraints);
}

export function defaultValidatingAdmissionPolicyBinding({ spec }: Draft<ValidatingAdmissionPolicyBinding>): void {
  defaultMatchResources(spec?.matchResources);
}

function defaultMatchResources(resources: Draft<MatchResources> | undefined): void {
  if (!resources) return;
  resources.matchPolicy ??= 'Equivalent';
  resources.namespaceSelector ??= {};
  resources.objectSelector ??= {};
  defaultRules(resources.resourceRules);
  defaultRules(resources.excludeResourceRules);
}

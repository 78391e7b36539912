import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { matchCondition, ruleWithOperations } from './rule.ts';
import { webhookClientConfig } from './webhook-client.ts';

export const validatingWebhook = s.object('io.k8s.api.admissionregistration.v1.ValidatingWebhook', '', {
  name: s.required(1, s.string(), ''),
  clientConfig: s.required(2, webhookClientConfig, ''),
  rules: s.optional(3, s.atomicList(ruleWithOperations), ''),
  failurePolicy: s.pointer(4, s.oneOf('v1.FailurePolicyType', ['Ignore', 'Fail']), ''),
  matchPolicy: s.pointer(9, s.oneOf('v1.MatchPolicyType', ['Exact', 'Equivalent']), ''),
  namespaceSelector: s.pointer(5, labelSelector, ''),
  objectSelector: s.pointer(10, labelSelector, ''),
  sideEffects: s.required(6, s.oneOf('v1.SideEffectClass', ['Unknown', 'None', 'Some', 'NoneOnDryRun']), '', { pointer: true }),
  timeoutSeconds: s.pointer(7, s.int32(), ''),
  admissionReviewVersions: s.required(8, s.atomicList(s.string()), ''),
  matchConditions: s.optional(11, s.listMap(matchCondition, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
});
export type ValidatingWebhook = s.TypeOf<typeof validatingWebhook>;

export const validatingWebhookConfiguration = kind('io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration', '', {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  scope: 'Cluster',
  categories: ['api-extensions'],
  fields: {
    webhooks: s.optional(2, s.listMap(validatingWebhook, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
  },
});
export type ValidatingWebhookConfiguration = s.TypeOf<typeof validatingWebhookConfiguration>;

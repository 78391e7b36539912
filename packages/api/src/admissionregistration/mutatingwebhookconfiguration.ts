import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { matchCondition, ruleWithOperations } from './rule.ts';
import { webhookClientConfig } from './webhook-client.ts';

export const mutatingWebhook = s.object(
  'io.k8s.api.admissionregistration.v1.MutatingWebhook',
  'Webhook that can change objects before they are stored.',
  {
    name: s.required(
      1,
      s.string(),
      'Name of the webhook, fully qualified, such as pods.example.com. Unique in the configuration.',
    ),
    clientConfig: s.required(2, webhookClientConfig, 'Connection to the webhook.'),
    rules: s.optional(
      3,
      s.atomicList(ruleWithOperations),
      'Rules for the requests that are sent to the webhook; a request must match at least one. Requests for webhook configurations are never sent.',
    ),
    failurePolicy: s.pointer(
      4,
      s.oneOf('v1.FailurePolicyType', ['Ignore', 'Fail']),
      'Policy for errors and timeouts of the webhook: Fail (the default) rejects the request, Ignore continues without the webhook.',
    ),
    matchPolicy: s.pointer(
      9,
      s.oneOf('v1.MatchPolicyType', ['Exact', 'Equivalent']),
      'Matching of versions: Exact only matches the version of the request; Equivalent (the default) also matches other versions of the object, which is converted.',
    ),
    namespaceSelector: s.pointer(
      5,
      labelSelector,
      'Only objects in namespaces with these labels; a Namespace by its own. Unset: all.',
    ),
    objectSelector: s.pointer(
      11,
      labelSelector,
      'Only objects with these labels, before or after the change. Unset: all. Not to be relied on, since users set labels.',
    ),
    sideEffects: s.required(
      6,
      s.oneOf('v1.SideEffectClass', ['Unknown', 'None', 'Some', 'NoneOnDryRun']),
      'None, or NoneOnDryRun if it heeds dry runs. Others are refused on a dry run.',
      { pointer: true },
    ),
    timeoutSeconds: s.pointer(7, s.int32(), 'Timeout in seconds, 1 to 30. Default 10.'),
    admissionReviewVersions: s.required(
      8,
      s.atomicList(s.string()),
      'Versions of AdmissionReview that the webhook supports, in order of preference. The server uses the first that it supports.',
    ),
    reinvocationPolicy: s.pointer(
      10,
      s.oneOf('v1.ReinvocationPolicyType', ['Never', 'IfNeeded']),
      'Reinvocation: Never (the default) calls the webhook once; IfNeeded calls it again if other plugins changed the object afterwards.',
    ),
    matchConditions: s.optional(
      12,
      s.listMap(matchCondition, ['name']),
      'CEL conditions that must all be true for the webhook to be called; at most 64.',
      { patchStrategy: 'merge', patchMergeKey: 'name' },
    ),
  },
);
export type MutatingWebhook = s.TypeOf<typeof mutatingWebhook>;

export const mutatingWebhookConfiguration = kind(
  'io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration',
  'Webhooks that can change objects before they are stored, called in sequence.',
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
    scope: 'Cluster',
    categories: ['api-extensions'],
    fields: {
      webhooks: s.optional(2, s.listMap(mutatingWebhook, ['name']), 'The webhooks.', {
        patchStrategy: 'merge',
        patchMergeKey: 'name',
      }),
    },
  },
);
export type MutatingWebhookConfiguration = s.TypeOf<typeof mutatingWebhookConfiguration>;

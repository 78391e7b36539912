import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { matchCondition, ruleWithOperations } from './rule.ts';
import { webhookClientConfig } from './webhook-client.ts';

export const validatingWebhook = s.object(
  'io.k8s.api.admissionregistration.v1.ValidatingWebhook',
  'A webhook that may refuse requests.',
  {
    name: s.required(
      1,
      s.string(),
      'Name of the webhook, fully qualified, such as pods.example.com. Unique in the configuration.',
    ),
    clientConfig: s.required(2, webhookClientConfig, 'How to reach it.'),
    rules: s.optional(
      3,
      s.atomicList(ruleWithOperations),
      'What it is asked about: a match of any rule. Never about webhook configurations themselves.',
    ),
    failurePolicy: s.pointer(
      4,
      s.oneOf('v1.FailurePolicyType', ['Ignore', 'Fail']),
      'What happens if it cannot be asked: Fail (the default) refuses the request, Ignore goes on without it.',
    ),
    matchPolicy: s.pointer(
      9,
      s.oneOf('v1.MatchPolicyType', ['Exact', 'Equivalent']),
      'Exact goes by the version of the request; Equivalent (the default) also by other versions of the same object, converted.',
    ),
    namespaceSelector: s.pointer(
      5,
      labelSelector,
      'Only objects in namespaces with these labels; a Namespace by its own. Unset: all.',
    ),
    objectSelector: s.pointer(
      10,
      labelSelector,
      'Only objects with these labels, before or after the change. Unset: all. Not to be relied on, since users set labels.',
    ),
    sideEffects: s.required(
      6,
      s.oneOf('v1.SideEffectClass', ['Unknown', 'None', 'Some', 'NoneOnDryRun']),
      'None, or NoneOnDryRun if it heeds dry runs. Others are refused on a dry run.',
      { pointer: true },
    ),
    timeoutSeconds: s.pointer(7, s.int32(), 'Seconds it may take, 1 to 30. Default 10.'),
    admissionReviewVersions: s.required(
      8,
      s.atomicList(s.string()),
      'Versions of AdmissionReview it understands, the best first. The server takes the first it knows.',
    ),
    matchConditions: s.optional(
      11,
      s.listMap(matchCondition, ['name']),
      'CEL conditions of which all must be true for it to be asked; up to 64.',
      { patchStrategy: 'merge', patchMergeKey: 'name' },
    ),
  },
);
export type ValidatingWebhook = s.TypeOf<typeof validatingWebhook>;

export const validatingWebhookConfiguration = kind(
  'io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration',
  'Webhooks that may refuse requests, asked all at once after every change has been made.',
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    scope: 'Cluster',
    categories: ['api-extensions'],
    fields: {
      webhooks: s.optional(2, s.listMap(validatingWebhook, ['name']), 'The webhooks.', {
        patchStrategy: 'merge',
        patchMergeKey: 'name',
      }),
    },
  },
);
export type ValidatingWebhookConfiguration = s.TypeOf<typeof validatingWebhookConfiguration>;

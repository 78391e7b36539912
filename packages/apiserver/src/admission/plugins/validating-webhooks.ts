import {
  type ValidatingWebhook,
  validatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ResourceRegistry } from '../../registry.ts';
import { WebhookCallError, type WebhookCaller } from '../../webhook/caller.ts';
import type { AdmissionPlugin, Attributes } from '../admission.ts';
import { derived, type Lookup } from '../lookup.ts';
import { convertToTarget, createMatcher, isExempt, type Target } from '../matching.ts';
import { type Hook, hooksOf, type Invocation, meetsHookConditions } from '../webhooks/hooks.ts';
import { callFailure, callWebhook } from '../webhooks/review.ts';

/** ValidatingAdmissionWebhook plugin: calls the validating webhooks in parallel. */
export function validatingWebhooks(
  lookup: Lookup,
  resources: ResourceRegistry,
  authorizer: Authorizer,
  caller: WebhookCaller,
): AdmissionPlugin {
  const matcher = createMatcher(lookup, resources);
  const hooks = derived(lookup.of(validatingWebhookConfiguration), (all) => hooksOf<ValidatingWebhook>(all));

  async function callHook(hook: Hook, attributes: Attributes, invocation: Invocation, index: number): Promise<void> {
    try {
      await callWebhook(caller, hook, attributes, invocation, false);
    } catch (error) {
      if (!(error instanceof WebhookCallError)) throw error;
      if (!hook.failsOpen) throw callFailure(hook, error);
      attributes.context.auditAnnotations.set(
        `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`,
        hook.webhook.name,
      );
    }
  }

  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (attributes) => matcher.candidates(hooks(), attributes).length > 0 && !isExempt(attributes),
    async validate(attributes) {
      const relevant: { readonly hook: Hook; readonly invocation: Invocation }[] = [];
      for (const [, hook] of matcher.candidates(hooks(), attributes)) {
        const target = matcher.match(hook.criteria, attributes);
        if (!target) continue;
        const invocation = await toInvocation(target, attributes);
        if (meetsHookConditions(authorizer, hook, attributes, invocation)) relevant.push({ hook, invocation });
      }
      if (relevant.length === 0) return;
      const outcomes = await Promise.allSettled(
        relevant.map(({ hook, invocation }, index) => callHook(hook, attributes, invocation, index)),
      );
      const refused = outcomes.find((outcome) => outcome.status === 'rejected');
      if (refused) throw refused.reason;
    },
  };
}

async function toInvocation(target: Target, attributes: Attributes): Promise<Invocation> {
  return {
    target,
    object: await convertToTarget(target, attributes, attributes.object),
    oldObject: await convertToTarget(target, attributes, attributes.oldObject),
  };
}

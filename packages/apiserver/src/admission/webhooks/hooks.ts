import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import type {
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import { forbidden } from '@kruise/machinery/status';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { KubeObject } from '../../object.ts';
import type { Attributes } from '../admission.ts';
import { bindingsOf, type Compiled } from '../expressions.ts';
import { type Criteria, compiledSelector, type Target } from '../matching.ts';
import { compileMatchConditions, meetsConditions } from '../policy/match-conditions.ts';

/** Webhook with compiled match conditions. */
export type Hook<W = MutatingWebhook | ValidatingWebhook> = {
  readonly webhook: W;
  readonly configuration: string;
  /** Unique id of the webhook. */
  readonly uid: string;
  readonly criteria: Criteria;
  readonly conditions: readonly Compiled[];
  readonly failsOpen: boolean;
  readonly timeoutSeconds: number;
};

const defaultTimeoutSeconds = 10;

/** Returns all webhooks in the order of their calls: by the name of their configuration, then by their index in it. */
export function hooksOf<W extends MutatingWebhook | ValidatingWebhook>(
  configurations: readonly (MutatingWebhookConfiguration | ValidatingWebhookConfiguration)[],
): readonly Hook<W>[] {
  return configurations.flatMap(({ metadata, webhooks }) =>
    // All configurations of a list have the same kind.
    ((webhooks ?? []) as readonly W[]).map((webhook, index) => hookOf(webhook, metadata.name ?? '', index)),
  );
}

function hookOf<W extends MutatingWebhook | ValidatingWebhook>(
  webhook: W,
  configuration: string,
  index: number,
): Hook<W> {
  const { rules, matchPolicy, namespaceSelector, objectSelector, matchConditions, failurePolicy, timeoutSeconds } =
    webhook;
  return {
    webhook,
    configuration,
    uid: `${configuration}/${webhook.name}/${index}`,
    criteria: {
      rules: rules ?? [],
      excluded: [],
      everyResource: false,
      equivalent: matchPolicy !== 'Exact',
      namespaceSelector: compiledSelector(namespaceSelector),
      objectSelector: compiledSelector(objectSelector),
    },
    conditions: compileMatchConditions(matchConditions, { params: false, authorizer: true }),
    failsOpen: failurePolicy === 'Ignore',
    timeoutSeconds: timeoutSeconds ?? defaultTimeoutSeconds,
  };
}

/** Write in the version for one webhook. */
export type Invocation = {
  readonly target: Target;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
};

/** Reports whether a matched write also meets the match conditions of a webhook. */
export function meetsHookConditions(
  authorizer: Authorizer,
  hook: Hook,
  attributes: Attributes,
  invocation: Invocation,
): boolean {
  if (hook.conditions.length === 0) return true;
  const bindings = bindingsOf(attributes, invocation.target, invocation, { authorizer });
  const meets = meetsConditions(hook.conditions, bindings);
  if (typeof meets === 'boolean') return meets;
  if (hook.failsOpen) return false;
  throw forbidden(attributes.resource.kind, attributes.name, meets.error);
}

import {
  type MutatingWebhook,
  mutatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import { applyJsonPatch, type Operation } from '@kruise/machinery/json-patch';
import { isSame } from '@kruise/machinery/json-value';
import { validateEntries, withEntries } from '@kruise/machinery/server-side-apply/managed-fields';
import { internalError, timeout } from '@kruise/machinery/status';
import { quote } from '@kruise/values/go-syntax';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { KubeObject } from '../../object.ts';
import type { ResourceRegistry } from '../../registry.ts';
import type { Resource } from '../../resource.ts';
import { WebhookCallError, type WebhookCaller } from '../../webhook/caller.ts';
import type { AdmissionPlugin, Attributes, Reinvocation } from '../admission.ts';
import { derived, type Lookup } from '../lookup.ts';
import { convertToTarget, createMatcher, isExempt, type Target } from '../matching.ts';
import { type Hook, hooksOf, type Invocation, meetsHookConditions } from '../webhooks/hooks.ts';
import { callFailure, callWebhook } from '../webhooks/review.ts';

const name = 'MutatingAdmissionWebhook';
const annotation = 'webhook.admission.k8s.io';

/** Reinvocation state: webhooks with the IfNeeded policy are called again if the object changed after their call. */
type ReinvocationState = {
  /** Object as the last webhook of the first invocation returned it. */
  output?: KubeObject | undefined;
  called: Set<string>;
  readonly reinvoke: Set<string>;
};

/** MutatingAdmissionWebhook plugin: calls the mutating webhooks one after the other. */
export function mutatingWebhooks(
  lookup: Lookup,
  resources: ResourceRegistry,
  authorizer: Authorizer,
  caller: WebhookCaller,
): AdmissionPlugin {
  const matcher = createMatcher(lookup, resources);
  const hooks = derived(lookup.of(mutatingWebhookConfiguration), (all) => hooksOf<MutatingWebhook>(all));

  /** Calls one webhook and returns the object it produced; returns the same object if the webhook changes nothing. */
  async function callHook(
    hook: Hook<MutatingWebhook>,
    attributes: Attributes,
    invocation: Invocation,
    where: string,
    serialized: Serialize,
  ): Promise<KubeObject | undefined> {
    const { auditAnnotations } = attributes.context;
    const about = { configuration: hook.configuration, webhook: hook.webhook.name };
    let mutated = false;
    try {
      const { patch } = await callWebhook(caller, hook, attributes, invocation, true);
      if (patch.length === 0) return attributes.object;
      const object = await patched(hook, attributes, invocation, patch as readonly Operation[]);
      mutated = !isSame(attributes.serializer!.canonical(object), serialized(attributes.object));
      auditAnnotations.set(`patch.${annotation}/${where}`, JSON.stringify({ ...about, patch, patchType: 'JSONPatch' }));
      return mutated ? object : attributes.object;
    } finally {
      auditAnnotations.set(`mutation.${annotation}/${where}`, JSON.stringify({ ...about, mutated }));
    }
  }

  return {
    name,
    handles: (attributes) => matcher.candidates(hooks(), attributes).length > 0 && !isExempt(attributes),
    async mutate(attributes, passes) {
      const memory = memoryOf(passes);
      const serialized = memoizeSerialized(attributes);
      if (passes.round === 1 && !isSame(memory.output, serialized(attributes.object))) needsReinvocation(memory);
      let current = attributes;
      for (const [index, hook] of matcher.candidates(hooks(), attributes)) {
        if (passes.round === 1 && !memory.reinvoke.has(hook.uid)) continue;
        const target = matcher.match(hook.criteria, current);
        if (!target) continue;
        const invocation = await toInvocation(target, current, serialized);
        if (!meetsHookConditions(authorizer, hook, current, invocation)) continue;
        const where = `round_${passes.round}_index_${index}`;
        try {
          const object = await callHook(hook, current, invocation, where, serialized);
          if (object !== current.object) {
            current = { ...current, object };
            needsReinvocation(memory);
            passes.requestAnother();
          }
        } catch (error) {
          if (!(error instanceof WebhookCallError)) throw error;
          if (!hook.failsOpen) throw callFailure(hook, error);
          current.context.auditAnnotations.set(`failed-open.mutation.${annotation}/${where}`, hook.webhook.name);
          if (current.context.signal.aborted) throw timeout('request did not complete within requested timeout');
        }
        if (hook.webhook.reinvocationPolicy === 'IfNeeded') memory.called.add(hook.uid);
      }
      const object = keepManagers(attributes, current.object);
      // Reinvocation only happens if a webhook changed the object in this invocation.
      if (object !== attributes.object) memory.output = serialized(object);
      return object;
    },
  };
}

/** Restores managedFields if a webhook corrupted them. Webhooks that do not know the field often do. */
function keepManagers({ object: before, context }: Attributes, after: KubeObject | undefined): KubeObject | undefined {
  if (!before || !after || after === before) return after;
  const fault = validateEntries(after.metadata.managedFields);
  if (fault === undefined) return after;
  context.warnings.add(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${fault}`,
  );
  return withEntries(after, before.metadata.managedFields) as KubeObject;
}

function memoryOf({ notes }: Reinvocation): ReinvocationState {
  let memory = notes.get(name) as ReinvocationState | undefined;
  if (!memory) notes.set(name, (memory = { called: new Set(), reinvoke: new Set() }));
  return memory;
}

function needsReinvocation(memory: ReinvocationState): void {
  for (const uid of memory.called) memory.reinvoke.add(uid);
  memory.called = new Set();
}

type Serialize = (object: KubeObject | undefined) => KubeObject | undefined;

/**
 * Returns an object in serialized form, because a draft may still have empty or unordered fields. The last result is
 * memoized.
 */
function memoizeSerialized({ serializer }: Attributes): Serialize {
  let last: KubeObject | undefined;
  let canonical: KubeObject | undefined;
  return (object) => {
    if (!object || !serializer) return object;
    if (object !== last) {
      canonical = serializer.canonical(object);
      last = object;
    }
    return canonical;
  };
}

async function toInvocation(target: Target, attributes: Attributes, serialized: Serialize): Promise<Invocation> {
  return {
    target,
    object: await convertToTarget(target, attributes, serialized(attributes.object)),
    oldObject: await convertToTarget(target, attributes, attributes.oldObject),
  };
}

/**
 * Applies a patch to an object in the version that the webhook received, and sets defaults as for a client's request.
 */
async function patched(
  { webhook }: Hook,
  attributes: Attributes,
  { target, object }: Invocation,
  patch: readonly Operation[],
): Promise<KubeObject> {
  const { serializer, resource } = attributes;
  if (!object || !serializer) {
    throw internalError(
      `admission webhook ${quote(webhook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  try {
    const changed = applyJsonPatch(object, patch);
    const { version } = target;
    if (!version) return serializer.decodeMutated(changed) as KubeObject;
    const stored = await version.conversion.toStorage(version.serializer.decodeMutated(changed) as KubeObject);
    // Only resources of the registry have other versions.
    const own = await (resource as Resource).conversion.fromStorage(stored);
    return serializer.decodeMutated(own) as KubeObject;
  } catch (error) {
    throw internalError((error as Error).message, { cause: error });
  }
}

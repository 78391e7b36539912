import {
  type MutatingWebhook,
  mutatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import { applyJsonPatch, type Operation } from '@kruise/machinery/json-patch';
import { isSame } from '@kruise/machinery/json-value';
import { faultOfEntries, withEntries } from '@kruise/machinery/server-side-apply/managed-fields';
import { internalError, timeout } from '@kruise/machinery/status';
import { quote } from '@kruise/values/go-syntax';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { KubeObject } from '../../object.ts';
import type { ResourceRegistry } from '../../registry.ts';
import type { Resource } from '../../resource.ts';
import { WebhookCallError, type WebhookCaller } from '../../webhook/caller.ts';
import type { AdmissionPlugin, Attributes, Passes } from '../admission.ts';
import { derived, type Lookup } from '../lookup.ts';
import { createMatcher, isExempt, shownTo, type Target } from '../matching.ts';
import { type Hook, hooksOf, type Invocation, meetsHookConditions } from '../webhooks/hooks.ts';
import { ask, callFailure } from '../webhooks/review.ts';

const name = 'MutatingAdmissionWebhook';
const annotation = 'webhook.admission.k8s.io';

/** Reinvocation state: webhooks with the IfNeeded policy are called again if the object changed after their call. */
type Memory = {
  /** Object as the last webhook of the first invocation returned it. */
  output?: KubeObject | undefined;
  asked: Set<string>;
  readonly again: Set<string>;
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
  async function askOne(
    hook: Hook<MutatingWebhook>,
    attributes: Attributes,
    invocation: Invocation,
    where: string,
    written: WrittenDown,
  ): Promise<KubeObject | undefined> {
    const { auditAnnotations } = attributes.context;
    const about = { configuration: hook.configuration, webhook: hook.webhook.name };
    let mutated = false;
    try {
      const { patch } = await ask(caller, hook, attributes, invocation, true);
      if (patch.length === 0) return attributes.object;
      const object = await patched(hook, attributes, invocation, patch as readonly Operation[]);
      mutated = !isSame(attributes.serializer!.canonical(object), written(attributes.object));
      auditAnnotations.set(`patch.${annotation}/${where}`, JSON.stringify({ ...about, patch, patchType: 'JSONPatch' }));
      return mutated ? object : attributes.object;
    } finally {
      auditAnnotations.set(`mutation.${annotation}/${where}`, JSON.stringify({ ...about, mutated }));
    }
  }

  return {
    name,
    handles: (attributes) => matcher.concerned(hooks(), attributes).length > 0 && !isExempt(attributes),
    async mutate(attributes, passes) {
      const memory = memoryOf(passes);
      const written = writtenDown(attributes);
      if (passes.round === 1 && !isSame(memory.output, written(attributes.object))) askAgain(memory);
      let current = attributes;
      for (const [index, hook] of matcher.concerned(hooks(), attributes)) {
        if (passes.round === 1 && !memory.again.has(hook.uid)) continue;
        const target = matcher.match(hook.criteria, current);
        if (!target) continue;
        const invocation = await shown(target, current, written);
        if (!meetsHookConditions(authorizer, hook, current, invocation)) continue;
        const where = `round_${passes.round}_index_${index}`;
        try {
          const object = await askOne(hook, current, invocation, where, written);
          if (object !== current.object) {
            current = { ...current, object };
            askAgain(memory);
            passes.requestAnother();
          }
        } catch (error) {
          if (!(error instanceof WebhookCallError)) throw error;
          if (!hook.failsOpen) throw callFailure(hook, error);
          current.context.auditAnnotations.set(`failed-open.mutation.${annotation}/${where}`, hook.webhook.name);
          if (current.context.signal.aborted) throw timeout('request did not complete within requested timeout');
        }
        if (hook.webhook.reinvocationPolicy === 'IfNeeded') memory.asked.add(hook.uid);
      }
      const object = keepManagers(attributes, current.object);
      // Reinvocation only happens if a webhook changed the object in this invocation.
      if (object !== attributes.object) memory.output = written(object);
      return object;
    },
  };
}

/** Restores managedFields if a webhook corrupted them. Webhooks that do not know the field often do. */
function keepManagers({ object: before, context }: Attributes, after: KubeObject | undefined): KubeObject | undefined {
  if (!before || !after || after === before) return after;
  const fault = faultOfEntries(after.metadata.managedFields);
  if (fault === undefined) return after;
  context.warnings.add(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${fault}`,
  );
  return withEntries(after, before.metadata.managedFields) as KubeObject;
}

function memoryOf({ notes }: Passes): Memory {
  let memory = notes.get(name) as Memory | undefined;
  if (!memory) notes.set(name, (memory = { asked: new Set(), again: new Set() }));
  return memory;
}

function askAgain(memory: Memory): void {
  for (const uid of memory.asked) memory.again.add(uid);
  memory.asked = new Set();
}

type WrittenDown = (object: KubeObject | undefined) => KubeObject | undefined;

/**
 * Returns an object in serialized form, because a draft may still have empty or unordered fields. The last result is
 * memoized.
 */
function writtenDown({ serializer }: Attributes): WrittenDown {
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

async function shown(target: Target, attributes: Attributes, written: WrittenDown): Promise<Invocation> {
  return {
    target,
    object: await shownTo(target, attributes, written(attributes.object)),
    oldObject: await shownTo(target, attributes, attributes.oldObject),
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

import { createLookup } from '../admission/lookup.ts';
import type { Dial } from '../connect/node-connector.ts';
import type { Core } from '../core.ts';
import { createWebhookCaller, type InProcessWebhooks, type WebhookCaller } from '../webhook/caller.ts';
import { createServiceResolver } from '../webhook/service-resolver.ts';
import { conversionWebhook } from './conversion-webhook.ts';
import { type Converter, versionRename } from './converter.ts';
import type { Definition } from './definition.ts';

export type ConvertersOptions = {
  /** Returns the built-in converter of a definition, if the server has one. */
  readonly override?: ((definition: Definition) => Converter | undefined) | undefined;
  /** In-process webhooks. */
  readonly inProcess?: InProcessWebhooks | undefined;
  /** Connects to webhooks behind Services. */
  readonly dial?: Dial | undefined;
};

/** Creates the converters of definitions. */
export function createConverters(
  core: Core,
  { override, inProcess, dial }: ConvertersOptions,
): (definition: Definition) => Converter {
  const { clock, random, signal } = core;
  let caller: WebhookCaller | undefined;

  function webhookCaller(): WebhookCaller {
    if (!caller) {
      const resolve = createServiceResolver(createLookup(core.resources, core.feed), random);
      const made = createWebhookCaller({
        clock,
        resolve,
        ...(inProcess ? { inProcess } : {}),
        ...(dial ? { dial } : {}),
      });
      signal.addEventListener('abort', () => made.close(), { once: true });
      caller = made;
    }
    return caller;
  }

  return (definition) => {
    const known = override?.(definition);
    if (known) return known;
    const { conversion } = definition.spec;
    if (conversion?.strategy !== 'Webhook' || !conversion.webhook) return versionRename;
    return conversionWebhook(conversion.webhook, { caller: webhookCaller(), random, signal });
  };
}

import { kruiseDefinitions, kruiseKinds } from '@kruise/api/kruise/crds';
import type { Core } from '@kruise/apiserver/core';
import { type Converter, renaming } from '@kruise/apiserver/custom/converter';
import type { Definition } from '@kruise/apiserver/custom/definition';
import { installDefinitions } from '@kruise/apiserver/custom/install';
import type { KubeObject } from '@kruise/apiserver/object';
import type { JsonObject } from '@kruise/machinery/json-value';
import { conversionFor } from '@kruise/manager/conversion/catalogue';

/** Where kruise-manager answers webhooks in a cluster. */
const webhookService = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/convert', port: 443 };

const converters: ReadonlyMap<string, Converter> = new Map(
  kruiseKinds.map(({ stored }) => [`${stored.plural}.${stored.group}`, converterFor(stored)]),
);

function converterFor(kind: { readonly group: string; readonly kind: string }): Converter {
  const conversion = conversionFor(kind);
  if (!conversion) return renaming;
  return {
    convert: (objects, apiVersion) =>
      // Objects are JSON before and after.
      objects.map((object) => conversion.convert(object as unknown as JsonObject, apiVersion) as unknown as KubeObject),
  };
}

/**
 * How Kruise's own kinds are converted in a cluster that has Kruise built in: by the very functions kruise-manager's
 * webhook would call, in the server itself. Everywhere else the webhook their definitions name does it.
 */
export function kruiseConverterOf({ metadata }: Definition): Converter | undefined {
  return converters.get(metadata.name ?? '');
}

/** Adds Kruise's kinds to a cluster. Resolves once they are served. */
export async function installKruiseKinds(core: Core): Promise<void> {
  // Definitions are objects like any other, of which their own type says more.
  await installDefinitions(core, kruiseDefinitions({ service: webhookService }) as unknown as KubeObject[]);
}

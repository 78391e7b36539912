import { kruiseDefinitions, kruiseKinds } from '@kruise/api/kruise/crds';
import type { Core } from '@kruise/apiserver/core';
import { type Converter, versionRename } from '@kruise/apiserver/custom/converter';
import type { Definition } from '@kruise/apiserver/custom/definition';
import { installDefinitions } from '@kruise/apiserver/custom/install';
import type { KubeObject } from '@kruise/apiserver/object';
import type { JsonObject } from '@kruise/machinery/json-value';
import { conversionFor } from '@kruise/manager/conversion/catalogue';

/** Service of the kruise-manager webhooks in a cluster. */
const webhookService = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/convert', port: 443 };

const converters: ReadonlyMap<string, Converter> = new Map(
  kruiseKinds.map(({ stored }) => [`${stored.plural}.${stored.group}`, converterFor(stored)]),
);

function converterFor(kind: { readonly group: string; readonly kind: string }): Converter {
  const conversion = conversionFor(kind);
  if (!conversion) return versionRename;
  return {
    convert: (objects, apiVersion) =>
      // Objects are JSON before and after the conversion.
      objects.map((object) => conversion.convert(object as unknown as JsonObject, apiVersion) as unknown as KubeObject),
  };
}

/**
 * Returns the converter of a Kruise kind in a cluster with built-in Kruise: the server calls the functions of the
 * conversion webhook in process. In other clusters the webhook in the definition converts.
 */
export function kruiseConverterOf({ metadata }: Definition): Converter | undefined {
  return converters.get(metadata.name ?? '');
}

/** Installs the CRDs of Kruise. Resolves when the kinds are served. */
export async function installKruiseKinds(core: Core): Promise<void> {
  // The type of a definition is more specific than that of an object.
  await installDefinitions(core, kruiseDefinitions({ service: webhookService }) as unknown as KubeObject[]);
}

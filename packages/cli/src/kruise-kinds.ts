import { kruiseDefinitions, kruiseKinds } from '@kruise/api/kruise/crds';
import type { Core } from '@kruise/apiserver/core';
import type { Converter } from '@kruise/apiserver/custom/converter';
import type { Definition } from '@kruise/apiserver/custom/definition';
import { installDefinitions } from '@kruise/apiserver/custom/install';
import type { KubeObject } from '@kruise/apiserver/object';
import { convertObject } from '@kruise/manager/conversion/catalogue';

/** Where kruise-manager answers webhooks in a cluster. */
const webhookService = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/convert', port: 443 };

const names: ReadonlySet<string> = new Set(kruiseKinds.map(({ stored }) => `${stored.plural}.${stored.group}`));

const converter: Converter = {
  // What is converted is an object of the same kind.
  convert: (objects, apiVersion) => objects.map((object) => convertObject(object, apiVersion) as KubeObject),
};

/**
 * How Kruise's own kinds are converted in a cluster that has Kruise built in: by the server itself. Everywhere else the
 * webhook their definitions name does it, in the same way.
 */
export function kruiseConverterOf({ metadata }: Definition): Converter | undefined {
  return names.has(metadata.name ?? '') ? converter : undefined;
}

/** Adds Kruise's kinds to a cluster. Resolves once they are served. */
export async function installKruiseKinds(core: Core): Promise<void> {
  // Definitions are objects like any other, of which their own type says more.
  await installDefinitions(core, kruiseDefinitions({ service: webhookService }) as unknown as KubeObject[]);
}

import { deployment } from '@kruise/api/apps/deployment';
import { configMap } from '@kruise/api/core/configmap';
import { defineController } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { decide, type Observed } from './decide.ts';
import { website } from './kind.ts';

export const websiteController = defineController({
  for: website,
  owns: [configMap, deployment],
  observe,
  decide,
});

function observe(caches: Caches, key: Key): Observed | undefined {
  const site = caches.of(website).get(key);
  if (!site) return undefined;
  return {
    site,
    page: caches.of(configMap).controlledBy(site)[0],
    servers: caches.of(deployment).controlledBy(site)[0],
  };
}

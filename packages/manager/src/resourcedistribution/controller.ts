import { configMap } from '@kruise/api/core/configmap';
import { namespace } from '@kruise/api/core/namespace';
import { secret } from '@kruise/api/core/secret';
import { resourceDistribution } from '@kruise/api/kruise/resourcedistribution';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide } from './decide.ts';
import { distributionsOfNamespace } from './mappers.ts';

export function resourceDistributionController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'resourcedistribution'),
    for: resourceDistribution,
    owns: [configMap, secret],
    watches: [watch(namespace, distributionsOfNamespace)],
    observe(caches, key) {
      const distribution = caches.of(resourceDistribution).get(key);
      if (!distribution) return undefined;
      const { kind, metadata } = distribution.spec.resource;
      const resources = caches.of(kind === 'Secret' ? secret : configMap);
      const find = (name: string) => resources.get({ namespace: name, name: metadata.name ?? '' });
      return { distribution, namespaces: caches.of(namespace).list(), find };
    },
    decide,
  });
}

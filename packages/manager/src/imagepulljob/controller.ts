import { pod } from '@kruise/api/core/pod';
import { secret } from '@kruise/api/core/secret';
import { imagePullJob } from '@kruise/api/kruise/imagepulljob';
import { nodeImage } from '@kruise/api/kruise/nodeimage';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide, type Observed } from './decide.ts';
import { jobsOfNodeImage, jobsOfPod, jobsOfSecret } from './mappers.ts';
import { nodeImagesFor } from './nodes.ts';

export function imagePullJobController(settings: ManagerSettings): Controller {
  const { daemonConfigNamespace: namespace } = settings;
  return defineController({
    ...workSettings(settings, 'imagepulljob'),
    for: imagePullJob,
    watches: [watch(nodeImage, jobsOfNodeImage), watch(pod, jobsOfPod), watch(secret, jobsOfSecret(namespace))],
    observe: (caches, key) => observe(caches, key, namespace),
    decide: (observed, now) => decide(observed, settings, now),
  });
}

function observe(caches: Caches, key: Key, daemonConfigNamespace: string): Observed | undefined {
  const job = caches.of(imagePullJob).get(key);
  if (!job) return undefined;
  const { namespace = '' } = job.metadata;
  return {
    job,
    nodeImages: nodeImagesFor(caches, job),
    copies: caches.of(secret).list({ namespace: daemonConfigNamespace }),
    findSecret: (name) => caches.of(secret).get({ namespace, name }),
  };
}

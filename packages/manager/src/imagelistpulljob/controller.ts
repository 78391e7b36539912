import { imageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import { imagePullJob } from '@kruise/api/kruise/imagepulljob';
import { type Controller, defineController } from '@kruise/client/controller';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide } from './decide.ts';

export function imageListPullJobController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'imagelistpulljob'),
    for: imageListPullJob,
    owns: [imagePullJob],
    observe(caches, key) {
      const job = caches.of(imageListPullJob).get(key);
      return job && { job, children: caches.of(imagePullJob).controlledBy(job) };
    },
    decide,
  });
}

import { job } from '@kruise/api/batch/job';
import { advancedCronJob } from '@kruise/api/kruise/advancedcronjob';
import { broadcastJob } from '@kruise/api/kruise/broadcastjob';
import { imageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import { type Controller, defineController } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { timeZone } from '@kruise/machinery/time-zone';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { templateOf } from './child.ts';
import { decide, type Observed } from './decide.ts';

export function advancedCronJobController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'advancedcronjob'),
    for: advancedCronJob,
    owns: [job, broadcastJob, imageListPullJob],
    observe,
    decide,
  });
}

const localZone = timeZone(Intl.DateTimeFormat().resolvedOptions().timeZone);

function observe(caches: Caches, key: Key): Observed | undefined {
  const cronJob = caches.of(advancedCronJob).get(key);
  if (!cronJob) return undefined;
  const { namespace = '' } = cronJob.metadata;
  const { kind } = templateOf(cronJob.spec);
  return {
    cronJob,
    children: caches.of(kind).controlledBy(cronJob),
    find: (name) => caches.of(kind).get({ namespace, name }),
    localZone,
  };
}

import { pod } from '@kruise/api/core/pod';
import { ephemeralJob } from '@kruise/api/kruise/ephemeraljob';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { selectorOf } from '@kruise/machinery/label-selector';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide } from './decide.ts';
import { jobsOfPod } from './mappers.ts';

export function ephemeralJobController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'ephemeraljob'),
    workers: 10,
    for: ephemeralJob,
    watches: [watch(pod, jobsOfPod)],
    observe(caches, key) {
      const job = caches.of(ephemeralJob).get(key);
      if (!job) return undefined;
      const { namespace = '' } = job.metadata;
      const selector = selectorOf(job.spec.selector);
      const pods = caches.of(pod).list({ namespace });
      return { job, pods: pods.filter(({ metadata }) => selector.matches(metadata.labels)) };
    },
    decide,
  });
}

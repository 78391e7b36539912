import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { broadcastJob } from '@kruise/api/kruise/broadcastjob';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide } from './decide.ts';
import { jobsForNode } from './mappers.ts';

export function broadcastJobController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'broadcastjob'),
    for: broadcastJob,
    owns: [pod],
    watches: [watch(node, jobsForNode)],
    observe(caches, key) {
      const job = caches.of(broadcastJob).get(key);
      return job && { job, pods: caches.of(pod).controlledBy(job), nodes: caches.of(node).list() };
    },
    decide: (observed, now) => decide(observed, settings, now),
  });
}

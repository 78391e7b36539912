import { cronJob } from '@kruise/api/batch/cronjob';
import { job } from '@kruise/api/batch/job';
import { defineController } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { decide } from './decide.ts';
import type { Observed } from './history.ts';

export const cronJobController = defineController({ for: cronJob, owns: [job], observe, decide });

function observe(caches: Caches, key: Key): Observed | undefined {
  const found = caches.of(cronJob).get(key);
  if (!found) return undefined;
  const { namespace = '' } = found.metadata;
  const jobs = caches.of(job);
  return { cronJob: found, jobs: jobs.controlledBy(found), findJob: (name) => jobs.get({ namespace, name }) };
}

import { type Job, job } from '@kruise/api/batch/job';
import { pod } from '@kruise/api/core/pod';
import { candidatesFor, mapToAdopters } from '@kruise/client/adoption';
import { defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { exponentialBackoff } from '@kruise/client/rate-limiter';
import { selectorOf } from '@kruise/machinery/label-selector';
import { decide, type Observed } from './decide.ts';

const second = 1000;

export const jobController = defineController({
  for: job,
  owns: [pod],
  watches: [
    watch(
      pod,
      mapToAdopters(job, ({ spec }: Job) => selectorOf(spec?.selector)),
    ),
  ],
  observe,
  decide,
  // The Pods of a Job finish one after the other, and each reconcile processes all of them.
  minIntervalMs: second,
  rateLimiter: () => exponentialBackoff({ initialMs: second, maxMs: 60 * second }),
});

function observe(caches: Caches, key: Key): Observed | undefined {
  const found = caches.of(job).get(key);
  return found && { job: found, pods: candidatesFor(caches.of(pod), found) };
}

import { job } from '@kruise/api/batch/job';
import { defineController } from '@kruise/client/controller';
import { decide } from './decide.ts';

export const ttlAfterFinishedController = defineController({
  name: 'ttl-after-finished',
  for: job,
  predicate: ({ object }) => object.spec?.ttlSecondsAfterFinished !== undefined,
  observe: (caches, key) => caches.of(job).get(key),
  decide,
});

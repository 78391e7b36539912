import { defaultCronJob } from '@kruise/api/batch/cronjob.default';
import {
  prepareCronJobForCreate,
  prepareCronJobForUpdate,
  prepareCronJobStatusUpdate,
} from '@kruise/api/batch/cronjob.strategy';
import { validateCronJob, validateCronJobUpdate } from '@kruise/api/batch/cronjob.validate';
import { defaultJob } from '@kruise/api/batch/job.default';
import { prepareJobForCreate, prepareJobForUpdate, prepareJobStatusUpdate } from '@kruise/api/batch/job.strategy';
import { validateJob, validateJobUpdate } from '@kruise/api/batch/job.validate';
import { validateJobStatusUpdate } from '@kruise/api/batch/job-status.validate';
import { validateKindMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import { cronJobWarnings, jobWarnings } from '@kruise/api/workload.warnings';
import { type RulesByResource, rulesFor } from './rules.ts';

const orphansWarning =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

export const batchRules: RulesByResource = {
  'cronjobs.batch': rulesFor({
    default: defaultCronJob,
    prepareForCreate: prepareCronJobForCreate,
    prepareForUpdate: prepareCronJobForUpdate,
    prepareForStatusUpdate: prepareCronJobStatusUpdate,
    validate: validateCronJob,
    validateUpdate: validateCronJobUpdate,
    validateStatusUpdate: ({ metadata }, old) => validateKindMetaUpdate(metadata, old.metadata),
    warnings: cronJobWarnings,
  }),
  'jobs.batch': rulesFor({
    propagation: 'Orphan',
    deletionWarnings: ({ propagationPolicy, orphanDependents }) =>
      propagationPolicy === undefined && orphanDependents === undefined ? [orphansWarning] : [],
    default: defaultJob,
    completeCreate: prepareJobForCreate,
    prepareForUpdate: prepareJobForUpdate,
    prepareForStatusUpdate: prepareJobStatusUpdate,
    validate: validateJob,
    validateUpdate: validateJobUpdate,
    validateStatusUpdate: validateJobStatusUpdate,
    warnings: jobWarnings,
  }),
};

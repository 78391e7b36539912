import type { Pod } from '@kruise/api/core/pod';
import { defaultPod } from '@kruise/api/core/pod.default';
import {
  preparePodEphemeralContainersUpdate,
  preparePodForCreate,
  preparePodForUpdate,
  preparePodResize,
  preparePodStatusUpdate,
} from '@kruise/api/core/pod.strategy';
import {
  validatePod,
  validatePodEphemeralContainersUpdate,
  validatePodResize,
  validatePodStatusUpdate,
  validatePodUpdate,
} from '@kruise/api/core/pod.validate';
import { podWarnings } from '@kruise/api/core/pod.warnings';
import { fieldPath } from '@kruise/machinery/field-set/field-path';
import { fieldSetOf } from '@kruise/machinery/field-set/field-set';
import { timestamp } from '../context.ts';
import { rulesFor } from './rules.ts';

const written = ['get', 'patch', 'update'] as const;

export const podRules = rulesFor<Pod>({
  returnsDeleted: true,
  statusResetFields: fieldSetOf(
    fieldPath('spec'),
    fieldPath('metadata', 'deletionTimestamp'),
    fieldPath('metadata', 'ownerReferences'),
  ),
  default: defaultPod,
  prepareForCreate: (pod, context) =>
    preparePodForCreate(pod, { now: timestamp(context), warn: (text) => context.warnings.add(text) }),
  prepareForUpdate: preparePodForUpdate,
  prepareForStatusUpdate: preparePodStatusUpdate,
  validate: validatePod,
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: validatePodStatusUpdate,
  // A Pod's spec is almost immutable, so warnings are only returned on create.
  warnings: (pod, old) => (old ? [] : podWarnings(pod)),
  parts: {
    ephemeralcontainers: {
      verbs: written,
      prepareForUpdate: preparePodEphemeralContainersUpdate,
      validateUpdate: validatePodEphemeralContainersUpdate,
    },
    resize: { verbs: written, prepareForUpdate: preparePodResize, validateUpdate: validatePodResize },
  },
  gracePeriodSeconds,
});

/** A Pod that is not scheduled or already finished needs no grace period. */
function gracePeriodSeconds({ spec, status }: Pod, requested: number | undefined): number {
  if (!spec?.nodeName || status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0;
  const wanted = Number(requested ?? spec.terminationGracePeriodSeconds ?? 0);
  return wanted < 0 ? 1 : Math.min(wanted, longestGraceSeconds);
}

/** Maximum grace period, a hundred years: its end is still a valid date. */
const longestGraceSeconds = 100 * 365 * 24 * 3600;

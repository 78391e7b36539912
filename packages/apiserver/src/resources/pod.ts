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
  // A Pod's spec hardly changes, so whoever changes one has read the warnings when it was made.
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

/** A Pod that is nowhere, or at its end, has nothing that could use the time. */
function gracePeriodSeconds({ spec, status }: Pod, asked: number | undefined): number {
  if (!spec?.nodeName || status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0;
  const wanted = Number(asked ?? spec.terminationGracePeriodSeconds ?? 0);
  return wanted < 0 ? 1 : Math.min(wanted, longestGraceSeconds);
}

/** A century is as good as for ever, and its end can still be written as a date. */
const longestGraceSeconds = 100 * 365 * 24 * 3600;

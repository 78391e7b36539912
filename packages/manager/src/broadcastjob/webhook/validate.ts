/** Validation of BroadcastJobs. */
import { validatePodTemplateSpec } from '@kruise/api/core/pod-spec.validate';
import type { BroadcastJob } from '@kruise/api/kruise/broadcastjob';
import { broadcastJobNameLabel, broadcastJobUidLabel } from '@kruise/api/kruise/well-known';
import { invalidStringMap } from '@kruise/api/meta/go-value';
import { validateObjectMeta } from '@kruise/api/meta/object-meta.validate';
import { type Cause, invalid } from '@kruise/schema/field-error';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { jobName } from '../../webhooks/job-name.ts';
import { withTemplateDefaults } from '../../webhooks/pod-template.default.ts';

const ownLabels = [broadcastJobNameLabel, broadcastJobUidLabel];

export function* validateBroadcastJob({ metadata, spec }: BroadcastJob, gates: FeatureGates): Generator<Cause> {
  yield* validateObjectMeta(metadata, { namespaced: true, name: jobName('BroadcastJob') });
  if (spec.completionPolicy?.type === 'Never') yield* validateEndless(spec.completionPolicy);
  // The template is validated with the defaults that its Pods would get, so that omitted fields are not reported.
  const template = withTemplateDefaults(spec.template, gates);
  const { restartPolicy = '' } = template.spec ?? {};
  if (restartPolicy !== 'Never' && restartPolicy !== 'OnFailure') {
    const why = 'pod restartPolicy can only be Never or OnFailure';
    yield invalid('spec.template.spec.restartPolicy', restartPolicy, why);
  }
  const { labels = {} } = template.metadata ?? {};
  if (ownLabels.some((label) => labels[label])) {
    const why = `"${ownLabels.join('" and "')}" are not allowed to preset in pod labels`;
    yield invalidStringMap('spec.template.metadata.labels', labels, why);
  }
  yield* validatePodTemplateSpec(template, 'spec.template');
}

/** A job that never ends has neither a deadline nor a TTL. */
function* validateEndless(policy: NonNullable<BroadcastJob['spec']['completionPolicy']>): Generator<Cause> {
  for (const field of ['ttlSecondsAfterFinished', 'activeDeadlineSeconds'] as const) {
    if (policy[field] === undefined) continue;
    const why = `${field} can just work with Always CompletionPolicyType`;
    yield invalid(`spec.completionPolicy.${field}`, policy[field], why);
  }
}

import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { type WorkloadSpread, workloadSpread, workloadSpreadV1alpha1 } from '@kruise/api/kruise/workloadspread';
import type { Webhook } from '@kruise/client/webhook';
import {
  handler,
  refuse,
  refuseFaults,
  unsupportedVersion,
  versionOf,
  type WebhookContext,
} from '../../webhooks/context.ts';
import { inStoredVersion } from '../../webhooks/stored-version.ts';
import { customWorkloadsIn } from '../allowlist.ts';
import { builtinKindOf, spreadsOf } from '../target.ts';
import type { Template } from './subsets.validate.ts';
import { validateWorkloadSpread } from './validate.ts';

/** Errors are reported with the paths of v1beta1, whatever version was sent. */
export function workloadSpreadValidating(context: WebhookContext): Webhook {
  const { caches, settings } = context;
  return handler<WorkloadSpread>((request) => {
    if (!settings.gates.WorkloadSpread) return refuse(403, 'feature-gate WorkloadSpread is not enabled');
    const version = versionOf(request);
    if (version !== 'v1alpha1' && version !== 'v1beta1') return unsupportedVersion(request);
    const { object, oldObject, namespace = '' } = request;
    const spread = inStoredVersion(workloadSpread, workloadSpreadV1alpha1, object);
    const old = oldObject && inStoredVersion(workloadSpread, workloadSpreadV1alpha1, oldObject);
    const surroundings = {
      customWorkloads: () => customWorkloadsIn(caches, settings.namespace),
      template: templateOf(spread, namespace, context),
      rivals: spread.spec.targetRef ? spreadsOf(caches, namespace, spread.spec.targetRef) : [],
    };
    return refuseFaults(validateWorkloadSpread(spread, surroundings, old), 400);
  });
}

type Templated = {
  readonly spec?: {
    readonly template?: PodTemplateSpec;
    readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
  };
};

function templateOf(
  { spec: { targetRef } }: WorkloadSpread,
  namespace: string,
  { caches, settings: { gates } }: WebhookContext,
): Template | undefined {
  const kind = targetRef && builtinKindOf(targetRef);
  // All built-in workloads have a Pod template, and some have PVC templates.
  const workload = kind && (caches.of(kind).get({ namespace, name: targetRef.name }) as Templated | undefined);
  if (!workload) return undefined;
  const { template = {}, volumeClaimTemplates: claims = [] } = workload.spec ?? {};
  return { template, claims, gates };
}

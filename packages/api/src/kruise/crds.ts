import { customResourceDefinition, type Definition } from '@kruise/schema/crd';
import type { Kind } from '@kruise/schema/kind';
import type { WebhookClientConfig } from '../apiextensions/customresourcedefinition.ts';
import { advancedCronJob, advancedCronJobV1alpha1 } from './advancedcronjob.ts';
import { broadcastJob, broadcastJobV1alpha1 } from './broadcastjob.ts';
import { cloneSet, cloneSetV1alpha1 } from './cloneset.ts';
import { containerRecreateRequest, containerRecreateRequestV1alpha1 } from './containerrecreaterequest.ts';
import { daemonSet, daemonSetV1alpha1 } from './daemonset.ts';
import { ephemeralJob } from './ephemeraljob.ts';
import { imageListPullJob, imageListPullJobV1alpha1 } from './imagelistpulljob.ts';
import { imagePullJob, imagePullJobV1alpha1 } from './imagepulljob.ts';
import { nodeImage, nodeImageV1alpha1 } from './nodeimage.ts';
import { nodePodProbe } from './nodepodprobe.ts';
import { persistentPodState, persistentPodStateV1alpha1 } from './persistentpodstate.ts';
import { podProbeMarker } from './podprobemarker.ts';
import { podUnavailableBudget, podUnavailableBudgetV1alpha1 } from './podunavailablebudget.ts';
import { resourceDistribution, resourceDistributionV1alpha1 } from './resourcedistribution.ts';
import { sidecarSet, sidecarSetV1alpha1 } from './sidecarset.ts';
import { statefulSet, statefulSetV1alpha1 } from './statefulset.ts';
import { unitedDeployment, unitedDeploymentV1alpha1 } from './uniteddeployment.ts';
import { workloadSpread, workloadSpreadV1alpha1 } from './workloadspread.ts';

/** All versions of a kind. */
export type VersionedKind = {
  /** The storage version, which controllers use. */
  readonly stored: Kind;
  /** Versions that are only served. */
  readonly older: readonly Kind[];
  /**
   * Conversion between versions: by the `/convert` webhook of kruise-manager if fields were moved or renamed, otherwise
   * only `apiVersion` changes.
   */
  readonly conversion: 'None' | 'Webhook';
};

/** All kinds of Kruise, sorted by name. */
export const kruiseKinds: readonly VersionedKind[] = [
  { stored: advancedCronJob, older: [advancedCronJobV1alpha1], conversion: 'None' },
  { stored: broadcastJob, older: [broadcastJobV1alpha1], conversion: 'None' },
  { stored: cloneSet, older: [cloneSetV1alpha1], conversion: 'Webhook' },
  { stored: containerRecreateRequest, older: [containerRecreateRequestV1alpha1], conversion: 'Webhook' },
  { stored: daemonSet, older: [daemonSetV1alpha1], conversion: 'Webhook' },
  { stored: ephemeralJob, older: [], conversion: 'None' },
  { stored: imageListPullJob, older: [imageListPullJobV1alpha1], conversion: 'None' },
  { stored: imagePullJob, older: [imagePullJobV1alpha1], conversion: 'None' },
  { stored: nodeImage, older: [nodeImageV1alpha1], conversion: 'None' },
  { stored: nodePodProbe, older: [], conversion: 'None' },
  { stored: persistentPodState, older: [persistentPodStateV1alpha1], conversion: 'Webhook' },
  { stored: podProbeMarker, older: [], conversion: 'None' },
  { stored: podUnavailableBudget, older: [podUnavailableBudgetV1alpha1], conversion: 'Webhook' },
  { stored: resourceDistribution, older: [resourceDistributionV1alpha1], conversion: 'Webhook' },
  { stored: sidecarSet, older: [sidecarSetV1alpha1], conversion: 'Webhook' },
  { stored: statefulSet, older: [statefulSetV1alpha1], conversion: 'Webhook' },
  { stored: unitedDeployment, older: [unitedDeploymentV1alpha1], conversion: 'Webhook' },
  { stored: workloadSpread, older: [workloadSpreadV1alpha1], conversion: 'Webhook' },
];

/** Returns the CRDs of all kinds, with this client configuration of the conversion webhook. */
export function kruiseDefinitions(clientConfig: WebhookClientConfig): Definition[] {
  const byWebhook = {
    strategy: 'Webhook',
    webhook: { clientConfig, conversionReviewVersions: ['v1', 'v1beta1'] },
  } as const;
  return kruiseKinds.map(({ stored, older, conversion }) => {
    const [first = stored, ...later] = [...older, stored];
    return customResourceDefinition({
      kinds: [first, ...later],
      storage: stored.version,
      conversion: conversion === 'Webhook' ? byWebhook : { strategy: 'None' },
    });
  });
}

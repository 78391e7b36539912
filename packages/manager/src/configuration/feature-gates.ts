/**
 * Feature gates of kruise-manager and kruise-daemon (`--feature-gates`) and their dependencies: a gate whose
 * prerequisite is disabled is disabled too, whatever the flag says.
 */

import { type Gates, gateNames, parseGates, resolveGates } from '@kruise/client/feature-gates';

const alpha = { default: false, stage: 'Alpha' } as const;
const beta = { default: true, stage: 'Beta' } as const;
const betaOff = { default: false, stage: 'Beta' } as const;

export const kruiseGates = {
  PodWebhook: beta,
  KruiseDaemon: beta,
  DaemonWatchingPod: beta,
  CloneSetShortHash: alpha,
  KruisePodReadinessGate: alpha,
  PreDownloadImageForInPlaceUpdate: alpha,
  CloneSetPartitionRollback: alpha,
  ResourcesDeletionProtection: betaOff,
  PodUnavailableBudgetDeleteGate: beta,
  PodUnavailableBudgetUpdateGate: alpha,
  WorkloadSpread: beta,
  TemplateNoDefaults: alpha,
  InPlaceUpdateEnvFromMetadata: beta,
  StatefulSetAutoDeletePVC: beta,
  SidecarSetPatchPodMetadataDefaultsAllowed: alpha,
  SidecarTerminator: alpha,
  PodProbeMarkerGate: beta,
  PreDownloadImageForDaemonSetUpdate: alpha,
  CloneSetEventHandlerOptimization: alpha,
  PreparingUpdateAsUpdate: alpha,
  ImagePullJobGate: alpha,
  ResourceDistributionGate: betaOff,
  DeletionProtectionForCRDCascadingGate: alpha,
  EnhancedLivenessProbe: alpha,
  RecreatePodWhenChangeVCTInCloneSetGate: alpha,
  StatefulSetStartOrdinal: alpha,
  PodIndexLabel: beta,
  EnableExternalCerts: alpha,
  StatefulSetAutoResizePVCGate: alpha,
  ForceDeleteTimeoutExpectationGate: alpha,
  InPlaceWorkloadVerticalScaling: alpha,
  EnablePodProbeMarkerOnServerless: alpha,
  EnableSortSidecarContainerByName: alpha,
  InPlacePodVerticalScaling: alpha,
  DefaultHostNetworkHostPortsInPodTemplates: alpha,
  DaemonSetPruneIneligibleNodes: alpha,
} as const satisfies Gates;

export type FeatureGate = keyof typeof kruiseGates;

/** Feature gates by name: true if enabled. */
export type FeatureGates = { readonly [name in FeatureGate]: boolean };

export const featureGateNames: readonly FeatureGate[] = gateNames(kruiseGates);

/** Prerequisites of feature gates. */
const needs: readonly { readonly ground: FeatureGate; readonly gates: readonly FeatureGate[] }[] = [
  {
    ground: 'PodWebhook',
    gates: [
      'KruisePodReadinessGate',
      'PodUnavailableBudgetDeleteGate',
      'PodUnavailableBudgetUpdateGate',
      'WorkloadSpread',
      'SidecarSetPatchPodMetadataDefaultsAllowed',
      'EnhancedLivenessProbe',
      'EnablePodProbeMarkerOnServerless',
    ],
  },
  {
    ground: 'KruiseDaemon',
    gates: [
      'PreDownloadImageForInPlaceUpdate',
      'DaemonWatchingPod',
      'InPlaceUpdateEnvFromMetadata',
      'PreDownloadImageForDaemonSetUpdate',
      'PodProbeMarkerGate',
      'SidecarTerminator',
      'ImagePullJobGate',
      'EnhancedLivenessProbe',
    ],
  },
  { ground: 'ResourcesDeletionProtection', gates: ['DeletionProtectionForCRDCascadingGate'] },
];

/** Applies settings to the defaults, then disables gates whose prerequisites are disabled. */
export function featureGates(asked: Partial<FeatureGates> = {}, { podWebhook = true } = {}): FeatureGates {
  const settled = resolveGates<FeatureGate>(kruiseGates, { PodWebhook: podWebhook, ...asked });
  for (const { ground, gates: dependent } of needs) {
    if (!settled[ground]) for (const name of dependent) settled[name] = false;
  }
  // ImagePullJobs pre-download the images.
  if (settled.PreDownloadImageForInPlaceUpdate || settled.PreDownloadImageForDaemonSetUpdate) {
    settled.ImagePullJobGate = true;
  }
  return settled;
}

/** Parses the flag `--feature-gates`. Throws `FeatureGateError`. */
export function parseFeatureGates(text: string): Partial<FeatureGates> {
  return parseGates<FeatureGate>(kruiseGates, text);
}

/** All alpha and beta gates except two: the configuration of OpenKruise's own end-to-end tests. */
export const allFeatureGates = parseFeatureGates(
  'AllAlpha=true,AllBeta=true,EnableExternalCerts=false,TemplateNoDefaults=false',
);

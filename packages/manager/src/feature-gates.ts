/**
 * The switches of kruise-manager and kruise-daemon (`--feature-gates`), with what each depends on: a gate whose ground
 * is missing is off, whatever was asked for.
 */

import { type Gates, gateNames, parseGates, settleGates } from '@kruise/client/feature-gates';

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

/** Whether each gate is open. */
export type FeatureGates = { readonly [name in FeatureGate]: boolean };

export const featureGateNames: readonly FeatureGate[] = gateNames(kruiseGates);

/** What a gate needs to be of any use. */
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

/** Some gates set, the others as they are by default; then what depends on others follows them. */
export function featureGates(asked: Partial<FeatureGates> = {}, { podWebhook = true } = {}): FeatureGates {
  const settled = settleGates<FeatureGate>(kruiseGates, { PodWebhook: podWebhook, ...asked });
  for (const { ground, gates: dependent } of needs) {
    if (!settled[ground]) for (const name of dependent) settled[name] = false;
  }
  // Fetching ahead is done by ImagePullJobs.
  if (settled.PreDownloadImageForInPlaceUpdate || settled.PreDownloadImageForDaemonSetUpdate) {
    settled.ImagePullJobGate = true;
  }
  return settled;
}

/** Reads the flag `--feature-gates`. Throws `FeatureGateError`. */
export function parseFeatureGates(text: string): Partial<FeatureGates> {
  return parseGates<FeatureGate>(kruiseGates, text);
}

/** Every gate of alpha and beta open but these two: what the reference's own end-to-end tests run with. */
export const allFeatureGates = parseFeatureGates(
  'AllAlpha=true,AllBeta=true,EnableExternalCerts=false,TemplateNoDefaults=false',
);

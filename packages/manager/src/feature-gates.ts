/**
 * The switches of kruise-manager and kruise-daemon (`--feature-gates`), with what each depends on: a gate whose ground
 * is missing is off, whatever was asked for.
 */

/** Where a gate stands: `AllAlpha` and `AllBeta` set all gates of one stage. */
type Stage = 'Alpha' | 'Beta';
type Gate = { readonly default: boolean; readonly stage: Stage };

const alpha = { default: false, stage: 'Alpha' } as const;
const beta = { default: true, stage: 'Beta' } as const;
const betaOff = { default: false, stage: 'Beta' } as const;

const gates = {
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
} as const satisfies { readonly [name: string]: Gate };

export type FeatureGate = keyof typeof gates;

/** Whether each gate is open. */
export type FeatureGates = { readonly [name in FeatureGate]: boolean };

export const featureGateNames = Object.keys(gates) as readonly FeatureGate[];

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
  const defaults = Object.fromEntries(featureGateNames.map((name) => [name, gates[name].default]));
  const settled = { ...defaults, PodWebhook: podWebhook, ...asked } as { -readonly [name in FeatureGate]: boolean };
  for (const { ground, gates: dependent } of needs) {
    if (!settled[ground]) for (const name of dependent) settled[name] = false;
  }
  // Fetching ahead is done by ImagePullJobs.
  if (settled.PreDownloadImageForInPlaceUpdate || settled.PreDownloadImageForDaemonSetUpdate) {
    settled.ImagePullJobGate = true;
  }
  return settled;
}

/** The text of `--feature-gates` cannot be understood. */
export class FeatureGateError extends Error {
  override readonly name = 'FeatureGateError';
}

/** Reads `A=true,B=false`; `AllAlpha` and `AllBeta` set what nothing was said of. Throws `FeatureGateError`. */
export function parseFeatureGates(text: string): Partial<FeatureGates> {
  const said: Partial<{ -readonly [name in FeatureGate]: boolean }> = {};
  const stages: Partial<Record<Stage, boolean>> = {};
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const [name = '', value] = part.split('=', 2).map((piece) => piece.trim());
    if (value === undefined) throw new FeatureGateError(`missing bool value for ${name}`);
    const isOpen = parseBoolean(value);
    if (isOpen === undefined) throw new FeatureGateError(`invalid value of ${name}=${value}`);
    if (name === 'AllAlpha') stages.Alpha = isOpen;
    else if (name === 'AllBeta') stages.Beta = isOpen;
    else if (isFeatureGate(name)) said[name] = isOpen;
    else throw new FeatureGateError(`unrecognized feature gate: ${name}`);
  }
  const staged = featureGateNames.flatMap((name) => {
    const isOpen = stages[gates[name].stage];
    return isOpen === undefined ? [] : [[name, isOpen]];
  });
  return { ...Object.fromEntries(staged), ...said };
}

/** Every gate of alpha and beta open but these two: what the reference's own end-to-end tests run with. */
export const allFeatureGates = parseFeatureGates(
  'AllAlpha=true,AllBeta=true,EnableExternalCerts=false,TemplateNoDefaults=false',
);

function isFeatureGate(name: string): name is FeatureGate {
  return Object.hasOwn(gates, name);
}

function parseBoolean(text: string): boolean | undefined {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  return undefined;
}

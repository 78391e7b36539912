import type { Controller, Runnable } from '@kruise/client/controller';
import { bootstrapSigner } from './bootstrap-signer/controller.ts';
import { certificateApprovingController } from './certificatesigningrequest-approving/controller.ts';
import { certificateCleanerController } from './certificatesigningrequest-cleaner/controller.ts';
import { certificateSigningController } from './certificatesigningrequest-signing/controller.ts';
import { clusterRoleAggregationController } from './clusterrole-aggregation/controller.ts';
import { cronJobController } from './cronjob/controller.ts';
import { daemonSetController } from './daemonset/controller.ts';
import { deploymentController } from './deployment/controller.ts';
import { disruptionControllers } from './disruption/controller.ts';
import { endpointsController } from './endpoints/controller.ts';
import { endpointSliceController } from './endpointslice/controller.ts';
import { endpointSliceMirroringController } from './endpointslice-mirroring/controller.ts';
import { ephemeralVolumeController } from './ephemeral-volume/controller.ts';
import { garbageCollector } from './garbage-collector/controller.ts';
import { horizontalPodAutoscalerController } from './horizontal-pod-autoscaler/controller.ts';
import { jobController } from './job/controller.ts';
import { orphanedPodController } from './job/orphaned-pods.ts';
import { legacyServiceAccountTokenCleaner } from './legacy-serviceaccount-token-cleaner/controller.ts';
import { namespaceController } from './namespace/controller.ts';
import { nodeIpamController } from './node-ipam/controller.ts';
import { nodeLifecycleControllers } from './node-lifecycle/controller.ts';
import { attachDetachController } from './persistentvolume-attach-detach/controller.ts';
import { persistentVolumeBinder } from './persistentvolume-binder/controller.ts';
import { persistentVolumeExpanderController } from './persistentvolume-expander/controller.ts';
import { persistentVolumeProtectionController } from './persistentvolume-protection/controller.ts';
import { persistentVolumeClaimProtectionController } from './persistentvolumeclaim-protection/controller.ts';
import { podGarbageCollector } from './pod-garbage-collector/controller.ts';
import { replicaSetController } from './replicaset/controller.ts';
import { replicationControllerController } from './replicationcontroller/controller.ts';
import { resourceQuotaController } from './resourcequota/controller.ts';
import { rootCaCertificatePublisher } from './root-ca-certificate-publisher/controller.ts';
import { serviceCidrController } from './service-cidr/controller.ts';
import { serviceAccountController } from './serviceaccount/controller.ts';
import { serviceAccountTokenController } from './serviceaccount-token/controller.ts';
import type { ControllerSettings } from './settings.ts';
import { statefulSetController } from './statefulset/controller.ts';
import { taintEvictionController } from './taint-eviction/controller.ts';
import { tokenCleaner } from './token-cleaner/controller.ts';
import { ttlController } from './ttl/controller.ts';
import { ttlAfterFinishedController } from './ttl-after-finished/controller.ts';
import { validatingAdmissionPolicyStatusController } from './validatingadmissionpolicy-status/controller.ts';

/** A controller of kube-controller-manager, under its name in `--controllers`. */
export type CatalogueEntry = {
  readonly name: string;
  /**
   * ServiceAccount in `kube-system` that the controller runs as. Without one, it uses the credentials of
   * kube-controller-manager.
   */
  readonly serviceAccount?: string;
  /** Disabled by default; runs only if it is enabled by name. */
  readonly isOptional?: boolean;
  /** Creates the controllers of this entry for a cluster. */
  readonly make: (settings: ControllerSettings) => readonly (Controller | Runnable)[];
};

/** All controllers, in alphabetical order. */
export const catalogue: readonly CatalogueEntry[] = [
  {
    name: 'bootstrap-signer-controller',
    serviceAccount: 'bootstrap-signer',
    isOptional: true,
    make: () => [bootstrapSigner],
  },
  {
    name: 'certificatesigningrequest-approving-controller',
    serviceAccount: 'certificate-controller',
    make: () => [certificateApprovingController()],
  },
  {
    name: 'certificatesigningrequest-cleaner-controller',
    serviceAccount: 'certificate-controller',
    make: () => [certificateCleanerController],
  },
  {
    name: 'certificatesigningrequest-signing-controller',
    serviceAccount: 'certificate-controller',
    make: ({ signer, certificateSeconds }) =>
      signer ? [certificateSigningController(signer, certificateSeconds)] : [],
  },
  {
    name: 'clusterrole-aggregation-controller',
    serviceAccount: 'clusterrole-aggregation-controller',
    make: () => [clusterRoleAggregationController],
  },
  { name: 'cronjob-controller', serviceAccount: 'cronjob-controller', make: () => [cronJobController] },
  { name: 'daemonset-controller', serviceAccount: 'daemon-set-controller', make: () => [daemonSetController()] },
  { name: 'deployment-controller', serviceAccount: 'deployment-controller', make: () => [deploymentController] },
  { name: 'disruption-controller', serviceAccount: 'disruption-controller', make: () => disruptionControllers() },
  { name: 'endpoints-controller', serviceAccount: 'endpoint-controller', make: () => [endpointsController()] },
  {
    name: 'endpointslice-controller',
    serviceAccount: 'endpointslice-controller',
    make: ({ maxEndpointsPerSlice }) => [endpointSliceController(maxEndpointsPerSlice)],
  },
  {
    name: 'endpointslice-mirroring-controller',
    serviceAccount: 'endpointslicemirroring-controller',
    make: () => [endpointSliceMirroringController],
  },
  {
    name: 'ephemeral-volume-controller',
    serviceAccount: 'ephemeral-volume-controller',
    make: () => [ephemeralVolumeController],
  },
  {
    name: 'garbage-collector-controller',
    serviceAccount: 'generic-garbage-collector',
    make: () => [garbageCollector()],
  },
  {
    name: 'horizontal-pod-autoscaler-controller',
    serviceAccount: 'horizontal-pod-autoscaler',
    make: ({ autoscaler }) => [horizontalPodAutoscalerController({ settings: autoscaler })],
  },
  {
    name: 'job-controller',
    serviceAccount: 'job-controller',
    make: () => [jobController, orphanedPodController],
  },
  {
    name: 'legacy-serviceaccount-token-cleaner-controller',
    serviceAccount: 'legacy-service-account-token-cleaner',
    make: () => [legacyServiceAccountTokenCleaner],
  },
  {
    name: 'namespace-controller',
    serviceAccount: 'namespace-controller',
    make: ({ namespaceDeletionDelaySeconds }) => [namespaceController(namespaceDeletionDelaySeconds)],
  },
  {
    name: 'node-ipam-controller',
    serviceAccount: 'node-controller',
    make: ({ clusterRanges, serviceRanges, nodeBlockLengths: blockLengths }) =>
      clusterRanges ? [nodeIpamController({ clusterRanges, serviceRanges, blockLengths })] : [],
  },
  {
    name: 'node-lifecycle-controller',
    serviceAccount: 'node-controller',
    make: ({ nodeMonitor }) => nodeLifecycleControllers(nodeMonitor),
  },
  {
    name: 'persistentvolume-attach-detach-controller',
    serviceAccount: 'attachdetach-controller',
    make: () => [attachDetachController()],
  },
  {
    name: 'persistentvolume-binder-controller',
    serviceAccount: 'persistent-volume-binder',
    make: () => persistentVolumeBinder(),
  },
  {
    name: 'persistentvolume-expander-controller',
    serviceAccount: 'expand-controller',
    make: () => [persistentVolumeExpanderController],
  },
  {
    name: 'persistentvolume-protection-controller',
    serviceAccount: 'pv-protection-controller',
    make: () => [persistentVolumeProtectionController],
  },
  {
    name: 'persistentvolumeclaim-protection-controller',
    serviceAccount: 'pvc-protection-controller',
    make: () => [persistentVolumeClaimProtectionController],
  },
  {
    name: 'pod-garbage-collector-controller',
    serviceAccount: 'pod-garbage-collector',
    make: ({ terminatedPodThreshold }) => [podGarbageCollector(terminatedPodThreshold)],
  },
  { name: 'replicaset-controller', serviceAccount: 'replicaset-controller', make: () => [replicaSetController] },
  {
    name: 'replicationcontroller-controller',
    serviceAccount: 'replication-controller',
    make: () => [replicationControllerController],
  },
  {
    name: 'resourcequota-controller',
    serviceAccount: 'resourcequota-controller',
    make: () => [resourceQuotaController()],
  },
  {
    name: 'root-ca-certificate-publisher-controller',
    serviceAccount: 'root-ca-cert-publisher',
    make: ({ rootAuthorities }) => [rootCaCertificatePublisher(rootAuthorities)],
  },
  { name: 'service-cidr-controller', serviceAccount: 'service-cidrs-controller', make: () => [serviceCidrController] },
  {
    name: 'serviceaccount-controller',
    serviceAccount: 'service-account-controller',
    make: () => [serviceAccountController],
  },
  {
    name: 'serviceaccount-token-controller',
    make: ({ rootAuthorities: authorities, serviceAccountKey: key }) =>
      key === undefined ? [] : [serviceAccountTokenController({ authorities, key })],
  },
  { name: 'statefulset-controller', serviceAccount: 'statefulset-controller', make: () => [statefulSetController] },
  { name: 'taint-eviction-controller', serviceAccount: 'node-controller', make: () => [taintEvictionController()] },
  { name: 'token-cleaner-controller', serviceAccount: 'token-cleaner', isOptional: true, make: () => [tokenCleaner] },
  {
    name: 'ttl-after-finished-controller',
    serviceAccount: 'ttl-after-finished-controller',
    make: () => [ttlAfterFinishedController],
  },
  { name: 'ttl-controller', serviceAccount: 'ttl-controller', make: () => [ttlController] },
  {
    name: 'validatingadmissionpolicy-status-controller',
    serviceAccount: 'validatingadmissionpolicy-status-controller',
    make: () => [validatingAdmissionPolicyStatusController],
  },
];

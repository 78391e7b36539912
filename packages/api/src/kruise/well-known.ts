/**
 * The names Kruise writes on objects and reads from them. Other programs rely on them, so they do not change.
 * Where a value matters it is said; `"true"` is the text.
 */

// Groups

/** The API group of all kinds of Kruise but one. */
export const appsGroup = 'apps.kruise.io';
/** The API group of PodUnavailableBudget. */
export const policyGroup = 'policy.kruise.io';

// Life of a Pod

/** Pod label: the state of its life, one of `lifecycleStates`. */
export const lifecycleStateLabel = 'lifecycle.apps.kruise.io/state';
/** Pod annotation: when that state was entered, RFC 3339. */
export const lifecycleTimestampAnnotation = 'lifecycle.apps.kruise.io/timestamp';
/** The states a Pod of a Kruise workload passes through. */
export const lifecycleStates = [
  'PreparingNormal',
  'Normal',
  'PreparingUpdate',
  'Updating',
  'Updated',
  'PreparingDelete',
] as const;
export type LifecycleState = (typeof lifecycleStates)[number];
/** Pod label: its workload should delete this Pod; the value does not matter. */
export const specifiedDeleteLabel = 'apps.kruise.io/specified-delete';
/** Pod condition and readiness gate: False while the Pod is updated in place. */
export const inPlaceUpdateReadyCondition = 'InPlaceUpdateReady';
/** Pod condition and readiness gate: False while anybody at Kruise wants the Pod not ready. */
export const kruisePodReadyCondition = 'KruisePodReady';

// Updating in place

/** Pod annotation: how far the last update in place is, as JSON. */
export const inPlaceUpdateStateAnnotation = 'apps.kruise.io/inplace-update-state';
/** Pod annotation: the same, as older releases wrote it. */
export const inPlaceUpdateStateLegacyAnnotation = 'inplace-update-state';
/** Pod annotation: what will be changed when the grace period is over, as JSON. */
export const inPlaceUpdateGraceAnnotation = 'apps.kruise.io/inplace-update-grace';
/** Pod annotation: the same, as older releases wrote it. */
export const inPlaceUpdateGraceLegacyAnnotation = 'inplace-update-grace';
/** Pod annotation: IDs and hashes of the running containers, as JSON; written by the daemon of the node. */
export const runtimeContainersMetaAnnotation = 'apps.kruise.io/runtime-containers-meta';

// Fetching images ahead of an update

/** Workload annotation: how many nodes fetch the new image at the same time. */
export const imagePreDownloadParallelismAnnotation = 'apps.kruise.io/image-predownload-parallelism';
/** Workload annotation: seconds one attempt to fetch the new image may take. */
export const imagePreDownloadTimeoutSecondsAnnotation = 'apps.kruise.io/image-predownload-timeout-seconds';
/** Workload annotation: how many updated Pods must be ready before images are fetched. */
export const imagePreDownloadMinUpdatedReadyPodsAnnotation = 'apps.kruise.io/image-predownload-min-updated-ready-pods';
/** ControllerRevision label, `"true"`: the jobs that fetch its images have been created. The key does repeat itself. */
export const imagePreDownloadCreatedLabel = 'apps.kruise.io/pre-predownload-created';
/** ControllerRevision label, `"true"`: its images need not be fetched. */
export const imagePreDownloadIgnoredLabel = 'apps.kruise.io/image-predownload-ignored';

// CloneSet

/** Label of Pods and volume claims: the ID that the two have in common. */
export const cloneSetInstanceIdLabel = 'apps.kruise.io/cloneset-instance-id';
/** CloneSet label of v1alpha1, `"true"`: as `scaleStrategy.excludePreparingDelete` of v1beta1. */
export const cloneSetExcludePreparingDeleteLabel = 'apps.kruise.io/cloneset-scaling-exclude-preparing-delete';
/** ControllerRevision annotation: a hash of the volume claim templates it was made with. */
export const cloneSetVolumeClaimTemplateHashAnnotation = 'kruise.io/cloneset-volumeclaimtemplate-hash';

// StatefulSet and DaemonSet

/** Annotation of a volume claim being enlarged: the name of the StatefulSet that waits for it. */
export const ownedByStatefulSetAnnotation = 'apps.kruise.io/owned-by-asts';
/** DaemonSet annotation of v1alpha1, `"true"`: as `scaleStrategy.partitionedScaling` of v1beta1. */
export const daemonSetProgressiveCreateAnnotation = 'daemonset.kruise.io/progressive-create-pod';

// Jobs

/** Pod label: the name of its BroadcastJob. */
export const broadcastJobNameLabel = 'broadcastjob-name';
/** Pod label: the uid of its BroadcastJob. */
export const broadcastJobUidLabel = 'broadcastjob-controller-uid';
/** Annotation of a job an AdvancedCronJob started: the time it was scheduled for, RFC 3339. */
export const scheduledAtAnnotation = 'apps.kruise.io/scheduled-at';
/** EphemeralJob finalizer: its containers have to be looked after first. */
export const ephemeralContainersCleanupFinalizer = 'apps.kruise.io/ephemeralcontainers-cleanup';
/** Environment variable of a container an EphemeralJob added: the uid of the job. */
export const ephemeralJobIdEnv = 'KRUISE_EJOB_ID';

// Images

/** Finalizer of an ImagePullJob: the Secrets copied for it have to be released first. */
export const imagePullJobFinalizer = 'apps.kruise.io/deletion-protection';
/** Annotation of a copied Secret: namespace and name of the original. */
export const imagePullSecretSourceAnnotation = 'imagepulljobs.kruise.io/source-key';
/** Annotation of a copied Secret: the jobs that use it, as namespace/name, sorted and joined by commas. */
export const imagePullSecretReferencesAnnotation = 'imagepulljobs.kruise.io/references';
/** Annotation of a copied Secret, `batch`: several jobs share the copy. */
export const imagePullSecretModeAnnotation = 'imagepulljobs.kruise.io/mode';
/** Annotation a container runtime is given with an image to fetch: who fetches it. */
export const pullingImageByAnnotation = 'apps.kruise.io/pulling-image-by';
/** NodeImage label: there need not be a node of that name. */
export const fakeNodeImageLabel = 'apps.kruise.io/fake-nodeimage';
/** The namespace Secrets are copied to so that the daemons may read them. */
export const daemonConfigNamespace = 'kruise-daemon-config';

// SidecarSet

/** Annotation of a SidecarSet and of its Pods: the hash of the sidecars. */
export const sidecarSetHashAnnotation = 'kruise.io/sidecarset-hash';
/** Annotation of a SidecarSet and of its Pods: the hash of the sidecars, images left out. */
export const sidecarSetHashWithoutImageAnnotation = 'kruise.io/sidecarset-hash-without-image';
/** Pod annotation: the SidecarSets it has sidecars of, sorted and joined by commas. */
export const sidecarSetInjectedListAnnotation = 'kruise.io/sidecarset-injected-list';
/** Pod annotation: how far the last update of its sidecars is, as JSON by SidecarSet. */
export const sidecarSetInPlaceUpdateStateAnnotation = 'kruise.io/sidecarset-inplace-update-state';
/** Pod annotation: which of two containers works, as JSON by sidecar. */
export const sidecarSetWorkingHotUpgradeAnnotation = 'kruise.io/sidecarset-working-hotupgrade-container';
/** Prefix of a Pod annotation: the version of the container named after it. */
export const sidecarSetVersionAnnotationPrefix = 'version.sidecarset.kruise.io/';
/** Prefix of a Pod annotation: the version of the other container of the pair. */
export const sidecarSetVersionAltAnnotationPrefix = 'versionalt.sidecarset.kruise.io/';
/** ControllerRevision label: the SidecarSet it is of. */
export const sidecarSetNameLabel = 'kruise.io/sidecarset-name';
/** Label of a ControllerRevision, and in v1alpha1 of a SidecarSet: a version its owner gave it. */
export const sidecarSetCustomVersionLabel = 'apps.kruise.io/sidecarset-custom-version';
/** SidecarSet annotation, `"true"`: Pods it matches are left alone by the SidecarSet it is a trial of. */
export const sidecarSetCanaryAnnotation = 'apps.kruise.io/sidecarset-canary';
/** SidecarSet annotation: the name of the SidecarSet it is a trial of. */
export const sidecarSetBaseAnnotation = 'apps.kruise.io/sidecarset-base';
/** Pod condition: whether the sidecars can be updated in place. */
export const sidecarSetUpgradableCondition = 'SidecarSetUpgradable';
/** Environment variable of every sidecar, `"true"`. */
export const sidecarInjectedEnv = 'IS_INJECTED';
/** Environment variable of a sidecar that is updated hot: its version. */
export const sidecarSetVersionEnv = 'SIDECARSET_VERSION';
/** Environment variable of a sidecar that is updated hot: the version of the other container of the pair. */
export const sidecarSetVersionAltEnv = 'SIDECARSET_VERSION_ALT';

// UnitedDeployment and WorkloadSpread

/** Label of a workload of a UnitedDeployment and of its Pods: the domain. */
export const subsetNameLabel = 'apps.kruise.io/subset-name';
/** Label of a workload of a UnitedDeployment and of its Pods: the name of the revision. */
export const unitedDeploymentRevisionLabel = 'apps.kruise.io/controller-revision-hash';
/** Annotation of a workload of a UnitedDeployment: the patch of its domain, as it was carried out. */
export const subsetPatchAnnotation = 'apps.kruise.io/subset-patch';
/** Pod label, `"true"` or `"false"`: whether it waits for a node while a stand-in runs elsewhere. */
export const reservedPodLabel = 'apps.kruise.io/united-deployment-reserved-pod';
/** Pod annotation: the WorkloadSpread and the group it was sent to, as JSON. */
export const matchedWorkloadSpreadAnnotation = 'apps.kruise.io/matched-workloadspread';
/** WorkloadSpread annotation, `"true"`: Pods that were there before are not given the metadata of the patch. */
export const ignorePatchExistingPodsAnnotation = 'workloadspread.kruise.io/ignore-patch-existing-pods-metadata';

// PodUnavailableBudget and deletion protection

/** PodUnavailableBudget annotation of v1alpha1: as `protectOperations` of v1beta1, joined by commas. */
export const protectOperationsAnnotation = 'kruise.io/pub-protect-operations';
/** PodUnavailableBudget annotation of v1alpha1: as `protectTotalReplicas` of v1beta1. */
export const protectTotalReplicasAnnotation = 'pub.kruise.io/protect-total-replicas';
/** Pod annotation, true in the words of Go's ParseBool: no budget holds the Pod back. */
export const noProtectAnnotation = 'pub.kruise.io/no-protect';
/** Pod annotation: the PodUnavailableBudget it belongs to. */
export const relatedBudgetAnnotation = 'pub.kruise.io/related-pub';
/** Pod annotation: the same, as older releases wrote it. */
export const relatedBudgetLegacyAnnotation = 'kruise.io/related-pub';
/** Prefix of a Pod label: with any such label the Pod counts as unavailable to budgets. */
export const unavailablePodLabelPrefix = 'unavailable-pod.kruise.io/';
/** Label of an object that must not be deleted: `Always`, or `Cascading` while something depends on it. */
export const deleteProtectionLabel = 'policy.kruise.io/delete-protection';

// ContainerRecreateRequest

/** ContainerRecreateRequest label: the uid of the Pod. */
export const recreatePodUidLabel = 'crr.apps.kruise.io/pod-uid';
/** ContainerRecreateRequest label: the node of the Pod. */
export const recreateNodeNameLabel = 'crr.apps.kruise.io/node-name';
/** ContainerRecreateRequest label, `"true"` until it is over: what the daemons watch. */
export const recreateActiveLabel = 'crr.apps.kruise.io/active';
/** Finalizer of a ContainerRecreateRequest that keeps the Pod not ready; in v1alpha1 also the annotation of since when. */
export const recreateUnreadyAcquired = 'crr.apps.kruise.io/unready-acquired';
/** ContainerRecreateRequest annotation of v1alpha1: as `status.containerStatusSnapshot` of v1beta1, as JSON. */
export const recreateSyncContainerStatusesAnnotation = 'crr.apps.kruise.io/sync-container-statuses';
/** ContainerRecreateRequest condition: True from when the Pod was made not ready. */
export const preRecreateGraceCondition = 'PreRecreateGrace';

// Probes

/** Pod annotation: the PodProbeMarkers that probe it, where the daemon cannot. */
export const podProbeMarkerListAnnotation = 'kruise.io/podprobemarker-list';
/** Pod annotation: the probes, as JSON, where the daemon cannot run them. */
export const podProbeAnnotation = 'kruise.io/podprobe';
/** PodProbeMarker finalizer: its probes have to be taken off the nodes first. */
export const nodePodProbeCleanupFinalizer = 'kruise.io/node-pod-probe-cleanup';
/** Pod annotation, `"true"`: liveness probes are left to Kruise. */
export const enhancedLivenessAnnotation = 'apps.kruise.io/using-enhanced-liveness';
/** Pod annotation: the liveness probes that were left to Kruise, as JSON. */
export const containerProbeContextAnnotation = 'apps.kruise.io/container-probe-context';

// PersistentPodState and ResourceDistribution

/** Pod annotation: the PersistentPodState that chose its node. */
export const injectedPersistentPodStateAnnotation = 'kruise.io/injected-persistent-pod-state';
/** Workload annotation, `"true"`: make a PersistentPodState for it. */
export const autoGeneratePersistentPodStateAnnotation = 'kruise.io/auto-generate-persistent-pod-state';
/** Workload annotation: its `requiredPersistentTopology`, joined by commas. */
export const requiredPersistentTopologyAnnotation = 'kruise.io/required-persistent-topology';
/** Workload annotation: its `preferredPersistentTopology`, joined by commas. */
export const preferredPersistentTopologyAnnotation = 'kruise.io/preferred-persistent-topology';
/** Workload annotation: its `persistentPodAnnotations`, joined by commas. */
export const persistentPodAnnotationsAnnotation = 'kruise.io/persistent-pod-annotations';
/** Annotation of a distributed object: a hash of what was distributed. */
export const distributedHashAnnotation = 'kruise.io/resourcedistribution.resource.hashcode';
/** Annotation of a distributed object: the ResourceDistribution it is from. */
export const distributedFromAnnotation = 'kruise.io/resourcedistribution.resource.from';

// Containers in order, and sidecars of jobs

/** Pod annotation, `Ordered`: start the containers one after the other. */
export const launchPriorityAnnotation = 'apps.kruise.io/container-launch-priority';
/** Pod annotation, `"true"`: all containers may start. */
export const launchPriorityCompletedAnnotation = 'apps.kruise.io/container-launch-priority-completed';
/** Environment variable of a container: its priority; the greater one starts earlier. */
export const launchPriorityEnv = 'KRUISE_CONTAINER_PRIORITY';
/** Environment variable that keeps a container from starting before its turn. */
export const launchBarrierEnv = 'KRUISE_CONTAINER_BARRIER';
/** Environment variable of a container, `"true"`: end it when the containers beside it have ended. */
export const terminateSidecarEnv = 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT';
/** Environment variable of a container: end it by this image, where the daemon cannot. */
export const terminateSidecarWithImageEnv = 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT_WITH_IMAGE';
/** Environment variable of a container, `"true"`: how it ends says nothing about the Pod. */
export const terminateSidecarIgnoreExitCodeEnv = 'KRUISE_TERMINATE_SIDECAR_IGNORE_EXIT_CODE';

// What goes beyond OpenKruise, and only where it is asked for

/** CloneSet annotation, `"true"`: Pods that can be updated in place are, before any are made ahead of them. */
export const inPlaceBeforeSurgeAnnotation = 'apps.kruise.io/in-place-before-surge';
/** CloneSet annotation, `"true"`: when a rollout has run out of time, an event says what holds it up. */
export const reportRolloutBlockersAnnotation = 'apps.kruise.io/report-rollout-blockers';

// The installation

/** The namespace Kruise is installed in unless asked otherwise. */
export const kruiseNamespace = 'kruise-system';
/** The ConfigMap there with what administrators allow. */
export const kruiseConfigurationName = 'kruise-configuration';
/** Key of that ConfigMap: the annotations SidecarSets may put on Pods. */
export const sidecarSetMetadataWhiteListKey = 'SidecarSet_PatchPodMetadata_WhiteList';
/** Key of that ConfigMap: further workloads a PersistentPodState may be for. */
export const persistentPodStateWhiteListKey = 'PPS_Watch_Custom_Workload_WhiteList';
/** Key of that ConfigMap: further workloads a WorkloadSpread may be for. */
export const workloadSpreadWhiteListKey = 'WorkloadSpread_Watch_Custom_Workload_WhiteList';
/** Label of nodes without a daemon, and of the requests for them: with the value `virtual-kubelet`. */
export const virtualKubeletLabel = 'type';

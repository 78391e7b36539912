/**
 * Labels, annotations, conditions and other names that Kruise writes and reads. Other programs rely on them, so they do
 * not change. The comment gives the value where it matters; `"true"` is the string.
 */

// Groups

/** The API group of all kinds of Kruise except PodUnavailableBudget. */
export const appsGroup = 'apps.kruise.io';
/** The API group of PodUnavailableBudget. */
export const policyGroup = 'policy.kruise.io';

// Pod lifecycle

/** Pod label: the lifecycle state, one of `lifecycleStates`. */
export const lifecycleStateLabel = 'lifecycle.apps.kruise.io/state';
/** Pod annotation: the time of the last state transition, RFC 3339. */
export const lifecycleTimestampAnnotation = 'lifecycle.apps.kruise.io/timestamp';
/** The lifecycle states of a Pod of a Kruise workload. */
export const lifecycleStates = [
  'PreparingNormal',
  'Normal',
  'PreparingUpdate',
  'Updating',
  'Updated',
  'PreparingDelete',
] as const;
export type LifecycleState = (typeof lifecycleStates)[number];
/** Pod label: the workload should delete this Pod. Any value. */
export const specifiedDeleteLabel = 'apps.kruise.io/specified-delete';
/** Pod condition and readiness gate: False while the Pod is updated in place. */
export const inPlaceUpdateReadyCondition = 'InPlaceUpdateReady';
/** Pod condition and readiness gate: False while any component of Kruise holds the Pod not ready. */
export const kruisePodReadyCondition = 'KruisePodReady';

// In-place update

/** Pod annotation: the state of the last in-place update, as JSON. */
export const inPlaceUpdateStateAnnotation = 'apps.kruise.io/inplace-update-state';
/** Pod annotation: the state of the last in-place update, as older releases wrote it. */
export const inPlaceUpdateStateLegacyAnnotation = 'inplace-update-state';
/** Pod annotation: the changes to apply after the grace period, as JSON. */
export const inPlaceUpdateGraceAnnotation = 'apps.kruise.io/inplace-update-grace';
/** Pod annotation: the changes to apply after the grace period, as older releases wrote it. */
export const inPlaceUpdateGraceLegacyAnnotation = 'inplace-update-grace';
/** Pod annotation: IDs and hashes of the running containers, as JSON. Written by kruise-daemon. */
export const runtimeContainersMetaAnnotation = 'apps.kruise.io/runtime-containers-meta';

// Image pre-download

/** Workload annotation: the number of nodes that pull the new image in parallel. */
export const imagePreDownloadParallelismAnnotation = 'apps.kruise.io/image-predownload-parallelism';
/** Workload annotation: the timeout of one attempt to pull the new image, in seconds. */
export const imagePreDownloadTimeoutSecondsAnnotation = 'apps.kruise.io/image-predownload-timeout-seconds';
/** Workload annotation: the number of updated Pods that must be ready before images are pre-downloaded. */
export const imagePreDownloadMinUpdatedReadyPodsAnnotation = 'apps.kruise.io/image-predownload-min-updated-ready-pods';
/** ControllerRevision label, `"true"`: the image pull jobs have been created. The key does repeat itself. */
export const imagePreDownloadCreatedLabel = 'apps.kruise.io/pre-predownload-created';
/** ControllerRevision label, `"true"`: its images need no pre-download. */
export const imagePreDownloadIgnoredLabel = 'apps.kruise.io/image-predownload-ignored';

// CloneSet

/** Label of Pods and PVCs: the instance ID that both share. */
export const cloneSetInstanceIdLabel = 'apps.kruise.io/cloneset-instance-id';
/** CloneSet label of v1alpha1, `"true"`: `scaleStrategy.excludePreparingDelete` of v1beta1. */
export const cloneSetExcludePreparingDeleteLabel = 'apps.kruise.io/cloneset-scaling-exclude-preparing-delete';
/** ControllerRevision annotation: the hash of the PVC templates of the revision. */
export const cloneSetVolumeClaimTemplateHashAnnotation = 'kruise.io/cloneset-volumeclaimtemplate-hash';

// StatefulSet and DaemonSet

/** Annotation of a PVC that is being expanded: the name of the StatefulSet that waits for it. */
export const ownedByStatefulSetAnnotation = 'apps.kruise.io/owned-by-asts';
/** DaemonSet annotation of v1alpha1, `"true"`: `scaleStrategy.partitionedScaling` of v1beta1. */
export const daemonSetProgressiveCreateAnnotation = 'daemonset.kruise.io/progressive-create-pod';

// Jobs

/** Pod label: the name of its BroadcastJob. */
export const broadcastJobNameLabel = 'broadcastjob-name';
/** Pod label: the UID of its BroadcastJob. */
export const broadcastJobUidLabel = 'broadcastjob-controller-uid';
/** Annotation of a job that an AdvancedCronJob started: its scheduled time, RFC 3339. */
export const scheduledAtAnnotation = 'apps.kruise.io/scheduled-at';
/** EphemeralJob finalizer: its containers must be cleaned up first. */
export const ephemeralContainersCleanupFinalizer = 'apps.kruise.io/ephemeralcontainers-cleanup';
/** Environment variable of a container that an EphemeralJob added: the UID of the job. */
export const ephemeralJobIdEnv = 'KRUISE_EJOB_ID';

// Images

/** Finalizer of an ImagePullJob: the Secrets copied for it must be released first. */
export const imagePullJobFinalizer = 'apps.kruise.io/deletion-protection';
/** Annotation of a copied Secret: namespace and name of the original. */
export const imagePullSecretSourceAnnotation = 'imagepulljobs.kruise.io/source-key';
/** Annotation of a copied Secret: the jobs that use it, as namespace/name, sorted and joined by commas. */
export const imagePullSecretReferencesAnnotation = 'imagepulljobs.kruise.io/references';
/** Annotation of a copied Secret, `batch`: several jobs share the copy. */
export const imagePullSecretModeAnnotation = 'imagepulljobs.kruise.io/mode';
/** Annotation for the container runtime on an image pull: the component that pulls it. */
export const pullingImageByAnnotation = 'apps.kruise.io/pulling-image-by';
/** NodeImage label: a node of this name need not exist. */
export const fakeNodeImageLabel = 'apps.kruise.io/fake-nodeimage';
/** The namespace of the copied Secrets, which the daemons may read. */
export const daemonConfigNamespace = 'kruise-daemon-config';

// SidecarSet

/** Annotation of a SidecarSet and of its Pods: the hash of the sidecars. */
export const sidecarSetHashAnnotation = 'kruise.io/sidecarset-hash';
/** Annotation of a SidecarSet and of its Pods: the hash of the sidecars without their images. */
export const sidecarSetHashWithoutImageAnnotation = 'kruise.io/sidecarset-hash-without-image';
/** Pod annotation: the injected SidecarSets, sorted and joined by commas. */
export const sidecarSetInjectedListAnnotation = 'kruise.io/sidecarset-injected-list';
/** Pod annotation: the state of the last in-place update of its sidecars, as JSON by SidecarSet. */
export const sidecarSetInPlaceUpdateStateAnnotation = 'kruise.io/sidecarset-inplace-update-state';
/** Pod annotation: the working container of each hot-upgrade pair, as JSON by sidecar. */
export const sidecarSetWorkingHotUpgradeAnnotation = 'kruise.io/sidecarset-working-hotupgrade-container';
/** Prefix of a Pod annotation: the version of the container whose name follows. */
export const sidecarSetVersionAnnotationPrefix = 'version.sidecarset.kruise.io/';
/** Prefix of a Pod annotation: the version of the other container of the pair. */
export const sidecarSetVersionAltAnnotationPrefix = 'versionalt.sidecarset.kruise.io/';
/** ControllerRevision label: the name of its SidecarSet. */
export const sidecarSetNameLabel = 'kruise.io/sidecarset-name';
/** Label of a ControllerRevision, and in v1alpha1 of a SidecarSet: the custom version. */
export const sidecarSetCustomVersionLabel = 'apps.kruise.io/sidecarset-custom-version';
/** SidecarSet annotation, `"true"`: a canary. The base SidecarSet ignores Pods that the canary matches. */
export const sidecarSetCanaryAnnotation = 'apps.kruise.io/sidecarset-canary';
/** SidecarSet annotation: the name of the base SidecarSet of a canary. */
export const sidecarSetBaseAnnotation = 'apps.kruise.io/sidecarset-base';
/** Pod condition: whether the sidecars can be updated in place. */
export const sidecarSetUpgradableCondition = 'SidecarSetUpgradable';
/** Environment variable of every sidecar, `"true"`. */
export const sidecarInjectedEnv = 'IS_INJECTED';
/** Environment variable of a hot-upgrade sidecar: its version. */
export const sidecarSetVersionEnv = 'SIDECARSET_VERSION';
/** Environment variable of a hot-upgrade sidecar: the version of the other container of the pair. */
export const sidecarSetVersionAltEnv = 'SIDECARSET_VERSION_ALT';

// UnitedDeployment and WorkloadSpread

/** Label of a workload of a UnitedDeployment and of its Pods: the subset. */
export const subsetNameLabel = 'apps.kruise.io/subset-name';
/** Label of a workload of a UnitedDeployment and of its Pods: the name of the revision. */
export const unitedDeploymentRevisionLabel = 'apps.kruise.io/controller-revision-hash';
/** Annotation of a workload of a UnitedDeployment: the applied patch of its subset. */
export const subsetPatchAnnotation = 'apps.kruise.io/subset-patch';
/**
 * Pod label, `"true"` or `"false"`: the Pod is reserved, and waits for a node while a substitute runs in another
 * subset.
 */
export const reservedPodLabel = 'apps.kruise.io/united-deployment-reserved-pod';
/** Pod annotation: the WorkloadSpread and the assigned subset, as JSON. */
export const matchedWorkloadSpreadAnnotation = 'apps.kruise.io/matched-workloadspread';
/** WorkloadSpread annotation, `"true"`: existing Pods do not get the metadata of the patch. */
export const ignorePatchExistingPodsAnnotation = 'workloadspread.kruise.io/ignore-patch-existing-pods-metadata';

// PodUnavailableBudget and deletion protection

/** PodUnavailableBudget annotation of v1alpha1: `protectOperations` of v1beta1, joined by commas. */
export const protectOperationsAnnotation = 'kruise.io/pub-protect-operations';
/** PodUnavailableBudget annotation of v1alpha1: `protectTotalReplicas` of v1beta1. */
export const protectTotalReplicasAnnotation = 'pub.kruise.io/protect-total-replicas';
/** Pod annotation, parsed by Go's ParseBool: true exempts the Pod from budgets. */
export const noProtectAnnotation = 'pub.kruise.io/no-protect';
/** Pod annotation: the PodUnavailableBudget it belongs to. */
export const relatedBudgetAnnotation = 'pub.kruise.io/related-pub';
/** Pod annotation: the PodUnavailableBudget it belongs to, as older releases wrote it. */
export const relatedBudgetLegacyAnnotation = 'kruise.io/related-pub';
/** Prefix of a Pod label: a Pod with any such label counts as unavailable for budgets. */
export const unavailablePodLabelPrefix = 'unavailable-pod.kruise.io/';
/** Label of a protected object: `Always` refuses deletion, `Cascading` refuses it while the object has dependents. */
export const deleteProtectionLabel = 'policy.kruise.io/delete-protection';

// ContainerRecreateRequest

/** ContainerRecreateRequest label: the UID of the Pod. */
export const recreatePodUidLabel = 'crr.apps.kruise.io/pod-uid';
/** ContainerRecreateRequest label: the node of the Pod. */
export const recreateNodeNameLabel = 'crr.apps.kruise.io/node-name';
/** ContainerRecreateRequest label, `"true"` until the request is complete. The daemons watch it. */
export const recreateActiveLabel = 'crr.apps.kruise.io/active';
/**
 * Finalizer of a ContainerRecreateRequest that holds the Pod not ready. In v1alpha1 also the annotation with the start
 * time.
 */
export const recreateUnreadyAcquired = 'crr.apps.kruise.io/unready-acquired';
/** ContainerRecreateRequest annotation of v1alpha1: `status.containerStatusSnapshot` of v1beta1, as JSON. */
export const recreateSyncContainerStatusesAnnotation = 'crr.apps.kruise.io/sync-container-statuses';
/** ContainerRecreateRequest condition: True since the Pod was made not ready. */
export const preRecreateGraceCondition = 'PreRecreateGrace';

// Probes

/** Pod annotation: the PodProbeMarkers that apply to it, if no daemon runs their probes. */
export const podProbeMarkerListAnnotation = 'kruise.io/podprobemarker-list';
/** Pod annotation: the probes as JSON, if no daemon runs them. */
export const podProbeAnnotation = 'kruise.io/podprobe';
/** PodProbeMarker finalizer: its probes must be removed from the nodes first. */
export const nodePodProbeCleanupFinalizer = 'kruise.io/node-pod-probe-cleanup';
/** Pod annotation, `"true"`: Kruise runs the liveness probes. */
export const enhancedLivenessAnnotation = 'apps.kruise.io/using-enhanced-liveness';
/** Pod annotation: the liveness probes that Kruise runs, as JSON. */
export const containerProbeContextAnnotation = 'apps.kruise.io/container-probe-context';

// PersistentPodState and ResourceDistribution

/** Pod annotation: the PersistentPodState that set its node affinity. */
export const injectedPersistentPodStateAnnotation = 'kruise.io/injected-persistent-pod-state';
/** Workload annotation, `"true"`: generate a PersistentPodState. */
export const autoGeneratePersistentPodStateAnnotation = 'kruise.io/auto-generate-persistent-pod-state';
/** Workload annotation: its `requiredPersistentTopology`, joined by commas. */
export const requiredPersistentTopologyAnnotation = 'kruise.io/required-persistent-topology';
/** Workload annotation: its `preferredPersistentTopology`, joined by commas. */
export const preferredPersistentTopologyAnnotation = 'kruise.io/preferred-persistent-topology';
/** Workload annotation: its `persistentPodAnnotations`, joined by commas. */
export const persistentPodAnnotationsAnnotation = 'kruise.io/persistent-pod-annotations';
/** Annotation of a distributed object: a hash of the resource. */
export const distributedHashAnnotation = 'kruise.io/resourcedistribution.resource.hashcode';
/** Annotation of a distributed object: its ResourceDistribution. */
export const distributedFromAnnotation = 'kruise.io/resourcedistribution.resource.from';

// Container launch priority, and sidecars of jobs

/** Pod annotation, `Ordered`: start the containers one after the other. */
export const launchPriorityAnnotation = 'apps.kruise.io/container-launch-priority';
/** Pod annotation, `"true"`: all containers may start. */
export const launchPriorityCompletedAnnotation = 'apps.kruise.io/container-launch-priority-completed';
/** Environment variable of a container: its priority. A higher priority starts earlier. */
export const launchPriorityEnv = 'KRUISE_CONTAINER_PRIORITY';
/** Environment variable that blocks the start of a container until its priority is reached. */
export const launchBarrierEnv = 'KRUISE_CONTAINER_BARRIER';
/** Environment variable of a container, `"true"`: terminate it when the other containers have exited. */
export const terminateSidecarEnv = 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT';
/** Environment variable of a container: terminate it by switching to this image, where no daemon can stop it. */
export const terminateSidecarWithImageEnv = 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT_WITH_IMAGE';
/** Environment variable of a container, `"true"`: its exit code does not affect the Pod's phase. */
export const terminateSidecarIgnoreExitCodeEnv = 'KRUISE_TERMINATE_SIDECAR_IGNORE_EXIT_CODE';

// Opt-in extensions beyond OpenKruise

/** CloneSet annotation, `"true"`: Pods that can be updated in place are updated before surge Pods are created. */
export const inPlaceBeforeSurgeAnnotation = 'apps.kruise.io/in-place-before-surge';
/** CloneSet annotation, `"true"`: when a rollout exceeds its deadline, an event reports its blockers. */
export const reportRolloutBlockersAnnotation = 'apps.kruise.io/report-rollout-blockers';

// Installation

/** The default namespace of Kruise. */
export const kruiseNamespace = 'kruise-system';
/** The ConfigMap in this namespace with the settings of administrators. */
export const kruiseConfigurationName = 'kruise-configuration';
/** Key of the ConfigMap: annotations that SidecarSets may patch on Pods. */
export const sidecarSetMetadataWhiteListKey = 'SidecarSet_PatchPodMetadata_WhiteList';
/** Key of the ConfigMap: custom workloads that a PersistentPodState may target. */
export const persistentPodStateWhiteListKey = 'PPS_Watch_Custom_Workload_WhiteList';
/** Key of the ConfigMap: custom workloads that a WorkloadSpread may target. */
export const workloadSpreadWhiteListKey = 'WorkloadSpread_Watch_Custom_Workload_WhiteList';
/** Label of nodes without a daemon, and of their requests, with the value `virtual-kubelet`. */
export const virtualKubeletLabel = 'type';

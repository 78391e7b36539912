import { advancedCronJob } from '@kruise/api/kruise/advancedcronjob';
import { broadcastJob } from '@kruise/api/kruise/broadcastjob';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { containerRecreateRequest } from '@kruise/api/kruise/containerrecreaterequest';
import { daemonSet } from '@kruise/api/kruise/daemonset';
import { ephemeralJob } from '@kruise/api/kruise/ephemeraljob';
import { imageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import { imagePullJob } from '@kruise/api/kruise/imagepulljob';
import { nodeImage } from '@kruise/api/kruise/nodeimage';
import { nodePodProbe } from '@kruise/api/kruise/nodepodprobe';
import { persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { resourceDistribution } from '@kruise/api/kruise/resourcedistribution';
import { sidecarSet } from '@kruise/api/kruise/sidecarset';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import { unitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { workloadSpread } from '@kruise/api/kruise/workloadspread';
import type { Controller, Runnable } from '@kruise/client/controller';
import type { Kind } from '@kruise/schema/kind';
import { advancedCronJobController } from './advancedcronjob/controller.ts';
import { broadcastJobController } from './broadcastjob/controller.ts';
import { cloneSetController } from './cloneset/controller.ts';
import { newPodsController } from './cloneset/new-pods.ts';
import type { ManagerSettings } from './configuration/settings.ts';
import { containerLaunchPriorityController } from './container-launch-priority/controller.ts';
import { containerRecreateRequestController } from './containerrecreaterequest/controller.ts';
import { daemonSetController } from './daemonset/controller.ts';
import { ephemeralJobController } from './ephemeraljob/controller.ts';
import { imageListPullJobController } from './imagelistpulljob/controller.ts';
import { imagePullJobController } from './imagepulljob/controller.ts';
import { nodeImageController } from './nodeimage/controller.ts';
import { nodePodProbeController } from './nodepodprobe/controller.ts';
import { persistentPodStateController } from './persistentpodstate/controller.ts';
import { listedWorkloadsRunner } from './persistentpodstate/listed-workloads.ts';
import { podProbeMarkerController } from './podprobemarker/controller.ts';
import { podUnavailableBudgetController } from './podunavailablebudget/controller.ts';
import { resourceDistributionController } from './resourcedistribution/controller.ts';
import { sidecarSetController } from './sidecarset/controller.ts';
import { sidecarTerminatorController } from './sidecarterminator/controller.ts';
import { statefulSetController } from './statefulset/controller.ts';
import { unitedDeploymentController } from './uniteddeployment/controller.ts';
import { podReadinessController } from './workload/readiness/controller.ts';
import { workloadSpreadController } from './workloadspread/controller.ts';

/** A controller of kruise-manager. */
export type CatalogueEntry = {
  /** Name in logs, metrics and user agents. */
  readonly name: string;
  /** Kind that the API server must serve for the controller to run. */
  readonly kind?: Kind;
  /** Reports whether the feature gates enable the controller; enabled where undefined. */
  readonly isOn?: (settings: ManagerSettings) => boolean;
  readonly make: (settings: ManagerSettings) => readonly (Controller | Runnable)[];
};

/** All controllers, in the order of their start. */
export const controllerCatalogue: readonly CatalogueEntry[] = [
  {
    name: 'advancedcronjob-controller',
    kind: advancedCronJob,
    make: (settings) => [advancedCronJobController(settings)],
  },
  { name: 'broadcastjob-controller', kind: broadcastJob, make: (settings) => [broadcastJobController(settings)] },
  {
    name: 'cloneset-controller',
    kind: cloneSet,
    make: (settings) => [cloneSetController(settings), newPodsController(settings)],
  },
  { name: 'container-launch-priority-controller', make: () => [containerLaunchPriorityController] },
  {
    name: 'containerrecreaterequest-controller',
    kind: containerRecreateRequest,
    isOn: ({ gates }) => gates.KruiseDaemon,
    make: (settings) => [containerRecreateRequestController(settings)],
  },
  { name: 'daemonset-controller', kind: daemonSet, make: (settings) => [daemonSetController(settings)] },
  { name: 'ephemeraljob-controller', kind: ephemeralJob, make: (settings) => [ephemeralJobController(settings)] },
  {
    name: 'imagelistpulljob-controller',
    kind: imageListPullJob,
    isOn: ({ gates }) => gates.ImagePullJobGate,
    make: (settings) => [imageListPullJobController(settings)],
  },
  {
    name: 'imagepulljob-controller',
    kind: imagePullJob,
    isOn: ({ gates }) => gates.ImagePullJobGate,
    make: (settings) => [imagePullJobController(settings)],
  },
  {
    name: 'nodeimage-controller',
    kind: nodeImage,
    isOn: ({ gates }) => gates.KruiseDaemon,
    make: (settings) => [nodeImageController(settings)],
  },
  {
    name: 'nodepodprobe-controller',
    kind: nodePodProbe,
    isOn: ({ gates }) => gates.PodProbeMarkerGate,
    make: (settings) => [nodePodProbeController(settings)],
  },
  {
    name: 'persistentpodstate-controller',
    kind: persistentPodState,
    make: (settings) => [persistentPodStateController(settings), listedWorkloadsRunner(settings)],
  },
  {
    name: 'podprobemarker-controller',
    kind: podProbeMarker,
    isOn: ({ gates }) => gates.PodProbeMarkerGate,
    make: (settings) => [podProbeMarkerController(settings)],
  },
  {
    name: 'podunavailablebudget-controller',
    kind: podUnavailableBudget,
    isOn: ({ gates }) => gates.PodUnavailableBudgetDeleteGate || gates.PodUnavailableBudgetUpdateGate,
    make: (settings) => [podUnavailableBudgetController(settings)],
  },
  { name: 'pod-readiness-controller', make: () => [podReadinessController] },
  {
    name: 'resourcedistribution-controller',
    kind: resourceDistribution,
    isOn: ({ gates }) => gates.ResourceDistributionGate,
    make: (settings) => [resourceDistributionController(settings)],
  },
  { name: 'sidecarset-controller', kind: sidecarSet, make: (settings) => [sidecarSetController(settings)] },
  {
    name: 'sidecarterminator-controller',
    isOn: ({ gates }) => gates.SidecarTerminator,
    make: (settings) => [sidecarTerminatorController(settings)],
  },
  { name: 'statefulset-controller', kind: statefulSet, make: (settings) => [statefulSetController(settings)] },
  {
    name: 'uniteddeployment-controller',
    kind: unitedDeployment,
    make: (settings) => [unitedDeploymentController(settings)],
  },
  {
    name: 'workloadspread-controller',
    kind: workloadSpread,
    isOn: ({ gates }) => gates.WorkloadSpread,
    make: (settings) => [workloadSpreadController(settings)],
  },
];

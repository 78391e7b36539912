import { humanDuration } from '@kruise/values/human-duration';
import {
  age,
  ageColumn,
  containers,
  integer,
  type Loose,
  labels,
  nameColumn,
  selector,
  tableOfColumns,
  text,
  wide,
} from './cells.ts';
import type { TableColumns } from './table.ts';

const template = ({ spec }: Loose) => spec?.template;
const containersColumn = (of: (object: Loose) => Loose = template) =>
  text('Containers', 'Names of each container in the template.', (object) => containers(of(object))[0]);
const imagesColumn = (of: (object: Loose) => Loose = template) =>
  text('Images', 'Images referenced by each container in the template.', (object) => containers(of(object))[1]);
const selectorColumn = (description: string) => text('Selector', description, ({ spec }) => selector(spec?.selector));
const readyColumn = text(
  'Ready',
  'Number of the pod with ready state',
  ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
);

const replicas = (described: { readonly desired: string; readonly current: string; readonly ready: string }) => [
  nameColumn,
  integer('Desired', described.desired, ({ spec }) => spec?.replicas ?? 0),
  integer('Current', described.current, ({ status }) => status?.replicas ?? 0),
  integer('Ready', described.ready, ({ status }) => status?.readyReplicas ?? 0),
  ageColumn,
  wide(containersColumn()),
  wide(imagesColumn()),
];

function jobStatus({ metadata, status }: Loose): string {
  const has = (type: string) =>
    (status?.conditions ?? []).some((each: Loose) => each.type === type && each.status === 'True');
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (metadata.deletionTimestamp) return 'Terminating';
  if (has('Suspended')) return 'Suspended';
  return has('FailureTarget') ? 'FailureTarget' : 'Running';
}

function completions({ spec, status }: Loose): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions != null) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function duration({ status }: Loose, nowMs: number): string {
  if (!status?.startTime) return '';
  const end = status.completionTime ? Date.parse(status.completionTime) : nowMs;
  return humanDuration(end - Date.parse(status.startTime));
}

const suspension = ({ spec }: Loose) => (spec?.suspend == null ? '<unset>' : spec.suspend ? 'True' : 'False');
const jobSelectorDescription =
  'A label query over pods that should match the pod count. Normally, the system sets this field for you. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors';
const jobTemplate = ({ spec }: Loose) => spec?.jobTemplate?.spec?.template;

export const workloadTables: { readonly [kind: string]: TableColumns } = {
  PodTemplate: tableOfColumns([
    nameColumn,
    containersColumn(({ template: of }) => of),
    imagesColumn(({ template: of }) => of),
    text('Pod Labels', 'The labels for the pod template.', ({ template: of }) => labels(of?.metadata?.labels)),
  ]),
  ReplicationController: tableOfColumns([
    ...replicas({
      desired:
        'Replicas is the number of desired replicas. This is a pointer to distinguish between explicit zero and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller',
      current:
        'Replicas is the most recently observed number of replicas. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller',
      ready: 'The number of ready replicas for this replication controller.',
    }),
    wide(
      text(
        'Selector',
        'Selector is a label query over pods that should match the Replicas count. If Selector is empty, it is defaulted to the labels present on the Pod template. Label keys and values that must match in order to be controlled by this replication controller, if empty defaulted to labels on Pod template. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors',
        ({ spec }) => labels(spec?.selector),
      ),
    ),
  ]),
  ReplicaSet: tableOfColumns([
    ...replicas({
      desired:
        'Replicas is the number of desired pods. This is a pointer to distinguish between explicit zero and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset',
      current:
        'Replicas is the most recently observed number of non-terminating pods. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset',
      ready: 'The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition.',
    }),
    wide(
      selectorColumn(
        'Selector is a label query over pods that should match the replica count. If the selector is empty, it is defaulted to the labels present on the pod template. Label keys and values that must match in order to be controlled by this replica set. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors',
      ),
    ),
  ]),
  DaemonSet: tableOfColumns([
    nameColumn,
    integer(
      'Desired',
      'The total number of nodes that should be running the daemon pod (including nodes correctly running the daemon pod). More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/',
      ({ status }) => status?.desiredNumberScheduled ?? 0,
    ),
    integer(
      'Current',
      'The number of nodes that are running at least 1 daemon pod and are supposed to run the daemon pod. More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/',
      ({ status }) => status?.currentNumberScheduled ?? 0,
    ),
    integer(
      'Ready',
      'The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and ready.',
      ({ status }) => status?.numberReady ?? 0,
    ),
    integer(
      'Up-to-date',
      'The total number of nodes that are running updated daemon pod',
      ({ status }) => status?.updatedNumberScheduled ?? 0,
    ),
    integer(
      'Available',
      'The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and available (ready for at least spec.minReadySeconds)',
      ({ status }) => status?.numberAvailable ?? 0,
    ),
    text(
      'Node Selector',
      "NodeSelector is a selector which must be true for the pod to fit on a node. Selector which must match a node's labels for the pod to be scheduled on that node. More info: https://kubernetes.io/docs/concepts/configuration/assign-pod-node/",
      ({ spec }) => labels(spec?.template?.spec?.nodeSelector),
    ),
    ageColumn,
    wide(containersColumn()),
    wide(imagesColumn()),
    wide(
      selectorColumn(
        'A label query over pods that are managed by the daemon set. Must match in order to be controlled. If empty, defaulted to labels on Pod template. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors',
      ),
    ),
  ]),
  Deployment: tableOfColumns([
    nameColumn,
    readyColumn,
    text(
      'Up-to-date',
      'Total number of non-terminating pods targeted by this deployment that have the desired template spec.',
      ({ status }) => status?.updatedReplicas ?? 0,
    ),
    text(
      'Available',
      'Total number of available non-terminating pods (ready for at least minReadySeconds) targeted by this deployment.',
      ({ status }) => status?.availableReplicas ?? 0,
    ),
    ageColumn,
    wide(containersColumn()),
    wide(imagesColumn()),
    wide(
      selectorColumn(
        'Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this deployment.',
      ),
    ),
  ]),
  StatefulSet: tableOfColumns([nameColumn, readyColumn, ageColumn, wide(containersColumn()), wide(imagesColumn())]),
  Job: tableOfColumns([
    nameColumn,
    text('Status', 'Status of the job.', jobStatus),
    text(
      'Completions',
      'The number of pods which reached phase Succeeded. The value increases monotonically for a given spec. However, it may decrease in reaction to scale down of elastic indexed jobs.',
      completions,
    ),
    text('Duration', 'Time required to complete the job.', duration),
    ageColumn,
    wide(containersColumn()),
    wide(imagesColumn()),
    wide(selectorColumn(jobSelectorDescription)),
  ]),
  CronJob: tableOfColumns([
    nameColumn,
    text(
      'Schedule',
      'The schedule in Cron format, see https://en.wikipedia.org/wiki/Cron.',
      ({ spec }) => spec?.schedule ?? '',
    ),
    text(
      'Timezone',
      'The time zone name for the given schedule, see https://en.wikipedia.org/wiki/List_of_tz_database_time_zones. If not specified, this will default to the time zone of the kube-controller-manager process. The set of valid time zone names and the time zone offset is loaded from the system-wide time zone database by the API server during CronJob validation and the controller manager during execution. If no system-wide time zone database can be found a bundled version of the database is used instead. If the time zone name becomes invalid during the lifetime of a CronJob or due to a change in host configuration, the controller will stop creating new new Jobs and will create a system event with the reason UnknownTimeZone. More information can be found in https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#time-zones',
      ({ spec }) => spec?.timeZone ?? '<none>',
    ),
    {
      ...text(
        'Suspend',
        'This flag tells the controller to suspend subsequent executions, it does not apply to already started executions.  Defaults to false.',
        suspension,
      ),
      type: 'boolean',
    },
    integer('Active', 'A list of pointers to currently running jobs.', ({ status }) => (status?.active ?? []).length),
    text(
      'Last Schedule',
      'Information when was the last time the job was successfully scheduled.',
      ({ status }, nowMs) => (status?.lastScheduleTime ? age(status.lastScheduleTime, nowMs) : '<none>'),
    ),
    ageColumn,
    wide(containersColumn(jobTemplate)),
    wide(imagesColumn(jobTemplate)),
    wide(text('Selector', jobSelectorDescription, ({ spec }) => selector(spec?.jobTemplate?.spec?.selector))),
  ]),
  ControllerRevision: tableOfColumns([
    nameColumn,
    text('Controller', 'Controller of the object', ({ metadata }) => {
      const owner = (metadata.ownerReferences ?? []).find((each: Loose) => each.controller);
      if (!owner) return '<none>';
      const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
      return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
    }),
    text(
      'Revision',
      'revision indicates the revision of the state represented by Data.',
      ({ revision }) => revision ?? 0,
    ),
    ageColumn,
  ]),
};

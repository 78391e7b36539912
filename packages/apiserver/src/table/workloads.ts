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
  text('Containers', 'The names of the containers in the template.', (object) => containers(of(object))[0]);
const imagesColumn = (of: (object: Loose) => Loose = template) =>
  text('Images', 'The images of the containers in the template.', (object) => containers(of(object))[1]);
const selectorColumn = text('Selector', 'Which Pods are counted.', ({ spec }) => selector(spec?.selector));

const replicas = (named: { readonly selector: (object: Loose) => string }) =>
  tableOfColumns([
    nameColumn,
    integer('Desired', 'How many Pods there should be.', ({ spec }) => spec?.replicas ?? 0),
    integer('Current', 'How many Pods there are.', ({ status }) => status?.replicas ?? 0),
    integer('Ready', 'How many Pods are ready.', ({ status }) => status?.readyReplicas ?? 0),
    ageColumn,
    wide(containersColumn()),
    wide(imagesColumn()),
    wide(text('Selector', 'Which Pods are counted.', named.selector)),
  ]);

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
const jobTemplate = ({ spec }: Loose) => spec?.jobTemplate?.spec?.template;

export const workloadTables: { readonly [kind: string]: TableColumns } = {
  PodTemplate: tableOfColumns([
    nameColumn,
    containersColumn(({ template: of }) => of),
    imagesColumn(({ template: of }) => of),
    text('Pod Labels', 'The labels of Pods made from it.', ({ template: of }) => labels(of?.metadata?.labels)),
  ]),
  ReplicationController: replicas({ selector: ({ spec }) => labels(spec?.selector) }),
  ReplicaSet: replicas({ selector: ({ spec }) => selector(spec?.selector) }),
  DaemonSet: tableOfColumns([
    nameColumn,
    integer('Desired', 'How many nodes should run it.', ({ status }) => status?.desiredNumberScheduled ?? 0),
    integer('Current', 'How many of those nodes run it.', ({ status }) => status?.currentNumberScheduled ?? 0),
    integer('Ready', 'On how many nodes it is ready.', ({ status }) => status?.numberReady ?? 0),
    integer(
      'Up-to-date',
      'On how many nodes it is of the newest template.',
      ({ status }) => status?.updatedNumberScheduled ?? 0,
    ),
    integer(
      'Available',
      'On how many nodes it has been ready for long enough.',
      ({ status }) => status?.numberAvailable ?? 0,
    ),
    text('Node Selector', 'Which nodes it is for.', ({ spec }) => labels(spec?.template?.spec?.nodeSelector)),
    ageColumn,
    wide(containersColumn()),
    wide(imagesColumn()),
    wide(selectorColumn),
  ]),
  Deployment: tableOfColumns([
    nameColumn,
    text(
      'Ready',
      'How many of the Pods are ready.',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ),
    text('Up-to-date', 'How many Pods are of the newest template.', ({ status }) => status?.updatedReplicas ?? 0),
    text('Available', 'How many Pods have been ready for long enough.', ({ status }) => status?.availableReplicas ?? 0),
    ageColumn,
    wide(containersColumn()),
    wide(imagesColumn()),
    wide(selectorColumn),
  ]),
  StatefulSet: tableOfColumns([
    nameColumn,
    text(
      'Ready',
      'How many of the Pods are ready.',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ),
    ageColumn,
    wide(containersColumn()),
    wide(imagesColumn()),
  ]),
  Job: tableOfColumns([
    nameColumn,
    text('Status', 'Whether the Job runs, and how it ended.', jobStatus),
    text('Completions', 'How many Pods have succeeded.', completions),
    text('Duration', 'How long the Job has run.', duration),
    ageColumn,
    wide(containersColumn()),
    wide(imagesColumn()),
    wide(selectorColumn),
  ]),
  CronJob: tableOfColumns([
    nameColumn,
    text('Schedule', 'When Jobs are made.', ({ spec }) => spec?.schedule ?? ''),
    text('Timezone', 'The time zone of the schedule.', ({ spec }) => spec?.timeZone ?? '<none>'),
    { ...text('Suspend', 'Whether no further Jobs are made.', suspension), type: 'boolean' },
    integer('Active', 'How many of its Jobs run.', ({ status }) => (status?.active ?? []).length),
    text('Last Schedule', 'How long ago a Job was last made.', ({ status }, nowMs) =>
      status?.lastScheduleTime ? age(status.lastScheduleTime, nowMs) : '<none>',
    ),
    ageColumn,
    wide(containersColumn(jobTemplate)),
    wide(imagesColumn(jobTemplate)),
    wide(text('Selector', 'Which Pods are counted.', ({ spec }) => selector(spec?.jobTemplate?.spec?.selector))),
  ]),
  ControllerRevision: tableOfColumns([
    nameColumn,
    text('Controller', 'What it is a revision of.', ({ metadata }) => {
      const owner = (metadata.ownerReferences ?? []).find((each: Loose) => each.controller);
      if (!owner) return '<none>';
      const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
      return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
    }),
    text('Revision', 'Its number.', ({ revision }) => revision ?? 0),
    ageColumn,
  ]),
};

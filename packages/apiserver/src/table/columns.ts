import type { Kind } from '@kruise/schema/kind';
import { autoscalerTable } from './autoscaler.ts';
import { ageColumn, creationDescription, integer, nameColumn, tableOfColumns } from './cells.ts';
import { clusterTables } from './cluster.ts';
import { eventTable } from './event.ts';
import { networkTables } from './network.ts';
import { podTable } from './pod.ts';
import { requestTables } from './requests.ts';
import { storageTables } from './storage.ts';
import type { TableColumns } from './table.ts';
import { workloadTables } from './workloads.ts';

/** Default columns: name and creation time. */
const nameAndCreation = tableOfColumns(
  [
    nameColumn,
    {
      name: 'Created At',
      type: 'date',
      description: creationDescription,
      cell: ({ metadata }) => metadata.creationTimestamp ?? '<unknown>',
    },
  ],
  { nullIfEmpty: true },
);

const replicas = (described: { readonly desired: string; readonly available: string }) => [
  integer('Desired', described.desired, ({ spec }) => spec?.replicas ?? 0),
  integer('Available', described.available, ({ status }) => status?.replicas ?? 0),
];

/** Columns of Scale: desired and available replicas. */
export const scaleTable = tableOfColumns([
  { ...nameColumn, format: '' },
  ...replicas({
    desired: 'replicas is the desired number of instances for the scaled object.',
    available: 'replicas is the actual number of observed instances of the scaled object.',
  }),
  ageColumn,
]);
/** Columns of Scale for custom resources. */
export const customScaleTable = tableOfColumns([
  nameColumn,
  ...replicas({ desired: 'Number of desired replicas', available: 'Number of actual replicas' }),
  { ...ageColumn, type: 'date' },
]);

const tables: { readonly [kind: string]: TableColumns } = {
  Pod: podTable,
  HorizontalPodAutoscaler: autoscalerTable,
  Event: eventTable,
  ...workloadTables,
  ...networkTables,
  ...clusterTables,
  ...storageTables,
  ...requestTables,
};

/** Returns the columns of a built-in kind. */
export function tableColumnsOf({ kind }: Pick<Kind, 'kind'>): TableColumns {
  return tables[kind] ?? nameAndCreation;
}

import type { Kind } from '@kruise/schema/kind';
import { autoscalerTable } from './autoscaler.ts';
import { ageColumn, integer, nameColumn, tableOfColumns } from './cells.ts';
import { clusterTables } from './cluster.ts';
import { eventTable } from './event.ts';
import { networkTables } from './network.ts';
import { podTable } from './pod.ts';
import { requestTables } from './requests.ts';
import { storageTables } from './storage.ts';
import type { TableColumns } from './table.ts';
import { workloadTables } from './workloads.ts';

/** What a kind without columns of its own shows: its name, and when it was made. */
const nameAndCreation = tableOfColumns(
  [
    nameColumn,
    {
      name: 'Created At',
      type: 'date',
      doc: 'When the object was created.',
      cell: ({ metadata }) => metadata.creationTimestamp ?? '<unknown>',
    },
  ],
  { nullIfEmpty: true },
);

const desired = integer('Desired', 'How many there should be.', ({ spec }) => spec?.replicas ?? 0);
const available = integer('Available', 'How many there are.', ({ status }) => status?.replicas ?? 0);

/** How many of a workload there are and should be. */
export const scaleTable = tableOfColumns([{ ...nameColumn, format: '' }, desired, available, ageColumn]);
/** The same of a custom resource. */
export const customScaleTable = tableOfColumns([nameColumn, desired, available, { ...ageColumn, type: 'date' }]);

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

/** The columns of a built-in kind. */
export function tableColumnsOf({ kind }: Pick<Kind, 'kind'>): TableColumns {
  return tables[kind] ?? nameAndCreation;
}

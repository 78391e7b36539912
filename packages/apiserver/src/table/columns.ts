import type { Kind } from '@kruise/schema/kind';
import { nameColumn, tableOfColumns } from './cells.ts';
import { clusterTables } from './cluster.ts';
import { networkTables } from './network.ts';
import { podTable } from './pod.ts';
import type { TableColumns } from './table.ts';
import { workloadTables } from './workloads.ts';

/** What a kind without columns of its own shows: its name, and when it was made. */
const nameAndCreation = tableOfColumns([
  nameColumn,
  {
    name: 'Created At',
    type: 'date',
    doc: 'When the object was created.',
    cell: ({ metadata }) => metadata.creationTimestamp ?? '<unknown>',
  },
]);

const tables: { readonly [kind: string]: TableColumns } = {
  Pod: podTable,
  ...workloadTables,
  ...networkTables,
  ...clusterTables,
};

/** The columns of a built-in kind. */
export function tableColumnsOf({ kind }: Kind): TableColumns {
  return tables[kind] ?? nameAndCreation;
}

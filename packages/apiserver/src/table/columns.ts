import type { Kind } from '@kruise/schema/kind';
import type { TableColumns } from './table.ts';

/** What a kind without columns of its own shows: its name and when it was made. */
const nameAndCreation: TableColumns = {
  columns: [
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: 'The name of the object, unique in its namespace.',
      priority: 0,
    },
    { name: 'Created At', type: 'date', format: '', description: 'When the object was created.', priority: 0 },
  ],
  cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? '<unknown>'],
};

/** The columns of a built-in kind. */
export function tableColumnsOf(_kind: Kind): TableColumns {
  return nameAndCreation;
}

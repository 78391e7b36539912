import * as s from '@kruise/schema';
import { listMeta } from './list-meta.ts';
import { typeMeta } from './type-meta.ts';

export const tableColumnDefinition = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.TableColumnDefinition',
  'A column of a table.',
  {
    name: s.required(s.string(), 'Heading of the column.'),
    type: s.required(s.string(), 'Type of the cells: integer, number, string, boolean or date.'),
    format: s.required(s.string(), 'Format of the cells; name marks the column with the name of the object.'),
    description: s.required(s.string(), 'Human-readable description of the column.'),
    priority: s.required(s.int32(), '0 for a column always shown; the greater, the wider the output must be.'),
  },
);
export type TableColumnDefinition = s.TypeOf<typeof tableColumnDefinition>;

export const tableRowCondition = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.TableRowCondition',
  'Something about a row.',
  {
    type: s.required(
      s.string({ goType: 'v1.RowConditionType' }),
      'Completed is the only one: the row is about something that is done with.',
    ),
    status: s.required(s.string({ goType: 'v1.ConditionStatus' }), 'Status of the condition: True, False or Unknown.'),
    reason: s.optional(s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(s.string(), 'Human-readable message.'),
  },
);
export type TableRowCondition = s.TypeOf<typeof tableRowCondition>;

export const tableRow = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.TableRow',
  'A row of a table, which is one object.',
  {
    cells: s.required(s.list(s.rawExtension()), 'A value for each column, in their order.'),
    conditions: s.optional(s.list(tableRowCondition), 'Something about the row, such as that it may be left out.'),
    object: s.optional(s.rawExtension(), 'Object of the row, or only its metadata, as requested.'),
  },
);
export type TableRow = s.TypeOf<typeof tableRow>;

export const table = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.Table',
  'Objects as a table, with the columns the server thinks best.',
  {
    ...typeMeta,
    metadata: s.optional(listMeta, 'The metadata of the list.'),
    columnDefinitions: s.required(s.list(tableColumnDefinition), 'The columns.'),
    rows: s.required(s.list(tableRow), 'The rows, one for each object.'),
  },
);
export type Table = s.TypeOf<typeof table>;

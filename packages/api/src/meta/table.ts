import * as s from '@kruise/schema';
import { listMeta } from './list-meta.ts';
import { typeMeta } from './type-meta.ts';

export const tableColumnDefinition = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.TableColumnDefinition', '', {
  name: s.required(s.string(), ''),
  type: s.required(s.string(), ''),
  format: s.required(s.string(), ''),
  description: s.required(s.string(), ''),
  priority: s.required(s.int32(), ''),
});
export type TableColumnDefinition = s.TypeOf<typeof tableColumnDefinition>;

export const tableRowCondition = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.TableRowCondition', '', {
  type: s.required(s.string({ goType: 'v1.RowConditionType' }), ''),
  status: s.required(s.string({ goType: 'v1.ConditionStatus' }), ''),
  reason: s.optional(s.string(), ''),
  message: s.optional(s.string(), ''),
});
export type TableRowCondition = s.TypeOf<typeof tableRowCondition>;

export const tableRow = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.TableRow', '', {
  cells: s.required(s.list(s.rawExtension()), ''),
  conditions: s.optional(s.list(tableRowCondition), ''),
  object: s.optional(s.rawExtension(), ''),
});
export type TableRow = s.TypeOf<typeof tableRow>;

export const table = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.Table', '', {
  ...typeMeta,
  metadata: s.optional(listMeta, ''),
  columnDefinitions: s.required(s.list(tableColumnDefinition), ''),
  rows: s.required(s.list(tableRow), ''),
});
export type Table = s.TypeOf<typeof table>;

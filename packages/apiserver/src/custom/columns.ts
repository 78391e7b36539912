import type { CustomResourceColumnDefinition as Column } from '@kruise/api/apiextensions/customresourcedefinition';
import { type JsonPath, jsonPath, printValues } from '@kruise/machinery/json-path';
import { humanDuration } from '@kruise/values/human-duration';
import { parseTime } from '@kruise/values/time';
import type { KubeObject } from '../object.ts';
import { creationDescription, nameColumn, tableOfColumns } from '../table/cells.ts';
import type { TableColumns } from '../table/table.ts';

const { columns: nameColumns } = tableOfColumns([nameColumn]);
const ageColumn: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: creationDescription,
};

/** Returns the printer columns of a version; the age column if the definition has none. */
export function customColumns(columns: readonly Column[] | undefined): TableColumns {
  const shown = columns && columns.length > 0 ? columns : [ageColumn];
  const paths = parsed(shown);
  // One invalid JSONPath disables all columns, as in Kubernetes.
  if (!paths) return { columns: nameColumns, cells: ({ metadata }) => [metadata.name ?? ''] };
  return {
    columns: [
      ...nameColumns,
      ...shown.map(({ name, type, format = '', description, jsonPath: path, priority = 0 }) => ({
        name,
        type,
        format,
        description: description || `Custom resource definition column (in JSONPath format): ${path}`,
        priority,
      })),
    ],
    cells: (object, nowMs) => [
      object.metadata.name ?? '',
      ...shown.map(({ type }, index) => cell(paths[index]!, type, object, nowMs)),
    ],
  };
}

function parsed(columns: readonly Column[]): readonly JsonPath[] | undefined {
  try {
    return columns.map((column) => jsonPath(`{${column.jsonPath}}`, { missingKeys: 'allow' }));
  } catch {
    return undefined;
  }
}

function cell(path: JsonPath, type: string, object: KubeObject, nowMs: number): unknown {
  const [first] = found(path, object);
  if (first === undefined) return null;
  if (type === 'string') return printValues([first]);
  return first === null ? null : cellOf(type, first, nowMs);
}

function found(path: JsonPath, object: KubeObject): readonly unknown[] {
  try {
    return path.find(object)[0] ?? [];
  } catch {
    // A JSONPath that does not match the object yields an empty cell.
    return [];
  }
}

function cellOf(type: string, value: unknown, nowMs: number): unknown {
  switch (type) {
    case 'integer':
      if (typeof value === 'bigint') return value;
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'bigint' ? Number(value) : typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? age(value, nowMs) : null;
    default:
      return null;
  }
}

function age(text: string, nowMs: number): string {
  if (text === '') return '<unknown>';
  try {
    return humanDuration(nowMs - parseTime(text));
  } catch {
    return '<invalid>';
  }
}

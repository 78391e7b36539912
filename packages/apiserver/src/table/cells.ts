/**
 * Formatting helpers for Table cells.
 *
 * Column descriptions are part of the protocol, and therefore equal those of kube-apiserver byte for byte, including
 * errors.
 */
import { selectorOf } from '@kruise/machinery/label-selector';
import { humanDuration } from '@kruise/values/human-duration';
import type { KubeObject } from '../object.ts';
import type { ColumnDefinition, TableColumns } from './table.ts';

/** Part of an object, from which a printer reads the fields that it needs. */
// biome-ignore lint/suspicious/noExplicitAny: a printer reads a few fields of sixty kinds, all of them optional.
export type Loose = any;

/** Formats an age as `kubectl get` does. */
export function age(timestamp: string | null | undefined, nowMs: number): string {
  return timestamp ? humanDuration(nowMs - Date.parse(timestamp)) : '<unknown>';
}

/** Formats labels as `a=1,b=2`, sorted by key. */
export function labels(map: { readonly [key: string]: string } | null | undefined): string {
  const keys = Object.keys(map ?? {}).sort();
  return keys.length === 0 ? '<none>' : keys.map((key) => `${key}=${map![key]}`).join(',');
}

/** Formats a label selector. */
export function selector(value: Loose): string {
  if (!value) return '<none>';
  try {
    return selectorOf(value).text || '<none>';
  } catch {
    // An older server may have stored an invalid selector; the row is printed anyway.
    return '<error>';
  }
}

export function containers(template: Loose): readonly [names: string, images: string] {
  const all: Loose[] = template?.spec?.containers ?? [];
  return [all.map(({ name }) => name).join(','), all.map(({ image }) => image ?? '').join(',')];
}

/** Joins at most `limit` texts, with the number of the remaining ones. */
export function some(texts: readonly string[], limit: number, separator = ','): string {
  if (texts.length <= limit) return texts.join(separator);
  return `${texts.slice(0, limit).join(separator)} + ${texts.length - limit} more...`;
}

/** Returns the condition of a type from an object's status. */
export const condition = (object: Loose, type: string): Loose =>
  (object.status?.conditions ?? []).find((each: Loose) => each.type === type);

type Cell = (object: Loose, nowMs: number) => unknown;

/** Column and its cell. `wide` columns are only shown with `-o wide`. */
export type Column = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  readonly wide?: boolean;
  readonly cell: Cell;
};

const column =
  (type: Column['type']) =>
  (name: string, description: string, cell: Cell): Column => ({ name, type, description, cell });

export const text = column('string');
export const integer = column('integer');
export const flag = column('boolean');
export const wide = (inner: Column): Column => ({ ...inner, wide: true });

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  cell: ({ metadata }) => metadata.name ?? '',
};

/** Description of creation timestamp and age columns. */
export const creationDescription =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';

export const ageColumn = text('Age', creationDescription, ({ metadata }, nowMs) =>
  age(metadata.creationTimestamp, nowMs),
);

/** Creates the Table definition of columns. */
export function tableOfColumns(columns: readonly Column[], more: Partial<TableColumns> = {}): TableColumns {
  return {
    columns: columns.map(
      ({ name, type, format = '', description, wide: isWide = false }): ColumnDefinition => ({
        name,
        type,
        format,
        description,
        priority: isWide ? 1 : 0,
      }),
    ),
    cells: (object: KubeObject, nowMs: number) => columns.map(({ cell }) => cell(object, nowMs)),
    ...more,
  };
}

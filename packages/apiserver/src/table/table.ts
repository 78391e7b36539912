import type { KubeObject } from '../object.ts';

/** Column of `kubectl get`. */
export type ColumnDefinition = {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** Priority: 0 is always shown, higher only with `-o wide`. */
  readonly priority: number;
};

export type RowCondition = {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
};

/** Table columns and cells of a resource. */
export type TableColumns = {
  readonly columns: readonly ColumnDefinition[];
  cells(object: KubeObject, nowMs: number): readonly unknown[];
  conditions?(object: KubeObject): readonly RowCondition[];
  /** Compares rows, if they are not in the order of the objects. */
  order?(a: KubeObject, b: KubeObject): number;
  /** An empty table has null rows instead of an empty list. */
  readonly nullIfEmpty?: boolean;
};

/** Content of a row besides its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

type Row = {
  readonly cells: readonly unknown[];
  readonly conditions?: readonly RowCondition[];
  readonly object: unknown;
};

/** Creates a Table of objects. `withColumns` is false for all but the first Table of a watch. */
export function tableOf(
  table: TableColumns,
  objects: readonly KubeObject[],
  options: {
    readonly metadata: { readonly [field: string]: unknown };
    readonly include: IncludeObject;
    readonly version: 'v1' | 'v1beta1';
    readonly withColumns: boolean;
    readonly nowMs: number;
    /** Returns the metadata of a row, if it is not the complete metadata. */
    readonly metadataOf?: (object: KubeObject) => KubeObject['metadata'];
  },
): unknown {
  const apiVersion = `meta.k8s.io/${options.version}`;
  const ordered = table.order ? [...objects].sort(table.order) : objects;
  const { metadataOf = ({ metadata }) => metadata } = options;
  const carried = (object: KubeObject): unknown => {
    if (options.include === 'None') return null;
    if (options.include === 'Object') return object;
    return { kind: 'PartialObjectMetadata', apiVersion, metadata: metadataOf(object) };
  };
  const row = (object: KubeObject): Row => {
    const conditions = table.conditions?.(object) ?? [];
    return {
      cells: table.cells(object, options.nowMs),
      ...(conditions.length === 0 ? {} : { conditions }),
      object: carried(object),
    };
  };
  return {
    kind: 'Table',
    apiVersion,
    metadata: options.metadata,
    columnDefinitions: options.withColumns ? table.columns : null,
    rows: objects.length === 0 && table.nullIfEmpty ? null : ordered.map(row),
  };
}

/** Metrics as tables for `kubectl get`, with a column per resource. */
import { addQuantities, formatQuantity, parseQuantity, zeroQuantity } from '@kruise/values/quantity';
import type { Metrics } from './metrics-api.ts';

const resources = ['cpu', 'memory'] as const;

/** Reports whether a client accepts a table. */
export function wantsTable(accept: string): boolean {
  return accept.split(',').some((each) => /;\s*as=Table(;|$)/.test(each));
}

/** Returns metrics as a table whose rows carry the object metadata. */
export function asTable(metrics: readonly Metrics[]): unknown {
  const column = (name: string, format: string, description = '') => ({
    name,
    type: 'string',
    format,
    description,
    priority: 0,
  });
  const columnDefinitions = [
    column('Name', 'name', 'Name of the resource'),
    ...resources.map((name) => column(name, 'quantity')),
    column('Window', 'duration'),
  ];
  const rows = metrics.map((each) => ({
    cells: [each.metadata.name, ...resources.map((name) => totalOf(each, name)), each.window],
    object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: each.metadata },
  }));
  // As in metrics-server, the columns depend on the items, so an empty table has none.
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {},
    columnDefinitions: rows.length === 0 ? [] : columnDefinitions,
    rows,
  };
}

function totalOf({ usage, containers = [] }: Metrics, name: (typeof resources)[number]): string {
  const used = usage ? [usage] : containers.map((each) => each.usage);
  return formatQuantity(used.map((each) => parseQuantity(each[name])).reduce(addQuantities, zeroQuantity));
}

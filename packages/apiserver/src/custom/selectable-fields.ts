import type { SelectableField } from '@kruise/api/apiextensions/customresourcedefinition';
import { jsonPath } from '@kruise/machinery/json-path';
import { formatNumber } from '@kruise/values/go-syntax';
import type { KubeObject } from '../object.ts';
import type { SelectableFields } from '../resource.ts';

/** Returns the selectable fields of a version. */
export function customSelectableFields(
  fields: readonly SelectableField[] | undefined,
  namespaced: boolean,
): SelectableFields {
  return {
    namespaced,
    fields: Object.fromEntries((fields ?? []).map(({ jsonPath: path }) => [path.replace(/^\./, ''), readerOf(path)])),
    unsupported: (path) => `field label not supported: ${path}`,
  };
}

function readerOf(path: string): (object: KubeObject) => string {
  const parsed = jsonPath(`{${path}}`, { missingKeys: 'allow' });
  return (object) => {
    const value = parsed.find(object)[0]?.[0];
    if (value === undefined || value === null) return '';
    return typeof value === 'number' ? formatNumber(value) : String(value);
  };
}

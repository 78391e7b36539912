import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const configMap = kind(
  'io.k8s.api.core.v1.ConfigMap',
  'Settings kept outside of images, for Pods to read as files or environment variables.',
  {
    group: '',
    version: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    scope: 'Namespaced',
    shortNames: ['cm'],
    fields: {
      immutable: s.pointer(
        4,
        s.boolean(),
        'Immutable data: only the metadata can be changed, and the object can be deleted; nodes stop watching it. Cannot be reset to false.',
      ),
      data: s.optional(
        2,
        s.map(s.string()),
        'Texts by key. A key has letters, digits, -, _ and . only, and is not also a key of binaryData.',
      ),
      binaryData: s.optional(
        3,
        s.map(s.bytes()),
        'Binary data by key, in base64, for data that is not UTF-8. All data together are limited to 1 MiB.',
      ),
    },
  },
);
export type ConfigMap = s.TypeOf<typeof configMap>;

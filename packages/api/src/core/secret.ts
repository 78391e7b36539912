import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const secret = kind(
  'io.k8s.api.core.v1.Secret',
  'Small confidential data, for Pods to read as files or environment variables.',
  {
    group: '',
    version: 'v1',
    kind: 'Secret',
    plural: 'secrets',
    scope: 'Namespaced',
    fields: {
      immutable: s.pointer(
        5,
        s.boolean(),
        'Immutable data: only the metadata can be changed, and the object can be deleted; nodes stop watching it. Cannot be reset to false.',
      ),
      data: s.optional(
        2,
        s.map(s.bytes()),
        'Bytes by key, in base64; 1 MiB in all. A key has letters, digits, -, _ and . only.',
      ),
      stringData: s.optional(
        4,
        s.map(s.string()),
        'Strings by key, write-only: they are merged into data, override existing keys, and are never returned.',
      ),
      type: s.optional(
        3,
        s.string({ goType: 'v1.SecretType' }),
        'Type of the secret, for example Opaque (the default), kubernetes.io/tls or kubernetes.io/dockerconfigjson; some types require certain keys. Immutable.',
      ),
    },
  },
);
export type Secret = s.TypeOf<typeof secret>;

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import { defaultCustomResourceDefinition } from './customresourcedefinition.default.ts';
import { noteStoredVersion } from './customresourcedefinition.strategy.ts';
import { type CustomResourceDefinition, customResourceDefinition } from './customresourcedefinition.ts';
import {
  validateCustomResourceDefinition,
  validateCustomResourceDefinitionUpdate,
} from './customresourcedefinition.validate.ts';

type Change = (draft: Draft<CustomResourceDefinition>) => void;

const codec = codecOf(customResourceDefinition.root);
const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object' } },
  ...more,
});

/** Returns a CRD as the server has it after a request. */
function definition(change: Change = () => {}): CustomResourceDefinition {
  const draft = codec.fromJson({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'toys.example.com', resourceVersion: '1' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'toys', kind: 'Toy' },
      versions: [version('v1')],
    },
  }) as Draft<CustomResourceDefinition>;
  change(draft);
  defaultCustomResourceDefinition(draft);
  noteStoredVersion(draft);
  return codec.canonical(draft as CustomResourceDefinition);
}

const lines = (causes: Iterable<Cause>) => Array.from(causes, ({ field, message }) => `${field}: ${message}`);
const ofVersions = (...versions: object[]): Change => {
  return (draft) => {
    draft.spec.versions = versions as typeof draft.spec.versions;
  };
};

test('names, conversion and stored versions get defaults', () => {
  const { spec, status } = definition((draft) => {
    draft.spec.conversion = {
      strategy: 'Webhook',
      webhook: { clientConfig: { service: { name: 'a', namespace: 'b' } }, conversionReviewVersions: ['v1'] },
    };
  });
  assert.equal(spec.names.singular, 'toy');
  assert.equal(spec.names.listKind, 'ToyList');
  assert.equal(spec.conversion?.webhook?.clientConfig?.service?.port, 443);
  assert.deepEqual(status?.storedVersions, ['v1']);
  assert.deepEqual(definition().spec.conversion, { strategy: 'None' });
});

const faulty: readonly { readonly name: string; readonly change: Change; readonly faults: readonly string[] }[] = [
  { name: 'a valid CRD has no errors', change: () => {}, faults: [] },
  {
    name: 'a CRD must be named after its plural and group',
    change: (draft) => {
      draft.metadata.name = 'others.example.com';
    },
    faults: ['metadata.name: Invalid value: "others.example.com": must be spec.names.plural+"."+spec.group'],
  },
  {
    name: 'a generated name of a CRD is invalid',
    change: (draft) => {
      draft.metadata.generateName = 'toys-';
    },
    faults: ['metadata.generateName: Invalid value: "toys-": must be spec.names.plural+"."+spec.group'],
  },
  {
    name: 'a group must be a domain with a dot',
    change: (draft) => {
      draft.metadata.name = 'toys.example';
      draft.spec.group = 'example';
    },
    faults: ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
  },
  {
    name: 'missing versions are an empty list',
    change: (draft) => {
      delete (draft.spec as { versions?: unknown }).versions;
    },
    faults: [
      'spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion(nil): must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: []string(nil): must have at least one stored version',
    ],
  },
  {
    name: 'errors of fields that all versions share have the path of the spec',
    change: ofVersions(
      version('v1', { additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.a' }] }),
      version('v2', { additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.a' }] }),
    ),
    faults: [
      'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
    ],
  },
  {
    name: 'errors of fields of one version have the path of that version',
    change: ofVersions(version('v1'), version('v2', { additionalPrinterColumns: [{ name: 'A', type: 'string' }] })),
    faults: ['spec.versions[1].additionalPrinterColumns[0].JSONPath: Required value'],
  },
  {
    name: 'every version needs a schema',
    change: ofVersions(version('v1'), { name: 'v2', served: true, storage: false }),
    faults: ['spec.versions[1].schema.openAPIV3Schema: Required value: schemas are required'],
  },
  {
    name: 'a default requires pruning',
    change: (draft) => {
      draft.spec.preserveUnknownFields = true;
      draft.spec.versions = [
        version('v1', {
          schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', default: 'x' } } } },
        }),
      ] as typeof draft.spec.versions;
    },
    faults: [
      'spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema',
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  },
  {
    name: 'a deprecation warning must be printable, and needs a deprecated version',
    change: ofVersions(
      version('v1', { deprecationWarning: 'x' }),
      version('v2', { deprecated: true, deprecationWarning: 'a\u0007' }),
    ),
    faults: [
      'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
      'spec.versions[1].deprecationWarning: Invalid value: "a\\a": must only contain printable UTF-8 characters; non-printable character found at index 1',
    ],
  },
  {
    name: 'a webhook has a URL or a Service, uses https, and has no query',
    change: (draft) => {
      draft.spec.conversion = {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: 'http://h.example.com/?a=b' }, conversionReviewVersions: ['v3', 'v3'] },
      };
    },
    faults: [
      `spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      'spec.conversion.webhookClientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
      'spec.conversion.conversionReviewVersions[1]: Invalid value: "v3": duplicate version',
      'spec.conversion.conversionReviewVersions: Invalid value: []string{"v3", "v3"}: must include at least one of v1, v1beta1',
    ],
  },
  {
    name: 'a protected group needs approval',
    change: (draft) => {
      draft.metadata.name = 'toys.play.k8s.io';
      draft.spec.group = 'play.k8s.io';
    },
    faults: [
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  },
];
for (const { name, change, faults } of faulty) {
  test(name, () => {
    assert.deepEqual(lines(validateCustomResourceDefinition(definition(change))), faults);
  });
}

/** Returns a CRD that is established. */
const established = (change: Change = () => {}) =>
  definition((draft) => {
    draft.status = {
      conditions: [{ type: 'Established', status: 'True' }],
      storedVersions: ['v1'],
    } as NonNullable<typeof draft.status>;
    change(draft);
  });

const changes: readonly {
  readonly name: string;
  readonly old: CustomResourceDefinition;
  readonly change: Change;
  readonly faults: readonly string[];
}[] = [
  {
    name: 'scope and kind may change until a CRD is established',
    old: definition(),
    change: (draft) => {
      draft.spec.scope = 'Cluster';
      draft.spec.names.kind = 'Game';
    },
    faults: [],
  },
  {
    name: 'scope and kind are immutable once a CRD is established',
    old: established(),
    change: (draft) => {
      draft.spec.scope = 'Cluster';
      draft.spec.names.kind = 'Game';
    },
    faults: [
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Game": field is immutable',
    ],
  },
  {
    name: 'a stored version cannot be removed',
    old: established(),
    change: ofVersions(version('v2', { storage: true })),
    faults: [
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
    ],
  },
  {
    name: 'an invalid CA bundle is refused once a CRD is established',
    old: established(),
    change: (draft) => {
      draft.spec.conversion = {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { url: 'https://h.example.com', caBundle: 'bm8=' },
          conversionReviewVersions: ['v1'],
        },
      };
    },
    faults: [
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: []byte{0x6e, 0x6f}: unable to load root certificates: unable to parse bytes as PEM block',
    ],
  },
];
for (const { name, old, change, faults } of changes) {
  test(name, () => {
    assert.deepEqual(lines(validateCustomResourceDefinitionUpdate(established(change), old)), faults);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Draft } from '@kruise/schema/draft';
import { defaultFlowSchema, defaultPriorityLevelConfiguration } from './flowcontrol.default.ts';
import type { FlowSchema } from './flowschema.ts';
import { validateFlowSchema } from './flowschema.validate.ts';
import type { PriorityLevelConfiguration } from './prioritylevelconfiguration.ts';
import { validatePriorityLevelConfiguration } from './prioritylevelconfiguration.validate.ts';

const formatErrors = (causes: Iterable<{ readonly field: string; readonly message: string }>) =>
  Array.from(causes, ({ field, message }) => `${field}: ${message}`);
const resourceRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] };
const group = { kind: 'Group', group: { name: 'g' } };

const schema = (spec: object) =>
  formatErrors(
    validateFlowSchema({
      metadata: { name: 's' },
      spec: { priorityLevelConfiguration: { name: 'l' }, matchingPrecedence: 100, ...spec },
    } as unknown as FlowSchema),
  );
const rule = (change: object) => schema({ rules: [{ subjects: [group], resourceRules: [resourceRule], ...change }] });
const level = (spec: object, name = 'l') =>
  formatErrors(
    validatePriorityLevelConfiguration({ metadata: { name }, spec } as unknown as PriorityLevelConfiguration),
  );
const queuing = (change: object) =>
  level({
    type: 'Limited',
    limited: {
      limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50, ...change } },
    },
  });

const path = 'spec.rules[0]';
const cases: readonly [name: string, faults: readonly string[], expected: readonly string[]][] = [
  ['a schema names its level', rule({}), []],
  [
    'only the exempt schema comes first',
    schema({ matchingPrecedence: 1 }),
    ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
  ],
  [
    'a schema comes at the latest at the end',
    schema({ matchingPrecedence: 10_001 }),
    ['spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000'],
  ],
  [
    'a rule is for someone',
    rule({ subjects: [] }),
    [`${path}.subjects: Required value: subjects must contain at least one value`],
  ],
  [
    'a rule is for something',
    rule({ resourceRules: [] }),
    [`${path}: Required value: at least one of resourceRules and nonResourceRules has to be non-empty`],
  ],
  [
    'a subject matches its kind',
    rule({ subjects: [{ kind: 'User', group: { name: 'g' } }] }),
    [
      `${path}.subjects[0].user: Required value: user is required when subject kind is 'User'`,
      `${path}.subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'`,
    ],
  ],
  [
    'a star stands alone',
    rule({ resourceRules: [{ ...resourceRule, verbs: ['*', 'get'] }] }),
    [
      `${path}.resourceRules[0].verbs: Invalid value: []string{"*", "get"}: if '*' is present, must not specify other verbs`,
    ],
  ],
  [
    'a star ends a path',
    rule({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a*'] }] }),
    [`${path}.nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*": wildcard can only do suffix matching`],
  ],
  ['a level may queue', queuing({}), []],
  [
    'a hand is not more than all queues',
    queuing({ handSize: 65 }),
    ['spec.limited.limitResponse.queuing.handSize: Invalid value: 65: should not be greater than queues (64)'],
  ],
  [
    'a hash has bits enough to deal a hand',
    queuing({ handSize: 11 }),
    [
      'spec.limited.limitResponse.queuing.handSize: Invalid value: 11: required entropy bits of deckSize 64 and handSize 11 should not be greater than 60',
    ],
  ],
  [
    'only the exempt level is exempt',
    level({ type: 'Exempt' }),
    ["spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'"],
  ],
  [
    'a limited level has limits',
    level({ type: 'Limited' }),
    ['spec.limited: Required value: must not be empty when type is Limited'],
  ],
];

for (const [name, faults, expected] of cases) test(name, () => assert.deepEqual(faults, expected));

test('missing fields get defaults', () => {
  const draft = { spec: {} } as unknown as Draft<FlowSchema>;
  defaultFlowSchema(draft);
  assert.equal(draft.spec?.matchingPrecedence, 1000);
  const limited = { limitResponse: { type: 'Queue', queuing: {} } };
  const other = { spec: { type: 'Limited', limited } } as unknown as Draft<PriorityLevelConfiguration>;
  defaultPriorityLevelConfiguration(other);
  assert.deepEqual(other.spec?.limited, {
    nominalConcurrencyShares: 30,
    lendablePercent: 0,
    limitResponse: { type: 'Queue', queuing: { handSize: 8, queues: 64, queueLengthLimit: 50 } },
  });
});

import type { FlowSchemaSpec } from './flowschema.ts';
import type { PriorityLevelConfigurationSpec } from './prioritylevelconfiguration.ts';

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

/** Flows that exist in every cluster and cannot be made otherwise: administrators get in, and nothing falls through. */
export const mandatoryFlowSchemas: { readonly [name: string]: FlowSchemaSpec } = {
  exempt: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [{ subjects: [{ kind: 'Group', group: { name: 'system:masters' } }], ...everything }],
  },
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: 10000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      {
        subjects: [
          { kind: 'Group', group: { name: 'system:unauthenticated' } },
          { kind: 'Group', group: { name: 'system:authenticated' } },
        ],
        ...everything,
      },
    ],
  },
};

/** The levels of those flows. How much of the server the exempt may take is for administrators to say. */
export const mandatoryPriorityLevels: { readonly [name: string]: PriorityLevelConfigurationSpec } = {
  exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  'catch-all': {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
  },
};

import type { APIService } from '@kruise/api/apiregistration/apiservice';
import { timestamp } from '../context.ts';
import { type RulesByResource, rulesFor } from './rules.ts';

export const apiRegistrationRules: RulesByResource = {
  'apiservices.apiregistration.k8s.io': rulesFor<APIService>({
    unconditionalUpdate: false,
    generation: 'none',
    prepareForCreate(draft, context) {
      // What the server serves itself is there as soon as it is said to be.
      if (draft.spec?.service) return;
      draft.status = {
        conditions: [
          {
            type: 'Available',
            status: 'True',
            lastTransitionTime: timestamp(context),
            reason: 'Local',
            message: 'Local APIServices are always available',
          },
        ],
      };
    },
  }),
};

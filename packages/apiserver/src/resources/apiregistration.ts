import type { APIService } from '@kruise/api/apiregistration/apiservice';
import {
  defaultAPIService,
  prepareAPIServiceForCreate,
  validateAPIService,
  validateAPIServiceStatusUpdate,
  validateAPIServiceUpdate,
} from '@kruise/api/apiregistration/apiservice.validate';
import { timestamp } from '../context.ts';
import { type RulesByResource, rulesFor } from './rules.ts';

export const apiRegistrationRules: RulesByResource = {
  'apiservices.apiregistration.k8s.io': rulesFor<APIService>({
    unconditionalUpdate: false,
    generation: 'none',
    statusKeepsMetadata: true,
    default: defaultAPIService,
    prepareForCreate: (object, context) => prepareAPIServiceForCreate(object, timestamp(context)),
    validate: validateAPIService,
    validateUpdate: validateAPIServiceUpdate,
    validateStatusUpdate: validateAPIServiceStatusUpdate,
  }),
};

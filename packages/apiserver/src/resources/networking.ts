import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import {
  defaultEndpointSlice,
  endpointSliceWarnings,
  isEndpointSliceChanged,
  prepareEndpointSlice,
  validateEndpointSlice,
  validateEndpointSliceUpdate,
} from '@kruise/api/discovery/endpointslice.validate';
import { validateKindMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import {
  ingressStatusWarnings,
  ingressWarnings,
  validateIngress,
  validateIngressStatusUpdate,
  validateIngressUpdate,
} from '@kruise/api/networking/ingress.validate';
import {
  defaultIngressClass,
  validateIngressClass,
  validateIngressClassUpdate,
} from '@kruise/api/networking/ingressclass.validate';
import { validateIPAddress, validateIPAddressUpdate } from '@kruise/api/networking/ipaddress.validate';
import { defaultNetworkPolicy } from '@kruise/api/networking/networkpolicy.default';
import {
  networkPolicyWarnings,
  validateNetworkPolicy,
  validateNetworkPolicyUpdate,
} from '@kruise/api/networking/networkpolicy.validate';
import type { ServiceCIDR } from '@kruise/api/networking/servicecidr';
import { validateServiceCIDR, validateServiceCIDRUpdate } from '@kruise/api/networking/servicecidr.validate';
import { fieldPath } from '@kruise/machinery/field-set/field-path';
import { fieldSetOf } from '@kruise/machinery/field-set/field-set';
import { type RulesByResource, rulesFor } from './rules.ts';

export const networkingRules: RulesByResource = {
  'ingresses.networking.k8s.io': rulesFor({
    validate: validateIngress,
    validateUpdate: validateIngressUpdate,
    validateStatusUpdate: validateIngressStatusUpdate,
    warnings: ingressWarnings,
    statusWarnings: ingressStatusWarnings,
  }),
  'ingressclasses.networking.k8s.io': rulesFor({
    generation: 'spec',
    default: defaultIngressClass,
    validate: validateIngressClass,
    validateUpdate: validateIngressClassUpdate,
  }),
  'networkpolicies.networking.k8s.io': rulesFor({
    validatesWholeOnUpdate: true,
    generation: 'spec',
    default: defaultNetworkPolicy,
    validate: validateNetworkPolicy,
    validateUpdate: validateNetworkPolicyUpdate,
    warnings: networkPolicyWarnings,
  }),
  'ipaddresses.networking.k8s.io': rulesFor({
    namesAsAsked: true,
    validatesWholeOnUpdate: true,
    validate: validateIPAddress,
    validateUpdate: validateIPAddressUpdate,
  }),
  'servicecidrs.networking.k8s.io': rulesFor<ServiceCIDR>({
    generation: 'none',
    // The metadata is unchanged; field ownership is recorded all the same.
    statusKeepsMetadata: true,
    statusResetFields: fieldSetOf(fieldPath('spec')),
    validate: validateServiceCIDR,
    validateUpdate: validateServiceCIDRUpdate,
    validateStatusUpdate: ({ metadata }, old) => validateKindMetaUpdate(metadata, old.metadata),
  }),
  'endpointslices.discovery.k8s.io': rulesFor<EndpointSlice>({
    generation: isEndpointSliceChanged,
    default: defaultEndpointSlice,
    prepareForCreate: (slice) => prepareEndpointSlice(slice),
    prepareForUpdate: (slice, old) => prepareEndpointSlice(slice, old),
    validate: validateEndpointSlice,
    validateUpdate: validateEndpointSliceUpdate,
    warnings: endpointSliceWarnings,
  }),
};

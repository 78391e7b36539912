import {
  type NonResourceRule,
  type ResourceRule,
  type SubjectRulesReviewStatus,
  selfSubjectRulesReview,
} from '@kruise/api/authorization/selfsubjectrulesreview';
import { badRequest } from '@kruise/machinery/status';
import { nodeOf } from '../authorization/node-authorizer.ts';
import { joinErrors, type Rbac } from '../authorization/rbac.ts';
import type { User } from '../user.ts';
import type { VirtualResource } from '../virtual-resource.ts';
import { reviewOf } from './review.ts';

/** SelfSubjectRulesReview: returns the rules of the user in a namespace. */
export function rulesReview(rbac: Rbac): VirtualResource {
  return reviewOf(selfSubjectRulesReview, ({ user }, { spec, ...review }) => {
    const { namespace = '' } = (spec ?? {}) as { readonly namespace?: string };
    if (namespace === '') throw badRequest('no namespace on request');
    // The response is a new object that only keeps the kind of the request.
    const { creationTimestamp } = review.metadata;
    return {
      ...review,
      metadata: creationTimestamp === undefined ? {} : { creationTimestamp },
      spec: {},
      status: rulesOf(rbac, user, namespace),
    };
  });
}

function rulesOf(rbac: Rbac, user: User, namespace: string): SubjectRulesReviewStatus {
  const resourceRules: ResourceRule[] = [];
  const nonResourceRules: NonResourceRule[] = [];
  const { grants, missing } = rbac.grantsOf(user, namespace);
  for (const { rule } of grants) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
    if (resources?.length) {
      resourceRules.push({
        verbs,
        ...(apiGroups ? { apiGroups } : {}),
        resources,
        ...(resourceNames ? { resourceNames } : {}),
      });
    }
    if (nonResourceURLs?.length) nonResourceRules.push({ verbs, nonResourceURLs });
  }
  const isNode = nodeOf(user) !== undefined;
  const errors = [...(isNode ? ['node authorizer does not support user rule resolution'] : []), ...missing];
  return {
    resourceRules,
    nonResourceRules,
    incomplete: errors.length > 0,
    ...(errors.length > 0 ? { evaluationError: joinErrors(errors) } : {}),
  };
}

import { attributesOf, forbiddenError } from '../authorization/attributes.ts';
import type { Stage } from './request.ts';

/**
 * Decides whether the user may do what the method, path and query ask for. This is the only place that authorizes a
 * request. Body, Accept header and stored objects are read later.
 */
export const authorize: Stage = {
  name: 'Authorize',
  transports: 'all',
  failsWith: [403],
  async run({ context, core }) {
    const attributes = attributesOf(context);
    const decision = core.authorizer.authorize(attributes);
    const { verdict, reason } = decision instanceof Promise ? await decision : decision;
    context.auditAnnotations.set('authorization.k8s.io/decision', verdict === 'allow' ? 'allow' : 'forbid');
    context.auditAnnotations.set('authorization.k8s.io/reason', reason);
    if (verdict !== 'allow') throw forbiddenError(attributes, reason);
  },
};

import type { Attributes, Authorizer, Decision } from './authorizer.ts';

/**
 * Authorizer chain: the first authorizer that allows or denies decides. If none allows, the reasons are joined. The
 * result is synchronous unless an authorizer is asynchronous, because policy expressions also authorize and cannot
 * await.
 */
export function authorizerChain(all: readonly Authorizer[]): Authorizer {
  function authorizeFrom(
    attributes: Attributes,
    from: number,
    reasons: readonly string[],
  ): Decision | Promise<Decision> {
    const next = all[from];
    if (!next) return { verdict: 'no-opinion', reason: reasons.join('\n') };
    const combine = (decision: Decision): Decision | Promise<Decision> => {
      if (decision.verdict === 'allow') return decision;
      const heard = decision.reason === '' ? reasons : [...reasons, decision.reason];
      if (decision.verdict === 'deny') return { verdict: 'deny', reason: heard.join('\n') };
      return authorizeFrom(attributes, from + 1, heard);
    };
    const answer = next.authorize(attributes);
    return answer instanceof Promise ? answer.then(combine) : combine(answer);
  }
  return { authorize: (attributes) => authorizeFrom(attributes, 0, []) };
}

const everything: Decision = { verdict: 'allow', reason: '' };
const nothing: Decision = { verdict: 'no-opinion', reason: '' };

/** Allows everything for members of system:masters: the recovery path when no role grants access any more. */
export const mastersAuthorizer: Authorizer = {
  authorize: ({ user }) => (user.groups.includes('system:masters') ? everything : nothing),
};

import type { Authorizer, Decision } from './authorizer.ts';

/** Asks each in turn until one allows or denies; what the others had to say is told if none allows. */
export function authorizerChain(all: readonly Authorizer[]): Authorizer {
  return {
    async authorize(attributes) {
      const reasons: string[] = [];
      for (const each of all) {
        const asked = each.authorize(attributes);
        const decision: Decision = asked instanceof Promise ? await asked : asked;
        if (decision.verdict === 'allow') return decision;
        if (decision.reason !== '') reasons.push(decision.reason);
        if (decision.verdict === 'deny') return { verdict: 'deny', reason: reasons.join('\n') };
      }
      return { verdict: 'no-opinion', reason: reasons.join('\n') };
    },
  };
}

const everything: Decision = { verdict: 'allow', reason: '' };
const nothing: Decision = { verdict: 'no-opinion', reason: '' };

/** Members of a group that may do everything: the way back in when no role allows anything any more. */
export const mastersMayAll: Authorizer = {
  authorize: ({ user }) => (user.groups.includes('system:masters') ? everything : nothing),
};

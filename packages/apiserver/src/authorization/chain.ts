import type { Attributes, Authorizer, Decision } from './authorizer.ts';

/**
 * Asks each in turn until one allows or denies; what the others had to say is told if none allows. Answers at once
 * unless one of them does not: expressions of policies ask too, and cannot wait.
 */
export function authorizerChain(all: readonly Authorizer[]): Authorizer {
  function ask(attributes: Attributes, from: number, reasons: readonly string[]): Decision | Promise<Decision> {
    const next = all[from];
    if (!next) return { verdict: 'no-opinion', reason: reasons.join('\n') };
    const weigh = (decision: Decision): Decision | Promise<Decision> => {
      if (decision.verdict === 'allow') return decision;
      const heard = decision.reason === '' ? reasons : [...reasons, decision.reason];
      if (decision.verdict === 'deny') return { verdict: 'deny', reason: heard.join('\n') };
      return ask(attributes, from + 1, heard);
    };
    const answer = next.authorize(attributes);
    return answer instanceof Promise ? answer.then(weigh) : weigh(answer);
  }
  return { authorize: (attributes) => ask(attributes, 0, []) };
}

const everything: Decision = { verdict: 'allow', reason: '' };
const nothing: Decision = { verdict: 'no-opinion', reason: '' };

/** Members of a group that may do everything: the way back in when no role allows anything any more. */
export const mastersMayAll: Authorizer = {
  authorize: ({ user }) => (user.groups.includes('system:masters') ? everything : nothing),
};

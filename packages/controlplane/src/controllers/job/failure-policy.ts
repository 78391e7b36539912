import type { PodFailurePolicy, PodFailurePolicyRule } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';

/** Result of a Pod failure policy for a failed Pod. */
export type PolicyResult = {
  readonly action: PodFailurePolicyRule['action'];
  /** Human-readable cause. */
  readonly message: string;
};

/** Applies the first matching rule to a failed Pod; without a match, the failure counts. */
export function applyFailurePolicy(policy: PodFailurePolicy | undefined, pod: Pod): PolicyResult {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const cause = causeFor(rule, pod);
    if (cause) return { action: rule.action, message: `${cause} matching ${rule.action} rule at index ${index}` };
  }
  return { action: 'Count', message: '' };
}

function causeFor({ onExitCodes, onPodConditions }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const { metadata, status } = pod;
  const name = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes) {
    const { containerName, operator, values } = onExitCodes;
    const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const failedContainer = statuses.find(({ name: container, state }) => {
      const exitCode = state?.terminated?.exitCode ?? 0;
      if (exitCode === 0 || (containerName !== undefined && containerName !== container)) return false;
      return (values ?? []).includes(exitCode) === (operator === 'In');
    });
    return (
      failedContainer &&
      `Container ${failedContainer.name} for pod ${name} failed with exit code ${failedContainer.state?.terminated?.exitCode}`
    );
  }
  const condition = status?.conditions?.find((each) =>
    onPodConditions?.some((pattern) => pattern.type === each.type && pattern.status === each.status),
  );
  return condition && `Pod ${name} has condition ${condition.type}`;
}

import type { Namespace } from '@kruise/api/core/namespace';
import type { ServiceAccount } from '@kruise/api/core/serviceaccount';
import { create } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';

export type Observed = {
  readonly namespace: Namespace;
  /** The ServiceAccount that Pods get which name none. */
  readonly account: ServiceAccount | undefined;
};

/** What the ServiceAccount of every namespace is called. */
export const defaultAccount = 'default';

/** Every namespace in use has a ServiceAccount. */
export function decide({ namespace, account }: Observed): Decision<undefined> {
  const isActive = namespace.status?.phase === 'Active';
  return { actions: isActive && !account ? [create(accountFor(namespace))] : [] };
}

function accountFor({ metadata }: Namespace): ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: defaultAccount, namespace: metadata.name ?? '' },
  };
}

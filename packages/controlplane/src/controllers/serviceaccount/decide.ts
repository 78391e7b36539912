import type { Namespace } from '@kruise/api/core/namespace';
import type { ServiceAccount } from '@kruise/api/core/serviceaccount';
import { create } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';

export type Observed = {
  readonly namespace: Namespace;
  /** The default ServiceAccount. */
  readonly account: ServiceAccount | undefined;
};

/** Name of the default ServiceAccount. */
export const defaultAccount = 'default';

/** Creates the default ServiceAccount of an active namespace. */
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

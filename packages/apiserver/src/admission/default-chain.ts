import { type ResourceQuota, resourceQuota } from '@kruise/api/core/resourcequota';
import type { ApiAnswer, ApiRequest } from '@kruise/client/transport';
import type { Core } from '../core.ts';
import type { AdmissionPlugin } from './admission.ts';
import { createLookup } from './lookup.ts';
import { defaultIngressClass } from './plugins/default-ingress-class.ts';
import { defaultStorageClass } from './plugins/default-storage-class.ts';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.ts';
import { limitRanger } from './plugins/limit-ranger.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts';
import { podSecurity } from './plugins/pod-security.ts';
import { priority } from './plugins/priority.ts';
import { resourceQuotas } from './plugins/resource-quota.ts';
import { runtimeClasses } from './plugins/runtime-class.ts';
import { serviceAccounts } from './plugins/service-account.ts';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts';
import { validatingAdmissionPolicies } from './plugins/validating-admission-policy.ts';

/** What plugins are made of. */
export type AdmissionParts = Pick<Core, 'resources' | 'feed' | 'authorizer'> & {
  /** Sends a request to the server itself, as the server. */
  readonly send: (request: ApiRequest) => Promise<ApiAnswer>;
};

/** The plugins Kubernetes v1.33 runs unless told otherwise, in the order it runs them. */
export function defaultPlugins({ resources, feed, authorizer, send }: AdmissionParts): readonly AdmissionPlugin[] {
  const lookup = createLookup(resources, feed);
  const writeStatus = async (quota: ResourceQuota) => {
    const { namespace, name } = quota.metadata;
    const path = `/api/v1/namespaces/${namespace}/${resourceQuota.plural}/${name}/status`;
    await send({ method: 'PUT', path, body: quota });
  };
  return [
    namespaceLifecycle(lookup),
    limitRanger(lookup),
    serviceAccounts(lookup),
    taintNodesByCondition,
    podSecurity(lookup),
    priority(lookup),
    defaultTolerationSeconds,
    defaultStorageClass(lookup),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(lookup),
    runtimeClasses(lookup),
    defaultIngressClass(lookup),
    validatingAdmissionPolicies(lookup, resources, authorizer),
    resourceQuotas(lookup, writeStatus),
  ];
}

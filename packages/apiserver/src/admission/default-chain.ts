import { type ResourceQuota, resourceQuota } from '@kruise/api/core/resourcequota';
import type { ApiRequest, ApiResponse } from '@kruise/client/transport';
import type { Rbac } from '../authorization/rbac.ts';
import type { Dial } from '../connect/node-connector.ts';
import type { Core } from '../core.ts';
import { createWebhookCaller, type InProcessWebhooks, type WebhookCaller } from '../webhook/caller.ts';
import { createServiceResolver } from '../webhook/service-resolver.ts';
import type { AdmissionPlugin } from './admission.ts';
import { createLookup, type Lookup } from './lookup.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './plugins/certificates.ts';
import { defaultIngressClass } from './plugins/default-ingress-class.ts';
import { defaultStorageClass } from './plugins/default-storage-class.ts';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.ts';
import { limitRanger } from './plugins/limit-ranger.ts';
import { mutatingWebhooks } from './plugins/mutating-webhooks.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import { nodeRestriction } from './plugins/node-restriction.ts';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts';
import { podSecurity } from './plugins/pod-security.ts';
import { priority } from './plugins/priority.ts';
import { resourceQuotas } from './plugins/resource-quota.ts';
import { roleEscalation } from './plugins/role-escalation.ts';
import { runtimeClasses } from './plugins/runtime-class.ts';
import { serviceAccounts } from './plugins/service-account.ts';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts';
import { validatingAdmissionPolicies } from './plugins/validating-admission-policy.ts';
import { validatingWebhooks } from './plugins/validating-webhooks.ts';

/** Dependencies of the admission plugins. */
export type AdmissionParts = Pick<Core, 'resources' | 'feed' | 'authorizer' | 'clock' | 'random' | 'signal'> & {
  readonly rbac: Rbac;
  /** Sends a request to this server with the server's own identity. */
  readonly send: (request: ApiRequest) => Promise<ApiResponse>;
  readonly inProcessWebhooks?: InProcessWebhooks | undefined;
  /** Connects to webhooks behind Services. */
  readonly dial?: Dial | undefined;
};

/** Creates the admission plugins that Kubernetes v1.33 enables by default, in the same order. */
export function defaultPlugins(parts: AdmissionParts): readonly AdmissionPlugin[] {
  const { resources, feed, authorizer, rbac, send } = parts;
  const lookup = createLookup(resources, feed);
  const caller = webhookCaller(parts, lookup);
  const writeStatus = async (quota: ResourceQuota) => {
    const { namespace, name } = quota.metadata;
    const path = `/api/v1/namespaces/${namespace}/${resourceQuota.plural}/${name}/status`;
    await send({ method: 'PUT', path, body: quota });
  };
  return [
    namespaceLifecycle(lookup),
    limitRanger(lookup),
    serviceAccounts(lookup),
    nodeRestriction(lookup, authorizer),
    taintNodesByCondition,
    podSecurity(lookup),
    priority(lookup),
    defaultTolerationSeconds,
    defaultStorageClass(lookup),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(lookup),
    runtimeClasses(lookup),
    certificateApproval(authorizer),
    certificateSigning(authorizer),
    certificateSubjectRestriction,
    defaultIngressClass(lookup),
    mutatingWebhooks(lookup, resources, authorizer, caller),
    validatingAdmissionPolicies(lookup, resources, authorizer),
    validatingWebhooks(lookup, resources, authorizer, caller),
    resourceQuotas(lookup, writeStatus),
    roleEscalation(rbac, authorizer),
  ];
}

function webhookCaller(
  { clock, random, signal, inProcessWebhooks, dial }: AdmissionParts,
  lookup: Lookup,
): WebhookCaller {
  const resolve = createServiceResolver(lookup, random);
  const caller = createWebhookCaller({
    clock,
    resolve,
    ...(inProcessWebhooks ? { inProcess: inProcessWebhooks } : {}),
    ...(dial ? { dial } : {}),
  });
  signal.addEventListener('abort', () => caller.close(), { once: true });
  return caller;
}

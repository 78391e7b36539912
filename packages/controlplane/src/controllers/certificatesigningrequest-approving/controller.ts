import { subjectAccessReview } from '@kruise/api/authorization/subjectaccessreview';
import {
  type CertificateSigningRequest,
  certificateSigningRequest,
} from '@kruise/api/certificates/certificatesigningrequest';
import type { Runnable } from '@kruise/client/controller';
import { type Key, keyOf } from '@kruise/client/object-key';
import { createNamedQueue, runWorkers } from '@kruise/client/workers';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import { type ApprovalPermission, approvalPermissionsFor } from './approval-permissions.ts';

/**
 * The requester was not authorized. Permission may be granted at any time without an event, so the request is retried.
 */
class NotAuthorized extends Error {
  override readonly name = 'NotGranted';
}

/** CSR approving controller: approves client certificate requests of kubelets whose requester is authorized. */
export function certificateApprovingController(): Runnable {
  return {
    name: 'certificatesigningrequest-approving',
    component: 'certificate-controller',
    watches: [],
    uses: [certificateSigningRequest],
    async run(context, signal) {
      const { client, caches, log } = context;
      const requests = caches.informer(certificateSigningRequest);
      const queue = createNamedQueue(context, 'csrapproving');
      requests.handle(
        ({ type, object }) => {
          if (type !== 'deleted') queue.add(keyOf(object));
        },
        { signal },
      );

      async function isAuthorized(
        { spec }: CertificateSigningRequest,
        { subresource }: ApprovalPermission,
      ): Promise<boolean> {
        const { username = '', uid, groups, extra } = spec;
        const review = await client.create(
          subjectAccessReview,
          {
            metadata: {},
            spec: {
              user: username,
              ...(uid === undefined ? {} : { uid }),
              ...(groups ? { groups } : {}),
              ...(extra ? { extra } : {}),
              resourceAttributes: {
                group: 'certificates.k8s.io',
                version: '*',
                resource: 'certificatesigningrequests',
                subresource,
                verb: 'create',
              },
            },
          },
          { signal },
        );
        return review.status?.allowed ?? false;
      }

      async function work(key: Key): Promise<undefined> {
        const request = requests.get(key);
        const permissions = request ? approvalPermissionsFor(request) : [];
        if (!request || permissions.length === 0) return undefined;
        for (const permission of permissions) {
          if (!(await isAuthorized(request, permission))) continue;
          const { message } = permission;
          const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message } as const;
          const status = { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] };
          await client.update(certificateSigningRequest, { ...request, status }, { subresource: 'approval', signal });
          return undefined;
        }
        const tried = permissions.map(({ subresource }) => subresource).join(' ');
        throw new NotAuthorized(`recognized csr "${key}" as [${tried}] but subject access review was not approved`);
      }
      const onError = (key: Key, error: unknown) => {
        if (error instanceof NotAuthorized || isConflict(error) || isNotFound(error)) return;
        log.error(
          { controller: 'certificatesigningrequest-approving', key, error },
          'failed to review certificate signing request',
        );
      };
      await runWorkers(queue, { workers: 5, work, onError }, signal);
    },
  };
}

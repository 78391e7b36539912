import { failure, notFound, StatusError } from '@kruise/machinery/status';
import type { RequestContext } from '../context.ts';
import { unknownPath } from '../handlers/http-errors.ts';
import type { Resource } from '../resource.ts';

/** Denies requests for custom resources in cases where Kubernetes' error differs from that of built-in resources. */
export function checkCustomRequest({ info }: RequestContext, { kind, subresources, terminating }: Resource): void {
  const isNamespaced = kind.scope === 'Namespaced';
  const mayBeAnywhere = info.verb === 'list' || info.verb === 'watch';
  if (isNamespaced ? info.namespace === '' && !mayBeAnywhere : info.namespace !== '') throw unknownPath();
  if (info.subresource !== '' && !subresources.has(info.subresource)) throw notFound(kind, info.name);
  if (terminating && info.verb === 'create' && info.subresource === '') {
    throw new StatusError(
      failure({
        code: 405,
        reason: 'MethodNotAllowed',
        message: 'create not allowed while custom resource definition is terminating',
        details: { group: kind.group, kind: kind.plural },
      }),
    );
  }
}

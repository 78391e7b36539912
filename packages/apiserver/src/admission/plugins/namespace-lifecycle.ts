import { localSubjectAccessReview } from '@kruise/api/authorization/localsubjectaccessreview';
import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import { forbidden, notFound } from '@kruise/machinery/status';
import { type AdmissionPlugin, type Attributes, forbiddenWrite, isResource } from '../admission.ts';
import type { Lookup } from '../lookup.ts';

const protectedNamespaces = new Set(['default', 'kube-system', 'kube-public']);

/**
 * NamespaceLifecycle plugin: denies writes to missing namespaces, creates in terminating namespaces, and the deletion
 * of the system namespaces.
 */
export function namespaceLifecycle(lookup: Lookup): AdmissionPlugin {
  const namespaces = lookup.of(namespaceKind);

  async function admit(attributes: Attributes): Promise<void> {
    const { namespace, operation } = attributes;
    let found = namespaces.get(namespace);
    if (!found) {
      await lookup.waitForCurrent();
      found = namespaces.get(namespace);
    }
    if (!found) throw notFound(namespaceKind, namespace);
    if (operation === 'CREATE' && found.status?.phase === 'Terminating') throw beingTerminated(attributes);
  }

  return {
    name: 'NamespaceLifecycle',
    handles: ({ operation, namespace, kind, name, resource }) => {
      if (operation === 'CONNECT') return false;
      if (kind.kind === 'Namespace' && kind.group === '')
        return operation === 'DELETE' && protectedNamespaces.has(name);
      // A LocalSubjectAccessReview must not reveal whether a namespace exists.
      return namespace !== '' && operation !== 'DELETE' && !isResource(resource.kind, localSubjectAccessReview);
    },
    mutate(attributes) {
      const { operation, name, namespace, kind } = attributes;
      if (kind.kind === 'Namespace' && kind.group === '') {
        throw forbidden(namespaceKind, name, 'this namespace may not be deleted');
      }
      // The common case needs no asynchronous work.
      const found = namespaces.get(namespace);
      if (found && !(operation === 'CREATE' && found.status?.phase === 'Terminating')) return;
      return admit(attributes);
    },
  };
}

function beingTerminated(attributes: Attributes): Error {
  const { namespace } = attributes;
  return forbiddenWrite(
    attributes,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}
